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

from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.base import ModelState
from psycopg import generators
from psycopg.adapt import AdaptersMap, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.types.datetime import TimestamptzLoader

Rows = list[tuple[Any, ...]]
"""What a statement gives."""

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
        """The instance that a row holds from its place `at` on. JSON fields must be among those left out.

        It is put together as Django unpickles one, without going through all fields of its model.
        """
        made = self._model.__new__(self._model)
        made.__dict__.update(zip(self._names, row[at : at + len(self._names)], strict=True))
        made._state = state = ModelState()
        state.db, state.adding = DEFAULT_DB_ALIAS, False
        return made


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
    """What is kept with a connection to PostgreSQL: how values are written and read there, and what is prepared.

    A cursor would do the same, and takes longer over it than PostgreSQL over the answer.
    """

    def __init__(self, link: Any) -> None:
        self.link = self.connection = link
        self.adapters = AdaptersMap(link.adapters)
        # Django's loader makes the same times of psycopg's own, in Python.
        self.adapters.register_loader("timestamptz", TimestamptzLoader)
        self._transformer = Transformer(self)
        self._prepared: set[str] = set()
        self._messages: dict[tuple[Statement | str, ...], tuple[bytes, dict[bytes, str]]] = {}
        self._plans_are_kept = False

    def rows_of_each(self, statements: Sequence[Statement | str], given: Any) -> list[Rows]:
        """See the function of this name."""
        if not self._plans_are_kept and self.link.autocommit:
            # A plan for these values alone is never so much better that it pays to make one.
            self._send(b"SET plan_cache_mode = force_generic_plan")
            self._plans_are_kept = True
        found: list[Rows] = []
        transformer = self._transformer
        for result in self._send(self._message(tuple(statements), given)):
            if result.nfields:
                transformer.set_pgresult(result)
                found.append(transformer.load_rows(0, result.ntuples, tuple))
            else:
                found.append([])
        return found

    def _message(self, statements: tuple[Statement | str, ...], given: Any) -> bytes:
        known = self._messages.get(statements)
        if known is None:
            for statement in statements:
                if isinstance(statement, Statement) and statement.prepare not in self._prepared:
                    self._send(statement.prepare.encode())
                    self._prepared.add(statement.prepare)
            text = _joined(each if isinstance(each, str) else each.execute for each in statements)
            names = {name.encode(): name for name in _PARAMETER.findall(text)}
            known = self._messages[statements] = text.encode(), names
        message, names = known
        literal = self._transformer.as_literal
        return message % {key: literal(given[name]) for key, name in names.items()} if names else message

    def _send(self, message: bytes) -> list[Any]:
        """The results of a message, within the connection's transaction where it is in one."""
        link = self.link
        begins = not link.autocommit and link.pgconn.transaction_status == TransactionStatus.IDLE
        if begins:
            message = b";\n".join((link._get_tx_start_command(), message))
        link.pgconn.send_query(message)
        results = link.wait(generators.execute(link.pgconn))
        for result in results:
            if result.status not in _GOOD:
                raise error_from_result(result, encoding=link.info.encoding)
        return results[1:] if begins else results


_GOOD: Final = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)
_KEPT: Final[WeakKeyDictionary[BaseDatabaseWrapper, _Kept]] = WeakKeyDictionary()


def rows_of_each(
    statements: Sequence[Statement | str], given: Any = None, *, may_be_repeated: bool = False
) -> list[Rows]:
    """The rows of each of several statements, sent as one message; all take their parameters from `given`.

    Each statement sees what was committed while the one before it waited. Texts are sent as they are. Outside of a
    transaction the message is one by itself.

    What may be repeated is sent without asking first whether a connection of an earlier request still stands, and
    again over a new one where it does not.
    """
    database: Any = connections[DEFAULT_DB_ALIAS]
    link = database.connection
    if not is_prepared or link in FORGETFUL or database.queries_logged or database.execute_wrappers:
        # Somebody counts, reads or forbids what is sent, or makes the connection forget what is prepared.
        with database.cursor() as cursor:
            cursor.execute(_joined(each if isinstance(each, str) else each.text for each in statements), given)
            return _results(cursor, len(statements))
    if may_be_repeated and link is not None and not database.health_check_done and not database.in_atomic_block:
        database.health_check_done = True
        try:
            return _sent(database, statements, given)
        except (InterfaceError, OperationalError):
            if not link.closed and not link.broken:
                raise
            database.close()
    database.close_if_health_check_failed()
    database.ensure_connection()
    database.validate_no_broken_transaction()
    return _sent(database, statements, given)


def _sent(database: Any, statements: Sequence[Statement | str], given: Any) -> list[Rows]:
    with database.wrap_database_errors:
        return _kept(database).rows_of_each(statements, given)


def rows_of(statement: Statement, given: Any = None) -> list[tuple[Any, ...]]:
    """All rows of the statement."""
    return rows_of_each([statement], given)[0]


def row_of(statement: Statement, given: Any = None) -> tuple[Any, ...] | None:
    """The statement's first row, or None."""
    return next(iter(rows_of(statement, given)), None)


def _results(cursor: Any, number: int) -> list[Rows]:
    found: list[Rows] = []
    for _ in range(number):
        # `cursor.description` would say so too, and describe every column for it.
        found.append(cursor.fetchall() if cursor.pgresult.nfields else [])
        cursor.nextset()
    return found


def _kept(database: BaseDatabaseWrapper) -> _Kept:
    found = _KEPT.get(database)
    if found is None or found.link is not database.connection:
        found = _KEPT[database] = _Kept(database.connection)
    return found


def _joined(texts: Iterable[str]) -> str:
    return ";\n".join(texts)
