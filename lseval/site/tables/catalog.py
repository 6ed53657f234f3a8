"""Which tables there are, in the order of the paper, and how each is made from a study's facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agreement.study_selectors import study_runs
from agreement.whole_study import leaderboard_by
from lseval.site.tables import outcome, people, process, setup
from lseval.site.tables.facts import StudyFacts
from lseval.site.tables.table import Table

PARTS: Final = {
    "outcome": "Outcome",
    "process": "Process",
    "people": "Validation by people",
    "setup": "Set-up and cost",
}
"""The parts of the page by key."""


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table that can be made. One that is not `on_page` has a page of its own, and is in the report only."""

    key: str
    part: str
    build: Callable[[StudyFacts], Table]
    on_page: bool = True


def _differences(facts: StudyFacts) -> Table:
    return outcome.differences_table(leaderboard_by("as", study_runs(facts.study), facts.how))


_SPECS: Final = (
    TableSpec(
        "1", "outcome", lambda facts: outcome.table_1(facts.models_by_family, facts.intervals, facts.activity)
    ),
    TableSpec("2", "process", lambda facts: process.table_2(facts.process)),
    TableSpec("3", "people", lambda facts: people.table_3(facts.people)),
    TableSpec("validation", "people", lambda facts: people.validation_table(facts.people)),
    TableSpec("a1", "outcome", lambda facts: outcome.table_a1(facts.counts, facts.process)),
    TableSpec("a2", "outcome", lambda facts: outcome.table_a2(facts.models_by_family, facts.counts["tasks"])),
    TableSpec("a3", "setup", lambda facts: setup.table_a3(facts.controls)),
    TableSpec("a4", "setup", lambda facts: setup.table_a4(facts.rubrics)),
    TableSpec("a6", "process", lambda facts: process.table_a6(facts.models, facts.process)),
    TableSpec("a7", "process", lambda facts: process.table_a7(facts.models, facts.activity)),
    TableSpec("a8", "people", lambda facts: people.table_a8(facts.people)),
    TableSpec("a9", "people", lambda facts: people.table_a9(facts.people)),
    TableSpec("a10", "people", lambda facts: people.table_a10(facts.people)),
    TableSpec("differences", "outcome", _differences, on_page=False),
    TableSpec("a11", "setup", lambda facts: setup.table_a11(facts.costs)),
)
TABLES: Final = {spec.key: spec for spec in _SPECS}
"""Every table by key."""
