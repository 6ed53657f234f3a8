"""All that a labeler's pages read.

Blinding is kept here by construction: nothing in this file reaches a verdict, a judgement, a failure node, a
link, a skip rule, a model, a reference answer, or what anybody else has labeled. Only the counts of a queue are
shared. A test reads the SQL of every labeler's page and holds this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Min, Q
from django.db.models.functions import Now

from annotation.codebook import QUESTIONS
from annotation.models import (
    AuditStatus,
    Flag,
    Item,
    LabelAction,
    LabelerRole,
    LabelVersion,
    Lease,
    Queue,
    Seat,
    Slot,
    SlotStatus,
)
from lseval.models import Study, User

_KIND_OF_STAGE = tuple(QUESTIONS)
"""A slot's stage counts the kinds in the order in which a labeler meets them."""

RECENT_DECISIONS = 10
"""How many of a person's last decisions they may still change."""


@dataclass(frozen=True, slots=True)
class Stage:
    """How far the items of one kind are done in a queue."""

    kind: str
    title: str
    done: int
    skipped: int
    total: int

    @property
    def decided(self) -> int:
        return self.done + self.skipped


@dataclass(frozen=True, slots=True)
class Progress:
    """A queue's stages up to the one that is worked on.

    Later stages are left out: how many links there are tells what the machine made of the groups, so nobody learns
    it before the groups are labeled.
    """

    stages: tuple[Stage, ...]
    has_more: bool

    @property
    def current(self) -> Stage | None:
        """The stage that is worked on; the last one where all is decided, None in a queue with no items."""
        return self.stages[-1] if self.stages else None

    @property
    def is_finished(self) -> bool:
        return not self.has_more and all(stage.decided == stage.total for stage in self.stages)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why there is nothing to label now: `reason` is finished, in_work, paused, closed or empty.

    `leased` counts the items that others are working on, `back_at` is when the first of them comes free at the
    latest.
    """

    reason: str
    leased: int = 0
    back_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class QueueCard:
    """A person's queue as their list of queues shows it."""

    queue: Queue
    progress: Progress
    own_decisions: int


@dataclass(frozen=True, slots=True)
class Decision:
    """One of the person's own last decisions."""

    slot: Slot
    version: LabelVersion
    name: str


def seat_of(user: User, queue_id: int) -> Seat | None:
    """The person's seat in the queue with its audit and study, or None."""
    seat = Seat.objects.select_related("queue", "audit__study").filter(user=user, queue_id=queue_id).first()
    if seat is not None:
        # What is known already need not be read again.
        seat.user, seat.queue.audit = user, seat.audit
    return seat


def queues_of(user: User, study: Study) -> list[QueueCard]:
    """The person's queues in a study, newest audit first."""
    seats = Seat.objects.filter(user=user, audit__study=study).select_related("queue__audit").order_by("-audit_id")
    queues = [seat.queue for seat in seats]
    counts = _counts(queues)
    own = Counter(
        LabelVersion.objects.filter(
            user=user, slot__queue__in=queues, number=F("slot__version"), action=LabelAction.LABEL
        ).values_list("slot__queue_id", flat=True)
    )
    return [QueueCard(queue, _progress(counts[queue.pk]), own[queue.pk]) for queue in queues]


def progress_of(queue: Queue) -> Progress:
    """How far the queue is, whoever of its role did it."""
    return _progress(_counts([queue])[queue.pk])


def _counts(queues: list[Queue]) -> dict[int, Counter[tuple[str, str]]]:
    found: dict[int, Counter[tuple[str, str]]] = {queue.pk: Counter() for queue in queues}
    rows = Slot.objects.filter(queue__in=queues).order_by().values_list("queue_id", "stage", "status")
    for queue_id, stage, status, number in rows.annotate(number=Count("id")):
        found[queue_id][_KIND_OF_STAGE[stage], status] = number
    return found


def _progress(counts: Mapping[tuple[str, str], int]) -> Progress:
    stages: list[Stage] = []
    kinds = [kind for kind in QUESTIONS if any(counts.get((kind, status)) for status in SlotStatus)]
    for kind in kinds:
        done, skipped, still_open = (
            counts.get((kind, status), 0) for status in (SlotStatus.LABELED, SlotStatus.SKIPPED, SlotStatus.OPEN)
        )
        stages.append(Stage(kind, QUESTIONS[kind].title, done, skipped, done + skipped + still_open))
        if still_open:
            break
    return Progress(tuple(stages), has_more=len(stages) < len(kinds))


def waiting_in(queue: Queue) -> Waiting:
    """Why nobody can be given an item of the queue now."""
    if queue.audit.status != AuditStatus.OPEN:
        return Waiting(queue.audit.status)
    counts = Counter(Slot.objects.filter(queue=queue).values_list("status", flat=True))
    if not counts:
        return Waiting("empty")
    if not counts[SlotStatus.OPEN]:
        return Waiting("finished")
    leases = Lease.objects.filter(slot__queue=queue, slot__status=SlotStatus.OPEN, expires_at__gt=Now())
    found = leases.aggregate(number=Count("id"), first=Min("expires_at"))
    return Waiting("in_work", found["number"], found["first"])


def own_slot(seat: Seat, slot: Slot) -> Slot | None:
    """The slot where the person may open it: one that they hold, or one of their last ten decisions; else None."""
    if slot.status == SlotStatus.OPEN:
        return slot if Lease.objects.filter(slot=slot, user_id=seat.user_id).exists() else None
    return slot if slot.pk in {decision.slot.pk for decision in recent_decisions(seat)} else None


def recent_decisions(seat: Seat, most: int = RECENT_DECISIONS) -> list[Decision]:
    """The person's own last decisions that are in force, newest first."""
    versions = (
        LabelVersion.objects.filter(
            Q(action=LabelAction.LABEL) | Q(action=LabelAction.SKIP),
            user_id=seat.user_id,
            slot__queue_id=seat.queue_id,
            number=F("slot__version"),
        )
        .select_related("slot__item__group", "slot__item__round")
        .only(
            "action",
            "label",
            "error_type",
            "comment",
            "created_at",
            "number",
            "slot__queue_id",
            "slot__position",
            "slot__status",
            "slot__version",
            "slot__item__kind",
            "slot__item__group__number",
            "slot__item__group__title",
            "slot__item__round__number",
        )
        .order_by("-id")[:most]
    )
    return [Decision(version.slot, version, _name(version.slot.item)) for version in versions]


def _name(item: Item) -> str:
    names = [f"Round {item.round.number}"] if item.round else []
    names += [item.group.title or f"Answer group {item.group.number}"] if item.group else []
    return " and ".join(names)


def own_version(slot: Slot, user_id: int) -> LabelVersion | None:
    """The version in force where it is the person's own decision, else None."""
    if not slot.version:
        return None
    return slot.versions.filter(
        number=slot.version, user_id=user_id, action__in=[LabelAction.LABEL, LabelAction.SKIP]
    ).first()


def last_decision(seat: Seat) -> LabelVersion | None:
    """The person's newest decision in the queue that they have not undone; undo acts on this one.

    One that could not be undone, because the item was beyond their reach by then, is passed over from then on.
    """
    decisions = LabelVersion.objects.filter(
        Q(is_late=False) | Q(action=LabelAction.UNDO), user_id=seat.user_id, slot__queue_id=seat.queue_id
    ).order_by("-id")
    undone: set[int] = set()
    for version in decisions.only("id", "slot_id", "action", "number", "user_id")[: 4 * RECENT_DECISIONS]:
        if version.action == LabelAction.UNDO:
            undone.add(version.slot_id)
        elif version.slot_id not in undone:
            return version
    return None


def own_flag(slot_id: int, user_id: int) -> Flag | None:
    """The newest thing that the person did with a flag on the slot, or None."""
    return Flag.objects.filter(slot_id=slot_id, user_id=user_id).order_by("-number").first()


def is_adjudicated(slot: Slot) -> bool:
    """Whether an adjudicator has decided the slot's item. What they decided is not read."""
    adjudicated = Slot.objects.filter(
        item_id=slot.item_id, queue__role=LabelerRole.ADJUDICATOR, queue__is_simulated=False
    )
    return adjudicated.exclude(status=SlotStatus.OPEN).exists()
