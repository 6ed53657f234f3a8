"""A study's runs as records, as they were imported or collected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.db.models import Prefetch, QuerySet

from lseval.domain.trajectory import (
    PageRecord,
    ReferenceRecord,
    RubricRecord,
    RunRecord,
    ToolCallRecord,
    TurnRecord,
    UsageRecord,
)
from lseval.models import EvaluatedModel, Page, PageSource, ReferenceLabel, Run, Study, Task, Turn
from lseval.pipeline.import_runs import GIVEN

_CHUNK = 10
"""A run may hold megabytes, so few are held at a time."""


def run_records(study: Study, model: EvaluatedModel | None = None) -> Iterator[RunRecord]:
    """Every run of the study, or of one of its models, by task and model. Call it within `one_moment`.

    A record holds all that came with the run: what the program worked out from it (rounds, answer groups, verdicts)
    is not part of it, nor are the pages that the program fetched itself.
    """
    ids = list(_runs(study, model).values_list("pk", flat=True))
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        found = {run.pk: run for run in _loaded(chunk)}
        for pk in chunk:
            run = found.pop(pk)
            record = _record(run)
            _let_go(run)
            yield record


def exported_models(study: Study) -> QuerySet[EvaluatedModel]:
    """The models of the study that have a run, by name."""
    return study.models.filter(runs__isnull=False).distinct().order_by("name")


def exported_keys(study: Study, model: EvaluatedModel | None = None) -> list[str]:
    """The tasks' keys of what `run_records` gives, in its order."""
    return list(_runs(study, model).values_list("task__key", flat=True))


@contextmanager
def one_moment() -> Iterator[None]:
    """Within it every read sees the database as it was at the first one, whatever is written meanwhile."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def _runs(study: Study, model: EvaluatedModel | None) -> QuerySet[Run]:
    runs = study.runs.order_by("task__key", "model__name")
    return runs.filter(model=model) if model else runs


def _loaded(ids: list[int]) -> QuerySet[Run]:
    recorded = Page.objects.filter(source=PageSource.RECORDED).order_by("pk")
    return (
        Run.objects.filter(pk__in=ids)
        .select_related("task", "model", "rubric")
        .prefetch_related(
            Prefetch("turns", Turn.objects.order_by("number").prefetch_related("tool_calls")),
            Prefetch("pages", recorded),
            Prefetch("reference_labels", ReferenceLabel.objects.order_by("pk")),
            "attempts",
        )
    )


def _let_go(run: Run) -> None:
    """What was read with a run refers back to it; left so, megabytes would wait for the garbage collector."""
    for owner in (*run.turns.all(), run):
        owner._prefetched_objects_cache.clear()  # type: ignore[attr-defined]


def _record(run: Run) -> RunRecord:
    return RunRecord(
        task_key=run.task.key,
        question=run.task.question,
        model_name=run.model.name,
        final_answer=run.final_answer,
        turns=tuple(_turn(turn) for turn in run.turns.all()),
        pages=tuple(_page(page) for page in run.pages.all()),
        model_family=run.model.family,
        task_topic=run.task.topic,
        task_language=run.task.language,
        gold_answer=run.task.gold_answer,
        rubric=_rubric(run),
        usage=UsageRecord(run.input_tokens, run.cached_tokens, run.output_tokens, run.reasoning_tokens),
        references=tuple(
            ReferenceRecord(label.step, label.agent, label.error_type, label.reason, label.source)
            for label in run.reference_labels.all()
        ),
        attempts=max(1, len(run.attempts.all())),
        is_final_only=run.is_final_only,
        started_at=run.started_at.isoformat() if run.started_at else None,
        metadata=_as_doubles(run.metadata),
    )


def _turn(turn: Turn) -> TurnRecord:
    calls = tuple(
        ToolCallRecord(call.name, call.original_name, _as_doubles(call.arguments), call.observation, call.is_error)
        for call in sorted(turn.tool_calls.all(), key=lambda call: call.number)
    )
    return TurnRecord(turn.text, calls, turn.agent, turn.reasoning, turn.source_step)


def _as_doubles(value: Any) -> Any:
    """`value` with whole numbers beyond 64 bits as doubles.

    They were doubles: an import takes no such whole number, but the database writes 1e300 out as one.
    """
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(value)
    if isinstance(value, dict):
        return {key: _as_doubles(item) for key, item in value.items()}
    return [_as_doubles(item) for item in value] if isinstance(value, list) else value


def _page(page: Page) -> PageRecord:
    retrieved_at = page.retrieved_at.isoformat() if page.retrieved_at else None
    return PageRecord(page.url, page.text, page.title, page.outcome, retrieved_at)


def _rubric(run: Run) -> RubricRecord | None:
    """The rubric that came with the run or its task; one that the program derived is made anew on import."""
    given = getattr(run, "rubric", None)
    if given is not None and given.origin == GIVEN:
        return RubricRecord(
            given.required_count, tuple(given.constraints), given.grouping_rule, tuple(given.required_fields)
        )
    return _task_rubric(run.task)


def _task_rubric(task: Task) -> RubricRecord | None:
    stated = task.rubric
    if not stated:
        return None
    return RubricRecord(
        stated["required_count"],
        tuple(stated.get("constraints", ())),
        stated.get("grouping_rule", ""),
        tuple(stated.get("required_fields", ())),
    )
