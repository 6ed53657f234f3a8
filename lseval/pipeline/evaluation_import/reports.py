"""What became of the rows of an import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

ADDED, REPLACED, KEPT, LEFT_OUT, REFUSED = (
    "added", "replaced", "already there", "left out with the rest", "refused",
)  # fmt: skip
OUTCOMES: Final = (ADDED, REPLACED, KEPT, LEFT_OUT, REFUSED)


@dataclass(slots=True)
class EvaluationReport:
    """Counts of rows by what they are of and by outcome, and a line for each refusal.

    `forgotten` counts the runs whose Stage 2 was removed since their verdicts changed, and which got no other.
    `notes` say what else a reader should know.
    """

    rows: Counter[tuple[str, str]] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    forgotten: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def refused(self) -> int:
        """How many rows were refused."""
        return sum(count for (_, outcome), count in self.rows.items() if outcome == REFUSED)

    def refuse(self, what: str, place: str, message: str, rows: int = 1) -> None:
        """Count a refused row and tell why; or `rows` of them for the one reason, of which the first is told."""
        self.rows[what, REFUSED] += rows
        of_all = f"{rows:,} rows from here on: " if rows > 1 else ""
        self.problems.append(f"{place}: {of_all}{message}")

    def add(self, other: EvaluationReport) -> None:
        """Take in what became of more rows."""
        self.rows.update(other.rows)
        self.problems += other.problems
        self.forgotten += other.forgotten
        self.notes += other.notes


@dataclass(slots=True)
class Lacking:
    """Rows whose run, task or model the study does not have: each is told once, however many rows there are."""

    rows: dict[Any, tuple[str, int]] = field(default_factory=dict)

    def add(self, what: Any, place: str) -> None:
        """Count a row that needs `what`."""
        first, count = self.rows.get(what, (place, 0))
        self.rows[what] = first, count + 1

    def refuse(self, report: EvaluationReport, of: str, told: Callable[[Any], str]) -> None:
        """Refuse the rows, with what `told` says of each thing that is lacking."""
        for what, (first, count) in self.rows.items():
            report.refuse(of, first, told(what), count)
