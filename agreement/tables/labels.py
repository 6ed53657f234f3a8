"""Tables of labels and scores: those of the command line, and the human ceiling."""

from __future__ import annotations

from typing import Any

from agreement.stats.documents import Table
from agreement.stats.render import COEFFICIENT_NAMES, estimate_text, reasons
from agreement.stats.render import tables as report_tables


def tables(report: dict[str, Any]) -> list[Table]:
    """Matrices, coefficients, Table A9, each label, symmetry, analytic intervals, and the ceiling."""
    plain = {key: value for key, value in report.items() if key != "is_simulated"}
    return [*report_tables(plain), _ceiling(report["ceiling"])]


def _ceiling(ceiling: dict[str, Any]) -> Table:
    rows, notes = [], []
    for name, entry in ceiling.items():
        term = COEFFICIENT_NAMES[name]
        rows.append([term, *(estimate_text(entry[side]) for side in ("auto_h1", "h1_h2", "difference"))])
        notes += reasons({f"{term}, difference": entry["difference"]})
    n = next(iter(ceiling.values()))["n"]
    header = ["Coefficient", "Automatic-H1", "H1-H2", "Difference"]
    return Table(f"The human ceiling, on the {n} groups that have all three labels", header, rows, notes)
