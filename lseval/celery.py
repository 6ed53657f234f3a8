"""Celery: `celery -A lseval worker`. A message names a job; all else is in the database, see `pipeline.jobs`."""

from __future__ import annotations

import os
from typing import Any

from billiard import current_process
from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")

from django.conf import settings

SWEEP_EVERY_S = 15.0
FORMER_NAMES = ("lseval.pipeline.run_job",)
"""Names by which messages of the release before may ask for `lseval.run_job`."""

app = Celery("lseval")
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL or None,
    # Longer than any run: a message that comes back while its job is still held finds nothing to do.
    broker_transport_options={"visibility_timeout": 6 * 3600},
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=1,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    worker_hijack_root_logger=False,
    task_default_queue="lseval",
    beat_schedule={"sweep": {"task": "lseval.sweep", "schedule": SWEEP_EVERY_S}},
    timezone="UTC",
)


def _run(job_id: int) -> None:
    from lseval.pipeline.dispatch import send_due
    from lseval.pipeline.jobs import claim_job
    from lseval.pipeline.working import Worker

    # A child of the prefork pool does one job at a time; a thread of another pool shares its process.
    claim = claim_job(int(job_id), is_alone=current_process().name != "MainProcess")
    if claim is None:
        return  # done, held, put off or paused: whatever it is, it needs no second worker
    Worker(threads=1).run_one(claim)
    send_due()


@app.task(name="lseval.run_job")
def run_job(job_id: int | None = None, *ignored: Any, **named: Any) -> None:
    """Do the job of that id, if it waits. Arguments that other releases send are taken and ignored."""
    if job_id is None:
        job_id = named.get("job")
    if job_id is not None:
        _run(job_id)


def _run_job_as_it_was_called(*args: Any, **named: Any) -> None:
    run_job(*args, **named)


for _name in FORMER_NAMES:
    app.task(name=_name)(_run_job_as_it_was_called)


@app.task(name="lseval.sweep")
def sweep(*ignored: Any, **also_ignored: Any) -> None:
    """Take back the jobs of workers that are gone, and send what is due."""
    from lseval.pipeline.dispatch import send_due
    from lseval.pipeline.jobs import take_back_lost_claims

    take_back_lost_claims()
    send_due()
