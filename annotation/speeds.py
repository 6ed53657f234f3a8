"""How long people take for an item, beside others who do the same work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import F

from annotation.models import LabelAction, LabelerRole, LabelVersion
from annotation.pace import FEWEST_TIMED, speed_of
from lseval.models import Study


@dataclass(frozen=True, slots=True)
class Speed:
    """How long a person takes for items of one kind: `verdict` is fast, slow or empty.

    `others_median_s` is that of everybody else in the audit, or with `is_of_study` in all audits of the study; None
    where nobody else has done enough.
    """

    kind: str
    timed: int
    median_s: float
    others_median_s: float | None
    is_of_study: bool = False

    @property
    def verdict(self) -> str:
        return speed_of(self.kind, self.median_s, self.timed, self.others_median_s)


@dataclass(frozen=True, slots=True)
class _Times:
    """The seconds of one person's labels of one kind in one queue. `work` is what is comparable: the kind of item,
    and whether it is adjudicated, which takes longer."""

    queue: int
    audit: int
    user: int
    kind: str
    work: tuple[str, bool]
    seconds: list[float]


def speeds_of(study: Study) -> dict[tuple[int, int], tuple[Speed, ...]]:
    """(queue id, user id) to how fast the person labels each kind of item; people only. One query."""
    by_work: dict[tuple[str, bool], list[_Times]] = defaultdict(list)
    for times in _times_of(study):
        by_work[times.work].append(times)
    found: dict[tuple[int, int], list[Speed]] = defaultdict(list)
    for alike in by_work.values():
        for own in alike:
            found[own.queue, own.user].append(_speed(own, alike))
    return {key: tuple(sorted(speeds, key=lambda speed: speed.kind)) for key, speeds in found.items()}


def _times_of(study: Study) -> Iterable[_Times]:
    rows = (
        LabelVersion.objects.filter(
            slot__queue__audit__study=study,
            slot__queue__is_simulated=False,
            number=F("slot__version"),
            action=LabelAction.LABEL,
            seconds_on_task__isnull=False,
        )
        .order_by()
        .values_list("slot__queue_id", "slot__queue__audit_id", "slot__queue__role", "user_id", "slot__item__kind")
        .annotate(seconds=ArrayAgg("seconds_on_task"))
    )
    for queue, audit, role, user, kind, seconds in rows:
        yield _Times(queue, audit, user, kind, (kind, role == LabelerRole.ADJUDICATOR), seconds)


def _speed(own: _Times, alike: Iterable[_Times]) -> Speed:
    in_study: list[float] = []
    in_audit: list[float] = []
    for times in alike:
        if times.user != own.user:
            in_study += times.seconds
            in_audit += times.seconds if times.audit == own.audit else []
    others, is_of_study = (in_audit, False) if len(in_audit) >= FEWEST_TIMED else (in_study, True)
    median_s = median(others) if len(others) >= FEWEST_TIMED else None
    return Speed(own.kind, len(own.seconds), median(own.seconds), median_s, is_of_study and median_s is not None)
