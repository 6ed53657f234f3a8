"""Collecting a demo's runs: through the same jobs, ledger and loop as any study's."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.conf import settings

from lseval.errors import LsevalError
from lseval.models import Job, JobKind, JobState, Study
from lseval.pipeline import jobs
from lseval.pipeline.evaluation import Steps
from lseval.pipeline.jobs import Claim
from lseval.pipeline.outcomes import DONE
from lseval.pipeline.working import Watcher, Worker

_THREADS: Final = 3
_POLL_S: Final = 0.5


class DemoError(LsevalError):
    """The demo could not be made."""

    code = "demo_failed"


class _Advancing(Watcher):
    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def job_ended(self, claim: Claim, outcome: str, message: str) -> None:
        if outcome == DONE:
            self._steps.advance()


def cells_to_collect(study: Study) -> int:
    """Make the jobs of the runs that the study lacks, and say how many wait."""
    jobs.close_jobs_with_runs(study)
    jobs.enqueue_collection(study)
    jobs.try_again(study, JobState.FAILED, JobState.PARKED, kind=JobKind.COLLECT)
    return sum(jobs.open_jobs(study, (JobKind.COLLECT,)).values())


def collect_demo(study: Study, processes: int, steps: Steps) -> None:
    """Make the runs that the study lacks, in this process, or in that many others.

    Raises:
        DemoError: some run could not be made.
    """
    if processes:
        _collect_in_processes(study, processes, steps)
    else:
        kinds = (JobKind.COLLECT,)
        worker = Worker(
            threads=_THREADS, study=study, kinds=kinds, until_idle=True, watcher=_Advancing(steps), poll_s=0.05
        )
        worker.run()
    bad = Job.objects.filter(study=study, kind=JobKind.COLLECT).exclude(state=JobState.DONE).first()
    if bad is not None:
        raise DemoError(
            f"a run of {study.slug} could not be made: {bad.error_code or bad.state} {bad.error_message}".rstrip()
            + ". Run the same command again to go on."
        )


def _collect_in_processes(study: Study, processes: int, steps: Steps) -> None:
    done = study.runs.count()
    with _workers(study, processes) as running:
        while any(process.poll() is None for process in running):
            time.sleep(_POLL_S)
            now = study.runs.count()
            for _ in range(now - done):
                steps.advance()
            done = now


@contextmanager
def _workers(study: Study, processes: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "work", "--study", study.slug]
    command += ["--threads", str(_THREADS), "--with-parent"]
    running = [subprocess.Popen(command, stdin=subprocess.DEVNULL) for _ in range(processes)]  # noqa: S603
    try:
        yield running
    finally:
        for process in running:
            if process.poll() is None:
                process.terminate()
        for process in running:
            process.wait()
