"""The made-up world: the same from the same seed, and its tasks' truth follows from its facts."""

from __future__ import annotations

import re

import pytest

from lseval.judging.embedded.rubric import derive_rubric
from lseval.sandbox.kinds import COUNT, KINDS, PARTY, YEAR, A, B
from lseval.sandbox.world import Condition, SandboxTask, Thing, World, make_world

SEED = 946


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(SEED, 100)


def holds(condition: Condition, thing: Thing, task: SandboxTask) -> bool:
    """Whether a condition holds, read anew from its words and the thing's facts."""
    text, kind = condition.text, thing.kind
    figure = float(found[1].replace(",", "")) if (found := re.search(r"([\d,]+(?:\.\d+)?)", text)) else 0.0
    if condition.on == "region":
        return task.region in text and thing.region == task.region
    if condition.on == "subtype":
        return text.endswith(f" {thing.subtype}")
    if condition.on == "feature":
        return any(has and text == f"has a {one.name}" for one, has in zip(kind.features, thing.has, strict=True))
    if condition.on == PARTY:
        return text.endswith(f"the {thing.facts[PARTY]}")
    if condition.on == "official":
        return True
    return {
        A: thing.facts[A] > figure,
        B: thing.facts[B] < figure,
        YEAR: thing.facts[YEAR] < figure,
        COUNT: thing.facts[COUNT] > figure if (figure := _count_in(text)) else False,
    }[condition.on]


def _count_in(text: str) -> float:
    found = re.search(r"more than ([\d,]+) ", text)
    return float(found[1].replace(",", "")) if found else 0.0


def test_same_seed_gives_the_same_world() -> None:
    first = make_world.__wrapped__(5, 12)
    again = make_world.__wrapped__(5, 12)
    other = make_world.__wrapped__(6, 12)
    assert [(task.question, task.eligible, task.failing) for task in first.tasks] == [
        (task.question, task.eligible, task.failing) for task in again.tasks
    ]
    assert first.tasks[0].question != other.tasks[0].question


def test_larger_world_begins_with_the_smaller(world: World) -> None:
    small = make_world(SEED, 7)
    assert [task.question for task in small.tasks] == [task.question for task in world.tasks[:7]]


def test_every_eligible_thing_meets_every_condition(world: World) -> None:
    for task in world.tasks:
        assert len(task.eligible) >= task.required
        for thing in task.eligible:
            assert all(holds(condition, thing, task) for condition in task.conditions), (task.question, thing)


def test_every_failing_thing_breaks_one_condition_and_no_other(world: World) -> None:
    for task in world.tasks:
        for thing, broken in zip(task.failing, task.broken, strict=True):
            failed = [condition for condition in task.conditions if not holds(condition, thing, task)]
            assert failed == [broken], (task.question, thing)


def test_tasks_reach_from_1_to_10_answers_and_1_to_9_conditions(world: World) -> None:
    assert {task.required for task in world.tasks} == set(range(1, 11))
    counts = {len(task.conditions) for task in world.tasks}
    assert min(counts) == 1
    assert max(counts) == 9


def test_every_question_and_every_key_is_its_own(world: World) -> None:
    assert len({task.question for task in world.tasks}) == 100
    assert len({task.key for task in world.tasks}) == 100
    assert {task.kind.key for task in world.tasks} == {kind.key for kind in KINDS}


def test_names_within_a_corner_are_told_apart_but_for_namesakes(world: World) -> None:
    for task in world.tasks:
        names = [thing.name for thing in task.things]
        assert len(set(names)) == len(names)
        for name, other in task.namesakes.items():
            assert other.name == name
            assert other.region == task.other_region != task.region


def test_question_asks_for_the_rubrics_count(world: World) -> None:
    """The embedded rubric, which reads only the question, finds the count that the world's rubric has."""
    for task in world.tasks:
        if task.required > 1:
            assert derive_rubric(task.question).required_count == task.rubric["required_count"]


def test_task_is_found_by_its_question_inside_other_words(world: World) -> None:
    task = world.tasks[3]
    assert world.task_of(task.question) is task
    assert world.task_of(f"Answer this:\n{task.question}\nThank you.") is task
    assert world.task_of("Who was it?") is None
