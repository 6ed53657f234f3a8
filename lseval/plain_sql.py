"""Statements written by hand, for the few pages that a person asks for every few seconds.

Putting a query together costs Django several times what PostgreSQL takes to answer it. What is read here comes back
as the same model instances, so that whoever is given them cannot tell.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

from django.db import DEFAULT_DB_ALIAS, connection, models

LARGEST_ID: Final = 2**63 - 1
"""What a row's id can be at most: `bigint`."""


class Columns:
    """Some columns of a model's table: `str()` is their list for a SELECT, and `of` makes instances of the rows.

    `alias` is the table's name in the statement. Fields that are left out are loaded when they are asked for.
    """

    def __init__(
        self, model: type[models.Model], alias: str, *, only: Sequence[str] = (), without: Sequence[str] = ()
    ) -> None:
        self._model = model
        known = model._meta.concrete_fields
        fields = [field for field in known if (not only or field.name in only) and field.name not in without]
        self._names = [field.attname for field in fields]
        self._listed = ", ".join(f'{alias}."{field.column}"' for field in fields)

    def __str__(self) -> str:
        return self._listed

    def __len__(self) -> int:
        return len(self._names)

    def of(self, row: Sequence[Any], at: int = 0) -> Any:
        """The instance that a row holds from its place `at` on. JSON fields must be among those left out."""
        return self._model.from_db(DEFAULT_DB_ALIAS, self._names, row[at : at + len(self._names)])


class Statement:
    """A statement with parameters as `%(name)s`, which PostgreSQL parses and plans once a connection.

    That takes it longer than to run one of these.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        names = list(dict.fromkeys(_PARAMETER.findall(text)))
        places = {name: f"${number}" for number, name in enumerate(names, 1)}
        name = f"lseval_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        self.prepare = f"PREPARE {name} AS {_PARAMETER.sub(lambda found: places[found[1]], text)}"
        given = ", ".join(f"%({each})s" for each in names)
        self.execute = f"EXECUTE {name}({given})" if names else f"EXECUTE {name}"


_PARAMETER: Final = re.compile(r"%\((\w+)\)s")
_PREPARED: Final[WeakKeyDictionary[Any, set[str]]] = WeakKeyDictionary()
"""Which statements a connection to PostgreSQL knows already."""

FORGETFUL: Final[WeakSet[Any]] = WeakSet()
"""Connections on which psycopg prepares by itself, as for the ledger: at a rollback it forgets all that is prepared
there, ours included."""

is_prepared = True
"""Off, statements are sent as they are written; a test that reads them turns it off."""


def rows_of_each(statements: Sequence[Statement | str], given: Any = None) -> list[list[tuple[Any, ...]]]:
    """The rows of each of several statements, sent as one message; all take their parameters from `given`.

    Each statement sees what was committed while the one before it waited. Texts are sent as they are.
    """
    found: list[list[tuple[Any, ...]]] = []
    with connection.cursor() as cursor:
        cursor.execute(";\n".join(_as_sent(statement) for statement in statements), given)
        for _ in statements:
            # `cursor.description` would say so too, and describe every column for it.
            found.append(cursor.fetchall() if cursor.pgresult.nfields else [])
            cursor.nextset()
    return found


def rows_of(statement: Statement, given: Any = None) -> list[tuple[Any, ...]]:
    """All rows of the statement."""
    return rows_of_each([statement], given)[0]


def row_of(statement: Statement, given: Any = None) -> tuple[Any, ...] | None:
    """The statement's first row, or None."""
    return next(iter(rows_of(statement, given)), None)


def _as_sent(statement: Statement | str) -> str:
    if isinstance(statement, str):
        return statement
    if not is_prepared or connection.connection in FORGETFUL:
        return statement.text
    known = _PREPARED.setdefault(connection.connection, set())
    if statement.execute not in known:
        with connection.wrap_database_errors, connection.connection.cursor() as plain:
            plain.execute(statement.prepare)
        known.add(statement.execute)
    return statement.execute
