"""Showing a labeler the automatic verdict on an item that they have labeled, where the audit allows it.

Apart from every other labeler's module, and the only one of them that reads a verdict. It reads one after it has
found a row in `Reveal`, which is written once the person has labeled the item, and which makes their label final.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import IntegrityError, transaction

from annotation import leases
from annotation.events import AuditClosedError, says_closed, share_audit
from annotation.models import AuditStatus, Item, ItemKind, LabelAction, LabelVersion, Reveal, Seat, Slot, SlotStatus
from annotation.retrying import in_one_transaction_retried
from lseval.errors import ConflictError, NotPermittedError
from lseval.models import Link


@dataclass(frozen=True, slots=True)
class Revealed:
    """What the machine says of an item: its label, the type of an error, its words. Empty where it says nothing."""

    label: str
    error_type: str = ""
    reason: str = ""


class NotRevealedError(NotPermittedError):
    """The verdict on this item may not be shown to this person now."""

    code = "not_revealed"


@in_one_transaction_retried
def reveal(seat: Seat, slot: Slot) -> Reveal:
    """Note that the person wants to see the verdict on an item that they have labeled. Their label is final then.

    Raises:
        NotRevealedError: the audit does not allow it, or the item is not labeled by this person.
        ConflictError: an item with the same round or group is still to be labeled in their queue.
        AuditClosedError: the audit is closed.
    """
    try:
        with transaction.atomic():
            share_audit(seat.audit_id)
            seat = leases.lock_seat(seat.queue_id, seat.user)
            if seat.audit.status == AuditStatus.CLOSED:
                raise AuditClosedError
            locked = (
                Slot.objects.select_for_update(of=("self",), no_key=True).select_related("item").get(pk=slot.pk)
            )
            version = _own_label(seat, locked)
            if not seat.audit.reveal_after_submission or version is None:
                raise NotRevealedError("The automatic verdict on this item is not shown.")
            if _is_told_of_elsewhere(locked):
                raise ConflictError(
                    "Items about the same round or answer group are still to be labeled in your queue. The verdict "
                    "is shown when they are done."
                )
            found, _ = Reveal.objects.get_or_create(
                slot=locked, user=seat.user, defaults={"version": version.number}
            )
            return found
    except IntegrityError as error:
        if says_closed(error):
            raise AuditClosedError from error
        raise


def revealed(seat: Seat, slot: Slot) -> Revealed:
    """What the machine says of the item. Raises NotRevealedError unless the person has asked by `reveal`."""
    allowed = (
        seat.audit.reveal_after_submission
        and slot.queue_id == seat.queue_id
        and _own_label(seat, slot) is not None
        and Reveal.objects.filter(slot=slot, user_id=seat.user_id).exists()
    )
    if not allowed:
        raise NotRevealedError("The automatic verdict on this item is not shown.")
    item = Item.objects.select_related("group__verdict", "round__consensus", "round__failure_node").get(
        pk=slot.item_id
    )
    if item.kind == ItemKind.GROUP:
        verdict = getattr(item.group, "verdict", None)
        return Revealed(verdict.label, reason=verdict.reason) if verdict else Revealed("")
    if item.kind == ItemKind.ROUND:
        consensus = getattr(item.round, "consensus", None)
        node = getattr(item.round, "failure_node", None)
        return Revealed(consensus.verdict if consensus else "", node.error_type if node else "")
    is_linked = Link.objects.filter(round=item.round, group=item.group).exists()
    return Revealed("corresponds" if is_linked else "")


def is_revealed(slot: Slot, user_id: int) -> bool:
    """Whether the person has asked to see the verdict on the slot."""
    return Reveal.objects.filter(slot=slot, user_id=user_id).exists()


def _own_label(seat: Seat, slot: Slot) -> LabelVersion | None:
    """The person's own label in force on the slot; a skip is none."""
    if slot.status != SlotStatus.LABELED:
        return None
    return LabelVersion.objects.filter(
        slot=slot, number=slot.version, user_id=seat.user_id, action=LabelAction.LABEL
    ).first()


def _is_told_of_elsewhere(slot: Slot) -> bool:
    """Whether the verdict would tell something of an item that is still open in the queue."""
    still_open = Slot.objects.filter(queue_id=slot.queue_id, status=SlotStatus.OPEN, run_id=slot.run_id)
    item = slot.item
    if item.round_id is not None and still_open.filter(item__round_id=item.round_id).exists():
        return True
    return item.group_id is not None and still_open.filter(item__group_id=item.group_id).exists()
