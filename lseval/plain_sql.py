"""Statements written by hand, for the few pages that a person asks for every few seconds.

Putting a query together costs Django several times what PostgreSQL takes to answer it. What is read here comes back
as the same model instances, so that whoever is given them cannot tell.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

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

FORGETFUL: Final[WeakSet[Any]] = WeakSet()
"""Connections on which psycopg prepares by itself, as for the ledger: at a rollback it forgets all that is prepared
there, ours included."""

is_prepared = True
"""Off, statements are sent as they are written; a test that reads them turns it off."""


class _Kept:
    """What is kept with a connection to PostgreSQL: a cursor, and what it has prepared."""

    def __init__(self, link: Any) -> None:
        self.link, self.cursor = link, link.cursor()
        self._prepared: set[str] = set()
        self._texts: dict[tuple[Statement | str, ...], str] = {}

    def text_of(self, statements: Sequence[Statement | str]) -> str:
        """The message that has the statements run, which are prepared first if they are not yet."""
        key = tuple(statements)
        text = self._texts.get(key)
        if text is None:
            for statement in statements:
                if isinstance(statement, Statement) and statement.prepare not in self._prepared:
                    self.cursor.execute(statement.prepare)
                    self._prepared.add(statement.prepare)
            text = _message(each if isinstance(each, str) else each.execute for each in statements)
            self._texts[key] = text
        return text


_KEPT: Final[WeakKeyDictionary[BaseDatabaseWrapper, _Kept]] = WeakKeyDictionary()


def rows_of_each(statements: Sequence[Statement | str], given: Any = None) -> list[list[tuple[Any, ...]]]:
    """The rows of each of several statements, sent as one message; all take their parameters from `given`.

    Each statement sees what was committed while the one before it waited. Texts are sent as they are. Outside of a
    transaction the message is one by itself.
    """
    database = connections[DEFAULT_DB_ALIAS]
    if database.queries_logged or database.execute_wrappers:
        # Somebody counts, reads or forbids what is sent.
        with database.cursor() as cursor:
            cursor.execute(_text_for(database, statements), given)
            return _results(cursor, len(statements))
    database.close_if_health_check_failed()
    database.ensure_connection()
    database.validate_no_broken_transaction()
    with database.wrap_database_errors:
        cursor = _kept(database).cursor
        cursor.execute(_text_for(database, statements), given)
        return _results(cursor, len(statements))


def rows_of(statement: Statement, given: Any = None) -> list[tuple[Any, ...]]:
    """All rows of the statement."""
    return rows_of_each([statement], given)[0]


def row_of(statement: Statement, given: Any = None) -> tuple[Any, ...] | None:
    """The statement's first row, or None."""
    return next(iter(rows_of(statement, given)), None)


def _results(cursor: Any, number: int) -> list[list[tuple[Any, ...]]]:
    found: list[list[tuple[Any, ...]]] = []
    for _ in range(number):
        # `cursor.description` would say so too, and describe every column for it.
        found.append(cursor.fetchall() if cursor.pgresult.nfields else [])
        cursor.nextset()
    return found


def _text_for(database: BaseDatabaseWrapper, statements: Sequence[Statement | str]) -> str:
    if not is_prepared or database.connection in FORGETFUL:
        return _message(each if isinstance(each, str) else each.text for each in statements)
    return _kept(database).text_of(statements)


def _kept(database: BaseDatabaseWrapper) -> _Kept:
    found = _KEPT.get(database)
    if found is None or found.link is not database.connection:
        found = _KEPT[database] = _Kept(database.connection)
    return found


def _message(texts: Iterable[str]) -> str:
    return ";\n".join(texts)
