"""People's roles in a study: what leads change, and the rules that hold whoever changes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models.functions import Now

from annotation.administration import reassign
from annotation.events import share_audit
from annotation.models import AuditStatus, LabelerRole, Seat
from lseval.access import RESULT_ROLES
from lseval.door.models import Invitation, RoleChange
from lseval.errors import ConflictError, InputError
from lseval.models import Membership, Role, Study, User
from lseval.pipeline.studies import give_role

_SEATED_AS: Final[Mapping[LabelerRole, Collection[str]]] = {
    LabelerRole.H1: (Role.ANNOTATOR,),
    LabelerRole.H2: (Role.ANNOTATOR,),
    LabelerRole.ADJUDICATOR: (Role.LEAD, Role.ANNOTATOR),
}
"""Which members may sit in which queue; see `annotation.services.seat` and `annotation.adjudication`."""


@transaction.atomic
def add_member(study: Study, user: User, role: str, by: User | None) -> Membership:
    """Make a person a member who is none yet.

    Raises:
        InputError: the role is unknown, or the person is a simulated labeler.
        ConflictError: they are a member already, or would label after having seen verdicts.
    """
    _lock(study)
    if role not in Role.values:
        raise InputError(f"{role[:20]!r} is no role: use {', '.join(Role.values)}.")
    if user.is_simulated:
        raise InputError(f"{user.username} is a simulated labeler and can hold no role.")
    present = Membership.objects.filter(study=study, user=user).first()
    if present is not None:
        raise ConflictError(f"{user.username} is {_a(present.role)} of {study.name} already.")
    _refuse_unblind(study, user, role)
    made = Membership.objects.create(study=study, user=user, role=role)
    RoleChange.objects.create(study=study, user=user, new_role=role, by=by)
    return made


@transaction.atomic
def change_role(study: Study, member_id: int, role: str, by: User) -> Membership:
    """Give a member another role; one who has it already keeps it.

    A former lead's open invitations end, and so do the places in audits that the new role does not allow.

    Raises:
        InputError: the role is unknown.
        ConflictError: the study would have no lead, or the person would label after having seen verdicts.
        Membership.DoesNotExist: the study has no such member.
    """
    _share_audits_of(study, member_id)
    _lock(study)
    member = study.memberships.select_related("user").get(pk=member_id)
    if role not in Role.values:
        raise InputError(f"{role[:20]!r} is no role: use {', '.join(Role.values)}.")
    if role == member.role:
        return member
    _refuse_leadless(study, member)
    _refuse_unblind(study, member.user, role, present=member.role)
    RoleChange.objects.create(study=study, user=member.user, old_role=member.role, new_role=role, by=by)
    _revoke_invitations_by(study, member.user)
    member.role = role
    member.save(update_fields=["role"])
    _end_places(study, member.user, by, role)
    return member


@transaction.atomic
def set_role(study: Study, user: User, role: str) -> Membership:
    """Make a person a member in one role, whatever they were: whoever runs the program may; it is recorded.

    Raises InputError where the role is unknown, or the user is a simulated labeler.
    """
    _lock(study)
    old = Membership.objects.filter(study=study, user=user).values_list("role", flat=True).first() or ""
    member = give_role(study, user, role)
    if role != old:
        RoleChange.objects.create(study=study, user=user, old_role=old, new_role=role, by=None)
        _end_places(study, user, None, role)
    return member


@dataclass(frozen=True, slots=True)
class Removed:
    """Who was removed, and which places in audits ended with that: "H1 in Audit 1"."""

    user: User
    places: tuple[str, ...]


@transaction.atomic
def remove_member(study: Study, member_id: int, by: User) -> Removed:
    """End a membership, the open invitations that the person has sent, and their places in audits.

    What they hold goes back to its queue; their labels stay. In a closed audit nothing changes.

    Raises ConflictError where the study would have no lead, Membership.DoesNotExist where it has no such member.
    """
    _share_audits_of(study, member_id)
    _lock(study)
    member = study.memberships.select_related("user").get(pk=member_id)
    _refuse_leadless(study, member)
    RoleChange.objects.create(study=study, user=member.user, old_role=member.role, by=by)
    _revoke_invitations_by(study, member.user)
    member.delete()
    return Removed(member.user, _end_places(study, member.user, by))


def has_seen_results(study: Study, user: User) -> bool:
    """Whether the person has ever had a role in the study that sees verdicts, as far as is recorded."""
    return RoleChange.objects.filter(study=study, user=user, old_role__in=RESULT_ROLES).exists()


def _share_audits_of(study: Study, member_id: int) -> None:
    """Keep the audits in which the member sits from being closed meanwhile, before the study is locked.

    That is the order in which publishing a codebook takes both.
    """
    seats = Seat.objects.filter(audit__study=study, user__memberships=member_id)
    for audit_id in seats.order_by("audit_id").values_list("audit_id", flat=True):
        share_audit(audit_id)


def _end_places(study: Study, user: User, by: User | None, role: str = "") -> tuple[str, ...]:
    """End the person's places in the study's audits that are not closed, save those that the role allows."""
    ended = []
    seats = Seat.objects.filter(audit__study=study, user=user).exclude(audit__status=AuditStatus.CLOSED)
    for seat in seats.select_related("audit", "queue").order_by("audit_id"):
        if role in _SEATED_AS[LabelerRole(seat.queue.role)]:
            continue
        reassign(seat.audit, user, by)
        ended.append(f"{seat.queue.role} in {seat.audit.name}")
    return tuple(ended)


def _lock(study: Study) -> None:
    """One change of a study's people at a time, or two leads could each make the other the last one."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)


def _refuse_leadless(study: Study, leaving: Membership) -> None:
    if leaving.role != Role.LEAD:
        return
    others = study.memberships.filter(role=Role.LEAD, user__is_active=True).exclude(pk=leaving.pk)
    if not others.exists():
        raise ConflictError(f"{leaving.user.username} is the only lead of {study.name}. Make another one first.")


def _refuse_unblind(study: Study, user: User, role: str, present: str = "") -> None:
    if role == Role.ANNOTATOR and (present in RESULT_ROLES or has_seen_results(study, user)):
        raise ConflictError(
            f"{user.username} has been able to see this study's verdicts, so their labels would not be blind. "
            "Ask somebody else to label."
        )


def _revoke_invitations_by(study: Study, user: User) -> None:
    """Who is no lead any more lets nobody in any more."""
    made = Invitation.objects.filter(study=study, created_by=user, accepted_at=None, revoked_at=None)
    made.update(revoked_at=Now())


def _a(role: str) -> str:
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role}"
