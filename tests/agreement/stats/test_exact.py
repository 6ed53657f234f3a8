"""Scores as exact rationals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from agreement.stats.exact import canonical, parse_number
from agreement.stats.scores import response_scores, score_arrays
from lseval.errors import InputError


def test_a_third_reached_in_several_ways_is_one_number() -> None:
    ways = [
        100 / 3,
        100 * (1 / 3),
        (1 / 3) * 100.0,
        33.33333333333333,
        33.333333333333336,
        33.3333333333333,
        100 - 200 / 3,
    ]
    assert len(set(ways)) > 1
    assert set(canonical(ways)) == {float(Fraction(100, 3))}


def test_every_score_on_the_lattice_survives_losing_its_last_digit() -> None:
    for k in range(1, 101):
        for c in range(k + 1):
            exact = float(Fraction(100 * c, k))
            nearby = [exact, np.nextafter(exact, 1e9), np.nextafter(exact, -1e9), 100.0 * (c / k), (100.0 / k) * c]
            assert set(canonical(nearby if c else [exact])) == {exact}


def test_numbers_near_no_simple_fraction_are_kept_to_the_last_digit() -> None:
    values = np.random.default_rng(0).normal(size=2000)
    values = np.concatenate([values, values * 1e-12, values * 1e12, [math.pi, math.e, 1e300, -5e-324, 0.0]])
    assert np.array_equal(canonical(values), values)


def test_distinct_simple_fractions_stay_distinct() -> None:
    fractions = sorted({Fraction(p, q) for q in range(1, 60) for p in range(q + 1)})
    assert len(set(canonical(fractions))) == len(fractions)


def test_missing_stays_missing() -> None:
    assert np.isnan(canonical([math.nan, 0.5])).tolist() == [True, False]


@pytest.mark.parametrize(("text", "value"), [("1/3", 1 / 3), (" 50.0 ", 50.0), ("-2/4", -0.5), ("1e2", 100.0)])
def test_cell_holds_a_decimal_or_a_fraction(text: str, value: float) -> None:
    assert parse_number(text) == value


@pytest.mark.parametrize("text", ["", " ", "nan", "NA"])
def test_empty_cell_is_missing(text: str) -> None:
    assert math.isnan(parse_number(text))


@pytest.mark.parametrize("text", ["inf", "-Infinity", "1/0", "half", "1,5"])
def test_cell_that_is_no_finite_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_number(text)


def test_scores_of_a_response_are_exact() -> None:
    # k = 3, labels C C I U: AS = 100 * 2/3, AP = 2/4, Upper = 100 * 3/3.
    assert response_scores(3, "CCIU") == (Fraction(200, 3), Fraction(1, 2), Fraction(100))


def test_more_correct_groups_than_required_are_capped_at_100() -> None:
    assert response_scores(2, "CCCU") == (Fraction(100), Fraction(3, 4), Fraction(100))


def test_response_without_groups_scores_nothing() -> None:
    assert response_scores(4, "") == (0, 0, 0)


@pytest.mark.parametrize(("required", "labels"), [(0, "C"), (2, ["C", "unjudged"]), (2, ["c"])])
def test_response_that_cannot_be_scored_is_refused(required: int, labels: list[str]) -> None:
    with pytest.raises(InputError):
        response_scores(required, labels)


def test_scores_in_bulk_are_the_exact_ones() -> None:
    rng = np.random.default_rng(6)
    required, correct, unverifiable, wrong = rng.integers(1, 12, 300), *rng.integers(0, 9, (3, 300))
    bulk = score_arrays(required, correct, unverifiable, correct + unverifiable + wrong)
    for row in range(300):
        labels = "C" * correct[row] + "U" * unverifiable[row] + "I" * wrong[row]
        exact = response_scores(int(required[row]), labels)
        assert tuple(bulk[name][row] for name in ("as", "ap", "upper")) == tuple(map(float, exact))
