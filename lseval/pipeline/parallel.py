"""Doing a step on many runs in several processes, for judging that is all computing."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Final

FEWEST_RUNS: Final = 100
"""Fewer runs are done before further processes have started."""

_CHUNK: Final = 8

Step = Callable[[int], Counter[str]]


def on_runs(
    step: Step, run_ids: Sequence[int], advance: Callable[[], None], *, processes: int | None = None
) -> Counter[str]:
    """Do `step` on each run and return what it counted in all; `advance` is called once a run.

    `step` must be a function of a module, since it is sent to other processes; with one process, or fewer than
    `FEWEST_RUNS` runs, everything is done in this one. Without `processes`, as many as there are cores. The first
    error ends the work: what is done stays done.
    """
    wanted = processes or os.cpu_count() or 1
    counted: Counter[str] = Counter()
    if wanted == 1 or len(run_ids) < FEWEST_RUNS:
        for run_id in run_ids:
            counted += step(run_id)
            advance()
        return counted
    chunks = [run_ids[start : start + _CHUNK] for start in range(0, len(run_ids), _CHUNK)]
    with ProcessPoolExecutor(
        wanted,
        mp_context=multiprocessing.get_context("spawn"),  # a forked child would share our database connection
        initializer=_begin,
        initargs=(_database_name(),),
    ) as pool:
        waiting = {pool.submit(_do, step, chunk): len(chunk) for chunk in chunks}
        try:
            for done in as_completed(waiting):
                counted += done.result()
                for _ in range(waiting[done]):
                    advance()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return counted


def _database_name() -> str:
    from django.db import connection

    return str(connection.settings_dict["NAME"])


def _begin(database_name: str) -> None:
    """Set up Django in a fresh process, on the database of the one that started it."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")
    django.setup()
    from django.db import connection

    connection.settings_dict["NAME"] = database_name


def _do(step: Step, chunk: Sequence[int]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for run_id in chunk:
        counted += step(run_id)
    return counted
