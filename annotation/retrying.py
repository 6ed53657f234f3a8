"""Running a whole transaction again where the database gave it up or the connection broke."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from django.db import DatabaseError, InterfaceError, OperationalError, connection

MOST_TRIES: Final = 5
FIRST_PAUSE_S: Final = 0.02
_GIVEN_UP: Final = frozenset({"40001", "40P01"})
"""serialization_failure and deadlock_detected: PostgreSQL 13.5 asks for the complete transaction again."""

_SHUT_DOWN: Final = frozenset({"57P01", "57P02", "57P03"})
"""admin_shutdown, crash_shutdown and cannot_connect_now."""

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def in_one_transaction_retried(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """The function, called again as a whole after a serialization failure, a deadlock, or a broken connection.

    At most `MOST_TRIES` calls, with a random and growing pause between them; then the last error is raised. The
    function owns its transaction, and a second call after a commit whose reply was lost must find what the first
    one stored: by a request's key, or because asking twice gives the same. Within a transaction of the caller's
    nothing is repeated, since only the caller can begin that one anew.
    """

    @wraps(function)
    def call(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        if connection.in_atomic_block:
            return function(*args, **kwargs)
        for tries in range(1, MOST_TRIES):
            try:
                return function(*args, **kwargs)
            except DatabaseError as error:
                if not _may_be_repeated(error):
                    raise
            except InterfaceError:
                connection.close()
            pause(tries)
        return function(*args, **kwargs)

    return call


def pause(tries: int) -> None:
    """Wait a random time that doubles with the tries, so that two that met do not meet again."""
    time.sleep(random.uniform(0.5, 1) * FIRST_PAUSE_S * 2 ** (tries - 1))  # noqa: S311 - no secret


def _may_be_repeated(error: DatabaseError) -> bool:
    """Whether another call may end otherwise. A broken connection is closed; the next call has a new one."""
    state = getattr(error.__cause__, "sqlstate", None)
    if state in _GIVEN_UP:
        return True
    if not isinstance(error, OperationalError) or not _is_of_connection(state):
        return False
    if not connection.is_usable():
        connection.close()
    return True


def _is_of_connection(state: str | None) -> bool:
    """Whether a SQLSTATE tells of a broken connection; the client's own errors about it have none."""
    return state is None or state in _SHUT_DOWN or state.startswith("08")
