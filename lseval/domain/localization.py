"""Where a run went wrong, as a person says and as a judge says: how far the two are from each other.

A person names steps, that is 0-based places in the source's list of messages. A round holds one step or several, so
that every comparison is between a round and a step, by whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from lseval.errors import InputError

WITHIN: Final = (0, 1, 2, 3, 4, 5)
"""Distances in steps up to which a round counts as near; 0 is the step itself."""


@dataclass(frozen=True, slots=True)
class LocatedRun:
    """A run with the steps that people name.

    `steps[i]` are the steps of the i-th round. `references` are the steps named, counted from 0 whatever the source
    counts from; at least one. A reference need not be in any round: the step may be the user's, or the answer.
    """

    steps: tuple[tuple[int, ...], ...]
    references: frozenset[int]

    @property
    def rounds(self) -> int:
        """How many rounds there are."""
        return len(self.steps)

    @property
    def right(self) -> frozenset[int]:
        """The places of the rounds that hold a reference step."""
        return frozenset(
            place for place, steps in enumerate(self.steps) if any(step in self.references for step in steps)
        )


@dataclass(frozen=True, slots=True)
class Located:
    """What one way of naming rounds comes to on one run.

    `near[k]` is 1 where the round named is at most k steps from a reference step, and a probability for a way that
    leaves it to chance; 0 where no round is named. `flagged` counts the rounds flagged, `right_flags` those among
    them that hold a reference step, `references` the reference steps and `found` those of them in a flagged
    round.
    `rank` is the place, from 1, of the first right round in the order of the flags; None where none is right.
    """

    is_named: bool
    near: tuple[Fraction, ...]
    flagged: Fraction
    right_flags: Fraction
    references: int
    found: Fraction
    rank: Fraction | None


def steps_from(steps: Sequence[int], first: int) -> frozenset[int]:
    """Steps that a source counts from `first`, counted from 0.

    Raises:
        InputError: a step is below `first`: the source counts otherwise than was said.
    """
    if any(step < first for step in steps):
        raise InputError(
            f"Step {min(steps)} is below {first}, so the source does not count its steps from {first}. Say where "
            "it begins with --steps-from."
        )
    return frozenset(step - first for step in steps)


def distance(run: LocatedRun, place: int) -> int | None:
    """The least number of steps between a round and a reference; None for a round whose source tells no step."""
    return min((abs(step - other) for step in run.steps[place] for other in run.references), default=None)


def located(run: LocatedRun, flagged: Sequence[int]) -> Located:
    """What flags come to: `flagged` are places of rounds by preference, of which the first is the one named."""
    order = list(dict.fromkeys(flagged))
    away = distance(run, order[0]) if order else None
    right = run.right
    held = {step for place in order for step in run.steps[place]}
    return Located(
        is_named=bool(order),
        near=tuple(Fraction(away is not None and away <= most) for most in WITHIN),
        flagged=Fraction(len(order)),
        right_flags=Fraction(sum(place in right for place in order)),
        references=len(run.references),
        found=Fraction(len(run.references & held)),
        rank=next((Fraction(rank) for rank, place in enumerate(order, 1) if place in right), None),
    )


def by_chance(run: LocatedRun) -> Located:
    """What naming one round blindly comes to on average, exactly; the rank is that in a blind order of all rounds.

    Of n rounds in a blind order, of which m are right, the first right one stands at place (n + 1) / (m + 1) on
    average.
    """
    n = run.rounds
    if not n:
        return located(run, ())
    away = [distance(run, place) for place in range(n)]
    right = len(run.right)
    held = sum(len(run.references & set(steps)) for steps in run.steps)
    return Located(
        is_named=True,
        near=tuple(Fraction(sum(one is not None and one <= most for one in away), n) for most in WITHIN),
        flagged=Fraction(1),
        right_flags=Fraction(right, n),
        references=len(run.references),
        found=Fraction(held, n),
        rank=Fraction(n + 1, right + 1) if right else None,
    )
