"""Recording what is true of a study's simulated runs, from their plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.db import transaction

from lseval.errors import InputError
from lseval.models import AnswerGroup, Run, Study, Turn
from lseval.pipeline.study_settings import model_settings_of
from lseval.sandbox.answers import title_of
from lseval.sandbox.models import GroupTruth, InjectedError, RunTruth
from lseval.sandbox.plans import Plan, plan_of
from lseval.sandbox.providers import profile_for, world_of
from lseval.sandbox.steps import PlannedError

_BATCH = 50


@dataclass(frozen=True, slots=True)
class Recorded:
    """How many runs' truth was recorded now, and of how many the groups are not the planned units."""

    runs: int
    unmatched: int


def record_truth(study: Study, advance: Callable[[], None] = lambda: None) -> Recorded:
    """Record the truth of every simulated run that has none yet. Calling it again changes nothing.

    Raises:
        InputError: the study has no simulated model, so nothing is known to be true of it.
    """
    profiles = {
        model.pk: profile_for(model)
        for model in study.models.all()
        if model.settings and model_settings_of(model).provider == "sandbox"
    }
    if not profiles:
        raise InputError(
            f"Study {study.slug} has no simulated model, so no truth is known to measure it by. "
            "`manage.py demo` makes a study that has."
        )
    world = world_of(study)
    numbers = {task.question: task.number for task in world.tasks}
    waiting = study.runs.filter(model__in=profiles, truth__isnull=True).select_related("task")
    recorded = unmatched = 0
    for batch in _batches(list(waiting.order_by("task_id", "model_id"))):
        with transaction.atomic():
            for run in batch:
                number = numbers.get(run.task.question.strip())
                if number is None:
                    continue
                truth = _record(run, plan_of(world, profiles[run.model_id], number))
                recorded, unmatched = recorded + 1, unmatched + (not truth.is_matched)
                advance()
    return Recorded(recorded, unmatched)


def _batches(runs: list[Run]) -> Iterator[list[Run]]:
    for start in range(0, len(runs), _BATCH):
        yield runs[start : start + _BATCH]


def _record(run: Run, plan: Plan) -> RunTruth:
    titles = list(AnswerGroup.objects.filter(run=run).order_by("number").values_list("title", flat=True))
    is_matched = titles == [title_of(unit) for unit in plan.units]
    rounds = _rounds_by_turn(run, plan)
    placed = [(error, *_rounds_of(error, rounds)) for error in plan.errors]
    kept = [(error, entered, stated) for error, entered, stated in placed if entered and stated]
    truth = RunTruth.objects.create(
        run=run,
        units=len(plan.units),
        groups=len(titles),
        is_matched=is_matched,
        lost_errors=len(placed) - len(kept),
    )
    if is_matched:
        GroupTruth.objects.bulk_create(
            GroupTruth(truth=truth, number=number, label=unit.label, error_type=unit.error_type or "")
            for number, unit in enumerate(plan.units, start=1)
        )
    InjectedError.objects.bulk_create(
        InjectedError(
            truth=truth,
            round_number=entered,
            stated_round_number=stated,
            error_type=error.error_type,
            group_numbers=list(error.units) if is_matched else [],
        )
        for error, entered, stated in kept
    )
    return truth


def _rounds_by_turn(run: Run, plan: Plan) -> dict[int, int]:
    """The round of each turn that went as planned."""
    turns = Turn.objects.filter(run=run).values_list("number", "text", "round__number")
    planned = {number: step.text for number, step in enumerate(plan.steps, start=1)}
    return {number: round_number for number, text, round_number in turns if planned.get(number) == text}


def _rounds_of(error: PlannedError, rounds: dict[int, int]) -> tuple[int, int]:
    return rounds.get(error.turn, 0), rounds.get(error.stated_turn, 0)
