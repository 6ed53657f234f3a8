"""The draws of an audit, and how likely each response was to be in it after all of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from django.db.models import Exists, OuterRef

from annotation.draw_chances import Step, chances_over_draws
from annotation.models import Audit, ItemKind
from lseval.models import AnswerGroup, Run


@dataclass(frozen=True, slots=True)
class GroupChances:
    """Run id to the probability that its answer groups are in the audit, for the runs that are.

    `draws` counts the draws. `is_exact` is false where the study has changed between or since them, so that what
    each of them was drawn from cannot be worked out again; the probabilities then take the study as it is.
    """

    by_run: Mapping[int, float]
    draws: int = 1
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class _Labelable:
    """A run with an answer group: its task, its family, and since when it is there."""

    id: int
    task: int
    family: str
    since: datetime


@dataclass(frozen=True, slots=True)
class _Draw:
    """A draw as it was stored, and the runs that it took."""

    at: datetime
    plan: Mapping[str, Any]
    frame: Mapping[str, Any]
    runs: frozenset[int]


def group_chances(audit: Audit) -> GroupChances:
    """The chances of an audit's answer groups over all its draws; see `annotation.draw_chances`.

    After one draw they are those that are stored with the items. Three queries at most.
    """
    found = (
        audit.items.filter(kind=ItemKind.GROUP).values_list("run_id", "inclusion_probability", "draw").distinct()
    )
    stored = {run: (probability, draw) for run, probability, draw in found}
    if len({draw for _, draw in stored.values()}) < 2:
        return GroupChances({run: probability for run, (probability, _) in stored.items()})
    draws = _draws_of(audit, stored)
    runs = _labelable(audit)
    steps, is_exact = _steps(draws, runs)
    by_task: dict[int, Counter[str]] = defaultdict(Counter)
    for run in runs:
        by_task[run.task][run.family] += 1
    chances = {
        task: chances_over_draws(sizes, [step for step, tasks in steps if task in tasks])
        for task, sizes in by_task.items()
    }
    known = {run.id: chances[run.task].get(run.family, Fraction(0)) for run in runs if run.id in stored}
    return GroupChances(
        {run: float(known.get(run) or probability) for run, (probability, _) in stored.items()},
        draws=len(draws),
        is_exact=is_exact and known.keys() == stored.keys(),
    )


def _draws_of(audit: Audit, stored: Mapping[int, tuple[float, int]]) -> list[_Draw]:
    runs: dict[int, set[int]] = defaultdict(set)
    for run, (_, draw) in stored.items():
        runs[draw].add(run)
    first = _Draw(audit.created_at, audit.plan, audit.frame, frozenset(runs[1]))
    later = [
        _Draw(each.created_at, each.plan, each.frame, frozenset(runs[each.number]))
        for each in audit.extensions.order_by("number")
    ]
    return [first, *later]


def _labelable(audit: Audit) -> list[_Labelable]:
    """The study's runs with an answer group, those left out that came after the audit's last draw."""
    last = max([audit.created_at, *audit.extensions.values_list("created_at", flat=True)])
    with_group = AnswerGroup.objects.filter(run=OuterRef("pk"))
    runs = Run.objects.filter(Exists(with_group), study_id=audit.study_id, imported_at__lte=last).order_by("id")
    return [
        _Labelable(pk, task, family or name, since)
        for pk, task, family, name, since in runs.values_list(
            "pk", "task_id", "model__family", "model__name", "imported_at"
        )
    ]


def _steps(draws: Sequence[_Draw], runs: Sequence[_Labelable]) -> tuple[list[tuple[Step, set[int]]], bool]:
    """Each draw as a step with the tasks that could meet it, and whether every frame is what was stored then."""
    task_of = {run.id: run.task for run in runs}
    taken: set[int] = set()
    steps: list[tuple[Step, set[int]]] = []
    is_exact = True
    for draw in draws:
        there = [run for run in runs if run.since <= draw.at]
        taken_tasks = {task_of[run] for run in taken if run in task_of}
        is_of_new = not any(task_of.get(run) in taken_tasks for run in draw.runs)
        frame = [run for run in there if (run.task not in taken_tasks if is_of_new else run.id not in taken)]
        is_exact = is_exact and _is_stored_frame(frame, draw.frame) and _is_whole(frame, runs, taken)
        tasks = max(int(draw.frame["tasks"]), 1)
        step = Step(Fraction(min(int(draw.plan["drawn"]["tasks"]), tasks), tasks), is_of_new, _wanted(draw))
        steps.append((step, {run.task for run in there}))
        taken |= draw.runs
    return steps, is_exact


def _wanted(draw: _Draw) -> int:
    return int(draw.plan["responses_per_task"])


def _is_stored_frame(frame: Sequence[_Labelable], stored: Mapping[str, Any]) -> bool:
    families = Counter(run.family for run in frame)
    counts = (len(frame), len({run.task for run in frame}), dict(families))
    return counts == (stored["runs"], stored["tasks"], stored["runs_by_family"])


def _is_whole(frame: Sequence[_Labelable], runs: Sequence[_Labelable], taken: set[int]) -> bool:
    """Whether the tasks of a frame have no response that came after it."""
    tasks = {run.task for run in frame}
    inside = {run.id for run in frame} | taken
    return all(run.id in inside for run in runs if run.task in tasks)
