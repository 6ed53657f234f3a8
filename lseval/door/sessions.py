"""Where sessions are kept: in the database, as Django does, read by one plain statement."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from lseval.plain_sql import Statement, row_of

_SESSION = Statement(
    "SELECT session_data, expire_date FROM django_session WHERE session_key = %(key)s AND expire_date > %(now)s"
)


class SessionStore(db.SessionStore):
    """Django's, except that a session is looked up on every page and so costs as little as it can."""

    def _get_session_from_db(self) -> Any:
        key = self.session_key
        row = row_of(_SESSION, {"key": key, "now": timezone.now()}) if key else None
        if key is None or row is None:
            self._session_key = None
            return None
        return Session(session_key=key, session_data=row[0], expire_date=row[1])
