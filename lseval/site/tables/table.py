"""What a table is before anybody prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lseval.site.tables.cells import Cell

Align = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `key` in files, `title` on paper, its unit, and the group of columns that it stands under."""

    key: str
    title: str
    unit: str = ""
    align: Align = "right"
    group: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a study.

    `number` is the paper's (`A3`), `rows` hold a cell a column, and `notes` say what it rests on. The last
    `totals` rows are sums of those above. `is_simulated` says that labels in it were given by no person.
    """

    key: str
    number: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default_factory=tuple)
    totals: int = 0
    is_simulated: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise AssertionError(f"table {self.key}: {len(row)} cells under {len(self.columns)} columns")

    @property
    def title(self) -> str:
        """`Table A3`, or empty for a table that the paper does not have."""
        return f"Table {self.number}" if self.number else ""

    @property
    def body(self) -> Sequence[Sequence[Cell]]:
        """The rows above the sums."""
        return self.rows[: len(self.rows) - self.totals]

    @property
    def foot(self) -> Sequence[Sequence[Cell]]:
        """The sums."""
        return self.rows[len(self.rows) - self.totals :]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The spanning heads as (words, columns); empty where no column has a group."""
        if not any(column.group for column in self.columns):
            return []
        found: list[tuple[str, int]] = []
        for column in self.columns:
            if found and found[-1][0] == column.group:
                found[-1] = (column.group, found[-1][1] + 1)
            else:
                found.append((column.group, 1))
        return found

    @property
    def undefined(self) -> list[str]:
        """Why numbers of the table do not exist, each reason once."""
        reasons: dict[str, None] = {}
        for row in self.rows:
            for cell in row:
                if cell.is_undefined:
                    reasons[cell.reason] = None
        return list(reasons)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able; rows as {column key: cell}."""
        return {
            "key": self.key,
            "number": self.number,
            "caption": self.caption,
            "is_simulated": self.is_simulated,
            "columns": [
                {"key": column.key, "title": column.title, "unit": column.unit, "group": column.group}
                for column in self.columns
            ],
            "rows": [
                {column.key: cell.as_dict() for column, cell in zip(self.columns, row, strict=True)}
                for row in self.rows
            ],
            "totals": self.totals,
            "notes": [*self.notes],
        }
