"""Ending a long command in good order on Ctrl-C, and at once on the second."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_on_signals(stop: Callable[[], None], say: Callable[[int], None]) -> Iterator[None]:
    """Within the block, SIGINT or SIGTERM calls `stop` and `say` once; a second one ends the process at once.

    That is safe: what was answered is in the database already, and what this process held is taken back.
    """
    seen: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        if seen:
            os._exit(128 + number)
        seen.append(number)
        stop()
        say(number)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
