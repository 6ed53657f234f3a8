"""Who works on which item now: handing out the next one, keeping it, and letting it go. By the database's clock."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction

from annotation.events import SHARE_AUDIT, shared_audit
from annotation.models import AuditStatus, Queue, Seat, Slot, SlotStatus
from annotation.own_order import in_own_order, next_in_known_order, order_of
from annotation.retrying import in_one_transaction_retried
from lseval.errors import ConflictError, NotPermittedError
from lseval.models import User
from lseval.plain_sql import Columns, Rows, Statement, row_of, rows_of, rows_of_each

LEASE_LENGTH: Final = timedelta(minutes=15)

_STAGES: Final = range(3)
LINK_STAGE: Final = _STAGES[-1]
_CHOOSING: Final = 24943
"""Class of the advisory lock under which a labeler is given their next response; the other key is the queue."""


# A round waits for its run's open groups, and a link for its run's open groups and rounds, because a link tells
# what the machine made of them.
def _may_be_served(but_for: str = "") -> str:
    return f"""
slot.queue_id = %(queue)s AND slot.status = 'open' AND slot.stage = %(stage)s AND (slot.stage = 0 OR NOT EXISTS (
    SELECT FROM annotation_slot earlier
    WHERE earlier.queue_id = slot.queue_id AND earlier.status = 'open'
      AND earlier.run_id = slot.run_id AND earlier.stage < slot.stage{but_for}))
"""


_BUT_FOR_HELD: Final = " AND earlier.id <> %(held)s"
"""As if the slot that the person holds were decided."""

_IS_FREE: Final = """NOT EXISTS (
      SELECT FROM annotation_lease lease
      WHERE lease.slot_id = slot.id AND lease.expires_at > statement_timestamp())"""

_IS_BEGUN: Final = """{}.run_id IN (
    SELECT other.run_id FROM annotation_seat other
    WHERE other.queue_id = %(queue)s AND other.user_id <> %(user)s AND other.run_id IS NOT NULL)"""
"""Somebody else of the role is working through the response of a table's row."""


def _runs_with_free(but_for: str = "") -> Statement:
    """Which of some responses have something free, and whether somebody else is at work there; in their order."""
    return Statement(f"""
SELECT place.run_id, {_IS_BEGUN.format("place")}
FROM unnest(%(runs)s::bigint[]) WITH ORDINALITY AS place (run_id, number)
WHERE EXISTS (
    SELECT FROM annotation_slot slot
    WHERE {_may_be_served(but_for)} AND slot.run_id = place.run_id AND {_IS_FREE})
ORDER BY place.number
""")  # noqa: S608 - put together from the constants above


_RUNS_WITH_FREE: Final = _runs_with_free()
_RUNS_WITH_FREE_AFTER_HELD: Final = _runs_with_free(_BUT_FOR_HELD)

# One statement finds a free slot, locks it past other claims, and leases it. The lease's own condition is the last
# word: a claim that read before another one committed finds the slot taken there, gets null, and tries again.
_SLOT: Final = Columns(Slot, "slot")


def _free(runs: str, condition: str = "true", but_for: str = "") -> str:
    """The statement that finds the first free slot of an array of responses; none unless the condition holds."""
    return f"""
SELECT {_SLOT}
FROM annotation_slot slot
WHERE {_may_be_served(but_for)} AND slot.run_id = ANY({runs}) AND {condition} AND {_IS_FREE}
ORDER BY array_position({runs}, slot.run_id), slot.position
LIMIT 1
"""  # noqa: S608 - put together from constants of this file


def _claiming(free: str, and_then: str = "") -> str:
    """The statement that leases what `_free` finds: the lease's slot, and the slot's columns."""
    return f"""
WITH free AS (
    {free}
    FOR NO KEY UPDATE OF slot SKIP LOCKED
), leased AS (
    INSERT INTO annotation_lease (slot_id, user_id, leased_at, expires_at)
    SELECT id, %(user)s, statement_timestamp(), statement_timestamp() + make_interval(secs => %(length)s) FROM free
    ON CONFLICT (slot_id) DO UPDATE
        SET user_id = excluded.user_id, leased_at = excluded.leased_at, expires_at = excluded.expires_at
        WHERE annotation_lease.expires_at <= statement_timestamp()
    RETURNING slot_id
){and_then}
SELECT leased.slot_id, free.* FROM free LEFT JOIN leased ON leased.slot_id = free.id
"""  # noqa: S608 - put together from constants of this file


_FREE: Final = _free("%(runs)s::bigint[]")
_FREE_AFTER_HELD: Final = Statement(_free("%(runs)s::bigint[]", but_for=_BUT_FOR_HELD))
_BEGIN: Final = """, begun AS (
    UPDATE annotation_seat seat SET run_id = free.run_id FROM leased JOIN free ON free.id = leased.slot_id
    WHERE seat.queue_id = %(queue)s AND seat.user_id = %(user)s AND seat.run_id IS DISTINCT FROM free.run_id
)"""
"""Makes the response of the slot that `_claiming` leases the person's present one."""
_CLAIM: Final = Statement(_claiming(_FREE, _BEGIN))


# A lease that ends where it began was taken back by the lead.
def _held(columns: str) -> str:
    return f"""
SELECT {columns} FROM annotation_lease lease JOIN annotation_slot slot ON slot.id = lease.slot_id
WHERE slot.queue_id = %(queue)s AND slot.status = 'open' AND lease.user_id = %(user)s
    AND lease.expires_at <> lease.leased_at
ORDER BY lease.leased_at DESC, slot.position LIMIT 1
"""  # noqa: S608 - column names


_HELD: Final = _held("lease.id")
_IS_SERVED: Final = "EXISTS (SELECT FROM annotation_audit WHERE id = %(audit)s AND status = 'open')"
_KEEP_HELD: Final = f"""
UPDATE annotation_lease lease SET expires_at = statement_timestamp() + make_interval(secs => %(length)s)
FROM annotation_slot slot
WHERE {_IS_SERVED} AND lease.id = ({_HELD}) AND slot.id = lease.slot_id AND slot.status = 'open'
    AND lease.user_id = %(user)s AND lease.expires_at <> lease.leased_at
RETURNING {_SLOT}
"""  # noqa: S608 - put together from the constants above
_LOCK_SEAT: Final = """
SELECT audit.status
FROM annotation_seat seat JOIN annotation_audit audit ON audit.id = seat.audit_id
WHERE seat.queue_id = %(queue)s AND seat.user_id = %(user)s
FOR NO KEY UPDATE OF seat
"""
_OWN_RUN: Final = "ARRAY(SELECT run_id FROM annotation_seat WHERE queue_id = %(queue)s AND user_id = %(user)s)"
_CLAIM_IN_OWN_RUN: Final = _claiming(_free(_OWN_RUN, f"{_IS_SERVED} AND NOT EXISTS ({_HELD})"))

# One after the other, so that two people who begin at the same moment begin different responses.
_CHOOSE: Final = "SELECT pg_advisory_xact_lock(%(choosing)s, %(queue_key)s)"
_MAY_CHOOSE: Final = f"""{_IS_SERVED} AND NOT EXISTS ({_HELD})
    AND EXISTS (SELECT FROM annotation_seat seat WHERE seat.queue_id = %(queue)s AND seat.user_id = %(user)s)"""
_CHOOSE_ALONE: Final = f"{_CHOOSE} WHERE {_MAY_CHOOSE}"
_CLAIM_IN_NEXT_RUN: Final = _claiming(
    _free("%(runs)s::bigint[]", f"{_MAY_CHOOSE} AND NOT {_IS_BEGUN.format('slot')}"), _BEGIN
)

# All that most requests for the next item need, sent as one message: each statement sees what was committed while
# the one before it waited. A lease that a crash of the database forgets costs nothing, because the item is given
# out again and a label of whoever had it is taken all the same. So the commit does not wait for the disk; nobody is
# told that a lease is kept before it is committed.
_NEXT: Final[tuple[Statement | str, ...]] = (
    "SET LOCAL synchronous_commit = off",
    *(
        Statement(text)
        for text in (SHARE_AUDIT, _LOCK_SEAT, _KEEP_HELD, _CLAIM_IN_OWN_RUN, _CHOOSE_ALONE, _CLAIM_IN_NEXT_RUN)
    ),
)
SERVED_SLOT: Final = "current_setting('lseval.slot')::bigint"
SERVED_ITEM: Final = "current_setting('lseval.item')::bigint"
"""The slot that a claim has given out and its item, for the statements that are sent with it."""
_KEEP_SERVED: Final = Statement(f"""
SELECT held.id, set_config('lseval.slot', COALESCE(held.id, 0)::text, true),
    set_config('lseval.item', COALESCE(held.item_id, 0)::text, true)
FROM (SELECT) one LEFT JOIN ({_held("slot.id, slot.item_id")}) held ON true
""")  # noqa: S608 - put together from the constants above
_HOLD = """
INSERT INTO annotation_lease (slot_id, user_id, leased_at, expires_at)
VALUES (%(slot)s, %(user)s, clock_timestamp(), clock_timestamp() + make_interval(secs => %(length)s))
ON CONFLICT (slot_id) DO UPDATE
    SET user_id = excluded.user_id, leased_at = excluded.leased_at, expires_at = excluded.expires_at
"""
# A lease that ends where it began was taken back by the lead.
_EXTEND = """
UPDATE annotation_lease lease SET expires_at = statement_timestamp() + make_interval(secs => %(length)s)
FROM annotation_slot slot
JOIN annotation_seat seat ON seat.queue_id = slot.queue_id AND seat.user_id = %(user)s
WHERE lease.slot_id = slot.id AND slot.status = 'open' AND slot.id = %(slot)s AND lease.user_id = %(user)s
  AND lease.expires_at <> lease.leased_at
RETURNING lease.expires_at
"""
_LENGTH_S = LEASE_LENGTH.total_seconds()
_MOST_TRIES = 20


class NotHeldError(ConflictError):
    """The person does not hold the item that they want to keep; the message says why, and claims no more."""

    code = "not_held"


def claim_next(queue: Queue, user: User, *, present: int | None = None) -> Slot | None:
    """The slot that the person works on next, leased to them; None where there is none for them now.

    A slot that they hold already is given again with a fresh lease, also one whose lease ran out while nobody else
    took it. Nothing is given while the audit is paused or closed.

    Everybody goes through the responses in a random order of their own, which follows from the audit's seed and
    from who they are. They finish a response before they begin another, and begin one that nobody else of their
    role is working through as long as there is one: a page is read once, and two people do not sit side by side.

    `present` is the response that the person was last seen to work through, where the caller knows it.

    Raises NotPermittedError where the person has no seat in the queue.
    """
    return claim_and_read(queue, user, (), present=present)[0]


@in_one_transaction_retried
def claim_and_read(
    queue: Queue, user: User, statements: Sequence[Statement], *, present: int | None = None
) -> tuple[Slot | None, list[Rows] | None]:
    """What `claim_next` gives, and the rows of statements about it that are sent in the same message.

    They find the slot as `SERVED_SLOT` and its item as `SERVED_ITEM`, and have `queue` and `user` as parameters.
    None in place of rows where they did not see the slot that is given.
    """
    order = order_of(queue.audit, user)
    given = {
        "queue": queue.pk,
        "user": user.pk,
        "stage": 0,
        "length": _LENGTH_S,
        "choosing": _CHOOSING,
        "queue_key": queue.pk % 2**31,
        "order": order,
        "runs": next_in_known_order(queue.pk, order, present),
        **shared_audit(queue.audit_id),
    }
    # As one message it is one transaction of its own.
    found = rows_of_each((*_NEXT, _KEEP_SERVED, *statements), given)
    _, _, seats, held, in_own, _, in_next, served, *read = found
    if not seats:
        raise _no_seat()
    slot = _first_slot(held, in_own, in_next)
    if slot is not None:
        return slot, read if served[0][0] == slot.pk else None
    return (_claim(given) if seats[0][0] == AuditStatus.OPEN else None), None


def _first_slot(held: Rows, *claims: Rows) -> Slot | None:
    if held:
        return _slot_in(held[0])
    for claimed in claims:
        if claimed and claimed[0][0] is not None:
            return _slot_in(claimed[0], 1)
    return None


def _slot_in(row: Sequence[Any], at: int = 0) -> Slot:
    slot: Slot = _SLOT.of(row, at)
    return slot


def _no_seat() -> NotPermittedError:
    return NotPermittedError("You have no place in this queue. Ask the study's lead for one.")


def lock_seat(queue_id: int, user: User) -> Seat:
    """The person's seat, locked: what one person asks for at once in two windows happens one after the other.

    Raises NotPermittedError where there is none.
    """
    seat = (
        Seat.objects.select_for_update(of=("self",), no_key=True)
        .select_related("audit")
        .filter(queue_id=queue_id, user=user)
        .first()
    )
    if seat is None:
        raise _no_seat()
    return seat


@in_one_transaction_retried
def heartbeat(slot_id: int, user: User) -> datetime:
    """Keep an item for another lease's length; returns when the lease now ends.

    A lease that ran out can be kept as long as nobody else has taken the item. Raises NotHeldError, which says why,
    where somebody has, where the item is decided, or where the person never held it.
    """
    expires_at = _extend(slot_id, user.pk)
    if expires_at is None:
        raise NotHeldError(_why_not_held(slot_id, user))
    return expires_at


def _why_not_held(slot_id: int, user: User) -> str:
    slot = Slot.objects.select_related("lease").get(pk=slot_id)
    if slot.status != SlotStatus.OPEN:
        if slot.versions.filter(number=slot.version, user=user).exists():
            return "You have decided this item already, so there is nothing to keep. Go on with the next one."
        return "This item has been decided. What you save of it now is kept beside that as a late version."
    if hasattr(slot, "lease") and slot.lease.user_id != user.pk:
        return "This item is with somebody else of your role now. What you save of it will be kept all the same."
    return "You do not hold this item now. Go on with the next one."


def keep(slot_id: int, user: User) -> bool:
    """Keep an item as `heartbeat` does; says whether it is still theirs instead of raising."""
    return _extend(slot_id, user.pk) is not None


def hold(slot_id: int, user: User) -> None:
    """Lease an open slot to the person whoever had it; the caller has locked the slot."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, {"slot": slot_id, "user": user.pk, "length": _LENGTH_S})


_HELD_SLOT: Final = Statement(_held(str(_SLOT)))


def held_by(seat: Seat) -> Slot | None:
    """The open slot that the person holds, also one whose lease ran out while nobody else took it; else None."""
    row = row_of(_HELD_SLOT, {"queue": seat.queue_id, "user": seat.user_id})
    return _slot_in(row) if row else None


def peek_next(seat: Seat) -> int | None:
    """The id of the slot that the person is likely given once they have decided the one that they hold; or None.

    None as well while nothing is given out, because the audit is paused or closed. Nothing is leased and nobody's
    time begins, so that by the time they ask it may be somebody else's.

    A link tells what the machine made of its response. It is told of only to who has been given one of the same
    response, and so can no longer change what they said of its groups and rounds.
    """
    if seat.audit.status != AuditStatus.OPEN:
        return None
    held = held_by(seat)
    place = {
        "queue": seat.queue_id,
        "user": seat.user_id,
        "order": order_of(seat.audit, seat.user),
        "run": seat.run_id,
        "held": held.pk if held else 0,
    }
    for stage in _STAGES:
        row = row_of(_FREE_AFTER_HELD, {**place, "stage": stage, "runs": [seat.run_id]}) if seat.run_id else None
        if stage == LINK_STAGE:
            is_told = held is not None and held.stage == LINK_STAGE and held.run_id == seat.run_id
            return _slot_in(row).pk if row and is_told else None
        if row is None:
            runs = _runs_to_begin({**place, "stage": stage}, _RUNS_WITH_FREE_AFTER_HELD)
            row = row_of(_FREE_AFTER_HELD, {**place, "stage": stage, "runs": runs})
        if row is not None:
            return _slot_in(row).pk
    return None


def _extend(slot_id: int, user_id: int) -> datetime | None:
    with connection.cursor() as cursor:
        cursor.execute(_EXTEND, {"slot": slot_id, "user": user_id, "length": _LENGTH_S})
        row = cursor.fetchone()
    return row[0] if row else None


_PLACE: Final = Statement(f"""
SELECT seat.run_id FROM annotation_seat seat JOIN annotation_audit audit ON audit.id = seat.audit_id
WHERE seat.queue_id = %(queue)s AND seat.user_id = %(user)s AND {_IS_SERVED} AND NOT EXISTS ({_HELD})
""")  # noqa: S608 - put together from the constants above


def _claim(given: dict[str, Any]) -> Slot | None:
    """A slot for a person whom the usual statements found none for: of any stage, and of any response."""
    with transaction.atomic():
        _, _, _, places = rows_of_each([*_NEXT[:3], _PLACE], given)
        if not places:
            return None
        for stage in _STAGES:
            place = {**given, "stage": stage, "run": places[0][0]}
            found = _claim_in(place, [place["run"]]) if place["run"] else None
            found = found or _claim_elsewhere(place)
            if found is not None:
                return found
    return None


_CHOOSING_ONE: Final = (
    Statement(
        "SELECT 1 FROM annotation_slot WHERE queue_id = %(queue)s AND status = 'open' AND stage = %(stage)s LIMIT 1"
    ),
    Statement(_CHOOSE),
)


def _claim_elsewhere(place: dict[str, Any]) -> Slot | None:
    """A slot of the first response in the person's order that has one."""
    still_open, _ = rows_of_each(_CHOOSING_ONE, place)
    if not still_open:
        return None
    for _ in range(_MOST_TRIES):
        runs = _runs_to_begin(place)
        if not runs:
            return None
        if (found := _claim_in(place, runs)) is not None:
            return found
    return None


def _runs_to_begin(place: dict[str, Any], free: Statement = _RUNS_WITH_FREE) -> list[int]:
    """The next responses in the person's order that have something free.

    Those that somebody else is working through only where there are no others.
    """
    taken: dict[int, None] = {}
    for chunk in in_own_order(place["queue"], place["order"], place["run"]):
        found = rows_of(free, {**place, "runs": chunk})
        if untaken := [run_id for run_id, is_taken in found if not is_taken]:
            return untaken
        taken.update(dict.fromkeys(run_id for run_id, _ in found))
    return list(taken)


def _claim_in(place: dict[str, Any], runs: list[int]) -> Slot | None:
    """The first free slot of the responses, leased to the person."""
    given = {**place, "runs": runs}
    for _ in range(_MOST_TRIES):
        row = row_of(_CLAIM, given)
        if row is None:
            return None
        if row[0] is not None:
            return _slot_in(row, 1)
    return None
