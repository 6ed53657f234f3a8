"""A report's tables for papers: every part of it, page by page, for Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agreement.stats.documents import Table, document
from agreement.tables import board, labels, people, process, study

_PARTS: dict[str, Callable[[dict[str, Any]], list[Table]]] = {
    "auto_h1": labels.tables,
    "links": process.tables,
    "people": people.tables,
    "whole_study": study.tables,
    "leaderboard": board.tables,
}
"""A key of a report, and the tables of the part that it stands for."""


def tables_of(report: dict[str, Any]) -> list[Table]:
    """The tables of every part that the report has; a full report has all of them."""
    return [table for key, build in _PARTS.items() if key in report for table in build(report)]


def report_document(report: dict[str, Any], form: str) -> str:
    """Every table of a report in `markdown` or `latex`; names from outside cannot become markup."""
    every = tables_of(report)
    every[0].notes.insert(0, _head(report))
    return document(every, form)


def _head(report: dict[str, Any]) -> str:
    if "audit" not in report:
        return f"Study {report['study']}, automatic scores."
    simulated = "SIMULATED labels: no person gave them" if report["is_simulated"] else "people's labels"
    return f"Audit {report['audit']} of study {report['study']}, {simulated}."
