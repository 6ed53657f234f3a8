"""The rows of an audit in a file, together, and whether they can be an audit at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from annotation.audit_rows import AUDIT, DRAW, EVENT, FLAG, ITEM, QUEUE, REVEAL, SLOT, AuditRow, ItemRow
from annotation.services import LABELER_ROLES
from lseval.pipeline.evaluation_import.files import PlacedRow

_KINDS: Final = (AUDIT, DRAW, QUEUE, ITEM, SLOT, FLAG, REVEAL, EVENT)
_COUNTED: Final = (("items", ITEM), ("slots", SLOT), ("flags", FLAG), ("reveals", REVEAL), ("events", EVENT))

Refuse = Callable[[str, str], None]
"""Called with where a row stands and why it is refused."""
QueueName = tuple[str, bool]
Target = tuple[str, str, str, int | None, int | None]


@dataclass(slots=True)
class AuditTold:
    """The rows of one audit by kind, each with where it stands."""

    name: str
    rows: dict[str, list[PlacedRow]] = field(default_factory=lambda: {kind: [] for kind in _KINDS})

    @property
    def head(self) -> AuditRow:
        """The row of the audit itself, where there is one."""
        found: AuditRow = self.rows[AUDIT][0].row
        return found

    @property
    def place(self) -> str:
        """Where a refusal of the audit as a whole is told: its own row, else its first."""
        return next(placed.place for kind in _KINDS for placed in self.rows[kind])

    @property
    def marks(self) -> int:
        """How many flags and reveals there are."""
        return len(self.rows[FLAG]) + len(self.rows[REVEAL])

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))


def check_told(told: AuditTold, refuse: Refuse) -> None:
    """Refuse what cannot be an audit, whatever the study has: rows that are lacking, double or name nothing."""
    if len(told.rows[AUDIT]) != 1:
        for placed in told.rows[AUDIT][1:]:
            refuse(placed.place, f"{told.rows[AUDIT][0].place} is of the same audit")
        if not told.rows[AUDIT]:
            refuse(told.place, f"there is no row of the audit {told.name!r} itself")
        return
    for what, kind in _COUNTED:
        if (count := getattr(told.head, what)) != (there := len(told.rows[kind])):
            refuse(told.place, f"the audit has {count} {what} and the file holds {there}: export it again")
    _check_draws(told, refuse)
    _once(told.rows[QUEUE], lambda row: (row.role, row.is_simulated), "queue", refuse)
    _once(told.rows[ITEM], lambda row: row.item_id, "item_id", refuse)
    _once(told.rows[ITEM], target_of, "item", refuse)
    _once(told.rows[SLOT], _slot, "place in a queue", refuse)
    _once(told.rows[SLOT], lambda row: (row.role, row.is_simulated, row.item_id), "item in a queue", refuse)
    _check_queues(told, refuse)
    _check_marks(told, refuse)


def _check_draws(told: AuditTold, refuse: Refuse) -> None:
    for number, placed in enumerate(told.rows[DRAW], 2):
        if placed.row.draw != number:
            refuse(
                placed.place, f"draws are numbered from 2 without a gap; this is {placed.row.draw}, not {number}"
            )
    last = len(told.rows[DRAW]) + 1
    for placed in told.rows[ITEM]:
        if placed.row.draw > last:
            refuse(placed.place, f"the audit has {last} draws, and the item came with draw {placed.row.draw}")


def _check_queues(told: AuditTold, refuse: Refuse) -> None:
    queues = {(placed.row.role, placed.row.is_simulated) for placed in told.rows[QUEUE]}
    for role in LABELER_ROLES:
        if (role, False) not in queues:
            refuse(told.place, f"the audit has no queue of {role}")
    for placed in told.rows[QUEUE]:
        if placed.row.is_simulated and placed.row.role not in LABELER_ROLES:
            refuse(placed.place, "nobody adjudicates simulated labels")
    items = {placed.row.item_id for placed in told.rows[ITEM]}
    last: Counter[QueueName] = Counter()
    for placed in sorted(told.rows[SLOT], key=lambda placed: placed.row.position):
        row, name = placed.row, (placed.row.role, placed.row.is_simulated)
        if name not in queues:
            refuse(placed.place, f"the audit has no queue of {_called(name)}")
        elif row.item_id not in items:
            refuse(placed.place, f"the audit has no item with the item_id {row.item_id}")
        elif row.position != last[name] + 1 and row.role in LABELER_ROLES:
            # Adjudicators' places may have gaps, where labels came to agree.
            refuse(placed.place, f"place {last[name] + 1} of {_called(name)} is lacking before {row.position}")
        last[name] = row.position


def _check_marks(told: AuditTold, refuse: Refuse) -> None:
    _once(told.rows[REVEAL], lambda row: (_slot(row), row.labeler), "reveal", refuse)
    before: Counter[Any] = Counter()
    for place, row in sorted(told.rows[FLAG], key=lambda placed: placed.row.number):
        before[_slot(row), row.labeler] += 1
        if row.number != before[_slot(row), row.labeler]:
            refuse(place, "a person's flags on an item are numbered from 1 without a gap")
    slots = {_slot(placed.row) for placed in told.rows[SLOT]}
    for place, row in (*told.rows[FLAG], *told.rows[REVEAL]):
        if row.is_simulated:
            refuse(place, "simulated labelers flag nothing, and are shown nothing")
        elif _slot(row) not in slots:
            refuse(place, f"{row.role} has no place {row.position}")


def _slot(row: Any) -> tuple[str, bool, int]:
    return row.role, row.is_simulated, row.position


def _once(rows: Sequence[PlacedRow], key: Callable[[Any], Any], what: str, refuse: Refuse) -> None:
    seen: dict[Any, str] = {}
    for place, row in rows:
        if (before := seen.setdefault(key(row), place)) != place:
            refuse(place, f"{before} is of the same {what}")


def _called(name: QueueName) -> str:
    return f"{name[0]} (simulated)" if name[1] else name[0]


def target_of(row: ItemRow) -> Target:
    """What an item is about, by what names it in any database."""
    return row.kind, row.task_key, row.model, row.group_number, row.round_number
