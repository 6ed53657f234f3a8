"""The parts of an audit's report that its own page and the study's report both show."""

from __future__ import annotations

from typing import Any

from agreement.presenting.labels import BLOCK_TITLES, MAIN_COEFFICIENTS, coefficient_table, label_heatmap
from agreement.presenting.process import link_row
from agreement.presenting.scores import STATISTIC_NAMES, score_rows


def blocks_of(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The comparisons of a report in order."""
    return {key: report[key] for key in BLOCK_TITLES}


def report_view(report: dict[str, Any]) -> dict[str, Any]:
    """Matrices without links, the main coefficients, Table A9, and link precision."""
    blocks = blocks_of(report)
    return {
        "comparisons": [title for title, *_ in BLOCK_TITLES.values()],
        "matrices": [label_heatmap(block, key) for key, block in blocks.items()],
        "coefficients": coefficient_table(blocks, MAIN_COEFFICIENTS),
        "scores": score_rows(blocks, STATISTIC_NAMES),
        "links": link_row(report["links"]["overall"]),
    }
