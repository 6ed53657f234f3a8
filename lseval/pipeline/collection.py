"""Making the run of one cell: a model on a task, through the protocol and the ledger."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from lseval.agent.loop import run_agent
from lseval.agent.run import SOURCE_FORMAT, RunSubject, to_run_record
from lseval.domain.trajectory import RubricRecord, RunRecord
from lseval.models import EvaluatedModel, Phase, Study, Task
from lseval.pipeline import jobs
from lseval.pipeline.hooks import Hooks
from lseval.pipeline.import_runs import import_run
from lseval.pipeline.jobs import Claim
from lseval.pipeline.ledger import Ledger
from lseval.pipeline.prepared import fetch_all
from lseval.pipeline.providers_of import chat_of, fetch_of, search_of
from lseval.pipeline.study_settings import controls_of, endpoint_of, model_settings_of, price_of

_HAS_RUN = "SELECT 1 FROM lseval_run WHERE study_id = %s AND task_id = %s AND model_id = %s"
_FIRST_CALL = """
SELECT min(called_at) FROM lseval_call WHERE study_id = %s AND task_id = %s AND model_id = %s AND phase = %s
"""


def collect_run(claim: Claim, hooks: Hooks) -> None:
    """Make and save the run of a claimed cell, and finish the job, the last two in one transaction.

    What the ledger holds of the cell is served from it, so after a crash the run goes on where it was.

    Raises:
        LostClaimError: the job is somebody else's by now; nothing was saved.
        AgentFailedError: a provider refuses for good.
        ProviderError: the same may go through later.
        InputError: the study's or the model's settings cannot be used.
    """
    assert claim.task_id is not None  # a constraint holds these
    assert claim.model_id is not None
    task = Task.objects.get(pk=claim.task_id)
    model = EvaluatedModel.objects.select_related("study").get(pk=claim.model_id)
    study = model.study
    if fetch_all(_HAS_RUN, [study.pk, task.pk, model.pk]):
        jobs.finish(claim, hooks.worked_s())  # its run came another way
        return
    record = _record_of(study, task, model, claim.number, hooks)
    with transaction.atomic():
        jobs.finish(claim, hooks.worked_s())
        import_run(study, record, source_format=SOURCE_FORMAT)


def _record_of(study: Study, task: Task, model: EvaluatedModel, attempts: int, hooks: Hooks) -> RunRecord:
    ledger = Ledger(
        study,
        Phase.COLLECTION,
        task_id=task.pk,
        model_id=model.pk,
        policy=hooks.policy,
        before_call=hooks.before_call,
        sleep=hooks.sleep,
        on_call=hooks.on_call,
    )
    ledger.preload()
    settings = model_settings_of(model)
    engine = search_of(study)
    run = run_agent(
        task.question,
        endpoint_of(model),
        controls_of(study),
        ledger.chat(chat_of(model), price=price_of(model), most=settings.concurrency),
        ledger.search(engine.ask, provider=engine.name, base_url=engine.base_url, price_usd=engine.price_usd),
        fetch_of(study, Phase.COLLECTION),
        tool_calls=settings.tool_calls,
        on_progress=hooks.on_progress,
    )
    subject = RunSubject(
        task_key=task.key,
        question=task.question,
        model_name=model.name,
        model_family=model.family,
        task_topic=task.topic,
        task_language=task.language,
        gold_answer=task.gold_answer,
        rubric=RubricRecord(**_rubric(task)) if task.rubric else None,
    )
    began = _began(study, task, model)
    return to_run_record(run, subject, attempts=attempts, started_at=began.isoformat() if began else None)


def _rubric(task: Task) -> dict:
    given = dict(task.rubric or {})
    for name in ("constraints", "required_fields"):
        if name in given:
            given[name] = tuple(given[name])
    return given


def _began(study: Study, task: Task, model: EvaluatedModel) -> datetime | None:
    """When the first call for the cell was made, in whichever attempt."""
    first: datetime | None = fetch_all(_FIRST_CALL, [study.pk, task.pk, model.pk, Phase.COLLECTION.value])[0][0]
    return first
