"""Which figures there are, in the order of the paper, and how each is made from a study's facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from lseval.site.figures import outcome, people, process
from lseval.site.tables.facts import StudyFacts
from lseval.site.tables.table import Table


@dataclass(frozen=True, slots=True)
class FigureSpec:
    """A figure that can be drawn: `data` gives the table it is drawn from, whose caption is the figure's."""

    key: str
    part: str
    data: Callable[[StudyFacts], Table]
    draw: Callable[[Table], Any]

    @property
    def title(self) -> str:
        """`Figure A3`."""
        return f"Figure {self.key.upper()}"

    @property
    def file_name(self) -> str:
        """`figure-a3`."""
        return f"figure-{self.key}"


_SPECS: Final = (
    FigureSpec("3", "process", lambda facts: process.data_3(facts.models, facts.process), process.draw_3),
    FigureSpec("4", "outcome", lambda facts: outcome.data_4(facts.models, facts.intervals), outcome.draw_4),
    FigureSpec("5", "people", lambda facts: people.data_5(facts.people), people.draw_5),
    FigureSpec("a2", "setup", lambda facts: outcome.data_a2(facts.rubrics), outcome.draw_a2),
    FigureSpec("a3", "process", lambda facts: process.data_a3(facts.process), process.draw_a3),
    FigureSpec("a5", "process", lambda facts: process.data_a5(facts.process), process.draw_a5),
    FigureSpec(
        "a6",
        "process",
        lambda facts: process.data_a6(facts.process, facts.associations, facts.markers),
        process.draw_a6,
    ),
)
FIGURES: Final = {spec.key: spec for spec in _SPECS}
"""Every figure by key."""
