"""Jobs: making them, claiming them by the database's clock, and what may become of them.

No broker, process or clock outside the database is trusted with them: a job is waiting, or somebody's until a
stated time, or over. A claim that ran out is taken back by whoever looks next, so nothing is "running" for ever.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import Count, Exists, F, OuterRef, Q
from django.db.models.functions import Now

from lseval.domain.storable_text import storable
from lseval.errors import LsevalError
from lseval.models import EvaluatedModel, Job, JobKind, JobState, Run, Study
from lseval.pipeline.workers import here, is_gone, was_taken_down, worker_name

LEASE_S: Final = 60.0
"""How long a claim holds without a heartbeat."""

MOST_LOST_CLAIMS: Final = 3
"""A job whose worker was lost so often in a row, with nothing new in the ledger, is parked if the last one is known
to have been taken down by it; until then it is a suspect, and is done in a process of its own."""

BUDGET_SPENT: Final = "budget_spent"
WORKER_LOST: Final = "worker_lost"
_BUDGET_RECHECK_S: Final = 3600.0
_MESSAGE_LENGTH: Final = 4_000

# Replies in the ledger for the cell of a job: what tells a worker that died of its job from one that was killed
# while the job went forward.
_REPLIES = """(SELECT count(*) FROM lseval_call c WHERE c.study_id = j.study_id AND c.error_code = ''
    AND c.task_id = COALESCE(j.task_id, (SELECT r.task_id FROM lseval_run r WHERE r.id = j.run_id))
    AND c.model_id = COALESCE(j.model_id, (SELECT r.model_id FROM lseval_run r WHERE r.id = j.run_id)))"""


class LostClaimError(LsevalError):
    """The job was taken from this worker, whose claim ran out: what it did must not be saved."""

    code = "lost_claim"


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in a worker's hands. By the claim's `number` the worker proves that the job is still its own."""

    job_id: int
    number: int
    kind: str
    study_id: int
    task_id: int | None
    model_id: int | None
    run_id: int | None
    lost_claims: int


# --- making jobs ---


def enqueue_collection(study: Study) -> int:
    """Make a job for every evaluated model with an endpoint and every task that has no run yet; how many are new.

    Calling it again makes nothing new. Models of one task stand together, so that all endpoints have work.
    """
    models = [model.pk for model in EvaluatedModel.objects.filter(study=study) if model.settings]
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO lseval_job (study_id, kind, task_id, model_id, state, claim, claimed_by, progress,
                   error_code, error_message, lost_claims, replies_when_lost, worked_s)
               SELECT t.study_id, 'collect', t.id, m.id, 'waiting', 0, '', '{}', '', '', 0, 0, 0
               FROM lseval_task t JOIN lseval_evaluatedmodel m ON m.study_id = t.study_id AND m.id = ANY(%s)
               WHERE t.study_id = %s AND NOT EXISTS (SELECT 1 FROM lseval_run r WHERE r.study_id = t.study_id
                   AND r.task_id = t.id AND r.model_id = m.id)
               ORDER BY t.id, m.id ON CONFLICT DO NOTHING""",
            [models, study.pk],
        )
        return cursor.rowcount


def enqueue_stage(study: Study, kind: JobKind, run_ids: Sequence[int]) -> int:
    """Make or renew a job of a stage for each of the runs; how many wait because of this call."""
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO lseval_job (study_id, kind, run_id, state, claim, claimed_by, progress, error_code,
                   error_message, lost_claims, replies_when_lost, worked_s)
               SELECT %s, %s, r, 'waiting', 0, '', '{}', '', '', 0, 0, 0 FROM unnest(%s::bigint[]) AS r ORDER BY r
               ON CONFLICT ON CONSTRAINT one_job_per_subject DO UPDATE SET state = 'waiting',
                   not_before = statement_timestamp(), sent_at = NULL, error_code = '', error_message = '',
                   finished_at = NULL, lost_claims = 0
               WHERE lseval_job.state NOT IN ('waiting', 'claimed')""",
            [study.pk, kind, list(run_ids)],
        )
        return cursor.rowcount


def try_again(study: Study, *states: str, kind: str | None = None, model_id: int | None = None) -> int:
    """Let jobs that failed or were parked wait once more; how many."""
    jobs = Job.objects.filter(study=study, state__in=states or (JobState.FAILED, JobState.PARKED))
    if kind is not None:
        jobs = jobs.filter(kind=kind)
    if model_id is not None:
        jobs = jobs.filter(model_id=model_id)
    return jobs.update(
        state=JobState.WAITING,
        not_before=Now(),
        sent_at=None,
        error_code="",
        error_message="",
        lost_claims=0,
        finished_at=None,
    )


def go_on(study: Study) -> int:
    """Let jobs that were put off (by a spent budget or a provider) wait no longer; how many."""
    return Job.objects.filter(study=study, state=JobState.WAITING, not_before__gt=Now()).update(
        not_before=Now(), sent_at=None, error_code="", error_message=""
    )


# --- claiming ---


def claim_next(
    *, study: Study | None = None, kinds: Iterable[str] = (), suspects: bool = False, lease_s: float = LEASE_S
) -> Claim | None:
    """The job that has waited longest, now claimed by this worker; None where none is due.

    Jobs of paused studies are left alone. With `suspects`, only jobs whose worker was lost `MOST_LOST_CLAIMS` - 1
    times in a row; otherwise only others.
    """
    where = ["j.state = 'waiting'", "j.not_before <= statement_timestamp()", "NOT s.is_paused"]
    where.append(f"j.lost_claims {'>=' if suspects else '<'} {MOST_LOST_CLAIMS - 1}")
    params: list[Any] = []
    if study is not None:
        where.append("j.study_id = %s")
        params.append(study.pk)
    if kinds:
        where.append("j.kind = ANY(%s)")
        params.append(list(kinds))
    return _claim(" AND ".join(where), params, lease_s)


def claim_job(job_id: int, *, is_alone: bool = False, lease_s: float = LEASE_S) -> Claim | None:
    """That job, if it is waiting and due: a message that comes twice finds nothing to do.

    `is_alone` says that this process does nothing else.
    """
    where = "j.id = %s AND j.state = 'waiting' AND j.not_before <= statement_timestamp() AND NOT s.is_paused"
    return _claim(where, [job_id], lease_s, is_alone=is_alone)


def do_alone(claim: Claim) -> None:
    """Say that a claim is now in the hands of this process, which does nothing else."""
    Job.objects.filter(pk=claim.job_id, claim=claim.number).update(claimed_by=worker_name(is_alone=True))


def _claim(where: str, params: Sequence[Any], lease_s: float, *, is_alone: bool = False) -> Claim | None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE lseval_job SET state = 'claimed', claim = claim + 1, claimed_by = %s, progress = '{{}}',
                    claimed_until = statement_timestamp() + make_interval(secs => %s),
                    error_code = '', error_message = ''
                WHERE id = (SELECT j.id FROM lseval_job j JOIN lseval_study s ON s.id = j.study_id WHERE {where}
                    ORDER BY j.not_before, j.id LIMIT 1 FOR UPDATE OF j SKIP LOCKED)
                RETURNING id, claim, kind, study_id, task_id, model_id, run_id, lost_claims""",  # noqa: S608
            [worker_name(is_alone=is_alone), lease_s, *params],
        )
        row = cursor.fetchone()
    return Claim(*row) if row else None


def take_back_lost_claims(study: Study | None = None) -> int:
    """Let jobs whose claim ran out, or whose worker here has ended, wait again or be parked; how many.

    In a pool of threads nobody knows which job took the process down, so none is parked for it.
    """
    held = Job.objects.filter(state=JobState.CLAIMED)
    if study is not None:
        held = held.filter(study=study)
    lost = list(held.filter(claimed_until__lt=Now()).values_list("pk", "claim", "claimed_by"))
    ours = held.filter(claimed_by__startswith=here(), claimed_until__gte=Now())
    lost += [row for row in ours.values_list("pk", "claim", "claimed_by") if is_gone(row[2])]
    return sum(_take_back(job_id, number, was_taken_down(worker)) for job_id, number, worker in lost)


def worker_died(claim: Claim) -> bool:
    """Take back a claim whose worker is known to have died of it; whether it was still held."""
    return bool(_take_back(claim.job_id, claim.number, True))


def _take_back(job_id: int, number: int, is_blamed: bool) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            f"""WITH seen AS (SELECT j.id, {_REPLIES} AS replies, j.lost_claims, j.replies_when_lost
                    FROM lseval_job j
                    WHERE j.id = %(id)s AND j.claim = %(claim)s AND j.state = 'claimed' FOR UPDATE),
                told AS (SELECT *, LEAST(%(at_most)s, CASE WHEN lost_claims > 0 AND replies <= replies_when_lost
                    THEN lost_claims + 1 ELSE 1 END) AS lost FROM seen)
                UPDATE lseval_job SET
                    state = CASE WHEN told.lost >= %(most)s THEN 'parked' ELSE 'waiting' END,
                    lost_claims = told.lost, replies_when_lost = told.replies, claimed_until = NULL, sent_at = NULL,
                    not_before = statement_timestamp(), error_code = %(code)s, error_message = %(message)s,
                    finished_at = CASE WHEN told.lost >= %(most)s THEN statement_timestamp() END
                FROM told WHERE lseval_job.id = told.id""",  # noqa: S608
            {
                "id": job_id,
                "claim": number,
                "most": MOST_LOST_CLAIMS,
                "at_most": MOST_LOST_CLAIMS if is_blamed else MOST_LOST_CLAIMS - 1,
                "code": WORKER_LOST,
                "message": "Its worker ended or was cut off in the middle of it.",
            },
        )
        return cursor.rowcount


# --- what a holder may do ---


@dataclass(frozen=True, slots=True)
class Beat:
    """What a heartbeat tells of a job: how far it has come, and the time worked on it since the last one."""

    progress: Mapping[str, Any]
    worked_s: float


def heartbeat(held: Mapping[Claim, Beat], lease_s: float = LEASE_S) -> set[int]:
    """Hold the claims for another while, and keep what the beats tell; the ids of the jobs that are still held."""
    if not held:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            """UPDATE lseval_job SET claimed_until = statement_timestamp() + make_interval(secs => %s),
                   worked_s = lseval_job.worked_s + h.worked_s, progress = h.progress
               FROM unnest(%s::bigint[], %s::bigint[], %s::float8[], %s::jsonb[])
                   AS h(id, claim, worked_s, progress)
               WHERE lseval_job.id = h.id AND lseval_job.claim = h.claim AND state = 'claimed'
               RETURNING lseval_job.id""",
            [
                lease_s,
                [claim.job_id for claim in held],
                [claim.number for claim in held],
                [beat.worked_s for beat in held.values()],
                [json.dumps(beat.progress) for beat in held.values()],
            ],
        )
        return {job_id for (job_id,) in cursor.fetchall()}


def finish(claim: Claim, worked_s: float = 0) -> None:
    """The job is done. Call it in the transaction that saves its result, first of all.

    Raises:
        LostClaimError: the job is somebody else's by now; the transaction must be rolled back.
    """
    _end(claim, worked_s, state=JobState.DONE, finished_at=Now(), lost_claims=0)


def fail(claim: Claim, code: str, message: str, worked_s: float = 0) -> None:
    """The job cannot be done as it is; a person may have it tried again. Raises LostClaimError."""
    _end(claim, worked_s, state=JobState.FAILED, finished_at=Now(), **_error(code, message))


def defer(claim: Claim, delay_s: float, code: str, message: str, worked_s: float = 0) -> None:
    """The job waits at least that long before somebody tries again. Raises LostClaimError."""
    _end(
        claim,
        worked_s,
        state=JobState.WAITING,
        not_before=_later(delay_s),
        sent_at=None,
        **_error(code, message),
    )


def release(claim: Claim, worked_s: float = 0) -> None:
    """The job waits for anybody: this worker stops before it is done. Raises LostClaimError."""
    _end(claim, worked_s, state=JobState.WAITING, not_before=Now(), sent_at=None)


def _end(claim: Claim, worked_s: float, **changes: Any) -> None:
    found = Job.objects.filter(pk=claim.job_id, claim=claim.number, state=JobState.CLAIMED).update(
        claimed_until=None, worked_s=F("worked_s") + worked_s, **changes
    )
    if not found:
        raise LostClaimError(f"Job {claim.job_id} is no longer this worker's: its claim {claim.number} ran out.")


def _error(code: str, message: str) -> dict[str, str]:
    return {"error_code": code[:60], "error_message": storable(message)[:_MESSAGE_LENGTH]}


def _later(delay_s: float) -> Any:
    return Now() + timedelta(seconds=max(delay_s, 0))


# --- several at once ---


def stop_for_budget(study_id: int, message: str) -> int:
    """Put off all that waits in the study: its budget is spent. `go_on` ends that, as does an hour."""
    return Job.objects.filter(study_id=study_id, state=JobState.WAITING).update(
        not_before=_later(_BUDGET_RECHECK_S), sent_at=None, **_error(BUDGET_SPENT, message)
    )


def fail_alike(claim: Claim, code: str, message: str) -> int:
    """Fail all waiting jobs that ask the same endpoints: of the model, or of the stage. How many.

    What its endpoint refused one job it will refuse them all.
    """
    alike = Job.objects.filter(
        study_id=claim.study_id, kind=claim.kind, model_id=claim.model_id, state=JobState.WAITING
    )
    return alike.update(state=JobState.FAILED, finished_at=Now(), **_error(code, message))


def open_jobs(study: Study, kinds: Iterable[str] = ()) -> dict[str, int]:
    """How many jobs wait and are due, are put off, and are held: {due, put_off, held}."""
    jobs = Job.objects.filter(study=study)
    if kinds:
        jobs = jobs.filter(kind__in=list(kinds))
    waiting = Q(state=JobState.WAITING)
    return jobs.aggregate(
        due=Count("pk", filter=waiting & Q(not_before__lte=Now())),
        put_off=Count("pk", filter=waiting & Q(not_before__gt=Now())),
        held=Count("pk", filter=Q(state=JobState.CLAIMED)),
    )


def is_open(kind: str, run_id: int) -> bool:
    """Whether a job of that kind on the run waits or is held."""
    return Job.objects.filter(kind=kind, run_id=run_id, state__in=(JobState.WAITING, JobState.CLAIMED)).exists()


def close_jobs_with_runs(study: Study) -> int:
    """Close collection jobs whose cell got its run another way, by an import; how many."""
    has_run = Run.objects.filter(study=study, task=OuterRef("task"), model=OuterRef("model"))
    waiting = Job.objects.filter(Exists(has_run), study=study, kind=JobKind.COLLECT).exclude(
        state__in=(JobState.CLAIMED, JobState.DONE)
    )
    return waiting.update(state=JobState.DONE, finished_at=Now(), error_code="", error_message="")
