"""Flags against reference steps on one run."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest

from lseval.domain.localization import WITHIN, LocatedRun, by_chance, distance, located, steps_from
from lseval.errors import InputError

# Steps 0 (the user's) and 8 (the answer) are in no round; the second round joined two turns.
RUN = LocatedRun(steps=((1,), (2, 3), (4,), (5,), (7,)), references=frozenset({3, 7}))


def near(found):
    return [int(value) for value in found.near]


def test_a_round_is_as_far_as_its_nearest_step_from_the_nearest_reference():
    assert [distance(RUN, place) for place in range(5)] == [2, 0, 1, 2, 0]


def test_the_first_flag_is_the_round_named():
    # The fourth round holds step 5, two from 3 and from 7.
    found = located(RUN, [3, 1])
    assert near(found) == [0, 0, 1, 1, 1, 1]
    assert (found.flagged, found.right_flags, found.rank) == (2, 1, 2)
    assert (found.found, found.references) == (1, 2)


def test_a_round_of_several_turns_is_right_by_any_of_them():
    assert located(RUN, [1]).near[0] == 1


def test_a_flag_given_twice_counts_once():
    assert located(RUN, [1, 1]).flagged == 1


def test_no_flag_is_a_miss_at_every_distance():
    found = located(RUN, [])
    assert not found.is_named
    assert near(found) == [0] * len(WITHIN)
    assert found.rank is None


def test_a_reference_in_no_round_can_be_near_and_never_exact():
    run = LocatedRun(steps=((1,), (2,)), references=frozenset({0}))
    assert near(located(run, [0])) == [0, 1, 1, 1, 1, 1]
    assert located(run, [0, 1]).rank is None


@pytest.mark.parametrize(("first", "exact"), [(0, 0), (1, 1)])
def test_a_source_that_counts_from_one_is_moved_to_zero(first, exact):
    # The source says 3 and means its third message, whose place is 2.
    run = LocatedRun(steps=((0,), (1,), (2,)), references=steps_from([3], first))
    assert located(run, [2]).near[0] == exact


def test_a_step_below_where_the_source_begins_is_refused():
    with pytest.raises(InputError, match="--steps-from"):
        steps_from([4, 0], 1)


def test_chance_is_the_average_of_all_blind_choices():
    found = by_chance(RUN)
    every = [located(RUN, [place]) for place in range(RUN.rounds)]
    for place in range(len(WITHIN)):
        assert found.near[place] == sum(one.near[place] for one in every) / RUN.rounds
    # Two of five rounds are right.
    assert found.right_flags == Fraction(2, 5)
    orders = list(permutations(range(RUN.rounds)))
    assert found.rank == sum(located(RUN, order).rank for order in orders) / len(orders)


def test_chance_of_a_run_without_rounds_names_nothing():
    assert not by_chance(LocatedRun((), frozenset({1}))).is_named


def test_round_without_a_step_is_near_to_nothing():
    run = LocatedRun(steps=((),), references=frozenset({0}))
    assert near(located(run, [0])) == [0] * len(WITHIN)
