"""How jobs reach whoever does them: the one place that knows whether there is a broker.

Without CELERY_BROKER_URL a job only waits in the database, and a worker (`manage.py work`, which `serve` starts)
takes it. With it, workers get messages; each holds a job's id and nothing else. A message may come late, twice or
never: the database knows what is to be done, and what is due is sent again.
"""

from __future__ import annotations

import logging
from typing import Final

from django.conf import settings
from django.db import connection, transaction

from lseval.models import Job

AHEAD: Final = 200
"""How many messages may be on their way at once: the rest waits in the database."""

_STALE_S: Final = 600.0
_PUBLISH_S: Final = 1.0

logger = logging.getLogger(__name__)


def has_broker() -> bool:
    """Whether jobs are sent to Celery workers."""
    return bool(settings.CELERY_BROKER_URL)


def tell_workers() -> None:
    """Say that there are new jobs, once the transaction that made them is committed."""
    if has_broker():
        transaction.on_commit(_send_quietly)


def _send_quietly() -> None:
    """Send what is due; a broker that does not answer costs a second or two, and the sweeper sends later."""
    try:
        send_due(16)
    except OSError as error:
        logger.warning("the broker does not answer, jobs will be sent later: %s", error)


def send_due(most: int = AHEAD) -> int:
    """Send messages for jobs that are due and on no way yet, up to `AHEAD` in all; returns how many were sent.

    A message that was not taken within ten minutes counts as lost.

    Raises:
        OSError: the broker does not answer; what could not be sent is marked as not sent.
    """
    job_ids = _mark(most)
    sent = 0
    try:
        sent = _publish(job_ids)
    finally:
        if sent < len(job_ids):
            Job.objects.filter(pk__in=job_ids[sent:]).update(sent_at=None)
    return sent


def _mark(most: int) -> list[int]:
    """Take jobs to send: marked first, so that two senders do not send the same."""
    with connection.cursor() as cursor:
        cursor.execute(
            """WITH fresh AS (SELECT count(*) AS on_the_way FROM lseval_job
                   WHERE state = 'waiting'
                     AND sent_at > statement_timestamp() - make_interval(secs => %(stale)s)),
               due AS (SELECT j.id FROM lseval_job j JOIN lseval_study s ON s.id = j.study_id
                   WHERE j.state = 'waiting' AND j.not_before <= statement_timestamp() AND NOT s.is_paused
                     AND (j.sent_at IS NULL
                       OR j.sent_at <= statement_timestamp() - make_interval(secs => %(stale)s))
                   ORDER BY j.not_before, j.id
                   LIMIT GREATEST(0, LEAST(%(most)s, %(ahead)s - (SELECT on_the_way FROM fresh)))
                   FOR UPDATE OF j SKIP LOCKED)
               UPDATE lseval_job SET sent_at = statement_timestamp() FROM due WHERE lseval_job.id = due.id
               RETURNING lseval_job.id""",
            {"stale": _STALE_S, "most": most, "ahead": AHEAD},
        )
        return sorted(job_id for (job_id,) in cursor.fetchall())


def _publish(job_ids: list[int]) -> int:
    """Send one message a job on one connection; returns how many went out before the broker failed."""
    if not job_ids:
        return 0
    from kombu.exceptions import OperationalError

    from lseval.celery import app, run_job  # not without a broker: Celery takes a while to import

    sent = 0
    # Kombu by itself tries for ever: here somebody may be waiting for a page.
    quick = {
        "max_retries": 0,
        "interval_start": 0,
        "interval_step": 0,
        "interval_max": 0,
        "socket_connect_timeout": _PUBLISH_S,
        "socket_timeout": _PUBLISH_S,
    }
    options = {**app.conf.broker_transport_options, **quick}
    with app.connection_for_write(connect_timeout=_PUBLISH_S, transport_options=options) as broker:
        try:
            for job_id in job_ids:
                run_job.apply_async((job_id,), connection=broker, retry=False)
                sent += 1
        except (OperationalError, OSError, *broker.recoverable_connection_errors) as error:
            if not sent:
                raise OSError(f"the broker does not answer: {error}") from error
            logger.warning("the broker stopped answering after %s messages: %s", sent, error)
    return sent
