"""Storing what a person decides: labels, skips and undos, each as one more version."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max

from annotation import leases
from annotation.codebook import LONGEST_COMMENT, check_label
from annotation.errors import EvidenceChangedError, OfferedLabel, StaleLabelError
from annotation.labeler_selectors import RECENT_DECISIONS, item_shown, last_decision, recent_decisions
from annotation.models import AuditStatus, LabelAction, LabelVersion, Queue, Seat, Slot, SlotStatus
from lseval.errors import ConflictError, InputError, NotPermittedError
from lseval.models import User

LONGEST_TIME_ON_TASK_S: Final = 24 * 60 * 60.0

STATUS_AFTER: Final[Mapping[str, SlotStatus]] = {
    LabelAction.LABEL: SlotStatus.LABELED,
    LabelAction.SKIP: SlotStatus.SKIPPED,
    LabelAction.UNDO: SlotStatus.OPEN,
}
"""Where a version in force leaves its slot."""


@dataclass(frozen=True, slots=True)
class Submission:
    """What became of a request. `is_repeat` marks one that had been answered before: nothing was added."""

    version: LabelVersion
    is_repeat: bool = False

    @property
    def is_late(self) -> bool:
        return self.version.is_late


def submit_label(
    slot_id: int,
    user: User,
    label: str,
    *,
    request_key: UUID,
    base_version: int,
    error_type: str = "",
    comment: str = "",
    evidence_digest: str | None = None,
    seconds_on_task: float | None = None,
) -> Submission:
    """Store a person's label on a slot as a new version.

    The same `request_key` with the same content gives the first reply again. `base_version` is the slot's version
    that the person saw. `evidence_digest`, where given, is that of the evidence they saw. A label that comes after
    somebody else has decided the item is kept as a late version and not in force.

    Raises:
        InputError: the label, type, comment or time does not fit.
        NotPermittedError: the person has no seat in the queue.
        StaleLabelError: the person's own decision has changed since `base_version`.
        EvidenceChangedError: what is shown beside the item is not what they saw.
        ConflictError: the key was used for something else, the item was never served to them, can no longer be
            changed, or the audit is closed.
    """
    offered = OfferedLabel(LabelAction.LABEL, label, error_type, _clean(comment))
    request = _Request(offered, request_key, base_version, evidence_digest, _seconds(seconds_on_task))
    return _store(slot_id, user, request)


def skip(
    slot_id: int,
    user: User,
    reason: str,
    *,
    request_key: UUID,
    base_version: int,
    seconds_on_task: float | None = None,
) -> Submission:
    """Set an item aside for a reason, as a version; otherwise as `submit_label`."""
    reason = _clean(reason)
    if not reason:
        raise InputError("Say in a few words why you skip this item, so that the lead can help.")
    offered = OfferedLabel(LabelAction.SKIP, comment=reason)
    return _store(slot_id, user, _Request(offered, request_key, base_version, None, _seconds(seconds_on_task)))


def undo_last(queue: Queue, user: User, *, request_key: UUID) -> Submission:
    """Take back the person's last decision in the queue: an undo version is added, and they hold the item again.

    Raises ConflictError where there is nothing to undo or the item has been decided anew since.
    """
    with transaction.atomic():
        seat = leases.lock_seat(queue.pk, user)
        _refuse_closed(seat)
        repeated = _repeated(user, request_key)
        if repeated is not None:
            if repeated.action != LabelAction.UNDO or repeated.slot.queue_id != queue.pk:
                raise _key_taken()
            return Submission(repeated, is_repeat=True)
        last = last_decision(seat)
        if last is None:
            raise ConflictError("There is no decision of yours to undo in this queue.")
        slot = Slot.objects.select_for_update(no_key=True).get(pk=last.slot_id)
        if slot.version != last.number:
            raise ConflictError("That item has been decided anew since, so your decision can no longer be undone.")
        version = _append(slot, seat, _Request(OfferedLabel(LabelAction.UNDO), request_key, slot.version))
        leases.hold(slot.pk, user)
        return Submission(version)


@dataclass(frozen=True, slots=True)
class _Request:
    offered: OfferedLabel
    key: UUID
    base_version: int
    evidence_digest: str | None = None
    seconds_on_task: float | None = None


def _store(slot_id: int, user: User, request: _Request) -> Submission:
    try:
        with transaction.atomic():
            return _store_once(slot_id, user, request)
    except IntegrityError:
        # The same key came in for another slot at the same moment; what it stored decides.
        if _repeated(user, request.key) is None:
            raise
        raise _key_taken() from None


def _store_once(slot_id: int, user: User, request: _Request) -> Submission:
    slot = Slot.objects.select_for_update(of=("self",), no_key=True).select_related("item").get(pk=slot_id)
    seat = Seat.objects.select_related("audit", "queue").filter(queue_id=slot.queue_id, user=user).first()
    if seat is None:
        raise NotPermittedError("You have no place in this queue. Ask the study's lead for one.")
    repeated = _repeated(user, request.key)
    if repeated is not None:
        if repeated.slot_id != slot.pk or _content(repeated) != request.offered:
            _refuse_other_content(slot, repeated, request)
        return Submission(repeated, is_repeat=True)
    _refuse_closed(seat)
    if request.offered.action == LabelAction.LABEL:
        check_label(slot.item.kind, request.offered.label, request.offered.error_type)
    is_late = _check_turn(slot, seat, request)
    version = _append(slot, seat, request, is_late=is_late)
    if not is_late:
        leases.let_go(slot.pk)
    return Submission(version)


def _refuse_other_content(slot: Slot, stored: LabelVersion, request: _Request) -> None:
    if stored.slot_id == slot.pk and stored.number == slot.version and stored.action != LabelAction.UNDO:
        raise StaleLabelError(stored, request.offered)
    raise _key_taken()


def _check_turn(slot: Slot, seat: Seat, request: _Request) -> bool:
    """Whether the decision comes too late to be in force; raises where it may not come at all."""
    in_force = slot.versions.filter(number=slot.version).first()
    if in_force is not None and in_force.user_id != seat.user_id:
        if request.base_version < slot.version:
            return True
        if slot.status != SlotStatus.OPEN:
            raise ConflictError("Somebody else has decided this item. Go on with the next one.")
    if in_force is not None and request.base_version != slot.version:
        raise StaleLabelError(in_force, request.offered)
    if request.base_version != slot.version:
        raise ConflictError("This page does not fit what is stored. Reload it and decide again.")
    if slot.status == SlotStatus.OPEN:
        if not hasattr(slot, "lease"):
            raise ConflictError("This item has not been given to you. Go on with the next one.")
    elif slot.pk not in {decision.slot.pk for decision in recent_decisions(seat)}:
        raise ConflictError(
            f"Only your last {RECENT_DECISIONS} decisions can be changed. Ask the lead to reopen it."
        )
    return False


def _append(slot: Slot, seat: Seat, request: _Request, *, is_late: bool = False) -> LabelVersion:
    """Add a version to a locked slot, and move the slot where the version is in force."""
    shown = item_shown(slot).evidence_digest
    if not is_late and request.evidence_digest not in (None, shown):
        raise EvidenceChangedError(
            "The pages shown beside this item have changed since you opened it. Look at them again, then decide."
        )
    offered = request.offered
    version = LabelVersion.objects.create(
        slot=slot,
        number=(slot.versions.aggregate(last=Max("number"))["last"] or 0) + 1,
        action=offered.action,
        label=offered.label,
        error_type=offered.error_type,
        comment=offered.comment,
        user_id=seat.user_id,
        is_simulated=seat.queue.is_simulated,
        is_late=is_late,
        codebook_version=seat.audit.codebook_version,
        evidence_digest=shown,
        seconds_on_task=request.seconds_on_task,
        request_key=request.key,
    )
    if not is_late:
        slot.version = version.number
        slot.status = STATUS_AFTER[offered.action]
        slot.save(update_fields=["version", "status"])
    return version


def _repeated(user: User, key: UUID) -> LabelVersion | None:
    return LabelVersion.objects.select_related("slot").filter(user=user, request_key=key).first()


def _content(version: LabelVersion) -> OfferedLabel:
    return OfferedLabel(version.action, version.label, version.error_type, version.comment)


def _key_taken() -> ConflictError:
    return ConflictError("This request has been answered before with other content. Reload the page and try again.")


def _refuse_closed(seat: Seat) -> None:
    if seat.audit.status == AuditStatus.CLOSED:
        raise ConflictError("This audit is closed. Its labels can no longer be changed.")


def _clean(comment: str) -> str:
    """The comment as it is stored. Raises InputError where it is too long."""
    comment = comment.replace("\x00", "\ufffd").replace("\r\n", "\n").strip()
    if len(comment) > LONGEST_COMMENT:
        raise InputError(f"The comment has {len(comment):,} characters; {LONGEST_COMMENT:,} fit. Shorten it.")
    return comment


def _seconds(seconds: float | None) -> float | None:
    if seconds is None:
        return None
    if not math.isfinite(seconds) or seconds < 0:
        raise InputError(f"The time on task is {seconds} s, which is no time. Leave it out or send seconds.")
    return min(seconds, LONGEST_TIME_ON_TASK_S)
