"""Drawing audits and seating people: what a lead does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from annotation.adjudication_selectors import sits_over_the_same_items
from annotation.codebook import CODEBOOK_VERSION
from annotation.events import AuditClosedError, record_event
from annotation.history_of_audits import BEGINS_WITH, things_of
from annotation.models import (
    Audit,
    AuditAction,
    AuditEvent,
    AuditStatus,
    Item,
    LabelerRole,
    LabelVersion,
    Queue,
    Seat,
    Slot,
)
from annotation.sampling import GROUP, DrawnItem, Plan, Sample, draw, frame_summary
from annotation.selectors import frame_of
from lseval.errors import ConflictError, InputError
from lseval.models import Membership, Role, Run, Study, User
from lseval.pipeline.stage1 import cited_pages, pages_by_key

LARGEST_SEED = 2**63 - 1
LONGEST_NAME = 100
LABELER_ROLES = (LabelerRole.H1, LabelerRole.H2)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A frame and the sample drawn from it, before anything is stored."""

    frame: dict[str, Any]
    sample: Sample


def preview_draw(study: Study, plan: Plan, seed: int) -> Drawing:
    """What `create_audit` would draw now.

    Raises InputError where the seed is out of range or the study has nothing to label.
    """
    if not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"The seed must lie between 0 and {LARGEST_SEED}; it is {seed}.")
    frame = frame_of(study)
    sample = draw(frame, plan, seed)
    if not sample.items:
        raise InputError(
            f"{study.name} has no answer groups to draw from. Import runs with final answers first."
            if not frame
            else f"None of the {len(frame)} runs of {study.name} has an answer group, so there is nothing to label."
        )
    return Drawing(frame_summary(frame), sample)


def create_audit(
    study: Study,
    plan: Plan,
    seed: int,
    name: str,
    by: User | None,
    *,
    expected_digest: str = "",
    reveal_after_submission: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> Audit:
    """Draw and store an audit with its items and the queues of H1 and H2.

    `expected_digest`, where given, is that of the frame the lead has seen. `advance` is called once a drawn run.

    Raises:
        InputError: the name or the seed cannot be used, or there is nothing to label.
        ConflictError: the study has an audit of that name, or its frame is no longer the expected one.
    """
    name = _audit_name(name)
    if study.audits.filter(name=name).exists():
        raise _name_taken(study, name)
    drawing = preview_draw(study, plan, seed)
    if expected_digest and expected_digest != drawing.frame["digest"]:
        raise ConflictError(
            "The study's runs have changed since you saw the draw. Look at the new draw and confirm again."
        )
    try:
        with transaction.atomic():
            audit = Audit.objects.create(
                study=study,
                name=name,
                seed=seed,
                plan={**plan.as_json(), "drawn": dict(drawing.sample.drawn)},
                frame=drawing.frame,
                reveal_after_submission=reveal_after_submission,
                codebook_version=CODEBOOK_VERSION,
                created_by=by,
            )
            items = save_items(audit, drawing.sample.items, advance)
            for role, places in zip(LABELER_ROLES, (drawing.sample.h1, drawing.sample.h2), strict=True):
                queue = Queue.objects.create(audit=audit, role=role)
                fill_queue(queue, [items[place] for place in places])
            record_event(audit, AuditAction.DRAWN, by, items=len(items), **{BEGINS_WITH: things_of(audit)})
    except IntegrityError:
        # Another draw stored the name between our look and our write.
        if study.audits.filter(name=name).exists():
            raise _name_taken(study, name) from None
        raise
    return audit


def planned(study: Study) -> Plan:
    """The plan that the study's settings state (`[audit]` of its file), else the paper's."""
    return Plan.from_json(study.settings.get("audit") or {})


def free_name(taken_names: Collection[str]) -> str:
    """Audit 1, Audit 2, ...: the first that is not taken."""
    return next(name for number in range(1, len(taken_names) + 2) if (name := f"Audit {number}") not in taken_names)


def fill_queue(queue: Queue, items: Iterable[Item]) -> None:
    """Put the items into an empty queue, in their order."""
    Slot.objects.bulk_create(
        (Slot(queue=queue, item=item, position=place) for place, item in enumerate(items, 1)), batch_size=2000
    )


def seat(queue: Queue, user: User, by: User | None = None) -> Seat:
    """Give a person a place in a queue; one who has it already keeps it.

    Raises:
        InputError: the person is no annotator of the study (whoever else sees the verdicts and is not blind), or is
            simulated where people sit.
        ConflictError: the person has, or has had, another role in this audit, adjudicates the same items in
            another one, or it is closed.
    """
    audit = queue.audit
    if Audit.objects.filter(pk=audit.pk, status=AuditStatus.CLOSED).exists():
        raise AuditClosedError
    if user.is_simulated != queue.is_simulated:
        raise InputError("Simulated labelers and people never share a queue.")
    if not user.is_simulated:
        membership = Membership.objects.filter(study_id=audit.study_id, user=user).first()
        if membership is None:
            raise InputError(f"{user.username} is no member of this study. Add them as an annotator first.")
        if membership.role != Role.ANNOTATOR:
            raise InputError(f"{user.username} is a {membership.role} and sees the verdicts, so they cannot label.")
        had = earlier_role(audit, user)
        if had and had != queue.role:
            raise ConflictError(
                f"{user.username} has labeled as {had} in {audit.name}. One person never holds two roles."
            )
        if sits_over_the_same_items(user, audit, [LabelerRole.ADJUDICATOR]):
            raise ConflictError(f"{user.username} adjudicates the same items in another audit and is not blind.")
    with transaction.atomic():
        found, is_new = Seat.objects.get_or_create(audit=audit, user=user, defaults={"queue": queue})
        if found.queue_id != queue.pk:
            raise ConflictError(
                f"{user.username} labels as {found.queue.role} in {audit.name}. One person never holds two roles."
            )
        if is_new:
            detail = {"person": user.username, "role": queue.role, "is_simulated": queue.is_simulated}
            record_event(audit, AuditAction.SEATED, by, **detail)
    return found


def earlier_role(audit: Audit, user: User) -> str:
    """The role that a person without a place had in the audit, by their labels and by its log; empty for none."""
    labeled = LabelVersion.objects.filter(user=user, slot__queue__audit=audit, slot__queue__is_simulated=False)
    role = labeled.values_list("slot__queue__role", flat=True).first()
    if role:
        return role
    ended = AuditEvent.objects.filter(audit=audit, action=AuditAction.SEAT_ENDED, detail__person=user.username)
    return ended.values_list("detail__role", flat=True).first() or ""


def queue_of(audit: Audit, role: str) -> Queue:
    """The people's queue of a role. Raises InputError for a role that the audit does not have."""
    found = audit.queues.filter(role=role, is_simulated=False).first()
    if found is None:
        raise InputError(f"{audit.name} has no queue {role[:20]!r}. Choose one of {', '.join(LABELER_ROLES)}.")
    return found


def save_items(
    audit: Audit, drawn: Sequence[DrawnItem], advance: Callable[[], None], *, draw: int = 1
) -> list[Item]:
    """Store drawn items, in their order, with the snapshots that every labeler of them is shown."""
    snapshots = _snapshots_by_group({item.run for item in drawn}, advance)
    return Item.objects.bulk_create(
        (
            Item(
                audit=audit,
                kind=item.kind,
                run_id=item.run,
                group_id=item.group,
                round_id=item.round,
                inclusion_probability=item.probability,
                draw=draw,
                snapshots=snapshots[item.group] if item.kind == GROUP else [],
            )
            for item in drawn
        ),
        batch_size=2000,
    )


def _snapshots_by_group(
    run_ids: Iterable[int], advance: Callable[[], None]
) -> dict[int | None, list[dict[str, Any]]]:
    """Group id to its cited URLs with the snapshots that Stage 1 is given for them."""
    found: dict[int | None, list[dict[str, Any]]] = {}
    for run in Run.objects.filter(pk__in=run_ids).prefetch_related("answer_groups__citations").order_by("id"):
        pages = pages_by_key(run)
        for group in run.answer_groups.all():
            found[group.pk] = [
                {"url": url, "page": page.pk if page else None} for url, page in cited_pages(group, pages)
            ]
        advance()
    return found


def _audit_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"An audit needs a name of 1 to {LONGEST_NAME} printable characters.")
    return name


def _name_taken(study: Study, name: str) -> ConflictError:
    return ConflictError(f"{study.name} already has an audit named {name!r}. Choose another name.")
