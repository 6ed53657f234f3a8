"""Statements that the database plans once for each connection, for what is asked thousands of times."""

from __future__ import annotations

from typing import Any, Self
from weakref import WeakKeyDictionary

import psycopg
from django.db import connection
from psycopg.rows import tuple_row

from lseval.plain_sql import FORGETFUL

_PREPARE_AFTER = 3

_cursors: WeakKeyDictionary[Any, psycopg.Cursor[Any]] = WeakKeyDictionary()
"""One for each connection, and so for each thread: to make one takes a good part of the time of a statement."""


class _PreparedCursor(psycopg.Cursor[Any]):
    """A cursor whose statements are prepared, and no others of its connection.

    While a connection prepares, it remembers the last hundred statements; Django's have their values in them, so
    that a hundred long texts would be kept.
    """

    def execute(self, *given: Any, **options: Any) -> Self:
        self.connection.prepare_threshold = _PREPARE_AFTER
        try:
            return super().execute(*given, **options)
        finally:
            self.connection.prepare_threshold = None


def prepared_cursor() -> psycopg.Cursor[Any]:
    """A cursor of this thread's connection that binds on the server and prepares what it repeats.

    Django's own do neither. It takes part in Django's transactions; its errors are psycopg's, unless it is used
    within `connection.wrap_database_errors`.
    """
    connection.ensure_connection()
    raw = connection.connection
    assert raw is not None
    cursor = _cursors.get(raw)
    if cursor is None:
        cursor = _cursors[raw] = _PreparedCursor(raw, row_factory=tuple_row)
        FORGETFUL.add(raw)
    return cursor


def fetch_all(statement: str, params: list[Any] | dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement, which is prepared. Raises Django's database errors."""
    cursor = prepared_cursor()
    with connection.wrap_database_errors:
        return cursor.execute(statement, params).fetchall()
