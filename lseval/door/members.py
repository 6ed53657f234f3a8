"""People's roles in a study: what leads change, and the rules that hold whoever changes them."""

from __future__ import annotations

from django.db import transaction
from django.db.models.functions import Now

from lseval.access import RESULT_ROLES
from lseval.door.models import Invitation, RoleChange
from lseval.errors import ConflictError, InputError
from lseval.models import Membership, Role, Study, User
from lseval.pipeline.studies import give_role


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
    """Give a member another role; one who has it already keeps it. A former lead's open invitations end.

    Raises:
        InputError: the role is unknown.
        ConflictError: the study would have no lead, or the person would label after having seen verdicts.
        Membership.DoesNotExist: the study has no such member.
    """
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
    return member


@transaction.atomic
def remove_member(study: Study, member_id: int, by: User) -> User:
    """End a membership, and the open invitations that the person has sent; their labels stay.

    Raises ConflictError where the study would have no lead, Membership.DoesNotExist where it has no such member.
    """
    _lock(study)
    member = study.memberships.select_related("user").get(pk=member_id)
    _refuse_leadless(study, member)
    RoleChange.objects.create(study=study, user=member.user, old_role=member.role, by=by)
    _revoke_invitations_by(study, member.user)
    member.delete()
    return member.user


def has_seen_results(study: Study, user: User) -> bool:
    """Whether the person has ever had a role in the study that sees verdicts, as far as is recorded."""
    return RoleChange.objects.filter(study=study, user=user, old_role__in=RESULT_ROLES).exists()


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
