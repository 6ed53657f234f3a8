"""What holds for all tests of labeling."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection, connections

from lseval import plain_sql
from lseval.pipeline import prepared


class _Forgotten:
    def add(self, raw: object) -> None:
        """Nothing."""


@pytest.fixture(autouse=True)
def _statements_go_as_in_a_server() -> Iterator[None]:
    """Prepared, as for people: a connection that serves them never imports runs, as the ones of tests do."""
    forgetful = plain_sql.FORGETFUL
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(prepared, "_PREPARE_AFTER", None)
        patched.setattr(prepared, "FORGETFUL", _Forgotten())
        patched.setattr(plain_sql, "FORGETFUL", set())
        if connection.connection in forgetful:
            _begin_anew()
        yield
    if connection.connection is not None:
        forgetful.add(connection.connection)


def _begin_anew() -> None:
    """Nothing of ours is prepared on the connection, and nobody thinks that it is."""
    if not connection.in_atomic_block:
        connection.close()
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM pg_prepared_statements WHERE name LIKE 'lseval%'")
        for (name,) in cursor.fetchall():
            cursor.execute(f"DEALLOCATE {name}")
    plain_sql._KEPT.pop(connections["default"], None)
