"""Where sessions are kept: in the database, as Django does, each read together with the person it is of."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

from cachetools import LRUCache
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from lseval.models import User
from lseval.plain_sql import Columns, Rows, Statement, rows_of_each
from lseval.reading_along import ReadAlong, Reading

_SESSION: Final = Statement(
    "SELECT session_data, expire_date FROM django_session WHERE session_key = %(key)s AND expire_date > %(now)s"
)
_COLUMNS: Final = Columns(User, "person")
PERSON: Final = Statement(f"SELECT {_COLUMNS} FROM lseval_user person WHERE person.id = %(user)s")  # noqa: S608 - column names

_MOST_KNOWN: Final = 10_000
_people: Final[LRUCache[str, int]] = LRUCache(_MOST_KNOWN)
"""Whose a session was when it was last read. Only a guess at whom to read along with it."""
_lock: Final = Lock()


def person_in(rows: Rows) -> User | None:
    """The person of the rows that `PERSON` gives."""
    return _COLUMNS.of(rows[0]) if rows else None


class SessionStore(db.SessionStore):
    """Django's, except that a session is looked up on every page and so costs as little as it can."""

    reading = Reading()
    """What is read in one message with the session and with the person whose it was when it was last read."""
    read_along: ReadAlong | None = None
    """What was read so. The person need not be the one whose session it is."""

    def _get_session_from_db(self) -> Any:
        key = self.session_key
        if not key or not (key.isascii() and key.isalnum()):
            self._session_key = None
            return None
        with _lock:
            person = _people.get(key)
        given = {**self.reading.given, "key": key, "now": timezone.now(), "user": person}
        sessions, people, *rows = rows_of_each(
            [_SESSION, PERSON, *self.reading.statements], given, may_be_repeated=True
        )
        if not sessions:
            self._session_key = None
            return None
        self.read_along = ReadAlong(person_in(people), rows)
        return Session(session_key=key, session_data=sessions[0][0], expire_date=sessions[0][1])

    def load(self) -> dict[str, Any]:
        found: dict[str, Any] = super().load()
        self._note_person(found)
        return found

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        self._note_person(data)
        return super().create_model_instance(data)

    def _note_person(self, data: dict[str, Any]) -> None:
        person = str(data.get(SESSION_KEY, ""))
        if self.session_key and person.isdecimal():
            with _lock:
                _people[self.session_key] = int(person)
