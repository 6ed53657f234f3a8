"""What a simulated model will do on a task, turn by turn, and what of it is wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from lseval.sandbox.answers import write_answer, write_unsourced
from lseval.sandbox.profiles import Profile
from lseval.sandbox.route import Route
from lseval.sandbox.steps import PlannedError, Step
from lseval.sandbox.units import PlannedUnit, plan_units
from lseval.sandbox.world import World


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole run: its turns, its answer, the units of the answer, and the errors injected.

    `busy_turn` is the turn (from 1) at which its
    server turns the first attempt away, 0 for never.
    """

    steps: tuple[Step, ...]
    answer: str
    units: tuple[PlannedUnit, ...]
    errors: tuple[PlannedError, ...]
    busy_turn: int = 0


def plan_of(world: World, profile: Profile, number: int) -> Plan:
    """The plan of a model on a task of the world, by the task's number; always the same for the same arguments."""
    return _plan(world, profile, number)


@lru_cache(maxsize=512)
def _plan(world: World, profile: Profile, number: int) -> Plan:
    task = world.tasks[number]
    random = Random(f"plan {world.seed} {profile.name} {task.number}")  # noqa: S311 - no secret
    units = plan_units(task, profile, random)
    draw = random.random()
    route = Route(task, profile, random)
    errors = route.hurry(units) if draw < profile.premature else route.work(units)
    answer = write_answer(task, units, random)
    if random.random() < profile.invalid:
        answer, units = write_unsourced(task, units, random)
        errors = tuple(error if units else replace(error, units=()) for error in errors)
    elif draw > 1 - profile.endless:
        route.wander()
    busy = random.randint(1, len(route.steps)) if random.random() < profile.turned_away else 0
    return Plan(tuple(route.steps), answer, tuple(units), errors, busy)
