"""The report of each agreement page, for its files: what the page shows, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agreement import selectors
from agreement.people_report import people_of
from agreement.reporting import full_report, head, labels_report, process_parts, study_parts
from agreement.shown import Shown
from agreement.study_selectors import study_runs
from agreement.whole_study import Wanted, leaderboards
from lseval.models import Study

LEADERBOARD = "leaderboard"


def _labels(shown: Shown, wanted: Wanted) -> dict[str, Any]:
    return labels_report(shown.audit, shown.source, selectors.group_rows(shown.audit, shown.source))


def _people(shown: Shown, wanted: Wanted) -> dict[str, Any]:
    return {**head(shown.audit, shown.source), "people": people_of(shown.audit, shown.source)}


def _process(shown: Shown, wanted: Wanted) -> dict[str, Any]:
    return {**head(shown.audit, shown.source), **process_parts(shown.audit, shown.source)}


def _study(shown: Shown, wanted: Wanted) -> dict[str, Any]:
    rows, runs = selectors.group_rows(shown.audit, shown.source), study_runs(shown.access.study)
    return {**head(shown.audit, shown.source), **study_parts(shown.audit, shown.source, rows, runs, wanted)}


def _all(shown: Shown, wanted: Wanted) -> dict[str, Any]:
    return full_report(shown.audit, shown.source)


SECTIONS: dict[str, Callable[[Shown, Wanted], dict[str, Any]]] = {
    "all": _all,
    "labels": _labels,
    "people": _people,
    "process": _process,
    "study": _study,
}
"""The reports about an audit by name, JSON-able; `wanted` matters to plans only."""


def leaderboard_section(study: Study) -> dict[str, Any]:
    """The leaderboards of a study by each score; they need no audit."""
    return {"study": study.slug, "leaderboard": leaderboards(study_runs(study))}
