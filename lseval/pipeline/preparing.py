"""Before a run is judged for the first time: its rubric and its groups, by the models that the study names."""

from __future__ import annotations

from django.db import transaction

from lseval.judging.preparation import GROUPING_PROMPT, RUBRIC_PROMPT, Preparer, rubric_record
from lseval.models import AnswerGroup, Rubric, Run
from lseval.pipeline.hooks import Hooks
from lseval.pipeline.import_runs import GIVEN, save_answer
from lseval.pipeline.judges import preparer


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


def _read_rubric(run: Run, model: Preparer) -> None:
    origin = f"{model.endpoint.model}, prompt {RUBRIC_PROMPT}"[:40]
    if run.rubric.origin == origin:
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
    )
    run.rubric.refresh_from_db()


def _take_apart(run: Run, model: Preparer) -> None:
    method = f"model {GROUPING_PROMPT}"[:20]
    if run.grouping_method == method:
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
        run.grouping_method = locked.grouping_method = method
        locked.is_valid_final = any(not cited.is_dangling for group in answer.groups for cited in group.citations)
        locked.save(update_fields=["grouping_method", "is_valid_final"])
