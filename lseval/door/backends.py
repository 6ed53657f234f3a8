"""Who can log in with a password."""

from __future__ import annotations

from typing import Any, Final

from django.contrib.auth.backends import ModelBackend

from lseval.models import User
from lseval.plain_sql import Columns, Statement, row_of

_COLUMNS: Final = Columns(User, "person")
_PERSON: Final = Statement(f"SELECT {_COLUMNS} FROM lseval_user person WHERE person.id = %(user)s")  # noqa: S608 - column names


class PeopleBackend(ModelBackend):
    """Django's, for people only: a simulated labeler never logs in, whatever password it was given."""

    def user_can_authenticate(self, user: Any) -> bool:
        return super().user_can_authenticate(user) and not getattr(user, "is_simulated", False)

    def get_user(self, user_id: Any) -> User | None:
        """The person of a session; None for one who may no longer log in. Every page asks for it."""
        row = row_of(_PERSON, {"user": user_id})
        user: User | None = _COLUMNS.of(row) if row else None
        return user if user is not None and self.user_can_authenticate(user) else None
