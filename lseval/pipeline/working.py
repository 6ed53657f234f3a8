"""A worker: a bounded pool of threads that takes jobs and does them until it is told to stop or none is left."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.db import connection

from lseval.agent.run import Progress
from lseval.models import JobKind, Study
from lseval.pipeline import jobs, outcomes
from lseval.pipeline.collection import collect_run
from lseval.pipeline.hooks import Hooks
from lseval.pipeline.jobs import Beat, Claim, LostClaimError
from lseval.pipeline.ledger import CallSeen
from lseval.pipeline.ledger_store import is_connection_lost
from lseval.pipeline.outcomes import StoppedError, save_outcome
from lseval.providers.errors import DeferredError
from lseval.providers.retrying import RetryPolicy

HEARTBEAT_S: Final = 5.0
_AFTER_STAGE_1_S: Final = 60.0
_POLL_S: Final = 1.0
logger = logging.getLogger(__name__)


class Watcher:
    """Whoever watches a worker; the methods are called from its threads."""

    def call_seen(self, seen: CallSeen) -> None:
        """A call was made, or a reply served from the ledger."""

    def job_ended(self, claim: Claim, outcome: str, message: str) -> None:
        """A job is done, failed, put off, stopped or lost."""


@dataclass
class _Held:
    """The jobs in the hands of this process, with how far each has come."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    progress: dict[Claim, Mapping[str, Any]] = field(default_factory=dict)
    counted: dict[Claim, float] = field(default_factory=dict)
    lost: set[Claim] = field(default_factory=set)

    def take(self, claim: Claim) -> None:
        with self.lock:
            self.progress[claim] = {}
            self.counted[claim] = time.monotonic()

    def let_go(self, claim: Claim) -> None:
        with self.lock:
            self.progress.pop(claim, None)
            self.counted.pop(claim, None)
            self.lost.discard(claim)

    def came_to(self, claim: Claim, progress: Mapping[str, Any]) -> None:
        with self.lock:
            if claim in self.progress:
                self.progress[claim] = progress

    def worked_s(self, claim: Claim) -> float:
        """The time since this was last asked."""
        with self.lock:
            now = time.monotonic()
            before = self.counted.get(claim, now)
            self.counted[claim] = now
            return now - before

    def beats(self) -> dict[Claim, Beat]:
        with self.lock:
            held = dict(self.progress)
        return {claim: Beat(progress, self.worked_s(claim)) for claim, progress in held.items()}

    def keep_only(self, told: Iterable[Claim], still: set[int]) -> None:
        """Of the claims that a heartbeat told, those that are not `still` ours are lost."""
        with self.lock:
            self.lost |= {claim for claim in told if claim.job_id not in still and claim in self.progress}


class Worker:
    """Does jobs in `threads` threads; of one study and some kinds of job only, where these are given.

    `policy` says how calls are retried. With `until_idle` the work ends when no job is open, or when the budget of
    the study is spent; otherwise it goes on until `stop`.
    """

    def __init__(
        self,
        *,
        threads: int,
        study: Study | None = None,
        kinds: tuple[str, ...] = (),
        until_idle: bool = False,
        watcher: Watcher | None = None,
        policy: RetryPolicy | None = None,
        poll_s: float = _POLL_S,
        lease_s: float = jobs.LEASE_S,
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        self.why_ended = ""
        self._budget_words = ""
        self._threads = threads
        self._study = study
        self._kinds = kinds
        self._until_idle = until_idle
        self._watcher = watcher or Watcher()
        self._policy = policy
        self._poll_s = poll_s
        self._lease_s = lease_s
        self._heartbeat_s = heartbeat_s
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._asking = threading.Lock()
        self._is_idle = False
        self._held = _Held()

    def stop(self, why: str = "stopped") -> None:
        """Take no new job and make no new call: calls under way end and are kept, their jobs wait again."""
        self.why_ended = self.why_ended or why
        self._stopping.set()

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def run(self) -> str:
        """Work; returns why the work ended: idle, budget, paused or what `stop` was given."""
        beat = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        beat.start()
        threads = [
            threading.Thread(target=self._take_jobs, name=f"worker-{number}", daemon=True)
            for number in range(self._threads)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)  # in steps, so that signals are seen
        self._ended.set()
        beat.join()
        if self._budget_words and self._study is not None:
            # Jobs that threads let go of while they stopped wait for the budget like the others.
            jobs.stop_for_budget(self._study.pk, self._budget_words)
        return self.why_ended or "idle"

    def run_one(self, claim: Claim) -> str:
        """Do one claimed job in this thread, with heartbeats; returns its outcome."""
        beat = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        beat.start()
        try:
            return self._do(claim)
        finally:
            self._ended.set()
            beat.join()

    # --- threads ---

    def _take_jobs(self) -> None:
        try:
            while (claim := self._waited_for()) is not None:
                if claim.lost_claims >= jobs.MOST_LOST_CLAIMS - 1:
                    self._do_apart(claim)
                else:
                    self._do(claim)
        finally:
            connection.close()

    def _waited_for(self) -> Claim | None:
        """The next job, once there is one; None when the work is over.

        One thread asks the database and the others wait for their turn to: dozens of idle threads that all ask keep
        it busier than the work does.
        """
        with self._asking:
            while not self._stopping.is_set() and not self._is_idle:
                claim: Claim | None = self._outlasting(self._next_claim)
                if claim is not None:
                    return claim
                if self._until_idle and self._outlasting(self._is_over):
                    self._is_idle = True
                else:
                    self._stopping.wait(self._poll_s)
        return None

    def _next_claim(self) -> Claim | None:
        wanted: Callable[..., Claim | None] = partial(
            jobs.claim_next, study=self._study, kinds=self._kinds, lease_s=self._lease_s
        )
        return wanted() or wanted(suspects=True)

    def _is_over(self) -> bool:
        """Whether nothing is left that this worker could wait for."""
        assert self._study is not None
        if Study.objects.values_list("is_paused", flat=True).get(pk=self._study.pk):
            self.why_ended = self.why_ended or "paused"  # and runs in the making go on to their end
            return True
        left = jobs.open_jobs(self._study, self._kinds)
        return not any(left.values())

    def _outlasting(self, step: Callable[[], Any]) -> Any:
        """What the step returns, tried again while the database is away; None where the work ends before."""
        while True:
            try:
                return step()
            except Exception as error:
                if not is_connection_lost(error):
                    raise
                logger.warning("the database is away, trying again: %s", str(error).splitlines()[0])
                connection.close()
                if self._stopping.wait(self._poll_s):
                    return None

    def _beat(self) -> None:
        """Hold the claims, and take back those of workers that are gone."""
        try:
            while True:
                try:
                    held = self._held.beats()
                    self._held.keep_only(held, jobs.heartbeat(held, self._lease_s))
                    jobs.take_back_lost_claims(self._study)
                except Exception as error:
                    if not is_connection_lost(error):
                        logger.exception("the heartbeat failed")
                    connection.close()
                if self._ended.wait(self._heartbeat_s):
                    return
        finally:
            connection.close()

    # --- one job ---

    def _do(self, claim: Claim) -> str:
        self._held.take(claim)
        try:
            outcome, message = self._perform(claim)
        finally:
            self._held.let_go(claim)
        self._watcher.job_ended(claim, outcome, message)
        return outcome

    def _perform(self, claim: Claim) -> tuple[str, str]:
        """The outcome of a job, which is saved, and a message."""
        try:
            self._step(claim)
            return outcomes.DONE, ""
        except Exception as error:  # noqa: BLE001 - one job's error, whatever it is, must not end the others
            return self._settle(claim, error)

    def _step(self, claim: Claim) -> None:
        if claim.kind == JobKind.COLLECT:
            collect_run(claim, self._hooks(claim))
            return
        from lseval.pipeline import (
            stage1,
            stage2,
        )  # the judges bring much along that a collecting worker has no use for

        assert claim.run_id is not None
        if claim.kind == JobKind.AUDIT and jobs.is_open(JobKind.VERIFY, claim.run_id):
            raise DeferredError("Stage 1 of this run is not done yet, and Stage 2 rests on it.", _AFTER_STAGE_1_S)
        step = stage1.verify_run if claim.kind == JobKind.VERIFY else stage2.audit_run
        step(claim.run_id, self._hooks(claim))
        jobs.finish(claim, self._held.worked_s(claim))

    def _settle(self, claim: Claim, error: Exception) -> tuple[str, str]:
        """Save what became of a job that was not done."""
        connection.close_if_unusable_or_obsolete()
        try:
            saved = self._outlasting(lambda: save_outcome(claim, error, self._held.worked_s(claim)))
        except LostClaimError as lost:
            return outcomes.LOST, str(lost)
        if saved is None:
            return outcomes.STOPPED, str(error)
        if saved == outcomes.BUDGET and self._until_idle:
            self._budget_words = str(error)
            self.stop("budget")
        return saved, str(error)

    def _hooks(self, claim: Claim) -> Hooks:
        def before_call() -> None:
            if self._stopping.is_set():
                raise StoppedError("The worker was told to stop.")
            if claim in self._held.lost:
                raise LostClaimError(f"Job {claim.job_id} is no longer this worker's.")

        def sleep(seconds: float) -> None:
            self._stopping.wait(seconds)
            before_call()

        def on_progress(progress: Progress) -> None:
            self._held.came_to(claim, {"iterations": progress.iterations, "tool_calls": progress.tool_calls})

        return Hooks(
            before_call,
            sleep,
            on_progress,
            self._watcher.call_seen,
            partial(self._held.worked_s, claim),
            self._policy,
        )

    def _do_apart(self, claim: Claim) -> None:
        """Do a job that may take its process down in a process of its own."""
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "work", "--job", str(claim.job_id)]
        done = subprocess.run(  # noqa: S603
            [*command, "--claim", str(claim.number)], stdin=subprocess.DEVNULL, check=False
        )
        if done.returncode and self._outlasting(lambda: jobs.worker_died(claim)):
            message = f"Its process ended with {done.returncode}."
            self._watcher.job_ended(claim, outcomes.LOST, message)
        else:
            self._watcher.job_ended(claim, outcomes.DONE, "")
