"""The random order in which a labeler goes through a queue's responses: by the audit's seed and who they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from threading import Lock
from typing import Final

from cachetools import TTLCache
from django.db import connection

from annotation.models import Audit
from lseval.models import User
from lseval.plain_sql import Statement, rows_of

_LOOKED_AT_FIRST: Final = 16
_GROWTH: Final = 4
_KEPT_S: Final = 60
_KEPT_MOST: Final = 1_000

_RUNS: Final = Statement("SELECT DISTINCT run_id FROM annotation_slot WHERE queue_id = %(queue)s")
_orders: Final[TTLCache[tuple[str, int, str], tuple[int, ...]]] = TTLCache(_KEPT_MOST, _KEPT_S)
_lock: Final = Lock()


def order_of(audit: Audit, user: User) -> str:
    """What makes a person's order their own in an audit."""
    return f"{audit.seed} {user.pk} "


def in_own_order(queue_id: int, order: str, present: int | None) -> Iterator[list[int]]:
    """The responses of a queue in a labeler's order, some and then more at a time.

    They go from the one after the labeler's present response to the end, and around from the first one to there.

    Working the order out costs as much as a page, so it is kept for a minute. Responses that were added to the
    queue meanwhile come when all others have been looked at.
    """
    kept = _known(queue_id, order)
    if kept is not None:
        yield from _around(kept, present)
    found = [run_id for (run_id,) in rows_of(_RUNS, {"queue": queue_id})]
    if kept is not None and set(kept).issuperset(found):
        return
    runs = tuple(sorted(found, key=lambda run_id: (_rank(order, run_id), run_id)))
    with _lock:
        _orders[_key(queue_id, order)] = runs
    yield from _around(runs, present)


def next_in_known_order(queue_id: int, order: str, present: int | None) -> list[int]:
    """The first responses that `in_own_order` gives, where they need not be asked for; else none."""
    kept = _known(queue_id, order)
    return next(_around(kept, present), []) if kept is not None else []


def _known(queue_id: int, order: str) -> tuple[int, ...] | None:
    with _lock:
        return _orders.get(_key(queue_id, order))


def _key(queue_id: int, order: str) -> tuple[str, int, str]:
    return str(connection.settings_dict["NAME"]), queue_id, order


def _around(runs: tuple[int, ...], present: int | None) -> Iterator[list[int]]:
    at = runs.index(present) + 1 if present in runs else 0
    around = [*runs[at:], *runs[:at]]
    start, size = 0, _LOOKED_AT_FIRST
    while start < len(around):
        yield around[start : start + size]
        start, size = start + size, size * _GROWTH


def _rank(order: str, run_id: int) -> bytes:
    return hashlib.md5(f"{order}{run_id}".encode(), usedforsecurity=False).digest()
