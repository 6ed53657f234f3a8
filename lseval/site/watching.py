"""Watching a worker from the terminal: counts of its calls, and a bar of the study's runs."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from decimal import Decimal
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lseval.pipeline.jobs import Claim
from lseval.pipeline.ledger import CallSeen
from lseval.pipeline.outcomes import DONE
from lseval.pipeline.working import Watcher
from lseval.site.selectors.collection import CollectionState


class Tally(Watcher):
    """What a worker has done so far, counted from its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self.calls = 0
        self.replayed = 0
        self.tokens = 0
        self.cost_usd = Decimal(0)
        self.unpriced = 0
        self.errors: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()

    def call_seen(self, seen: CallSeen) -> None:
        with self._lock:
            if seen.is_replayed:
                self.replayed += 1
                return
            self.calls += 1
            if seen.error_code:
                self.errors[seen.error_code] += 1
                return
            self.tokens += (seen.usage.input_tokens or 0) + (seen.usage.output_tokens or 0)
            if seen.cost_usd is None:
                self.unpriced += 1
            else:
                self.cost_usd += seen.cost_usd

    def job_ended(self, claim: Claim, outcome: str, message: str) -> None:
        with self._lock:
            self.outcomes[outcome] += 1

    @property
    def runs_done(self) -> int:
        return self.outcomes[DONE]

    @property
    def status(self) -> str:
        """One line: calls a second, tokens and dollars of this process so far."""
        with self._lock:
            rate = self.calls / max(time.monotonic() - self._started, 0.001)
            return f"{rate:,.1f} calls/s  {self.tokens:,} tokens  {self._dollars()}"

    def lines(self) -> list[str]:
        """What was done, for the end."""
        with self._lock:
            told = [f"{self.calls:,} calls, {self.tokens:,} tokens, {self._dollars()}"]
            if self.replayed:
                told.append(f"{self.replayed:,} replies served from the ledger, paid before")
            if self.errors:
                told.append(
                    "failed tries: " + ", ".join(f"{code} {n:,}" for code, n in sorted(self.errors.items()))
                )
            others = {word: n for word, n in sorted(self.outcomes.items()) if word != DONE}
            if others:
                told.append("runs not done: " + ", ".join(f"{word} {n:,}" for word, n in others.items()))
            return told

    def _dollars(self) -> str:
        priced = f"${self.cost_usd:,.4f}" if self.cost_usd or not self.unpriced else ""
        unpriced = f"{self.unpriced:,} calls unpriced" if self.unpriced else ""
        return ", ".join(part for part in (priced, unpriced) if part)


class CollectionBar:
    """A bar of the study's runs on standard error; nothing is drawn when `quiet`, or into a file."""

    def __init__(self, before: CollectionState, tally: Tally, *, quiet: bool) -> None:
        self._before = before
        self._tally = tally
        console = Console(file=sys.stderr)
        self._progress = Progress(
            TextColumn("runs"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
            TimeRemainingColumn(),
            console=console,
            disable=quiet or not console.is_terminal,
        )
        self._quiet = quiet
        self._id = self._progress.add_task("", total=before.cells, completed=before.done)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._refresh, daemon=True)

    def note(self, text: str) -> None:
        """Say something above the bar."""
        if not self._quiet:
            self._progress.console.print(text, markup=False, highlight=False)

    def __enter__(self) -> Self:
        self._progress.start()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._progress.stop()

    def _refresh(self) -> None:
        while not self._ended.wait(0.5):
            self._show()
        self._show()

    def _show(self) -> None:
        done = self._before.done + self._tally.runs_done
        self._progress.update(self._id, completed=done, description=self._tally.status)
