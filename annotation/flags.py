"""Flags: what a labeler tells the lead of an item, beside their label. Raising and taking back are appended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction

from annotation import leases
from annotation.events import AuditClosedError, says_closed, share_audit
from annotation.labeler_selectors import own_flag, own_slot
from annotation.labels import cleaned, key_taken, refuse_closed
from annotation.models import Flag, Slot
from annotation.retrying import in_one_transaction_retried
from lseval.errors import ConflictError
from lseval.models import User


@dataclass(frozen=True, slots=True)
class Flagging:
    """What became of a request. `is_repeat` marks one after which all is as before: nothing was added."""

    flag: Flag
    is_repeat: bool = False


def raise_flag(slot_id: int, user: User, note: str = "", *, request_key: UUID) -> Flagging:
    """Flag an item that the person holds or has decided lately, with a note if they like.

    Flagging again with another note replaces the note. The item's place in its queue stays as it is.

    Raises:
        InputError: the note is too long.
        NotPermittedError: the person has no seat in the queue.
        ConflictError: the item is not theirs, the key was used for something else, or the audit is closed.
    """
    return _append(slot_id, user, True, cleaned(note), request_key)


def take_flag_back(slot_id: int, user: User, *, request_key: UUID) -> Flagging:
    """End the person's flag on an item; raises as `raise_flag`, and ConflictError where they have none on it."""
    return _append(slot_id, user, False, "", request_key)


@in_one_transaction_retried
def _append(slot_id: int, user: User, is_raised: bool, note: str, request_key: UUID) -> Flagging:
    slot = Slot.objects.select_related("queue").get(pk=slot_id)
    try:
        with transaction.atomic():
            share_audit(slot.queue.audit_id)
            seat = leases.lock_seat(slot.queue_id, user)
            refuse_closed(seat)
            repeated = Flag.objects.filter(user=user, request_key=request_key).first()
            if repeated is not None:
                if (repeated.slot_id, repeated.is_raised, repeated.note) != (slot_id, is_raised, note):
                    raise key_taken()
                return Flagging(repeated, is_repeat=True)
            slot.refresh_from_db(fields=["status", "version"])
            if own_slot(seat, slot) is None:
                raise ConflictError("You can flag the item before you and your last decisions, no others.")
            last = own_flag(slot_id, user.pk)
            if last is None and not is_raised:
                raise ConflictError("You have no flag on this item.")
            if last is not None and (last.is_raised, last.note) == (is_raised, note):
                return Flagging(last, is_repeat=True)
            number = last.number + 1 if last else 1
            return Flagging(
                Flag.objects.create(
                    slot=slot, user=user, number=number, is_raised=is_raised, note=note, request_key=request_key
                )
            )
    except IntegrityError as error:
        if says_closed(error):
            raise AuditClosedError from error
        raise


def flags_after(rows: Iterable[Flag]) -> dict[tuple[int, int], str]:
    """Which flags stand after the rows: (slot, user) to the note. One that was taken back is left out."""
    standing: dict[tuple[int, int], str] = {}
    for row in sorted(rows, key=lambda row: row.number):
        if row.is_raised:
            standing[row.slot_id, row.user_id] = row.note
        else:
            standing.pop((row.slot_id, row.user_id), None)
    return standing
