"""Who can log in with a password, and who a request's session says is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final, cast

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.middleware import AuthenticationMiddleware, get_user
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from lseval.door.sessions import PERSON, SessionStore, person_in
from lseval.models import User
from lseval.plain_sql import rows_of
from lseval.reading_along import reading_of

_ASKED_BY: Final[ContextVar[HttpRequest | None]] = ContextVar("_ASKED_BY", default=None)
"""The request whose person is being looked up."""


class PeopleBackend(ModelBackend):
    """Django's, for people only: a simulated labeler never logs in, whatever password it was given."""

    def user_can_authenticate(self, user: Any) -> bool:
        return super().user_can_authenticate(user) and not getattr(user, "is_simulated", False)

    def get_user(self, user_id: Any) -> User | None:
        """The person of a session; None for one who may no longer log in. Every page asks for it."""
        request = _ASKED_BY.get()
        along = getattr(request.session, "read_along", None) if request else None
        user: User | None = along.person if along else None
        if user is None or user.pk != user_id:
            user = person_in(rows_of(PERSON, {"user": user_id}))
        return user if user is not None and self.user_can_authenticate(user) else None


class PeopleMiddleware(AuthenticationMiddleware):
    """Django's; the person is the one who was read along with the session, where the session is theirs."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = cast(User, SimpleLazyObject(lambda: _person_of(request)))

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Before anybody asks for the person: the view says what else to read with their session."""
        session = request.session
        if isinstance(session, SessionStore):
            session.reading = reading_of(view, request, kwargs)


def _person_of(request: HttpRequest) -> Any:
    asked = _ASKED_BY.set(request)
    try:
        found = get_user(request)
    finally:
        _ASKED_BY.reset(asked)
    request.user = found  # known from here on
    return found
