"""Queueing the judges' work. None of these waits for a judge: workers take the jobs."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import F

from lseval.errors import InputError
from lseval.models import AnswerGroup, JobKind, Study, Verdict
from lseval.pipeline import jobs, stage1, stage2
from lseval.pipeline.dispatch import tell_workers
from lseval.pipeline.judges import is_embedded

STAGE_KINDS = (JobKind.VERIFY, JobKind.AUDIT)


@dataclass(frozen=True, slots=True)
class Queued:
    """How many runs wait for each stage because of a call."""

    verify: int
    audit: int


@transaction.atomic
def start_evaluation(study: Study) -> Queued:
    """Queue both stages for every run that waits for them, and let put-off ones wait no longer.

    A run that gets new verdicts is audited after them.

    Raises:
        InputError: the study has no run.
    """
    if not study.runs.exists():
        raise InputError("There is nothing to judge: the study has no run. Import or collect some first.")
    to_verify = stage1.runs_to_verify(study)
    to_audit = sorted({*stage2.runs_to_audit(study), *_with_rounds(study, to_verify)})
    queued = Queued(
        jobs.enqueue_stage(study, JobKind.VERIFY, to_verify), jobs.enqueue_stage(study, JobKind.AUDIT, to_audit)
    )
    jobs.go_on(study)
    tell_workers()
    return queued


def _with_rounds(study: Study, run_ids: list[int]) -> list[int]:
    found = study.runs.filter(pk__in=run_ids, rounds__skip_reason="")
    return list(found.values_list("pk", flat=True).distinct())


@transaction.atomic
def retry_evaluation(study: Study) -> int:
    """Let jobs of the stages that failed or were parked wait once more; how many."""
    count = sum(jobs.try_again(study, kind=kind) for kind in STAGE_KINDS)
    tell_workers()
    return count


def judge_group_again(group: AnswerGroup) -> bool:
    """Have a group judged once more; True where it was done at once, False where a worker will.

    The embedded judge answers at once. A model is asked anew by whoever takes the run's job; what it said before
    stays in the ledger, and the verdict that is there counts until the new one comes.

    Raises:
        InputError: the group has no verdict yet, or its run is being judged already.
    """
    study = group.run.study
    if is_embedded(study, "stage1"):
        stage1.verify_again(group)
        return True
    with transaction.atomic():
        if jobs.is_open(JobKind.VERIFY, group.run_id):
            raise InputError("This run is being judged already; wait until that is done.")
        if not Verdict.objects.filter(group=group).update(repeat=F("repeat") + 1):
            raise InputError("The group has no verdict yet. Have the whole study judged first.")
        jobs.enqueue_stage(study, JobKind.VERIFY, [group.run_id])
        tell_workers()
    return False
