"""Scores as exact rationals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from agreement.stats.bootstrap import Resampling
from agreement.stats.exact import canonical, check_sizes, exact_levels, parse_number
from agreement.stats.scores import pair_statistics, response_scores, score_arrays
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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/3", Fraction(1, 3)),
        (" 50.0 ", 50),
        ("-2/4", Fraction(-1, 2)),
        ("1e2", 100),
        ("0.1", Fraction(1, 10)),
        ("0e5", 0),
        # Printed doubles of a fraction, and decimals that are none.
        ("33.33333333333333", Fraction(100, 3)),
        ("33.333333333333336", Fraction(100, 3)),
        ("33.333", Fraction(33333, 1000)),
        ("0.33333333333333333333", Fraction(33333333333333333333, 10**20)),
        ("0.500000000000000001", Fraction(500000000000000001, 10**18)),
    ],
)
def test_cell_holds_a_decimal_or_a_fraction_exactly(text: str, value: Fraction) -> None:
    assert parse_number(text) == value


def test_decimals_that_differ_after_the_17th_digit_do_not_tie_and_equal_ones_do() -> None:
    texts = ["0.12345678901234567890", "0.12345678901234567891", "0.1234567890123456789", "0.12345678901234567"]
    distinct, place = exact_levels([parse_number(text) for text in texts])
    assert place.tolist() == [1, 2, 1, 0]
    assert float(distinct[1]) == float(distinct[2])


def test_doubles_and_fractions_of_one_value_tie() -> None:
    assert exact_levels([1 / 3, Fraction(1, 3), 0.5, Fraction(1, 2), 0.1 + 0.2, Fraction(3, 10)])[1].tolist() == [
        1, 1, 2, 2, 0, 0,
    ]  # fmt: skip


def test_statistics_of_scores_that_share_a_double_are_those_of_their_differences() -> None:
    # x = a, a + e, a + 2 e and y = 1, 2, 4: Pearson, Spearman and tau-b do not see a or e.
    x = [Fraction(12345678901234567890 + k, 10**20) for k in range(3)]
    y = [Fraction(1), Fraction(2), Fraction(4)]
    assert len({float(value) for value in x}) == 1
    found = pair_statistics(x, y, "abc", Resampling(50))
    assert found["pearson"].point == pytest.approx(stats.pearsonr([0, 1, 2], [1, 2, 4]).statistic, rel=1e-12)
    assert found["kendall_b"].point == 1.0
    assert found["spearman"].point == pytest.approx(1.0, rel=1e-12)
    assert found["bias"].point == pytest.approx(0.1234567890123456789 - 7 / 3, rel=1e-12)


def test_exact_and_double_scores_give_the_same_numbers() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 7, (2, 60))
    doubles = pair_statistics((x / 6).tolist(), (y / 6).tolist(), list(range(60)), Resampling(200))
    exact = pair_statistics(
        [Fraction(int(v), 6) for v in x], [Fraction(int(v), 6) for v in y], list(range(60)), Resampling(200)
    )
    for name, estimate in doubles.items():
        assert exact[name].point == pytest.approx(estimate.point, abs=1e-14)
        assert exact[name].interval == pytest.approx(estimate.interval, abs=1e-12)


@pytest.mark.parametrize("text", ["", " ", "nan", "NA"])
def test_empty_cell_is_missing(text: str) -> None:
    assert math.isnan(parse_number(text))


@pytest.mark.parametrize("text", ["inf", "-Infinity", "1/0", "half", "1,5", "1e999999999", "1" * 500])
def test_cell_that_is_no_finite_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_number(text)


def test_a_number_too_small_is_refused_by_its_size_and_not_written_out() -> None:
    for text in ("1e-999999999", "3e-200"):
        with pytest.raises(InputError, match="Scale the scores"):
            check_sizes(canonical([parse_number(text)]))
    assert parse_number("0.000e-999999999") == 0


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
