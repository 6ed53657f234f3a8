"""Adjudication: the queue of disagreements, who sits in it, and decisions with a reason.

A decision is a label version in the adjudicators' queue. It stands apart from H1's and H2's and is never counted as
a rater's.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, Max, OuterRef
from django.db.models.functions import Now

from annotation import labels, leases
from annotation.adjudication_selectors import (
    RATERS,
    Pair,
    adjudicator_queue,
    new_disagreements,
    pair_of,
    present_disagreements,
    sits_over_the_same_items,
)
from annotation.errors import OfferedLabel, PairChangedError
from annotation.events import AuditClosedError, record_event, share_audit
from annotation.history_of_audits import adjudication_of
from annotation.labels import Request, Submission
from annotation.models import (
    Audit,
    AuditAction,
    AuditStatus,
    Between,
    Disagreement,
    Flag,
    LabelAction,
    LabelerRole,
    Lease,
    Queue,
    Seat,
    Slot,
    SlotStatus,
)
from annotation.retrying import in_one_transaction_retried
from annotation.services import earlier_role
from lseval.errors import ConflictError, InputError
from lseval.models import Membership, Role, User

SEATED_ROLES = (Role.LEAD, Role.ANNOTATOR)


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild of the queue did: items added, items taken out, and how many it holds undecided now."""

    added: int
    removed: int
    open: int


@in_one_transaction_retried
def rebuild_queue(audit: Audit, by: User | None, *, with_automatic: bool = False) -> Rebuilt:
    """Bring the adjudicators' queue in line with the disagreements that there are now.

    What has been decided stays as it is. An undecided item whose labels agree by now is taken out; where it has a
    history or somebody is at it, it stays and is not served again. New items come behind the others, in an order
    drawn by the audit's seed. `with_automatic` adds the items on which H1 and the automatic verdict differ; only
    leads are given those.

    Raises AuditClosedError where the audit is closed.
    """
    with transaction.atomic():
        share_audit(audit.pk)
        found = Audit.objects.get(pk=audit.pk)
        if found.status == AuditStatus.CLOSED:
            raise AuditClosedError
        queue, _ = Queue.objects.get_or_create(audit=found, role=LabelerRole.ADJUDICATOR, is_simulated=False)
        _lock(queue)
        present = present_disagreements(found, with_automatic=with_automatic)
        removed = _settle(queue, present)
        added = _add(queue, found.seed, present)
        return _recorded(found, queue, by, added, removed)


def _settle(queue: Queue, present: dict[int, Between]) -> int:
    """Take out, or mark, the undecided items that are in no disagreement now; how many."""
    held = Lease.objects.filter(slot=OuterRef("pk"), expires_at__gt=Now())
    slots = (
        queue.slots.select_for_update(of=("self",))
        .select_related("disagreement")
        .annotate(is_held=Exists(held), is_flagged=Exists(Flag.objects.filter(slot=OuterRef("pk"))))
    )
    removed = 0
    for slot in slots.filter(status=SlotStatus.OPEN):
        between = present.get(slot.item_id)
        was_settled = slot.disagreement.is_settled
        if between is None and not slot.version and not slot.is_held and not slot.is_flagged:
            slot.delete()
        else:
            slot.disagreement.is_settled = between is None
            slot.disagreement.between = between or slot.disagreement.between
            slot.disagreement.save()
        removed += between is None and not was_settled
    return removed


def _add(queue: Queue, seed: int, present: dict[int, Between]) -> int:
    known = set(queue.slots.values_list("item_id", flat=True))
    new = sorted(present.keys() - known, key=lambda item: hashlib.sha256(f"{seed} {item}".encode()).digest())
    last = queue.slots.aggregate(last=Max("position"))["last"] or 0
    slots = Slot.objects.bulk_create(
        Slot(queue=queue, item_id=item, position=place) for place, item in enumerate(new, last + 1)
    )
    Disagreement.objects.bulk_create(Disagreement(slot=slot, between=present[slot.item_id]) for slot in slots)
    return len(slots)


@in_one_transaction_retried
def queue_new_disagreements(audit: Audit, by: User | None) -> int:
    """Put the items on which H1 and H2 have come to differ into the adjudicators' queue; how many were added.

    Nothing happens before disagreements have been queued for the first time: to begin is for the lead. Nothing is
    taken out here, see `rebuild_queue`; an item whose labels agree by now is not served.

    Raises AuditClosedError where the audit is closed.
    """
    with transaction.atomic():
        share_audit(audit.pk)
        if Audit.objects.filter(pk=audit.pk, status=AuditStatus.CLOSED).exists():
            raise AuditClosedError
        queue = adjudicator_queue(audit)
        if queue is None:
            return 0
        _lock(queue)
        return _add_new(audit, queue, by)


def _add_new(audit: Audit, queue: Queue, by: User | None) -> int:
    """What `queue_new_disagreements` adds, where the queue is locked."""
    new = new_disagreements(audit)
    if not new:
        return 0
    settled = Disagreement.objects.filter(slot__queue=queue, slot__item__in=new, is_settled=True)
    settled.update(is_settled=False, between=Between.PEOPLE)
    _add(queue, audit.seed, new)
    _recorded(audit, queue, by, len(new), 0)
    return len(new)


def _recorded(audit: Audit, queue: Queue, by: User | None, added: int, removed: int) -> Rebuilt:
    undecided = queue.slots.filter(status=SlotStatus.OPEN, disagreement__is_settled=False).count()
    detail = {"added": added, "removed": removed, "open": undecided, **adjudication_of(audit)}
    record_event(audit, AuditAction.ADJUDICATION, by, **detail)
    return Rebuilt(added, removed, undecided)


def seat_adjudicator(audit: Audit, user: User, by: User | None) -> Seat:
    """Give a lead, or an annotator who labels nothing of it, a place in the adjudicators' queue.

    Raises:
        InputError: the queue has not been built, or the person is no lead or annotator of the study.
        ConflictError: the person labels or has labeled in this audit, or labels the same items in another one.
        AuditClosedError: the audit is closed.
    """
    queue = adjudicator_queue(audit)
    if queue is None:
        raise InputError(f"{audit.name} has no disagreements queued. Queue them first.")
    membership = Membership.objects.filter(study_id=audit.study_id, user=user, role__in=SEATED_ROLES).first()
    if user.is_simulated or membership is None:
        raise InputError(f"{user.username} is no lead or annotator of this study, so they cannot adjudicate.")
    if (had := earlier_role(audit, user)) in RATERS:
        raise ConflictError(f"{user.username} has labeled as {had} in {audit.name}, so they cannot adjudicate it.")
    if sits_over_the_same_items(user, audit, RATERS):
        raise ConflictError(f"{user.username} labels the same items in another audit and would not be blind there.")
    with transaction.atomic():
        share_audit(audit.pk)
        if Audit.objects.filter(pk=audit.pk, status=AuditStatus.CLOSED).exists():
            raise AuditClosedError
        found, is_new = Seat.objects.get_or_create(audit=audit, user=user, defaults={"queue": queue})
        if found.queue_id != queue.pk:
            raise ConflictError(f"{user.username} labels as {found.queue.role} in {audit.name}.")
        if is_new:
            detail = {"person": user.username, "role": queue.role, "is_simulated": False}
            record_event(audit, AuditAction.SEATED, by, **detail)
    return found


@in_one_transaction_retried
def claim_disagreement(queue: Queue, user: User, *, sees_automatic: bool) -> Slot | None:
    """The disagreement that the adjudicator works on next, leased to them; None where there is none for them now.

    As `leases.claim_next`: what they hold comes first, and nothing is given while the audit is paused or closed.
    Items on which people have come to differ since are queued first, whether their labels were given here or
    imported. Those with the automatic verdict go only to who sees verdicts anyway.
    """
    with transaction.atomic():
        share_audit(queue.audit_id)
        seat = leases.lock_seat(queue.pk, user)
        if seat.audit.status != AuditStatus.OPEN:
            return None
        _lock(queue)
        _add_new(seat.audit, queue, user)
        served = queue.slots.filter(status=SlotStatus.OPEN, disagreement__is_settled=False)
        if not sees_automatic:
            served = served.filter(disagreement__between=Between.PEOPLE)
        held_by_others = Lease.objects.filter(slot=OuterRef("pk"), expires_at__gt=Now()).exclude(user=user)
        free = served.filter(~Exists(held_by_others)).select_related("disagreement")
        own = Lease.objects.filter(slot=OuterRef("pk"), user=user)
        for slot in free.annotate(is_own=Exists(own)).order_by("-is_own", "position"):
            if pair_of(slot) is not None:
                leases.hold(slot.pk, user)
                return slot
        return None


def decide(
    slot_id: int,
    user: User,
    label: str,
    reason: str,
    *,
    request_key: UUID,
    base_version: int,
    pair_key: str,
    error_type: str = "",
    evidence_digest: str | None = None,
    seconds_on_task: float | None = None,
) -> Submission:
    """Store an adjudicator's decision and its reason as a label version; otherwise as `labels.submit_label`.

    `pair_key` is that of the two labels that the adjudicator saw.

    Raises:
        InputError: there is no reason, or what `submit_label` raises it for.
        PairChangedError: one of the two labels has changed since.
    """
    reason = labels.cleaned(reason)
    if not reason:
        raise InputError("Say why you decide so. The reason is kept with the decision.")
    slot = Slot.objects.select_related("disagreement").get(pk=slot_id)
    request = Request(
        OfferedLabel(LabelAction.LABEL, label, error_type, reason),
        request_key,
        base_version,
        evidence_digest,
        labels.time_on_task(seconds_on_task),
        _visible(pair_of(slot)),
    )
    return labels.store(slot_id, user, request, lambda locked: _check_pair(locked, pair_key))


def _check_pair(slot: Slot, pair_key: str) -> None:
    # Their slots are locked, so that a labeler who changes a label waits and then finds it adjudicated.
    list(Slot.objects.select_for_update(no_key=True).filter(item_id=slot.item_id, queue__role__in=RATERS))
    pair = pair_of(slot)
    if pair is None or pair.key != pair_key:
        raise PairChangedError("One of the two labels has changed since you opened this page. Look at them again.")


def _visible(pair: Pair | None) -> dict[str, object]:
    if pair is None:
        return {}
    return {
        "between": pair.between,
        "labels": [{"version": side.version, "label": side.label} for side in pair.sides],
    }


def _lock(queue: Queue) -> None:
    """One after the other: rebuilding the queue and handing out of it."""
    Queue.objects.select_for_update(no_key=True).get(pk=queue.pk)
