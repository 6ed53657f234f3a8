"""What the pages of the door show. Only reads."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.utils import timezone

from annotation.models import AuditStatus, Seat
from lseval.door.models import Invitation, RoleChange
from lseval.models import Membership, Role, Study, User

INVITATIONS_SHOWN = 50
CHANGES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member as leads see them; `seats` names the places in audits that are not closed."""

    member: Membership
    seats: tuple[str, ...]
    is_you: bool
    is_only_lead: bool
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InvitationRow:
    """An invitation and what became of it: open, accepted, revoked or expired."""

    invitation: Invitation
    state: str


def member_rows(study: Study, viewer: User) -> list[MemberRow]:
    """The members, leads first, then by name; four queries however many there are.

    `roles` are those that the member could be given: who has seen verdicts cannot become an annotator.
    """
    members = list(study.memberships.select_related("user"))
    leads = [member for member in members if member.role == Role.LEAD and member.user.is_active]
    seats = defaultdict(list)
    found = Seat.objects.filter(audit__study=study).exclude(audit__status=AuditStatus.CLOSED)
    for user_id, role, audit in found.order_by("audit_id").values_list("user_id", "queue__role", "audit__name"):
        seats[user_id].append(f"{role} in {audit}")
    seen = set(
        RoleChange.objects.filter(study=study, old_role__in=(Role.LEAD, Role.RESEARCHER)).values_list(
            "user_id", flat=True
        )
    )
    order = list(Role.values)
    rows = [
        MemberRow(
            member=member,
            seats=tuple(seats[member.user_id]),
            is_you=member.user_id == viewer.pk,
            is_only_lead=leads == [member],
            roles=_roles_for(member, is_blind=member.user_id not in seen),
        )
        for member in members
    ]
    return sorted(rows, key=lambda row: (order.index(row.member.role), row.member.user.username))


def invitation_rows(study: Study) -> list[InvitationRow]:
    """The study's newest invitations."""
    now = timezone.now()
    found = study.invitations.select_related("created_by", "accepted_by")[:INVITATIONS_SHOWN]
    return [InvitationRow(invitation, _state(invitation, now)) for invitation in found]


def changes_of(study: Study) -> list[RoleChange]:
    """The newest changes of roles."""
    return list(study.role_changes.select_related("user", "by")[:CHANGES_SHOWN])


def _roles_for(member: Membership, *, is_blind: bool) -> tuple[str, ...]:
    can_label = member.role == Role.ANNOTATOR and is_blind
    return tuple(role for role in Role.values if role != Role.ANNOTATOR or can_label)


def _state(invitation: Invitation, now: object) -> str:
    if invitation.accepted_at is not None:
        return "accepted"
    if invitation.revoked_at is not None:
        return "revoked"
    return "open" if invitation.expires_at > now else "expired"  # type: ignore[operator]
