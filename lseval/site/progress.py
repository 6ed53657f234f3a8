"""Progress bars for long commands."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)


class Bar:
    """A bar that is moved forward by steps, or to a place."""

    def __init__(self, progress: Progress, total: float, label: str) -> None:
        self._progress = progress
        self._id = progress.add_task(label, total=total)

    def advance(self, steps: float = 1) -> None:
        """Move forward."""
        self._progress.advance(self._id, steps)

    def move_to(self, place: float) -> None:
        """Move to a place between 0 and the total."""
        self._progress.update(self._id, completed=place)


@contextmanager
def bar(label: str, total: float, *, in_bytes: bool = False, quiet: bool = False) -> Iterator[Bar]:
    """A bar on standard error with done, total and time left; nothing is drawn when `quiet`, or into a file."""
    counts: ProgressColumn = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), counts, TimeRemainingColumn())
    console = Console(file=sys.stderr)
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as progress:
        yield Bar(progress, total, label)
