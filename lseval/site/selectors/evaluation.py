"""How far the judges are with a study: runs judged and waiting, their jobs, and what stands in the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef

from lseval.models import AnswerGroup, Job, JobKind, JobState, Round, Study
from lseval.pipeline import stage1, stage2
from lseval.site.quantities import Share
from lseval.site.selectors.collection import Problem, problems_of

_UNDER_WAY = (JobState.WAITING, JobState.CLAIMED)


@dataclass(frozen=True, slots=True)
class StageProgress:
    """One stage: `runs` that have something to judge, `waiting` of them for the judge in use; `jobs` by state."""

    name: str
    does: str
    runs: int
    waiting: int
    jobs: Mapping[str, int]

    @property
    def done(self) -> int:
        return self.runs - self.waiting

    @property
    def share(self) -> Share:
        return Share(self.done, self.runs, "there is nothing to judge")

    @property
    def under_way(self) -> int:
        """Runs that are queued or being judged."""
        return sum(self.jobs.get(state, 0) for state in _UNDER_WAY)

    @property
    def to_retry(self) -> int:
        return self.jobs.get(JobState.FAILED, 0) + self.jobs.get(JobState.PARKED, 0)


@dataclass(frozen=True, slots=True)
class EvaluationState:
    """Both stages."""

    stages: list[StageProgress]
    problems: list[Problem]
    is_paused: bool

    @property
    def is_under_way(self) -> bool:
        """Whether anything waits for a worker or is in its hands."""
        return any(stage.under_way for stage in self.stages)

    @property
    def to_queue(self) -> int:
        """Runs that wait for a stage and are not queued for it."""
        return sum(max(0, stage.waiting - stage.under_way - stage.to_retry) for stage in self.stages)

    @property
    def to_retry(self) -> int:
        return sum(stage.to_retry for stage in self.stages)

    @property
    def is_complete(self) -> bool:
        return any(stage.runs for stage in self.stages) and not any(stage.waiting for stage in self.stages)


def evaluation_of(study: Study) -> EvaluationState:
    """Where the judging of a study stands."""
    jobs = Job.objects.filter(study=study, kind__in=(JobKind.VERIFY, JobKind.AUDIT))
    counts: dict[str, Counter[str]] = {JobKind.VERIFY: Counter(), JobKind.AUDIT: Counter()}
    for kind, state, count in jobs.order_by().values_list("kind", "state").annotate(count=Count("pk")):
        counts[kind][state] += count
    return EvaluationState(
        stages=[
            StageProgress(
                "Stage 1",
                "Groups against the pages that they cite",
                study.runs.filter(Exists(AnswerGroup.objects.filter(run=OuterRef("pk")))).count(),
                len(stage1.runs_to_verify(study)),
                counts[JobKind.VERIFY],
            ),
            StageProgress(
                "Stage 2",
                "Rounds, by two judges",
                study.runs.filter(Exists(Round.objects.filter(run=OuterRef("pk"), skip_reason=""))).count(),
                len(stage2.runs_to_audit(study)),
                counts[JobKind.AUDIT],
            ),
        ],
        problems=problems_of(jobs),
        is_paused=study.is_paused,
    )
