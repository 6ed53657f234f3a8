"""What leads and researchers see of audits. Labelers' pages never use this file; see `labeler_selectors`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max
from django.db.models.functions import Now

from annotation.models import Audit, Item, LabelAction, LabelVersion, Lease, Queue, Seat, Slot, SlotStatus
from annotation.sampling import FrameRun
from lseval.models import AnswerGroup, Link, Membership, Role, Round, Run, Study, User


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """What one person has decided in a queue."""

    username: str
    labeled: int
    skipped: int
    late: int
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """A queue in numbers. `leased` counts open items that somebody holds now; it is part of `open`."""

    queue: Queue
    labeled: int
    skipped: int
    open: int
    leased: int
    people: tuple[PersonProgress, ...]

    @property
    def total(self) -> int:
        return self.labeled + self.skipped + self.open

    @property
    def decided(self) -> int:
        return self.labeled + self.skipped


@dataclass(frozen=True, slots=True)
class AuditProgress:
    """An audit with its items by kind and its queues, people's before simulated ones."""

    audit: Audit
    items: dict[str, int]
    queues: tuple[QueueProgress, ...]


def frame_of(study: Study) -> list[FrameRun]:
    """Every run of a study as the draw sees it. A model without a family is a family of its own."""
    runs = Run.objects.filter(study=study).order_by("id")
    groups = _by_run(AnswerGroup.objects.filter(run__study=study).order_by("run_id", "number"), "pk")
    rounds = _by_run(Round.objects.filter(run__study=study).order_by("run_id", "number"), "pk")
    links: dict[int, list[tuple[int, int]]] = defaultdict(list)
    found = Link.objects.filter(run__study=study).order_by("run_id", "round__number", "group__number")
    for run_id, round_id, group_id in found.values_list("run_id", "round_id", "group_id"):
        links[run_id].append((round_id, group_id))
    return [
        FrameRun(pk, task, family or name, tuple(groups[pk]), tuple(rounds[pk]), tuple(links[pk]))
        for pk, task, family, name in runs.values_list("pk", "task_id", "model__family", "model__name")
    ]


def _by_run(rows: Any, field: str) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for run_id, value in rows.values_list("run_id", field):
        found[run_id].append(value)
    return found


def audits_of(study: Study) -> list[AuditProgress]:
    """The study's audits, newest first, with the progress of every queue. Six queries, however many there are."""
    audits = list(study.audits.select_related("created_by").order_by("-id"))
    queues = list(Queue.objects.filter(audit__in=audits).order_by("is_simulated", "role"))
    statuses = _status_counts(queues)
    leased = Counter(
        Lease.objects.filter(
            slot__queue__in=queues, slot__status=SlotStatus.OPEN, expires_at__gt=Now()
        ).values_list("slot__queue_id", flat=True)
    )
    people = _people(study, queues)
    kinds: dict[int, dict[str, int]] = defaultdict(dict)
    counted = Item.objects.filter(audit__in=audits).order_by()
    for audit_id, kind, number in counted.values_list("audit_id", "kind").annotate(number=Count("id")):
        kinds[audit_id][kind] = number
    by_audit: dict[int, list[QueueProgress]] = defaultdict(list)
    for queue in queues:
        counts = statuses[queue.pk]
        by_audit[queue.audit_id].append(
            QueueProgress(
                queue=queue,
                labeled=counts[SlotStatus.LABELED],
                skipped=counts[SlotStatus.SKIPPED],
                open=counts[SlotStatus.OPEN],
                leased=leased[queue.pk],
                people=tuple(people[queue.pk]),
            )
        )
    return [AuditProgress(audit, kinds[audit.pk], tuple(by_audit[audit.pk])) for audit in audits]


def _status_counts(queues: Iterable[Queue]) -> dict[int, Counter[str]]:
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    rows = Slot.objects.filter(queue__in=list(queues)).order_by().values_list("queue_id", "status")
    for queue_id, status, number in rows.annotate(number=Count("id")):
        counts[queue_id][status] = number
    return counts


def _people(study: Study, queues: list[Queue]) -> dict[int, list[PersonProgress]]:
    """Queue id to its seated people in order of name, with what they have decided."""
    decided: Counter[tuple[int, int, str]] = Counter()
    last: dict[tuple[int, int], datetime] = {}
    rows = LabelVersion.objects.filter(slot__queue__in=queues).order_by()
    in_force = rows.filter(number=F("slot__version")).exclude(action=LabelAction.UNDO)
    for queue_id, user_id, action, number, newest in in_force.values_list(
        "slot__queue_id", "user_id", "action"
    ).annotate(number=Count("id"), newest=Max("created_at")):
        decided[queue_id, user_id, action] = number
        last[queue_id, user_id] = max(newest, last.get((queue_id, user_id), newest))
    late = Counter(rows.filter(is_late=True).values_list("slot__queue_id", "user_id"))
    people: dict[int, list[PersonProgress]] = defaultdict(list)
    for seat in Seat.objects.filter(queue__in=queues).select_related("user").order_by("user__username"):
        key = (seat.queue_id, seat.user_id)
        people[seat.queue_id].append(
            PersonProgress(
                username=seat.user.username,
                labeled=decided[(*key, LabelAction.LABEL)],
                skipped=decided[(*key, LabelAction.SKIP)],
                late=late[key],
                last_at=last.get(key),
            )
        )
    return people


def people_to_seat(study: Study) -> list[User]:
    """The study's annotators by name: those who may be given a place in a queue, since they see no verdicts."""
    memberships = (
        Membership.objects.filter(study=study, role=Role.ANNOTATOR, user__is_simulated=False)
        .select_related("user")
        .order_by("user__username")
    )
    return [membership.user for membership in memberships]
