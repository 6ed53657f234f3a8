"""API tokens: made, ended, and recognised."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed

from lseval.door.models import ApiToken
from lseval.errors import ConflictError, InputError
from lseval.models import User

PREFIX = "lst_"
LIFETIMES_DAYS = (30, 90, 365)
MOST_TOKENS = 20
LONGEST_NAME = 60
_TOKEN = re.compile(rb"lst_[0-9a-f]{64}")
_USE_NOTED_EVERY = timedelta(hours=1)


def create_token(user: User, name: str, lifetime_days: int) -> tuple[ApiToken, str]:
    """A new token and its text, which is shown once and not kept.

    Raises InputError for a name or lifetime that cannot be used, ConflictError where the person has very many.
    """
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"A token needs a name of 1 to {LONGEST_NAME} printable characters.")
    if lifetime_days not in LIFETIMES_DAYS:
        raise InputError(f"A token lasts {', '.join(map(str, LIFETIMES_DAYS))} days.")
    if tokens_of(user).count() >= MOST_TOKENS:
        raise ConflictError(f"You have {MOST_TOKENS} tokens. Revoke one first.")
    return ApiToken.objects.issue(user, name, timedelta(days=lifetime_days))


def tokens_of(user: User) -> Any:
    """The person's tokens that still work, newest first."""
    return ApiToken.objects.filter(user=user).filter(Q(expiry=None) | Q(expiry__gt=timezone.now()))


def revoke_token(user: User, public_id: Any) -> str:
    """End a token of the person at once; returns its name. Raises ApiToken.DoesNotExist for anybody else's."""
    found = ApiToken.objects.get(user=user, public_id=public_id)
    found.delete()
    return found.name


def revoke_all_tokens(user: User) -> int:
    """End all tokens of the person; returns how many there were."""
    return ApiToken.objects.filter(user=user).delete()[0]


class BearerToken(TokenAuthentication):
    """`Authorization: Bearer lst_…`, and nowhere else: a token in an address would be written into logs.

    A token that is not one, or was revoked, or has expired, or whose owner is disabled gives 401.
    """

    def authenticate_credentials(self, token: bytes) -> tuple[User, ApiToken]:
        # knox looks up whatever bytes it gets; those that are no text would be a server error.
        if not _TOKEN.fullmatch(token):
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)

    def validate_user(self, auth_token: ApiToken) -> tuple[User, ApiToken]:
        user, found = super().validate_user(auth_token)
        if user.is_simulated:
            raise AuthenticationFailed("Invalid token.")
        now = timezone.now()
        ApiToken.objects.filter(pk=found.pk).exclude(last_used_at__gt=now - _USE_NOTED_EVERY).update(
            last_used_at=now
        )
        return user, found
