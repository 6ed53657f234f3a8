"""All that a labeler's pages read.

Blinding is kept here by construction: nothing in this file reaches a verdict, a judgement, a failure node, a
link, a skip rule, a model, a reference answer, or what anybody else has labeled. Only the counts of a queue are
shared. A test reads the SQL of every labeler's page and holds this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Exists, F, Min, OuterRef, Q
from django.db.models.functions import Now

from annotation.codebook import QUESTIONS
from annotation.evidence import ItemShown, item_in, shown_of
from annotation.leases import LINK_STAGE, SERVED_ITEM, SERVED_SLOT
from annotation.models import (
    Audit,
    AuditStatus,
    Flag,
    LabelAction,
    LabelerRole,
    LabelVersion,
    Lease,
    Queue,
    Seat,
    Slot,
    SlotStatus,
)
from annotation.pace import Pace
from annotation.slot_counts import by_status, slot_counts
from lseval.models import Study, User
from lseval.plain_sql import LARGEST_ID, Columns, Rows, Statement, row_of, rows_of, rows_of_each
from lseval.reading_along import Reading

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
    """One of the person's own last decisions, on an item of a kind, with the item's name in words."""

    slot_id: int
    kind: str
    version: LabelVersion
    name: str


_SEAT: Final = Columns(Seat, "seat")
_QUEUE: Final = Columns(Queue, "queue")
_AUDIT: Final = Columns(Audit, "audit", without=["plan", "frame"])
SEAT_COLUMNS: Final = f"{_SEAT}, {_QUEUE}, {_AUDIT}"
"""What `seat_from` takes, of the tables `seat`, `queue` and `audit` as a statement names them."""
_STUDY: Final = Columns(Study, "study", only=["id", "slug", "name", "is_demo"])
_SEATED: Final = Statement(f"""
SELECT (
        SELECT membership.role FROM lseval_membership membership
        WHERE membership.study_id = study.id AND membership.user_id = seat.user_id
    ), {_STUDY}, {SEAT_COLUMNS}
FROM annotation_seat seat
JOIN annotation_queue queue ON queue.id = seat.queue_id
JOIN annotation_audit audit ON audit.id = seat.audit_id
JOIN lseval_study study ON study.id = audit.study_id
WHERE seat.user_id = %(user)s AND seat.queue_id = %(queue)s
""")  # noqa: S608 - column names


def seated(user: User, queue_id: int, along: Sequence[Rows] | None = None) -> tuple[Seat, str | None] | None:
    """The person's seat in the queue, with its audit and study, and their role in the study; None without one.

    `along` are the rows of `seat_reading`, where they have been read.
    """
    rows = along[0] if along is not None else []
    # An address can name a number that the database has no room for.
    if along is None and queue_id <= LARGEST_ID:
        rows = rows_of(_SEATED, {"user": user.pk, "queue": queue_id})
    if not rows:
        return None
    seat = seat_from(rows[0], 1 + len(_STUDY))
    seat.user, seat.audit.study = user, _STUDY.of(rows[0], 1)
    return seat, rows[0][0]


def seat_from(row: Sequence[Any], at: int = 0) -> Seat:
    """The seat with its queue and audit that a row holds from its place `at` on."""
    seat: Seat = _SEAT.of(row, at)
    seat.queue = _QUEUE.of(row, at + len(_SEAT))
    seat.audit = seat.queue.audit = _AUDIT.of(row, at + len(_SEAT) + len(_QUEUE))
    return seat


def seat_of(user: User, queue_id: int) -> Seat | None:
    """The person's seat in the queue with its audit and study, or None."""
    found = seated(user, queue_id)
    return found[0] if found else None


def queues_of(user: User, study: Study) -> list[QueueCard]:
    """The person's queues in a study, newest audit first."""
    seats = Seat.objects.filter(user=user, audit__study=study).select_related("queue__audit").order_by("-audit_id")
    queues = [seat.queue for seat in seats]
    counts = slot_counts(queues)
    own = Counter(
        LabelVersion.objects.filter(
            user=user, slot__queue__in=queues, number=F("slot__version"), action=LabelAction.LABEL
        ).values_list("slot__queue_id", flat=True)
    )
    return [QueueCard(queue, _progress(_by_kind(counts[queue.pk])), own[queue.pk]) for queue in queues]


def progress_of(queue: Queue) -> Progress:
    """How far the queue is, whoever of its role did it."""
    return _progress_in(rows_of(_HOW_FAR, {"queue": queue.pk}))


def _progress_in(rows: Iterable[tuple[Any, ...]]) -> Progress:
    counts: dict[tuple[str, str], int] = {}
    for stage, labeled, skipped, still_open in rows:
        kind = _KIND_OF_STAGE[stage]
        counts[kind, SlotStatus.LABELED] = labeled
        counts[kind, SlotStatus.SKIPPED] = skipped
        counts[kind, SlotStatus.OPEN] = still_open
    return _progress(counts)


_HOW_FAR: Final = Statement("""
SELECT stage, sum(total) - sum(skipped) - sum(still_open), sum(skipped), sum(still_open)
FROM annotation_slotcount WHERE queue_id = %(queue)s GROUP BY stage
""")


def _by_kind(counts: Mapping[tuple[int, str], int]) -> dict[tuple[str, str], int]:
    return {(_KIND_OF_STAGE[stage], status): number for (stage, status), number in counts.items()}


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
    counts = by_status(slot_counts([queue])[queue.pk])
    if not counts.total():
        return Waiting("empty")
    if not counts[SlotStatus.OPEN]:
        return Waiting("finished")
    leases = Lease.objects.filter(slot__queue=queue, slot__status=SlotStatus.OPEN, expires_at__gt=Now())
    found = leases.aggregate(number=Count("id"), first=Min("expires_at"))
    return Waiting("in_work", found["number"], found["first"])


_SLOT: Final = Columns(Slot, "slot")
_SLOT_OF_QUEUE: Final = Statement(f"""
SELECT {_SLOT} FROM annotation_slot slot WHERE slot.id = %(slot)s AND slot.queue_id = %(queue)s
""")  # noqa: S608 - column names


def slot_of_queue(queue_id: int, slot_id: int, along: Sequence[Rows] | None = None) -> Slot | None:
    """The slot of a queue; None where the queue has no such slot. `along` as for `seated`."""
    if along is not None and len(along) > 1:
        rows = along[1]
    else:
        rows = rows_of(_SLOT_OF_QUEUE, {"slot": slot_id, "queue": queue_id})
    return _SLOT.of(rows[0]) if rows else None


def seat_reading(queue_id: int, slot_id: int | None) -> Reading:
    """What `seated` reads, and `slot_of_queue` for a slot: to be read along with the session."""
    given = {"queue": min(queue_id, LARGEST_ID), "slot": slot_id}
    return Reading((_SEATED,), given) if slot_id is None else Reading((_SEATED, _SLOT_OF_QUEUE), given)


def own_slot(seat: Seat, slot: Slot) -> Slot | None:
    """The slot where the person may open it: one that they hold, or one of their last ten decisions; else None."""
    if slot.status == SlotStatus.OPEN:
        return slot if Lease.objects.filter(slot=slot, user_id=seat.user_id).exists() else None
    return slot if slot.pk in {decision.slot_id for decision in recent_decisions(seat)} else None


_DECIDED: Final = Columns(
    LabelVersion,
    '"annotation_labelversion"',
    only=["id", "slot", "number", "action", "label", "error_type", "comment", "user", "created_at"],
)
# In these words PostgreSQL reads the person's newest versions from the index of their versions, and no others.
_OF_PERSON: Final = '"annotation_labelversion"."user_id" BETWEEN %(user)s AND %(user)s'
_NEWEST_FIRST: Final = '"annotation_labelversion"."user_id", "annotation_labelversion"."id" DESC'
_RECENT: Final = Statement(f"""
SELECT item.kind, (SELECT round.number FROM lseval_round round WHERE round.id = item.round_id),
    (SELECT "group".number FROM lseval_answergroup "group" WHERE "group".id = item.group_id),
    (SELECT "group".title FROM lseval_answergroup "group" WHERE "group".id = item.group_id), {_DECIDED}
FROM "annotation_labelversion"
JOIN annotation_slot slot
    ON slot.id = "annotation_labelversion"."slot_id" AND slot.version = "annotation_labelversion"."number"
JOIN annotation_item item ON item.id = slot.item_id
WHERE {_OF_PERSON} AND slot.queue_id = %(queue)s AND "annotation_labelversion"."action" IN ('label', 'skip')
ORDER BY {_NEWEST_FIRST} LIMIT {RECENT_DECISIONS}
""")  # noqa: S608 - column names


def recent_decisions(seat: Seat) -> list[Decision]:
    """The person's own last decisions that are in force, newest first."""
    found = []
    for row in rows_of(_RECENT, {"user": seat.user_id, "queue": seat.queue_id}):
        version = _DECIDED.of(row, 4)
        found.append(Decision(version.slot_id, row[0], version, _name(*row[1:4])))
    return found


def _name(round_number: int | None, group_number: int | None, title: str | None) -> str:
    names = [f"Round {round_number}"] if round_number is not None else []
    names += [title or f"Answer group {group_number}"] if group_number is not None else []
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
    return _last_in(rows_of(_LATEST, {"user": seat.user_id, "queue": seat.queue_id}))


def _last_in(rows: Sequence[tuple[Any, ...]]) -> LabelVersion | None:
    return _DECIDED.of(rows[0]) if rows else None


_LATEST: Final = Statement(f"""
SELECT {_DECIDED}
FROM "annotation_labelversion" JOIN annotation_slot slot ON slot.id = "annotation_labelversion"."slot_id"
WHERE {_OF_PERSON} AND slot.queue_id = %(queue)s
    AND "annotation_labelversion"."action" <> 'undo' AND NOT "annotation_labelversion"."is_late"
    AND (
        SELECT later.id FROM "annotation_labelversion" later
        WHERE later.slot_id = "annotation_labelversion"."slot_id" AND later.action = 'undo'
            AND later.user_id = "annotation_labelversion"."user_id"
            AND later.id > "annotation_labelversion"."id"
        LIMIT 1
    ) IS NULL
ORDER BY {_NEWEST_FIRST} LIMIT 1
""")  # noqa: S608 - column names

PACE_OVER: Final = 20
"""Over how many of a person's last decisions their pace is taken."""
_PACE: Final = Statement(f"""
SELECT count(seconds_on_task), COALESCE(sum(seconds_on_task), 0) FROM (
    SELECT seconds_on_task FROM "annotation_labelversion"
    WHERE {_OF_PERSON} AND "annotation_labelversion"."action" IN ('label', 'skip')
    ORDER BY {_NEWEST_FIRST} LIMIT {PACE_OVER}
) decided
""")  # noqa: S608 - column names

_FLAG: Final = Columns(Flag, "flag")


def _flag_on(slot: str) -> Statement:
    return Statement(f"""
SELECT {_FLAG} FROM annotation_flag flag WHERE flag.slot_id = {slot} AND flag.user_id = %(user)s
ORDER BY flag.number DESC LIMIT 1
""")  # noqa: S608 - column names, and what is written below


_OWN_FLAG: Final = _flag_on("%(slot)s")


def own_flag(slot_id: int, user_id: int) -> Flag | None:
    """The newest thing that the person did with a flag on the slot, or None."""
    row = row_of(_OWN_FLAG, {"slot": slot_id, "user": user_id})
    return _FLAG.of(row) if row else None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around an item: see `progress_of`, `last_decision` and `own_flag`; and the person's own pace."""

    progress: Progress
    last: LabelVersion | None
    flag: Flag | None
    pace: Pace


def _item_and_around(item: str, slot: str) -> tuple[Statement, ...]:
    return (*shown_of(item), _HOW_FAR, _LATEST, _flag_on(slot), _PACE)


_ITEM_AND_SURROUNDINGS: Final = _item_and_around("%(item)s", "%(slot)s")
WHAT_IS_SERVED: Final = _item_and_around(SERVED_ITEM, SERVED_SLOT)
"""What `item_and_surroundings` reads, to be sent with the claim of the slot."""


def item_and_surroundings(
    seat: Seat, slot: Slot, read: Sequence[Rows] | None = None
) -> tuple[ItemShown, Surroundings]:
    """A slot's item and all that stands around it, asked for in one message.

    `read` are the rows of `WHAT_IS_SERVED`, where they came with the slot.
    """
    if read is None:
        given = {"user": seat.user_id, "queue": seat.queue_id, "slot": slot.pk, "item": slot.item_id}
        read = rows_of_each(_ITEM_AND_SURROUNDINGS, given)
    *item, progress, latest, flags, timed = read
    return item_in(slot, *item), Surroundings(
        _progress_in(progress), _last_in(latest), _FLAG.of(flags[0]) if flags else None, Pace(*timed[0])
    )


def has_told_links(slot: Slot) -> bool:
    """Whether a link of the slot's response has ever been given out in its queue, to whomever of the role."""
    links = Slot.objects.filter(queue_id=slot.queue_id, run_id=slot.run_id, stage=LINK_STAGE)
    return links.filter(Q(version__gt=0) | Exists(Lease.objects.filter(slot=OuterRef("pk")))).exists()


def is_adjudicated(slot: Slot) -> bool:
    """Whether an adjudicator has decided the slot's item. What they decided is not read."""
    adjudicated = Slot.objects.filter(
        item_id=slot.item_id, queue__role=LabelerRole.ADJUDICATOR, queue__is_simulated=False
    )
    return adjudicated.filter(status=SlotStatus.LABELED).exists()
