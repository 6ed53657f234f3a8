"""Storing what a person decides: labels, skips and undos, each as one more version."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction

from annotation import leases
from annotation.codebook import LONGEST_COMMENT, check_label
from annotation.errors import EvidenceChangedError, OfferedLabel, StaleLabelError
from annotation.events import AuditClosedError, says_closed, share_audit
from annotation.evidence import evidence_of
from annotation.labeler_selectors import (
    RECENT_DECISIONS,
    has_told_links,
    is_adjudicated,
    last_decision,
    recent_decisions,
)
from annotation.leases import LINK_STAGE
from annotation.models import (
    AuditStatus,
    LabelAction,
    LabelerRole,
    LabelVersion,
    Queue,
    Reveal,
    Seat,
    Slot,
    SlotStatus,
)
from annotation.request_keys import request_key
from annotation.retrying import in_one_transaction_retried
from annotation.turns import Turn, append, turn_on
from lseval.errors import ConflictError, InputError, NotPermittedError
from lseval.models import Page, User

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
    offered = OfferedLabel(LabelAction.LABEL, label, error_type, cleaned(comment))
    request = Request(offered, request_key, base_version, evidence_digest, time_on_task(seconds_on_task))
    return store(slot_id, user, request)


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
    reason = cleaned(reason)
    if not reason:
        raise InputError("Say in a few words why you skip this item, so that the lead can help.")
    offered = OfferedLabel(LabelAction.SKIP, comment=reason)
    return store(slot_id, user, Request(offered, request_key, base_version, None, time_on_task(seconds_on_task)))


def undo_last(queue: Queue, user: User, *, request_key: UUID) -> Submission:
    """Take back the person's last decision in the queue: an undo version is added, and they hold the item again.

    An undo that comes after somebody else or an adjudicator has decided the item, or after the person has seen the
    verdict on it, is refused. It is kept all the same, as a late version that names the reason, and the next undo
    goes to the decision before it.

    Raises ConflictError where there is nothing to undo, where it is refused, or where the audit is closed.
    """
    done = _undo(queue, user, request_key)
    if done.is_late:
        raise ConflictError(done.version.comment)
    return done


@in_one_transaction_retried
def _undo(queue: Queue, user: User, request_key: UUID) -> Submission:
    with transaction.atomic():
        share_audit(queue.audit_id)
        seat = leases.lock_seat(queue.pk, user)
        refuse_closed(seat)
        repeated = _repeated(user, request_key)
        if repeated is not None:
            if repeated.action != LabelAction.UNDO or repeated.slot.queue_id != queue.pk:
                raise key_taken()
            return Submission(repeated, is_repeat=True)
        last = last_decision(seat)
        if last is None:
            raise ConflictError("There is no decision of yours to undo in this queue.")
        slot = Slot.objects.select_for_update(no_key=True).get(pk=last.slot_id)
        if slot.version != last.number:
            refusal = "That item has been decided anew since, so your decision can no longer be undone."
        else:
            refusal = why_final(slot, seat)
        offered = OfferedLabel(LabelAction.UNDO, comment=refusal)
        version = append_version(slot, seat, Request(offered, request_key, slot.version), is_late=bool(refusal))
        if not refusal:
            leases.hold(slot.pk, user)
        return Submission(version)


def why_final(slot: Slot, seat: Seat) -> str:
    """Why a decision of the person on the slot can no longer be changed or undone, in words; empty where it can."""
    if Reveal.objects.filter(slot=slot, user_id=seat.user_id).exists():
        return "You have seen the automatic verdict on that item, so your label there is final."
    if seat.queue.role == LabelerRole.ADJUDICATOR:
        return ""
    if is_adjudicated(slot):
        return "An adjudicator has decided that item with your label before them, so it can no longer be changed."
    if slot.stage < LINK_STAGE and has_told_links(slot):
        return (
            "A link of that response has been given out. It tells what the machine made of the groups and rounds, "
            "so your labels of these are final."
        )
    return ""


@dataclass(frozen=True, slots=True)
class Request:
    """What a person sent. `also_visible` is kept beside what `evidence_of` says that everybody sees."""

    offered: OfferedLabel
    key: UUID
    base_version: int
    evidence_digest: str | None = None
    seconds_on_task: float | None = None
    also_visible: Mapping[str, Any] = field(default_factory=dict)


Check = Callable[[Slot], None]


@in_one_transaction_retried
def store(slot_id: int, user: User, request: Request, check: Check = lambda slot: None) -> Submission:
    """Add what a person sent to the slot's versions; see `submit_label` for what is refused.

    `check` is called with the locked slot before anything is written, and not for a repeated request.
    """
    try:
        with transaction.atomic():
            return _store_once(slot_id, user, request, check)
    except IntegrityError as error:
        if says_closed(error):
            raise AuditClosedError from error
        # The same key came in for another slot at the same moment; what it stored decides.
        if _repeated(user, request.key) is None:
            raise
        raise key_taken() from None


def _store_once(slot_id: int, user: User, request: Request, check: Check) -> Submission:
    turn = turn_on(slot_id, user.pk, request.key)
    slot, seat, repeated = turn.slot, turn.seat, turn.repeated
    if seat is None:
        raise NotPermittedError("You have no place in this queue. Ask the study's lead for one.")
    if repeated is not None:
        if repeated.slot_id != slot.pk or _content(repeated) != request.offered:
            _refuse_other_content(slot, repeated, request)
        return Submission(repeated, is_repeat=True)
    refuse_closed(seat)
    if request.offered.action == LabelAction.LABEL:
        check_label(slot.item.kind, request.offered.label, request.offered.error_type)
    is_late = _check_turn(turn, seat, request)
    check(slot)
    return Submission(append_version(slot, seat, request, is_late=is_late, pages=turn.pages))


def _refuse_other_content(slot: Slot, stored: LabelVersion, request: Request) -> None:
    if stored.slot_id == slot.pk and stored.number == slot.version and stored.action != LabelAction.UNDO:
        raise StaleLabelError(stored, request.offered)
    raise key_taken()


def _check_turn(turn: Turn, seat: Seat, request: Request) -> bool:
    """Whether the decision comes too late to be in force; raises where it may not come at all."""
    slot, in_force = turn.slot, turn.in_force
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
        if turn.lease_of is None:
            raise ConflictError("This item has not been given to you. Go on with the next one.")
        if turn.lease_of != seat.user_id and not _was_given(slot, seat, request):
            raise ConflictError("This item is with somebody else of your role now. Go on with the next one.")
    elif slot.pk not in {decision.slot_id for decision in recent_decisions(seat)}:
        raise ConflictError(
            f"Only your last {RECENT_DECISIONS} decisions can be changed. Tell the lead what should be different."
        )
    elif refusal := why_final(slot, seat):
        raise ConflictError(refusal)
    return False


def _was_given(slot: Slot, seat: Seat, request: Request) -> bool:
    """Whether the request comes from a page that the person was given while they held the item."""
    return request.key == request_key(request.offered.action, slot.pk, request.base_version, seat.user_id)


def append_version(
    slot: Slot, seat: Seat, request: Request, *, is_late: bool = False, pages: Mapping[int, Page] | None = None
) -> LabelVersion:
    """Add a version to a locked slot; where it is in force, move the slot and end its lease.

    Raises EvidenceChangedError where what is shown beside the item is not what the person saw.
    """
    evidence = evidence_of(slot.item, pages)
    if not is_late and request.evidence_digest not in (None, evidence.digest):
        raise EvidenceChangedError(
            "The pages shown beside this item have changed since you opened it. Look at them again, then decide."
        )
    offered = request.offered
    return append(
        slot,
        action=offered.action,
        label=offered.label,
        error_type=offered.error_type,
        comment=offered.comment,
        user=seat.user_id,
        is_simulated=seat.queue.is_simulated,
        is_late=is_late,
        codebook_version=seat.audit.codebook_version,
        evidence_digest=evidence.digest,
        visible={
            **evidence.visible,
            "reveal_after_submission": seat.audit.reveal_after_submission,
            **request.also_visible,
        },
        seconds_on_task=request.seconds_on_task,
        request_key=request.key,
        status=STATUS_AFTER[offered.action],
    )


def _repeated(user: User, key: UUID) -> LabelVersion | None:
    return LabelVersion.objects.select_related("slot").filter(user=user, request_key=key).first()


def _content(version: LabelVersion) -> OfferedLabel:
    return OfferedLabel(version.action, version.label, version.error_type, version.comment)


def key_taken() -> ConflictError:
    """The error for a request's key that was used for something else."""
    return ConflictError("This request has been answered before with other content. Reload the page and try again.")


def refuse_closed(seat: Seat) -> None:
    """Raise AuditClosedError where the seat's audit is closed."""
    if seat.audit.status == AuditStatus.CLOSED:
        raise AuditClosedError


def cleaned(comment: str) -> str:
    """A comment or reason as it is stored. Raises InputError where it is too long."""
    comment = comment.replace("\x00", "\ufffd").replace("\r\n", "\n").strip()
    if len(comment) > LONGEST_COMMENT:
        raise InputError(f"The comment has {len(comment):,} characters; {LONGEST_COMMENT:,} fit. Shorten it.")
    return comment


def time_on_task(seconds: float | None) -> float | None:
    """Seconds as they are stored, at most a day. Raises InputError where they are no time."""
    if seconds is None:
        return None
    if not math.isfinite(seconds) or seconds < 0:
        raise InputError(f"The time on task is {seconds} s, which is no time. Leave it out or send seconds.")
    return min(seconds, LONGEST_TIME_ON_TASK_S)
