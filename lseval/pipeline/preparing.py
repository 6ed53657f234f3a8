"""Before a run is judged for the first time: its rubric and its groups, by the models that the study names."""

from __future__ import annotations

from typing import Final

from django.db import transaction

from lseval.judging.preparation import GROUPING_PROMPT, METHOD, RUBRIC_PROMPT, Preparer, rubric_record
from lseval.judging.prompts import prompt
from lseval.models import AnswerGroup, Rubric, Run
from lseval.pipeline.hooks import Hooks
from lseval.pipeline.import_runs import GIVEN, save_answer
from lseval.pipeline.judges import preparer

_LONGEST_ORIGIN: Final = 300


def prepare_run(run: Run, hooks: Hooks) -> None:
    """Read the run's rubric and take its response apart by model, where the study has models for it.

    What the rules made on import stays where the model gives no usable reply, where the rubric came with the task,
    and where the run has verdicts already: people may be labeling its groups.
    """
    rubric_model = preparer(run, "rubric", hooks)
    grouping_model = preparer(run, "grouping", hooks)
    if not (rubric_model or grouping_model) or run.answer_groups.filter(verdict__isnull=False).exists():
        return
    if rubric_model and run.rubric.origin != GIVEN:
        _read_rubric(run, rubric_model)
    if grouping_model and run.final_answer.strip():
        _take_apart(run, grouping_model)


def _origin_of(model: Preparer, prompt_name: str) -> tuple[str, str]:
    """The model and the prompt as they are kept with what they give, and the prompt's digest."""
    return f"{model.endpoint.model}, prompt {prompt_name}"[:_LONGEST_ORIGIN], prompt(prompt_name).digest


def _read_rubric(run: Run, model: Preparer) -> None:
    origin, digest = _origin_of(model, RUBRIC_PROMPT)
    if (run.rubric.origin, run.rubric.prompt_digest) == (origin, digest):
        return
    answer = model.rubric(run.task.question)
    if answer.value is None:
        return
    record = rubric_record(answer.value)
    Rubric.objects.filter(pk=run.rubric.pk).update(
        required_count=record.required_count,
        constraints=list(record.constraints),
        grouping_rule=record.grouping_rule,
        required_fields=list(record.required_fields),
        origin=origin,
        prompt_digest=digest,
    )
    run.rubric.refresh_from_db()


def _take_apart(run: Run, model: Preparer) -> None:
    origin, digest = _origin_of(model, GROUPING_PROMPT)
    if (run.grouping_origin, run.grouping_digest) == (origin, digest):
        return
    answer, _ = model.group(run.task.question, run.rubric.grouping_rule, run.final_answer)
    if answer is None:
        return
    with transaction.atomic():
        locked = Run.objects.select_for_update().get(pk=run.pk)
        if AnswerGroup.objects.filter(run=run, verdict__isnull=False).exists():
            return
        locked.answer_groups.all().delete()
        locked.citations.all().delete()
        save_answer(locked, answer)
        for one in (run, locked):
            one.grouping_method, one.grouping_origin, one.grouping_digest = METHOD, origin, digest
        locked.is_valid_final = any(not cited.is_dangling for group in answer.groups for cited in group.citations)
        locked.save(update_fields=["grouping_method", "grouping_origin", "grouping_digest", "is_valid_final"])
