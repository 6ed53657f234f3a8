"""Who works on which item now: handing out the next one, keeping it, and letting it go. By the database's clock."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction

from annotation.models import AuditStatus, Lease, Queue, Seat, Slot, SlotStatus
from lseval.errors import ConflictError, NotPermittedError
from lseval.models import User

LEASE_LENGTH: Final = timedelta(minutes=15)

# One statement finds a free slot, locks it past other claims, and leases it. The lease's own condition is the last
# word: a claim that read before another one committed finds the slot taken there, gets null, and tries again.
#
# A round waits for its run's open groups, and a link for its run's open groups and rounds, because a link tells
# what the machine made of them.
_CLAIM = """
WITH free AS (
    SELECT slot.id
    FROM annotation_slot slot
    JOIN annotation_item item ON item.id = slot.item_id
    WHERE slot.queue_id = %(queue)s AND slot.status = 'open'
      AND NOT EXISTS (
          SELECT 1 FROM annotation_lease lease
          WHERE lease.slot_id = slot.id AND lease.expires_at > statement_timestamp())
      AND (item.kind = 'group' OR NOT EXISTS (
          SELECT 1
          FROM annotation_slot earlier
          JOIN annotation_item earlier_item ON earlier_item.id = earlier.item_id
          WHERE earlier.queue_id = slot.queue_id AND earlier.status = 'open'
            AND earlier_item.run_id = item.run_id
            AND (earlier_item.kind = 'group' OR (earlier_item.kind = 'round' AND item.kind = 'link'))))
    ORDER BY slot.position
    LIMIT 1
    FOR NO KEY UPDATE OF slot SKIP LOCKED
), leased AS (
    INSERT INTO annotation_lease (slot_id, user_id, leased_at, expires_at)
    SELECT id, %(user)s, statement_timestamp(), statement_timestamp() + make_interval(secs => %(length)s) FROM free
    ON CONFLICT (slot_id) DO UPDATE
        SET user_id = excluded.user_id, leased_at = excluded.leased_at, expires_at = excluded.expires_at
        WHERE annotation_lease.expires_at <= statement_timestamp()
    RETURNING slot_id
)
SELECT leased.slot_id FROM free LEFT JOIN leased ON leased.slot_id = free.id
"""
_HOLD = """
INSERT INTO annotation_lease (slot_id, user_id, leased_at, expires_at)
VALUES (%(slot)s, %(user)s, clock_timestamp(), clock_timestamp() + make_interval(secs => %(length)s))
ON CONFLICT (slot_id) DO UPDATE
    SET user_id = excluded.user_id, leased_at = excluded.leased_at, expires_at = excluded.expires_at
"""
_EXTEND = """
UPDATE annotation_lease lease SET expires_at = statement_timestamp() + make_interval(secs => %(length)s)
FROM annotation_slot slot
WHERE lease.slot_id = slot.id AND slot.status = 'open' AND slot.id = %(slot)s AND lease.user_id = %(user)s
RETURNING lease.expires_at
"""
_LENGTH_S = LEASE_LENGTH.total_seconds()
_MOST_TRIES = 20


class NotHeldError(ConflictError):
    """The person does not hold the item that they want to keep."""

    code = "not_held"


def claim_next(queue: Queue, user: User) -> Slot | None:
    """The slot that the person works on next, leased to them; None where there is none for them now.

    A slot that they hold already is given again with a fresh lease, also one whose lease ran out while nobody else
    took it. Nothing is given while the audit is paused or closed.

    Raises NotPermittedError where the person has no seat in the queue.
    """
    with transaction.atomic():
        seat = lock_seat(queue.pk, user)
        if seat.audit.status != AuditStatus.OPEN:
            return None
        held = _held_slot(seat)
        if held is not None and _extend(held.pk, user.pk):
            return held
        slot_id = _claim(seat)
    return Slot.objects.get(pk=slot_id) if slot_id else None


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
        raise NotPermittedError("You have no place in this queue. Ask the study's lead for one.")
    return seat


def heartbeat(slot_id: int, user: User) -> datetime:
    """Keep an item for another lease's length; returns when the lease now ends.

    A lease that ran out can be kept as long as nobody else has taken the item. Raises NotHeldError where somebody
    has, or where the item is decided.
    """
    expires_at = _extend(slot_id, user.pk)
    if expires_at is None:
        raise NotHeldError("This item is no longer yours to work on. What you save will be kept all the same.")
    return expires_at


def keep(slot_id: int, user: User) -> bool:
    """Keep an item as `heartbeat` does; says whether it is still theirs instead of raising."""
    return _extend(slot_id, user.pk) is not None


def hold(slot_id: int, user: User) -> None:
    """Lease an open slot to the person whoever had it; the caller has locked the slot."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, {"slot": slot_id, "user": user.pk, "length": _LENGTH_S})


def let_go(slot_id: int) -> None:
    """End the lease of a slot that has been decided."""
    Lease.objects.filter(slot_id=slot_id).delete()


def _held_slot(seat: Seat) -> Slot | None:
    return (
        Slot.objects.filter(queue_id=seat.queue_id, status=SlotStatus.OPEN, lease__user_id=seat.user_id)
        .order_by("-lease__leased_at", "position")
        .first()
    )


def _extend(slot_id: int, user_id: int) -> datetime | None:
    with connection.cursor() as cursor:
        cursor.execute(_EXTEND, {"slot": slot_id, "user": user_id, "length": _LENGTH_S})
        row = cursor.fetchone()
    return row[0] if row else None


def _claim(seat: Seat) -> int | None:
    for _ in range(_MOST_TRIES):
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM, {"queue": seat.queue_id, "user": seat.user_id, "length": _LENGTH_S})
            row = cursor.fetchone()
        if row is None:
            return None
        if row[0] is not None:
            return row[0]
    return None
