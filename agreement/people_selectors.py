"""Who labeled what, when, and in how long: the people behind the labels of an audit."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median

from django.db.models import Q

from agreement.selectors import SIMULATED, labels_in_force
from agreement.stats.people import Labelling
from annotation.models import Audit, ItemKind, LabelerRole


@dataclass(frozen=True, slots=True)
class Work:
    """What one person did on one kind of item in one role: labels in force, and the time they took.

    `timed` of the labels have a recorded time on task; `seconds` is their sum, `median_seconds` None without any.
    """

    person: str
    role: str
    kind: str
    labels: int
    timed: int
    seconds: float
    median_seconds: float | None


@dataclass(frozen=True, slots=True)
class PeoplesWork:
    """Every person's labels of answer groups in the order they were given, and how much each did of each kind."""

    labellings: list[Labelling]
    work: list[Work]

    @property
    def adjudicated(self) -> int:
        """Answer groups with a label in force by an adjudicator."""
        return sum(entry.role == LabelerRole.ADJUDICATOR for entry in self.labellings)


def peoples_work(audit: Audit, source: str) -> PeoplesWork:
    """The labels in force of an audit with who gave them. Several people may share a role. One query."""
    rows = (
        labels_in_force(Q(slot__queue__audit=audit, slot__queue__is_simulated=source == SIMULATED))
        .order_by("created_at", "id")
        .values_list(
            "user__username",
            "slot__queue__role",
            "slot__item__kind",
            "slot__item_id",
            "slot__item__run__task__key",
            "label",
            "seconds_on_task",
        )
    )
    labellings: list[Labelling] = []
    given: dict[str, int] = defaultdict(int)
    times: dict[tuple[str, str, str], list[float | None]] = defaultdict(list)
    for person, role, kind, item_id, task, label, seconds in rows:
        times[role, person, kind].append(seconds)
        if kind == ItemKind.GROUP:
            given[person] += 1
            labellings.append(Labelling(str(item_id), task, person, role.lower(), label, given[person], seconds))
    return PeoplesWork(labellings, [_work(*key, taken) for key, taken in sorted(times.items())])


def _work(role: str, person: str, kind: str, taken: list[float | None]) -> Work:
    known = [seconds for seconds in taken if seconds is not None]
    return Work(person, role, kind, len(taken), len(known), sum(known), median(known) if known else None)


def automatic_labels(audit: Audit) -> dict[str, str]:
    """The automatic label of each answer group of the audit by item, unjudged ones left out. One query."""
    rows = audit.items.filter(kind=ItemKind.GROUP, group__verdict__label__in=("C", "I", "U"))
    return {str(pk): label for pk, label in rows.values_list("id", "group__verdict__label")}
