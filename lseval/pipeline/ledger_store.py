"""The ledger's rows in the database: one statement and one commit for each call, with what it refers to."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeVar

import psycopg
from django.db import DatabaseError, connection

from lseval.domain.chat import Usage
from lseval.domain.storable_text import storable
from lseval.errors import LsevalError
from lseval.pipeline.ledger_rows import RequestRow
from lseval.pipeline.prepared import prepared_cursor

SUPERSEDED: Final = "superseded"
"""The error code of a reply that came when another worker's to the same request was there: paid, and not used."""

_PLACES: Final = Decimal("1e-12")
_MESSAGE_LENGTH: Final = 4_000
_RECONNECT_FOR_S: Final = 120.0
_LONGEST_WAIT_S: Final = 2.0

T = TypeVar("T")


class LedgerUnreachableError(LsevalError):
    """The database did not come back in time, so that a call could not be recorded."""

    code = "ledger_unreachable"


@dataclass(frozen=True, slots=True)
class Cell:
    """What the calls of a ledger are for."""

    study_id: int
    phase: str
    task_id: int | None = None
    model_id: int | None = None
    role: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One attempt as it is recorded: `reply` is JSON, empty where there is an `error_code`."""

    kind: str
    repeat: int
    provider: str
    asked_model: str = ""
    reply: str = ""
    error_code: str = ""
    error_message: str = ""
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None
    upper_cost_usd: Decimal | None = None
    latency_s: float = 0.0


@dataclass(frozen=True, slots=True)
class KeptReply:
    """A reply from the ledger: its JSON and the tokens that it took."""

    value: Any
    usage: Usage


_INSERT = """
WITH given AS (SELECT
    %(study)s::bigint AS study, %(phase)s::text AS phase, %(digest)s::text AS digest, %(repeat)s::int AS repeat),
bodies AS (
    INSERT INTO lseval_storedmessage (study_id, digest, body)
    SELECT given.study, b.pair ->> 0, b.pair -> 1 FROM given, jsonb_array_elements(%(bodies)s::jsonb) AS b(pair)
    ON CONFLICT DO NOTHING)
INSERT INTO lseval_call (study_id, phase, kind, task_id, model_id, role, digest, repeat, attempt, provider,
    asked_model, request, reply, error_code, error_message, input_tokens, cached_tokens, output_tokens,
    reasoning_tokens, cost_usd, upper_cost_usd, latency_s, called_at)
SELECT given.study, given.phase, %(kind)s, %(task)s, %(model)s, %(role)s, given.digest, given.repeat,
    COALESCE((SELECT max(c.attempt) FROM lseval_call c WHERE c.study_id = given.study AND c.phase = given.phase
        AND c.digest = given.digest AND c.repeat = given.repeat), 0) + 1,
    %(provider)s, %(asked_model)s, %(request)s::jsonb, %(reply)s::jsonb, %(error_code)s, %(error_message)s,
    %(input)s, %(cached)s, %(output)s, %(reasoning)s, %(cost)s, %(upper)s, %(latency)s::float8,
    clock_timestamp() - make_interval(secs => %(latency)s::float8)
FROM given
ON CONFLICT DO NOTHING RETURNING id
"""

_LOOK_UP = """
SELECT reply::text, input_tokens, cached_tokens, output_tokens, reasoning_tokens FROM lseval_call
WHERE study_id = %s AND phase = %s AND digest = %s AND repeat = %s AND error_code = ''
"""

_ALL_OF_CELL = """
SELECT digest, repeat, reply::text, input_tokens, cached_tokens, output_tokens, reasoning_tokens FROM lseval_call
WHERE study_id = %s AND phase = %s AND task_id IS NOT DISTINCT FROM %s AND model_id IS NOT DISTINCT FROM %s
  AND role = %s AND error_code = '' AND kind <> 'fetch'
"""

_ALL_OF_RUN = """
SELECT digest, repeat, reply::text, input_tokens, cached_tokens, output_tokens, reasoning_tokens FROM lseval_call
WHERE study_id = %s AND phase = %s AND task_id IS NOT DISTINCT FROM %s AND model_id IS NOT DISTINCT FROM %s
  AND error_code = '' AND kind = 'chat'
"""

_IS_RECORDED = """
SELECT id FROM lseval_call
WHERE study_id = %s AND phase = %s AND digest = %s AND repeat = %s
  AND latency_s = %s::float8 AND error_code = %s
"""


def replies_of(cell: Cell) -> dict[tuple[str, int], KeptReply]:
    """All replies to chats and searches of a cell, by digest and repeat. One query."""
    rows = _safely(
        lambda again: (
            prepared_cursor()
            .execute(_ALL_OF_CELL, [cell.study_id, cell.phase, cell.task_id, cell.model_id, cell.role])
            .fetchall()
        )
    )
    return {(row[0], row[1]): KeptReply(json.loads(row[2]), Usage(*row[3:])) for row in rows}


def replies_of_run(study_id: int, phase: str, task_id: int, model_id: int) -> dict[tuple[str, int], KeptReply]:
    """All replies to chats about a run in a phase, whoever asked, by digest and repeat. One query."""
    keys = [study_id, phase, task_id, model_id]
    rows = _safely(lambda again: prepared_cursor().execute(_ALL_OF_RUN, keys).fetchall())
    return {(row[0], row[1]): KeptReply(json.loads(row[2]), Usage(*row[3:])) for row in rows}


def look_up(cell: Cell, digest: str, repeat: int) -> KeptReply | None:
    """The reply to a request, if there is one."""
    row = _safely(
        lambda again: prepared_cursor().execute(_LOOK_UP, [cell.study_id, cell.phase, digest, repeat]).fetchone()
    )
    return KeptReply(json.loads(row[0]), Usage(*row[1:])) if row else None


def record(cell: Cell, row: RequestRow, entry: Entry) -> bool:
    """Commit an attempt; False where it is a reply, and the ledger already had one: it is then kept as superseded.

    Outlives a restart of the database: it tries again until the row is there, once.

    Raises:
        LedgerUnreachableError: the database has been away for two minutes.
    """
    if _safely(lambda again: _insert(cell, row, entry, again)):
        return True
    superseded = Entry(
        kind=entry.kind,
        repeat=entry.repeat,
        provider=entry.provider,
        asked_model=entry.asked_model,
        error_code=SUPERSEDED,
        error_message="Another worker's reply to the same request was there first.",
        usage=entry.usage,
        cost_usd=entry.cost_usd,
        upper_cost_usd=entry.upper_cost_usd,
        latency_s=entry.latency_s,
    )
    _safely(lambda again: _insert(cell, row, superseded, again))
    return False


def _insert(cell: Cell, row: RequestRow, entry: Entry, again: bool) -> bool:
    """Whether the row is in; False where another reply is."""
    key = [cell.study_id, cell.phase, row.digest, entry.repeat]
    cursor = prepared_cursor()
    # The connection may have broken after the commit: the row is then known by its latency, which no two share.
    if again and cursor.execute(_IS_RECORDED, [*key, entry.latency_s, entry.error_code]).fetchone():
        return True
    # In one order for everybody, so that two workers that store the same messages do not wait for each other.
    bodies = sorted({body.digest: body.text for body in row.bodies}.items())
    params = {
        "study": cell.study_id,
        "phase": cell.phase,
        "kind": entry.kind,
        "task": cell.task_id,
        "model": cell.model_id,
        "role": cell.role[:60],
        "digest": row.digest,
        "repeat": entry.repeat,
        "bodies": "[" + ",".join(f'["{digest}",{text}]' for digest, text in bodies) + "]",
        "provider": entry.provider[:200],
        "asked_model": entry.asked_model[:200],
        "request": row.text,
        "reply": entry.reply or None,
        "error_code": entry.error_code[:60],
        "error_message": storable(entry.error_message)[:_MESSAGE_LENGTH],
        "input": entry.usage.input_tokens,
        "cached": entry.usage.cached_tokens,
        "output": entry.usage.output_tokens,
        "reasoning": entry.usage.reasoning_tokens,
        "cost": _exact(entry.cost_usd),
        "upper": _exact(entry.upper_cost_usd),
        "latency": entry.latency_s,
    }
    while True:
        if cursor.execute(_INSERT, params).fetchone():
            return True
        if not entry.error_code and cursor.execute(_LOOK_UP, key).fetchone():
            return False
        # Another attempt took the number between our look and our write: take the next.


def _exact(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else amount.quantize(_PLACES)


def _safely(statement: Callable[[bool], T]) -> T:
    """Do it, on a new connection and once more where the database went away in between."""
    deadline = time.monotonic() + _RECONNECT_FOR_S
    wait_s = 0.05
    again = False
    while True:
        try:
            return statement(again)
        except (psycopg.OperationalError, psycopg.InterfaceError, DatabaseError, LsevalError) as error:
            if connection.in_atomic_block or not is_connection_lost(error):
                raise
            connection.close()
            if time.monotonic() > deadline:
                raise LedgerUnreachableError(
                    "The database has been away for two minutes, so a call could not be recorded. When it is back, "
                    "run the same command again."
                ) from error
        again = True
        time.sleep(wait_s)
        wait_s = min(wait_s * 2, _LONGEST_WAIT_S)


def is_connection_lost(error: BaseException) -> bool:
    """Whether the database went away or is not there, rather than refused what it was asked."""
    from django.db import InterfaceError, OperationalError

    from lseval.database.server import EmbeddedServerError

    cause = error.__cause__ if isinstance(error, DatabaseError) and error.__cause__ is not None else error
    if isinstance(cause, psycopg.errors.QueryCanceled | psycopg.errors.LockNotAvailable):
        return False
    if isinstance(cause, psycopg.errors.DeadlockDetected | psycopg.errors.SerializationFailure):
        return True  # nothing was written, and the next try may pass
    return isinstance(
        error,
        psycopg.OperationalError | psycopg.InterfaceError | OperationalError | InterfaceError | EmbeddedServerError,
    )
