"""What a lead does to an audit that is under way: pause, resume, extend, close, release, reassign.

Each is one transaction and one line in the audit's log. `by` is who does it, None for a command.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.db.models import F, Max
from django.db.models.functions import Now

from annotation.events import AuditClosedError, claim_audit, record_event, share_audit
from annotation.models import (
    Audit,
    AuditAction,
    AuditEvent,
    AuditStatus,
    Extension,
    Item,
    Lease,
    Seat,
    Slot,
)
from annotation.sampling import Plan, draw, frame_summary, left_to_draw
from annotation.selectors import frame_of
from annotation.services import LABELER_ROLES, LARGEST_SEED, Drawing, queue_of, save_items, seat
from lseval.errors import ConflictError, InputError
from lseval.models import User


def pause_audit(audit: Audit, by: User | None) -> AuditEvent:
    """Hand out no more items until the audit is resumed. What people hold they may still finish.

    Raises ConflictError where the audit is not open.
    """
    with _changing(audit) as found:
        if found.status != AuditStatus.OPEN:
            raise ConflictError(f"{found.name} is already paused.")
        return _to_status(audit, found, AuditStatus.PAUSED, AuditAction.PAUSED, by)


def resume_audit(audit: Audit, by: User | None) -> AuditEvent:
    """Hand out items again. Raises ConflictError where the audit is not paused."""
    with _changing(audit) as found:
        if found.status != AuditStatus.PAUSED:
            raise ConflictError(f"{found.name} is not paused.")
        return _to_status(audit, found, AuditStatus.OPEN, AuditAction.RESUMED, by)


def close_audit(audit: Audit, by: User | None) -> AuditEvent:
    """End the audit for good: what is being saved at this moment is waited for, and everything later is refused.

    The database refuses it too. Raises AuditClosedError where it was closed before.
    """
    with transaction.atomic():
        claim_audit(audit.pk)
        found = _locked(audit)
        left = Slot.objects.filter(queue__audit=found, queue__is_simulated=False, status="open").count()
        event = _to_status(audit, found, AuditStatus.CLOSED, AuditAction.CLOSED, by, open=left)
    # After the closing, since a heartbeat may hold a lease while it waits for it.
    Lease.objects.filter(slot__queue__audit=found).delete()
    return event


def release_lease(slot: Slot, by: User | None) -> AuditEvent:
    """End a person's hold on an item, so that the next who asks may get it. What they save all the same is kept.

    Raises ConflictError where nobody holds it now.
    """
    with _changing(slot.queue.audit) as found:
        lease = (
            Lease.objects.select_for_update(of=("self",))
            .select_related("user")
            .filter(slot_id=slot.pk, expires_at__gt=Now())
            .first()
        )
        if lease is None:
            raise ConflictError("Nobody holds this item any more.")
        _end(Lease.objects.filter(pk=lease.pk))
        return record_event(
            found,
            AuditAction.LEASE_RELEASED,
            by,
            person=lease.user.username,
            role=slot.queue.role,
            position=slot.position,
        )


def reassign(audit: Audit, leaving: User, by: User | None, *, to: User | None = None) -> AuditEvent:
    """End a person's place and give what they hold back to the queue; with `to`, give that person the place.

    The labels of the person who leaves stay theirs and in force. They can come back to the same role, never to the
    other one.

    Raises:
        InputError: the person has no place in the audit, or `to` cannot take it.
        ConflictError: `to` holds the other role, or is the person who leaves.
    """
    with _changing(audit) as found:
        seated = Seat.objects.select_for_update(of=("self",)).select_related("queue")
        place = seated.filter(audit=found, user=leaving).first()
        if place is None:
            raise InputError(f"{leaving.username} has no place in {found.name}.")
        if to is not None and to.pk == leaving.pk:
            raise ConflictError(f"{to.username} has that place already.")
        queue = place.queue
        held = Lease.objects.filter(slot__queue=queue, user=leaving, expires_at__gt=Now())
        released = _end(held)
        place.delete()
        event = record_event(
            found, AuditAction.SEAT_ENDED, by, person=leaving.username, role=queue.role, released=released
        )
        if to is not None:
            seat(queue, to, by)
        return event


def preview_extension(audit: Audit, plan: Plan | None = None) -> Drawing:
    """What `extend_audit` would add now. Raises InputError where nothing is left to draw.

    It is drawn from the tasks that the audit has not drawn yet; where it has drawn all, from the responses that
    are left on them. The plan is the audit's own where none is given. The seed follows from the audit's and the
    number of the draw: the audit's own seed would order what is left by the very numbers that left it.
    """
    frame = left_to_draw(frame_of(audit.study), set(audit.items.values_list("run_id", flat=True)))
    sample = draw(frame, plan or Plan.from_json(audit.plan), extension_seed(audit, _next_draw(audit)))
    if not sample.items:
        raise InputError(f"{audit.name} already holds every response of the study that has an answer group.")
    return Drawing(frame_summary(frame), sample)


def extend_audit(
    audit: Audit,
    by: User | None,
    plan: Plan | None = None,
    *,
    expected_digest: str = "",
    advance: Callable[[], None] = lambda: None,
) -> Extension:
    """Draw further responses into an audit, behind what its queues hold; see `preview_extension`.

    Items, positions, labels and probabilities that are there stay as they are. A new item's probability is that of
    this draw, given what the earlier ones took. `expected_digest`, where given, is that of the frame the lead has
    seen.

    Raises:
        InputError: nothing is left to draw.
        ConflictError: the frame is no longer the expected one, or the audit is closed.
    """
    with _changing(audit) as found:
        plan = plan or Plan.from_json(found.plan)
        drawing = preview_extension(found, plan)
        if expected_digest and expected_digest != drawing.frame["digest"]:
            raise ConflictError(
                "What is left to draw has changed since you saw it. Look at the new draw and confirm again."
            )
        number = _next_draw(found)
        extension = Extension.objects.create(
            audit=found,
            number=number,
            seed=extension_seed(found, number),
            plan={**plan.as_json(), "drawn": dict(drawing.sample.drawn)},
            frame=drawing.frame,
            created_by=by,
        )
        items = save_items(found, drawing.sample.items, advance, draw=number)
        added = {
            str(role): _append_slots(found, role, [items[place] for place in places])
            for role, places in zip(LABELER_ROLES, (drawing.sample.h1, drawing.sample.h2), strict=True)
        }
        detail = {"draw": number, "seed": extension.seed, "items": len(items), **added}
        record_event(found, AuditAction.EXTENDED, by, **detail)
        return extension


def extension_seed(audit: Audit, number: int) -> int:
    """The seed of an audit's draw: its own for the first, one that follows from it for each later one."""
    if number == 1:
        return audit.seed
    digest = hashlib.sha256(f"{audit.seed} draw {number}".encode()).digest()
    return int.from_bytes(digest[:8], "big") & LARGEST_SEED


def _next_draw(audit: Audit) -> int:
    return (audit.extensions.aggregate(last=Max("number"))["last"] or 1) + 1


def _append_slots(audit: Audit, role: str, items: Sequence[Item]) -> int:
    queue = queue_of(audit, role)
    last = queue.slots.aggregate(last=Max("position"))["last"] or 0
    slots = (Slot(queue=queue, item=item, position=place) for place, item in enumerate(items, last + 1))
    return len(Slot.objects.bulk_create(slots, batch_size=2000))


def _end(leases: Any) -> int:
    """End leases at once. One that ends where it began has been taken back: its holder cannot extend it."""
    return leases.update(expires_at=F("leased_at"))


@contextmanager
def _changing(audit: Audit) -> Iterator[Audit]:
    """The audit, locked and not closed, in a transaction of its own."""
    with transaction.atomic():
        share_audit(audit.pk)
        yield _locked(audit)


def _locked(audit: Audit) -> Audit:
    found = Audit.objects.select_for_update(of=("self",), no_key=True).select_related("study").get(pk=audit.pk)
    if found.status == AuditStatus.CLOSED:
        raise AuditClosedError
    return found


def _to_status(
    audit: Audit, found: Audit, status: AuditStatus, action: AuditAction, by: User | None, **detail: Any
) -> AuditEvent:
    found.status = audit.status = status
    found.save(update_fields=["status"])
    return record_event(found, action, by, **detail)
