"""What became of the rows of an import."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

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

    def refuse(self, what: str, place: str, message: str) -> None:
        """Count a refused row and tell why."""
        self.rows[what, REFUSED] += 1
        self.problems.append(f"{place}: {message}")

    def add(self, other: EvaluationReport) -> None:
        """Take in what became of more rows."""
        self.rows.update(other.rows)
        self.problems += other.problems
        self.forgotten += other.forgotten
        self.notes += other.notes
