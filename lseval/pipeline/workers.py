"""Who holds a claim: a name for a process by which another one on its machine can tell what became of it."""

from __future__ import annotations

import os
import socket
import threading
from functools import lru_cache
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_POOL: Final = "pool"


def worker_name(*, is_alone: bool = False) -> str:
    """This thread's name in the jobs that it claims: place, process, thread, and the process above it.

    `is_alone` says that the process does nothing but this one job.
    """
    above = _process_mark(os.getppid()) if is_alone else _POOL
    return "|".join((_place(), _process_mark(os.getpid()), str(threading.get_ident() % 1_000_000), above))


def here() -> str:
    """What the names of all workers of this machine begin with."""
    return f"{_place()}|"


def is_gone(worker: str) -> bool:
    """Whether a worker was a process of this machine that has ended; False where that cannot be known."""
    place, mark, _ = _parts(worker)
    return place == _place() and "@" in mark and not _is_alive(mark)


def was_taken_down(worker: str) -> bool:
    """Whether a worker that was lost was taken down by its job, as far as can be told.

    It was if it did nothing else and the process above it lives on. A process that does several jobs, or that ended
    together with the one above it, was as likely killed from outside. Of another machine nothing is known, and a
    process that did one job only is blamed on the job.
    """
    place, _, above = _parts(worker)
    return above != _POOL and (place != _place() or _is_alive(above))


def _parts(worker: str) -> tuple[str, str, str]:
    place, mark, _, above = (*worker.split("|"), "", "", "", _POOL)[:4]
    return place, mark, above or _POOL


def _is_alive(mark: str) -> bool:
    pid = mark.partition("@")[0]
    return pid.isdigit() and _process_mark(int(pid)) == mark


def _process_mark(pid: int) -> str:
    """`pid@start`, which no later process of the machine shares; empty where it is gone or there is no /proc."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else f"{pid}@{fields[19]}"


@lru_cache(maxsize=1)
def _place() -> str:
    """The machine since its last start, and the container: a process number means something only there."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()[:8]
        space = os.readlink(_PROC / "self/ns/pid").strip("pid:[]")
    except OSError:
        boot = space = "?"
    return f"{socket.gethostname()[:80]}/{boot}/{space}"
