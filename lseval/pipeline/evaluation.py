"""Both stages on a study, in order, and what they have come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Protocol

from lseval.errors import LsevalError
from lseval.models import FailureNode, JobKind, Link, Round, Study
from lseval.pipeline import outcomes, stage1, stage2
from lseval.pipeline.cited_pages import cited_without_snapshot, fetch_citations, fetches_citations
from lseval.pipeline.jobs import Claim, enqueue_stage, go_on
from lseval.pipeline.judges import STAGE_1_ROLES, STAGE_2_ROLES, is_embedded
from lseval.pipeline.working import Watcher, Worker

STAGES = ("1", "2")
THREADS: Final = 16


class StageStoppedError(LsevalError):
    """A stage ended before everything was judged."""

    code = "stage_stopped"


class Steps(Protocol):
    """Whoever watches the work go forward."""

    def advance(self) -> None:
        """One more run is done."""


class _Unwatched:
    def advance(self) -> None:
        pass


def unwatched(label: str, total: int) -> AbstractContextManager[Steps]:
    """Nobody watches."""
    return nullcontext(_Unwatched())


def evaluate(
    study: Study,
    stages: tuple[str, ...] = STAGES,
    *,
    again: bool = False,
    threads: int = THREADS,
    watch: Callable[[str, int], AbstractContextManager[Steps]] = unwatched,
) -> dict[str, dict[str, int]]:
    """Run the stages on what waits for them (on everything with `again`); returns `stage_counts`.

    The embedded judges work in several processes. Where a model judges, the runs become jobs that `threads`
    threads take, through the ledger, so that nothing is paid twice and a spent budget leaves the rest for the next
    call.

    A run that gets new verdicts is audited anew as well, since its links depend on them. What is done stays done
    when the work is cut short, and the next call continues.

    Raises:
        StageStoppedError: the work ended before all was judged; the message says why and how to go on.
    """
    if "1" in stages:
        if fetches_citations(study):
            urls = cited_without_snapshot(study)
            with watch("Stage 1: cited pages fetched", len(urls)) as steps:
                fetch_citations(study, urls, steps.advance)
        waiting = stage1.runs_to_verify(study, again=again)
        with watch("Stage 1: runs verified", len(waiting)) as steps:
            if is_embedded(study, *STAGE_1_ROLES):
                stage1.verify_runs(waiting, steps.advance)
            else:
                _by_jobs(study, JobKind.VERIFY, waiting, steps, threads)
    if "2" in stages:
        waiting = stage2.runs_to_audit(study, again=again)
        with watch("Stage 2: runs audited", len(waiting)) as steps:
            if is_embedded(study, *STAGE_2_ROLES.values()):
                stage2.audit_runs(waiting, steps.advance)
            else:
                _by_jobs(study, JobKind.AUDIT, waiting, steps, threads)
    return stage_counts(study)


class _Counting(Watcher):
    """Moves the bar with each job that ends, and remembers what went wrong."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self.troubles: Counter[str] = Counter()

    def job_ended(self, claim: Claim, outcome: str, message: str) -> None:
        if outcome in (outcomes.DONE, outcomes.FAILED):
            self._steps.advance()
        if outcome not in (outcomes.DONE, outcomes.STOPPED):
            self.troubles[message or outcome] += 1


def _by_jobs(study: Study, kind: JobKind, run_ids: Sequence[int], steps: Steps, threads: int) -> None:
    if not run_ids:
        return
    enqueue_stage(study, kind, run_ids)
    go_on(study)
    watcher = _Counting(steps)
    worker = Worker(threads=threads, study=study, kinds=(kind,), until_idle=True, watcher=watcher)
    why = worker.run()
    if watcher.troubles or why != "idle":
        told = "; ".join(f"{count} x {message}" for message, count in watcher.troubles.most_common(3)) or why
        raise StageStoppedError(
            f"Not every run of {study.slug} was judged: {told}. What is judged is kept; run the same command again."
        )


def stage_counts(study: Study) -> dict[str, dict[str, int]]:
    """What the stages have come to so far: verdicts by label, rounds by consensus, failure nodes and links."""
    rounds = Round.objects.filter(run__study=study)
    reached = Counter(
        verdict or "waiting"
        for verdict in rounds.filter(skip_reason="").values_list("consensus__verdict", flat=True)
    )
    pre_skipped = rounds.exclude(skip_reason="").count()
    return {
        "verdicts": stage1.verdict_counts(study),
        "rounds": {"all": pre_skipped + reached.total(), "pre_skipped": pre_skipped, **reached},
        "process": {
            "failure_nodes": FailureNode.objects.filter(run__study=study).count(),
            "links": Link.objects.filter(run__study=study).count(),
        },
    }
