"""What leads and researchers see of audits. Labelers' pages never use this file; see `labeler_selectors`."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, OuterRef, Q, Subquery, Sum, Window
from django.db.models.functions import Now, RowNumber

from annotation.adjudication_selectors import settled_slots
from annotation.models import (
    Audit,
    AuditEvent,
    Extension,
    Flag,
    Item,
    ItemKind,
    LabelAction,
    LabelerRole,
    LabelVersion,
    Lease,
    Queue,
    Seat,
    Slot,
    SlotStatus,
)
from annotation.pace import AgreementSoFar, Pace
from annotation.sampling import FrameRun
from annotation.slot_counts import by_status, slot_counts
from annotation.speeds import Speed, speeds_of
from lseval.models import AnswerGroup, Link, Membership, Role, Round, Run, Study, User


@dataclass(frozen=True, slots=True)
class PersonProgress:
    """What one person has decided in a queue. `flagged` counts their flags that stand."""

    user_id: int
    username: str
    labeled: int
    skipped: int
    flagged: int
    late: int
    pace: Pace
    speeds: tuple[Speed, ...]
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class HeldItem:
    """An open item that somebody holds now."""

    slot_id: int
    name: str
    username: str
    leased_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """A queue in numbers. `leased` counts open items that somebody holds now; it is part of `open`.

    `people` have a place in it; `left` had one and have labeled. `flagged` counts items with a flag that stands.
    `settled` counts disagreements that the labelers have settled themselves; they are in no other count.
    """

    queue: Queue
    labeled: int
    skipped: int
    open: int
    settled: int
    flagged: int
    people: tuple[PersonProgress, ...]
    left: tuple[PersonProgress, ...]
    held: tuple[HeldItem, ...]

    @property
    def total(self) -> int:
        return self.labeled + self.skipped + self.open

    @property
    def decided(self) -> int:
        return self.labeled + self.skipped

    @property
    def leased(self) -> int:
        return len(self.held)

    @property
    def pace(self) -> Pace:
        """That of everybody who has decided something here."""
        everybody = [*self.people, *self.left]
        return Pace(sum(who.pace.timed for who in everybody), sum(who.pace.seconds for who in everybody))


@dataclass(frozen=True, slots=True)
class AuditProgress:
    """An audit with what all its draws together hold, and its queues, people's before simulated ones.

    `items` counts by kind; `tasks` and `responses` are those whose answer groups it holds.
    """

    audit: Audit
    items: dict[str, int]
    tasks: int
    responses: int
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
        FrameRun(pk, task, name, family or name, tuple(groups[pk]), tuple(rounds[pk]), tuple(links[pk]))
        for pk, task, family, name in runs.values_list("pk", "task__key", "model__family", "model__name")
    ]


def _by_run(rows: Any, field: str) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for run_id, value in rows.values_list("run_id", field):
        found[run_id].append(value)
    return found


def audits_of(study: Study, audit_id: int | None = None) -> list[AuditProgress]:
    """The study's audits, newest first, with the progress of every queue; or the one with that id.

    The number of queries does not depend on how much there is.
    """
    audits = list(study.audits.select_related("created_by").order_by("-id"))
    if audit_id is not None:
        audits = [audit for audit in audits if audit.pk == audit_id]
    queues = list(Queue.objects.filter(audit__in=audits).order_by("is_simulated", "role"))
    statuses = {queue: by_status(counts) for queue, counts in slot_counts(queues).items()}
    held = _held(queues)
    flags = flags_that_stand(queues)
    people = _people(study, queues, Counter((flag.slot.queue_id, flag.user_id) for flag in flags))
    flagged_slots = Counter(queue_id for queue_id, _ in {(flag.slot.queue_id, flag.slot_id) for flag in flags})
    seated = set(Seat.objects.filter(queue__in=queues).values_list("queue_id", "user_id"))
    settled = Counter(settled_slots(queues).values())
    items = _items_of(audits)
    by_audit: dict[int, list[QueueProgress]] = defaultdict(list)
    for queue in queues:
        counts = statuses[queue.pk]
        by_audit[queue.audit_id].append(
            QueueProgress(
                queue=queue,
                labeled=counts[SlotStatus.LABELED],
                skipped=counts[SlotStatus.SKIPPED],
                open=counts[SlotStatus.OPEN] - settled[queue.pk],
                settled=settled[queue.pk],
                flagged=flagged_slots[queue.pk],
                people=tuple(who for who in people[queue.pk] if (queue.pk, who.user_id) in seated),
                left=tuple(who for who in people[queue.pk] if (queue.pk, who.user_id) not in seated),
                held=tuple(held[queue.pk]),
            )
        )
    return [AuditProgress(audit, *items[audit.pk], tuple(by_audit[audit.pk])) for audit in audits]


def _items_of(audits: list[Audit]) -> dict[int, tuple[dict[str, int], int, int]]:
    """Audit id to its items by kind, its tasks and its responses, over all draws. One query."""
    kinds: dict[int, dict[str, int]] = {audit.pk: {} for audit in audits}
    drawn: dict[int, tuple[int, int]] = {}
    rows = Item.objects.filter(audit__in=audits).order_by().values_list("audit_id", "kind")
    for of_audit, kind, number, tasks, responses in rows.annotate(
        number=Count("id"), tasks=Count("run__task", distinct=True), responses=Count("run", distinct=True)
    ):
        kinds[of_audit][kind] = number
        if kind == ItemKind.GROUP:
            drawn[of_audit] = tasks, responses
    return {pk: (of_kind, *drawn.get(pk, (0, 0))) for pk, of_kind in kinds.items()}


def _held(queues: list[Queue]) -> dict[int, list[HeldItem]]:
    """Queue id to the open items that somebody holds now, in the order in which they come free."""
    found: dict[int, list[HeldItem]] = defaultdict(list)
    leases = Lease.objects.filter(slot__queue__in=queues, slot__status=SlotStatus.OPEN, expires_at__gt=Now())
    related = ("user", "slot__item__group", "slot__item__round", "slot__item__run__task")
    for lease in leases.select_related(*related).order_by("expires_at", "id"):
        found[lease.slot.queue_id].append(
            HeldItem(
                lease.slot_id, item_name(lease.slot.item), lease.user.username, lease.leased_at, lease.expires_at
            )
        )
    return found


def item_name(item: Item) -> str:
    """An item in words, for leads: its round and group, and the task they belong to."""
    parts = [f"round {item.round.number}"] if item.round else []
    parts += [f"answer group {item.group.number}"] if item.group else []
    return f"{' and '.join(parts).capitalize()} of {item.run.task.key}"


def flags_that_stand(queues: list[Queue]) -> list[Flag]:
    """The newest flag of each person on each item, where it is not taken back; newest first."""
    newest = (
        Flag.objects.filter(slot__queue__in=queues)
        .order_by("slot_id", "user_id", "-number")
        .distinct("slot_id", "user_id")
        .select_related("user", "slot__queue", "slot__item__group", "slot__item__round", "slot__item__run__task")
    )
    return sorted((flag for flag in newest if flag.is_raised), key=lambda flag: -flag.pk)


def _people(
    study: Study, queues: list[Queue], flagged: Counter[tuple[int, int]]
) -> dict[int, list[PersonProgress]]:
    """Queue id to everybody who has a place there or has decided something, in order of name."""
    decided: Counter[tuple[int, int, str]] = Counter()
    last: dict[tuple[int, int], datetime] = {}
    timed: Counter[tuple[int, int]] = Counter()
    seconds: dict[tuple[int, int], float] = defaultdict(float)
    rows = LabelVersion.objects.filter(slot__queue__in=queues).order_by()
    in_force = rows.filter(number=F("slot__version")).exclude(action=LabelAction.UNDO)
    for queue_id, user_id, action, number, newest, with_time, took in in_force.values_list(
        "slot__queue_id", "user_id", "action"
    ).annotate(
        number=Count("id"),
        newest=Max("created_at"),
        with_time=Count("seconds_on_task"),
        took=Sum("seconds_on_task"),
    ):
        key = (queue_id, user_id)
        decided[(*key, action)] += number
        last[key] = max(newest, last.get(key, newest))
        timed[key] += with_time
        seconds[key] += took or 0.0
    late = Counter(rows.filter(is_late=True).values_list("slot__queue_id", "user_id"))
    speeds = speeds_of(study)
    keys = {*Seat.objects.filter(queue__in=queues).values_list("queue_id", "user_id"), *last, *late}
    names = dict(User.objects.filter(pk__in={user_id for _, user_id in keys}).values_list("pk", "username"))
    people: dict[int, list[PersonProgress]] = defaultdict(list)
    for key in sorted(keys, key=lambda key: names[key[1]]):
        queue_id, user_id = key
        people[queue_id].append(
            PersonProgress(
                user_id=user_id,
                username=names[user_id],
                labeled=decided[(*key, LabelAction.LABEL)],
                skipped=decided[(*key, LabelAction.SKIP)],
                flagged=flagged[key],
                late=late[key],
                pace=Pace(timed[key], seconds[key]),
                speeds=speeds.get(key, ()),
                last_at=last.get(key),
            )
        )
    return people


def agreement_so_far(audits: list[Audit]) -> dict[int, AgreementSoFar]:
    """Audit id to how often H1 and H2 chose the same label of an answer group; people's labels only."""
    of_people = LabelVersion.objects.filter(
        number=F("slot__version"),
        action=LabelAction.LABEL,
        slot__queue__is_simulated=False,
        slot__item__kind=ItemKind.GROUP,
    )
    first = of_people.filter(slot__queue__role=LabelerRole.H1, slot__item=OuterRef("slot__item"))
    second = of_people.filter(slot__queue__role=LabelerRole.H2, slot__queue__audit__in=audits)
    both = second.annotate(first=Subquery(first.values("label")[:1])).filter(first__isnull=False)
    counted = (
        both.order_by()
        .values_list("slot__queue__audit_id")
        .annotate(pairs=Count("id"), agreeing=Count("id", filter=Q(label=F("first"))))
    )
    found = {audit_id: (pairs, agreeing) for audit_id, pairs, agreeing in counted}
    planned = Counter(
        Slot.objects.filter(
            queue__audit__in=audits,
            queue__role=LabelerRole.H2,
            queue__is_simulated=False,
            item__kind=ItemKind.GROUP,
        ).values_list("queue__audit_id", flat=True)
    )
    return {
        audit.pk: AgreementSoFar(
            agreeing=found.get(audit.pk, (0, 0))[1], pairs=found.get(audit.pk, (0, 0))[0], planned=planned[audit.pk]
        )
        for audit in audits
    }


def extensions_of(audits: list[Audit]) -> dict[int, list[Extension]]:
    """Audit id to its further draws, in order."""
    found: dict[int, list[Extension]] = defaultdict(list)
    for extension in Extension.objects.filter(audit__in=audits).select_related("created_by"):
        found[extension.audit_id].append(extension)
    return found


def newest_events(audits: list[Audit], most: int = 12) -> dict[int, list[AuditEvent]]:
    """Audit id to the last things done to it, newest first."""
    found: dict[int, list[AuditEvent]] = defaultdict(list)
    place = Window(RowNumber(), partition_by="audit_id", order_by="-id")
    numbered = AuditEvent.objects.filter(audit__in=audits).annotate(place=place).filter(place__lte=most)
    for event in numbered.select_related("by").order_by("-id"):
        found[event.audit_id].append(event)
    return found


def people_to_seat(study: Study) -> list[User]:
    """The study's annotators by name: those who may be given a place in a queue, since they see no verdicts."""
    memberships = (
        Membership.objects.filter(study=study, role=Role.ANNOTATOR, user__is_simulated=False)
        .select_related("user")
        .order_by("user__username")
    )
    return [membership.user for membership in memberships]
