"""Drawing an audit's sample: plain numbers in, plain numbers out.

The sample is drawn by whole responses, so that people's labels give response scores. Tasks are drawn first, then
responses within each task with the model families balanced, then H2's tasks and the tasks whose trajectories are
labeled, both among the tasks already drawn. Each step has a known probability, so every item's is exact.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from fractions import Fraction
from random import Random
from typing import Any, TypeVar

from lseval.errors import InputError

_Thing = TypeVar("_Thing")

PAPER_TASKS = 100
PAPER_RESPONSES_PER_TASK = 2
PAPER_TRAJECTORIES = 100
H2_SHARE = Fraction(1, 5)
"""The paper puts 20 of its 100 audited tasks to the second labeler as well."""

GROUP, ROUND, LINK = "group", "round", "link"
KINDS = (GROUP, ROUND, LINK)
"""In the order in which a labeler meets them: a link tells what the machine made of its round and its group."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a lead asks for. A study that has less gives all it has.

    `h2_tasks` None stands for a fifth of the drawn tasks, 1 at least. `link_trajectories` and
    `round_trajectories` say from how many trajectories every link, or every round, goes to H1; they are drawn by
    whole tasks, as many as hold that number on average, so that a few more or fewer may come.
    """

    tasks: int = PAPER_TASKS
    responses_per_task: int = PAPER_RESPONSES_PER_TASK
    h2_tasks: int | None = None
    link_trajectories: int = PAPER_TRAJECTORIES
    round_trajectories: int = PAPER_TRAJECTORIES

    def __post_init__(self) -> None:
        for name in ("tasks", "responses_per_task"):
            if getattr(self, name) < 1:
                raise InputError(
                    f"A plan needs {name.replace('_', ' ')} of 1 or more; it has {getattr(self, name)}."
                )
        for name in ("h2_tasks", "link_trajectories", "round_trajectories"):
            if (value := getattr(self, name)) is not None and value < 0:
                raise InputError(f"A plan cannot have {name.replace('_', ' ')} below 0; it has {value}.")

    def as_json(self) -> dict[str, Any]:
        """The plan as it is stored with the audit."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Plan:
        """The plan that `as_json` gave; what was added to the stored mapping since is left aside."""
        return cls(**{item.name: stored[item.name] for item in fields(cls) if item.name in stored})


@dataclass(frozen=True, slots=True)
class FrameRun:
    """A run that may be drawn: its task's key, its model with its family, and the ids of what could be labeled.

    A link is a (round, group) pair. Task and model say which run it is, and the draw goes by their order: ids
    follow the order in which runs came in, which is another one in each database.
    """

    id: int
    task: str
    model: str
    family: str
    groups: tuple[int, ...]
    rounds: tuple[int, ...] = ()
    links: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """One thing to label. `probability` is its chance to be in the audit, over all seeds."""

    kind: str
    run: int
    group: int | None
    round: int | None
    probability: float


@dataclass(frozen=True, slots=True)
class Sample:
    """What a seed draws: the items, and which of them each role gets, in the order of its queue.

    `h1` and `h2` hold positions in `items`. `drawn` counts tasks, responses and trajectories.
    """

    items: tuple[DrawnItem, ...]
    h1: tuple[int, ...]
    h2: tuple[int, ...]
    drawn: Mapping[str, int] = field(default_factory=dict)

    def counts(self, role: str) -> dict[str, int]:
        """How many items of each kind a role gets."""
        positions = self.h1 if role == "H1" else self.h2
        found = Counter(self.items[position].kind for position in positions)
        return {kind: found[kind] for kind in KINDS}


def left_to_draw(frame: Sequence[FrameRun], drawn: Collection[int]) -> list[FrameRun]:
    """What a further draw is drawn from once the runs `drawn` are, by id: tasks not drawn yet, else the rest."""
    drawn_tasks = {run.task for run in frame if run.id in drawn}
    of_new_tasks = [run for run in frame if run.task not in drawn_tasks]
    return (
        of_new_tasks if any(run.groups for run in of_new_tasks) else [run for run in frame if run.id not in drawn]
    )


def frame_summary(frame: Sequence[FrameRun]) -> dict[str, Any]:
    """Counts of a frame, and a SHA-256 by which the same frame is known again, in another database too.

    `runs_left_out` counts the responses with no answer group: there is nothing to label in them.
    """
    labelable = [run for run in frame if run.groups]
    content = [_without_ids(run) for run in sorted(frame, key=_by_key)]
    return {
        "runs": len(labelable),
        "runs_left_out": len(frame) - len(labelable),
        "tasks": len({run.task for run in labelable}),
        "groups": sum(len(run.groups) for run in labelable),
        "rounds": sum(len(run.rounds) for run in labelable),
        "links": sum(len(run.links) for run in labelable),
        "runs_by_family": dict(sorted(Counter(run.family for run in labelable).items())),
        "digest": hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest(),
    }


def draw(frame: Sequence[FrameRun], plan: Plan, seed: int) -> Sample:
    """The sample that a seed draws from a frame; the same frame, plan and seed always draw the same.

    A frame with nothing to label gives an empty sample.
    """
    rng = Random(seed)  # noqa: S311 - a sample that can be drawn again, not a secret
    by_task: dict[str, list[FrameRun]] = {}
    for run in sorted(frame, key=_by_key):
        if run.groups:
            by_task.setdefault(run.task, []).append(run)
    tasks = _shuffled(rng, list(by_task))[: plan.tasks]
    if not tasks:
        return Sample((), (), ())
    drawn = _draw_responses(rng, [by_task[task] for task in tasks], plan.responses_per_task)
    chance = {run: inclusion * Fraction(len(tasks), len(by_task)) for run, inclusion in drawn.items()}

    h2_wanted = _fifth(len(tasks)) if plan.h2_tasks is None else plan.h2_tasks
    h2_tasks = set(_shuffled(rng, tasks)[:h2_wanted])
    tasks_with_rounds = {run.task for run in drawn if run.rounds}
    with_rounds = _shuffled(rng, [task for task in tasks if task in tasks_with_rounds])
    per_task = Fraction(sum(bool(run.rounds) for run in drawn), max(len(with_rounds), 1))
    for_rounds = _trajectory_tasks(with_rounds, plan.round_trajectories, per_task)
    for_links = _trajectory_tasks(with_rounds, plan.link_trajectories, per_task)

    order = _shuffled(rng, sorted(drawn, key=_by_key))
    items = [DrawnItem(GROUP, run.id, group, None, float(chance[run])) for run in order for group in run.groups]
    for run in order:
        if run.task in for_rounds:
            probability = float(chance[run] * Fraction(len(for_rounds), len(with_rounds)))
            items += [DrawnItem(ROUND, run.id, None, found, probability) for found in run.rounds]
    for run in order:
        if run.task in for_links:
            probability = float(chance[run] * Fraction(len(for_links), len(with_rounds)))
            items += [DrawnItem(LINK, run.id, group, found, probability) for found, group in run.links]

    second_order = {run.id: place for place, run in enumerate(_shuffled(rng, order)) if run.task in h2_tasks}
    h2 = [place for place, item in enumerate(items) if item.kind == GROUP and item.run in second_order]
    return Sample(
        items=tuple(items),
        h1=tuple(range(len(items))),
        h2=tuple(sorted(h2, key=lambda place: (second_order[items[place].run], place))),
        drawn={
            "tasks": len(tasks),
            "responses": len(drawn),
            "h2_tasks": len(h2_tasks),
            "h2_responses": len(second_order),
            "round_trajectories": sum(run.task in for_rounds and bool(run.rounds) for run in drawn),
            "link_trajectories": sum(run.task in for_links and bool(run.rounds) for run in drawn),
        },
    )


def _draw_responses(rng: Random, tasks: Sequence[Sequence[FrameRun]], wanted: int) -> dict[FrameRun, Fraction]:
    """The responses drawn from each task, with each one's probability given that its task is drawn.

    Families are drawn by systematic sampling over their expected numbers. The tasks of a block share one random
    order of the families and have starts spread evenly over [0, 1), so that a block takes each family equally
    often; each start alone is uniform, which keeps every probability exact. A new order in every block lets any
    two families meet on a task.
    """
    families = sorted({run.family for runs in tasks for run in runs})
    block = len(families) // math.gcd(len(families), wanted)
    chance: dict[FrameRun, Fraction] = {}
    for number, runs in enumerate(tasks):
        if number % block == 0:
            order, start = _shuffled(rng, families), rng.random()
        by_family = {name: [run for run in runs if run.family == name] for name in order}
        sizes = {name: len(members) for name, members in by_family.items() if members}
        expected = expected_by_family(sizes, min(wanted, len(runs)))
        for name, count in _systematic(expected, (start + (number % block) / block) % 1).items():
            for run in _shuffled(rng, by_family[name])[:count]:
                chance[run] = expected[name] / sizes[name]
    return chance


def expected_by_family(sizes: Mapping[str, int], wanted: int) -> dict[str, Fraction]:
    """How many responses each family is expected to give: as equal as their sizes allow, `wanted` in all.

    `wanted` is at most the sum of the sizes. Where 3 are wanted from families of 1, 2 and 5, each gives 1; where 6
    are, they give 1, 2 and 3.
    """
    expected: dict[str, Fraction] = {}
    left = Fraction(wanted)
    for place, name in enumerate(sorted(sizes, key=lambda name: (sizes[name], name))):
        expected[name] = min(Fraction(sizes[name]), left / (len(sizes) - place))
        left -= expected[name]
    return {name: expected[name] for name in sizes}


def _systematic(expected: Mapping[str, Fraction], start: float) -> dict[str, int]:
    """Whole numbers whose means over a uniform start are the expected ones, and whose sum is theirs."""
    taken: dict[str, int] = {}
    reached = Fraction(0)
    begin = Fraction(start)
    for name, share in expected.items():
        # How many of the points start, start + 1, start + 2, ... lie in [reached, reached + share).
        taken[name] = math.ceil(reached + share - begin) - math.ceil(reached - begin)
        reached += share
    return taken


def _trajectory_tasks(tasks: Sequence[str], trajectories: int, per_task: Fraction) -> set[str]:
    """The first tasks of an order, as many as the wanted trajectories fill on average.

    Their number does not depend on the order, so that every task has the same chance.
    """
    return set(tasks[: math.ceil(trajectories / per_task)]) if per_task else set()


def _fifth(tasks: int) -> int:
    return max(1, round(tasks * H2_SHARE))


def _by_key(run: FrameRun) -> tuple[str, str]:
    return run.task, run.model


def _without_ids(run: FrameRun) -> list[Any]:
    """What a run is and how much it holds; a link by the places of its round and its group."""
    round_at = {found: place for place, found in enumerate(run.rounds)}
    group_at = {group: place for place, group in enumerate(run.groups)}
    links = [(round_at[found], group_at[group]) for found, group in run.links]
    return [run.task, run.model, run.family, len(run.groups), len(run.rounds), links]


def _shuffled(rng: Random, things: Sequence[_Thing]) -> list[_Thing]:
    # By sorting on random(), the one method whose sequence Python promises to keep in later versions.
    keys = [rng.random() for _ in things]
    return [things[place] for place in sorted(range(len(things)), key=keys.__getitem__)]
