"""Inviting people to a study, and letting them in."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from lseval.door.members import add_member
from lseval.door.models import Invitation
from lseval.errors import ConflictError, InputError
from lseval.models import Membership, Role, Study, User

LIFETIME = timedelta(days=7)
PREFIX = "lsi_"
MOST_OPEN = 200
_TOKEN = re.compile(r"lsi_[\w-]{43}", re.ASCII)


class InvitationEndedError(ConflictError):
    """The link does not let anybody in: it was used or revoked, has expired, or never was one."""

    code = "invitation_ended"

    def __init__(self) -> None:
        super().__init__(
            "This invitation cannot be used: it has been accepted or revoked, or is more than 7 days old. "
            "Ask the lead who sent it for a new one."
        )


def invite(study: Study, role: str, by: User, note: str = "") -> tuple[Invitation, str]:
    """A new invitation and its token, which is shown once and not kept.

    Raises:
        InputError: the role is unknown, or the note is longer than 100 characters.
        ConflictError: the study has very many open invitations.
    """
    if role not in Role.values:
        raise InputError(f"{role[:20]!r} is no role: use {', '.join(Role.values)}.")
    if len(note) > 100:
        raise InputError("The note may have 100 characters at most.")
    if open_invitations(study).count() >= MOST_OPEN:
        raise ConflictError(f"{study.name} has {MOST_OPEN} open invitations. Revoke some first.")
    token = PREFIX + secrets.token_urlsafe(32)
    made = Invitation.objects.create(
        study=study,
        role=role,
        digest=_digest(token),
        note=note.strip(),
        created_by=by,
        expires_at=timezone.now() + LIFETIME,
    )
    return made, token


def open_invitation(token: str) -> Invitation:
    """The invitation that the token opens. Raises InvitationEndedError where it opens none."""
    found = None
    if _TOKEN.fullmatch(token):
        found = _open().select_related("study", "created_by").filter(digest=_digest(token)).first()
    if found is None:
        raise InvitationEndedError
    return found


def open_invitations(study: Study):  # type: ignore[no-untyped-def]
    """Those that can still be accepted, newest first."""
    return _open().filter(study=study)


@transaction.atomic
def accept(token: str, user: User) -> Membership:
    """Let a person in who has a login. The invitation is used up, unless this raises.

    Raises:
        InvitationEndedError: see `open_invitation`; of two who use the link at once the second gets it.
        InputError, ConflictError: see `add_member`.
    """
    found = open_invitation(token)
    member = add_member(found.study, user, found.role, found.created_by)
    used = _open().filter(pk=found.pk).update(accepted_at=Now(), accepted_by=user)
    if not used:
        raise InvitationEndedError
    return member


def join(token: str, username: str, password: str, email: str = "") -> User:
    """Make the login of a person and let them in, both or neither.

    Raises as `accept`, and ConflictError where somebody has the name.
    """
    try:
        with transaction.atomic():
            user = User.objects.create_user(username, email=email, password=password)
            accept(token, user)
    except IntegrityError:
        raise ConflictError(f"Somebody is called {username} already. Choose another name.") from None
    return user


def revoke(study: Study, invitation_id: int) -> Invitation:
    """End an open invitation.

    Raises ConflictError where it has ended already, Invitation.DoesNotExist where the study has none of that id.
    """
    found = study.invitations.get(pk=invitation_id)
    if not _open().filter(pk=found.pk).update(revoked_at=Now()):
        raise ConflictError("This invitation has been accepted or revoked already, or has expired.")
    return found


def _open():  # type: ignore[no-untyped-def]
    return Invitation.objects.filter(accepted_at=None, revoked_at=None, expires_at__gt=Now())


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
