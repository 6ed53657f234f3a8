"""The chance that a response is in an audit of several draws. Plain numbers in, exact fractions out.

An item keeps the probability of the draw that it came with, given what the earlier ones took. What stands for the
study is the probability of having come with any of them. It is worked out task by task: the families of a task are
followed through the draws as counts of what is left of each, with the exact probability of every such state. This
can be done because `annotation.sampling` draws within a task by water-filling: each family gives all that it has,
or the same level as others; where the level is no whole number, a simple random choice says which give one more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, floor

Family = tuple[int, int]
"""A family on a task: how many responses it has, and how many of them are not drawn yet."""
State = tuple[Family, ...]
"""The families of a task, in order. Two of the same numbers are alike, so their names do not matter."""


@dataclass(frozen=True, slots=True)
class Step:
    """One draw as a task meets it.

    `task_chance` is the share of the tasks it could be drawn with that the draw took, 0 for a task that was not
    there yet; `is_of_new_tasks` says that the draw took only tasks that no earlier one had; `wanted` is how many
    responses it took from a task.
    """

    task_chance: Fraction
    is_of_new_tasks: bool
    wanted: int


def chances_over_draws(sizes: Mapping[str, int], steps: Sequence[Step]) -> dict[str, Fraction]:
    """Family to the probability that one given response of it has been drawn on the task after all steps.

    `sizes` are how many responses of each family the task has.
    """
    by_size = _chance_by_size(tuple(sorted(size for size in sizes.values() if size)), tuple(steps))
    return {family: by_size[size] for family, size in sizes.items() if size}


@lru_cache(maxsize=4096)
def _chance_by_size(sizes: tuple[int, ...], steps: tuple[Step, ...]) -> Mapping[int, Fraction]:
    """By the family's size, since families of a size are alike: the expected number taken, over all there are."""
    states: dict[State, Fraction] = {tuple((size, size) for size in sizes): Fraction(1)}
    for step in steps:
        after: dict[State, Fraction] = defaultdict(Fraction)
        for state, probability in states.items():
            is_new = all(left == size for size, left in state)
            if not any(left for _, left in state) or (step.is_of_new_tasks and not is_new):
                after[state] += probability
                continue
            if step.task_chance < 1:
                after[state] += probability * (1 - step.task_chance)
            if step.task_chance > 0:
                for drawn, share in _drawn_from(state, step.wanted):
                    after[drawn] += probability * step.task_chance * share
        states = dict(after)
    taken: dict[int, Fraction] = defaultdict(Fraction)
    for state, probability in states.items():
        for size, left in state:
            taken[size] += probability * (size - left)
    return {size: taken[size] / (size * number) for size, number in Counter(sizes).items()}


def _drawn_from(state: State, wanted: int) -> Iterator[tuple[State, Fraction]]:
    """What a draw of so many responses leaves, each outcome with its probability."""
    families = Counter(state)
    level, sharing = _level(families, wanted)
    base = floor(level)
    open_families = [family for family in families if family[1] > level]
    more = int(sharing * (level - base))
    for extra, share in _choices([families[family] for family in open_families], more):
        left: list[Family] = []
        for (size, remaining), number in families.items():
            if remaining <= level:
                left += [(size, 0)] * number
                continue
            with_one_more = extra[open_families.index((size, remaining))]
            left += [(size, remaining - base - 1)] * with_one_more
            left += [(size, remaining - base)] * (number - with_one_more)
        yield tuple(sorted(left)), share


def _level(families: Mapping[Family, int], wanted: int) -> tuple[Fraction, int]:
    """The number that each family gives which has more than that, and how many have; see `expected_by_family`."""
    remaining = sorted(left for (_, left), number in families.items() for _ in range(number))
    still = Fraction(min(wanted, sum(remaining)))
    for place, left in enumerate(remaining):
        level = still / (len(remaining) - place)
        if left > level:
            return level, len(remaining) - place
        still -= left
    return Fraction(remaining[-1]), 0


def _choices(numbers: Sequence[int], chosen: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """How many of each kind a simple random choice of `chosen` out of all takes, with the probabilities."""
    every = comb(sum(numbers), chosen)

    def ways(place: int, left: int) -> Iterator[tuple[tuple[int, ...], int]]:
        if place == len(numbers):
            if left == 0:
                yield (), 1
            return
        for here in range(min(numbers[place], left) + 1):
            for rest, count in ways(place + 1, left - here):
                yield (here, *rest), count * comb(numbers[place], here)

    for choice, count in ways(0, chosen):
        yield choice, Fraction(count, every)
