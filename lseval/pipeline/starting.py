"""Starting, pausing and retrying a study's collection. None of these waits for a run: they only queue."""

from __future__ import annotations

from django.db import transaction

from lseval.errors import InputError
from lseval.models import Job, JobKind, JobState, Study
from lseval.pipeline import jobs
from lseval.pipeline.dispatch import tell_workers


@transaction.atomic
def start_collection(study: Study) -> int:
    """Queue every run that the study lacks, and let put-off ones wait no longer; how many runs are queued now.

    Raises:
        InputError: the study has no task, or no model with an endpoint.
    """
    jobs.close_jobs_with_runs(study)
    jobs.enqueue_collection(study)
    jobs.go_on(study)
    Study.objects.filter(pk=study.pk).update(is_paused=False)
    queued = Job.objects.filter(
        study=study, kind=JobKind.COLLECT, state__in=(JobState.WAITING, JobState.CLAIMED)
    ).count()
    if not queued and not Job.objects.filter(study=study, kind=JobKind.COLLECT).exists():
        raise InputError(
            "There is nothing to collect: the study needs tasks and a model with an endpoint. Describe them in a "
            "file and run `manage.py create_study FILE`."
        )
    tell_workers()
    return queued


def pause(study: Study) -> None:
    """Start no new job of the study; runs in the making go on to their end."""
    Study.objects.filter(pk=study.pk).update(is_paused=True)


@transaction.atomic
def resume(study: Study) -> None:
    """Start jobs of the study again."""
    Study.objects.filter(pk=study.pk).update(is_paused=False)
    tell_workers()


@transaction.atomic
def retry(study: Study, model_id: int | None = None) -> int:
    """Let collection jobs that failed or were parked wait once more, of one model or of all; how many."""
    count = jobs.try_again(study, kind=JobKind.COLLECT, model_id=model_id)
    tell_workers()
    return count
