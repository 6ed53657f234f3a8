"""Scores of a run and of a model, against values worked by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lseval.domain.scoring import RunScore, mean_of, score_model, score_run, unverifiable_group_rate
from lseval.errors import InputError


def scored(required_count: int, labels: str) -> RunScore:
    run = score_run(required_count, list(labels))
    assert run is not None
    return run


def test_scores_of_a_mixed_response() -> None:
    # k = 5; C C I U: AS = 100 * 2 / 5 = 40, AP = 2 / 4, Upper = 100 * 3 / 5 = 60.
    run = scored(5, "CCIU")
    assert (run.answer_score, run.answer_precision, run.upper_score) == (40, Fraction(1, 2), 60)
    assert (run.correct, run.incorrect, run.unverifiable, run.supplied) == (2, 1, 1, 4)


def test_correct_groups_beyond_the_required_count_are_capped_but_count_in_precision() -> None:
    # k = 2; C C C I: AS = 100 * min(3, 2) / 2 = 100, AP = 3 / 4.
    run = scored(2, "CCCI")
    assert run.answer_score == 100
    assert run.answer_precision == Fraction(3, 4)


def test_upper_score_is_capped_where_correct_and_unverifiable_exceed_the_required_count() -> None:
    # k = 3; C C U U: AS = 100 * 2 / 3 = 200/3; Upper = 100 * min(4, 3) / 3 = 100.
    run = scored(3, "CCUU")
    assert run.answer_score == Fraction(200, 3)
    assert run.upper_score == 100


def test_a_third_reached_two_ways_is_a_tie() -> None:
    assert scored(3, "CII").answer_score == scored(6, "CCI").answer_score
    assert scored(1, "CII").answer_precision == scored(1, "CCIIII").answer_precision


def test_response_without_a_group_scores_zero() -> None:
    run = scored(4, "")
    assert (run.answer_score, run.answer_precision, run.upper_score, run.supplied) == (0, 0, 0, 0)


@pytest.mark.parametrize("labels", [["unjudged"], ["C", "unjudged"], ["I", "U", "unjudged", "C"]])
def test_run_with_an_unjudged_group_has_no_score(labels: list[str]) -> None:
    assert score_run(2, labels) is None


@pytest.mark.parametrize("required_count", [0, -1, True, 2.0, "3"])
def test_required_count_must_be_a_whole_number_of_at_least_one(required_count: object) -> None:
    with pytest.raises(InputError):
        score_run(required_count, ["C"])  # type: ignore[arg-type]


@pytest.mark.parametrize("label", ["c", "correct", "", "X", "\x00", "C" * 10_000])
def test_unknown_label_is_refused_rather_than_counted(label: str) -> None:
    with pytest.raises(InputError) as caught:
        score_run(1, ["C", label])
    assert len(str(caught.value)) < 200


@given(st.integers(1, 12), st.lists(st.sampled_from("CIU"), max_size=20))
def test_scores_stay_in_range_and_upper_is_never_below_answer_score(required_count: int, labels: list[str]) -> None:
    run = score_run(required_count, labels)
    assert run is not None
    assert 0 <= run.answer_score <= run.upper_score <= 100
    assert 0 <= run.answer_precision <= 1


def test_unverifiable_group_rate_pools_groups_and_is_no_mean_of_rates() -> None:
    # Pooled (1 + 0) / (1 + 9) = 1/10; the mean of the two runs' rates would be 1/2.
    assert unverifiable_group_rate([scored(1, "U"), scored(5, "C" * 9)]) == Fraction(1, 10)


def test_unverifiable_group_rate_without_a_group_is_undefined() -> None:
    assert unverifiable_group_rate([]) is None
    assert unverifiable_group_rate([scored(3, "")]) is None


def test_mean_and_standard_error_worked_by_hand() -> None:
    # 0, 50, 100: mean 50, sample variance (2500 + 0 + 2500) / 2 = 2500, error sqrt(2500 / 3).
    mean = mean_of([Fraction(0), Fraction(50), Fraction(100)])
    assert mean.value == 50
    assert mean.standard_error == pytest.approx(math.sqrt(2500 / 3))
    assert (mean.runs, mean.undefined_reason) == (3, "")


def test_mean_of_too_few_runs_says_what_is_undefined() -> None:
    assert mean_of([]).value is None
    assert mean_of([]).undefined_reason
    one = mean_of([Fraction(1, 3)])
    assert (one.value, one.standard_error) == (Fraction(1, 3), None)
    assert one.undefined_reason


def test_model_score_counts_unscored_and_empty_runs_apart() -> None:
    # Scored: k=1 C (AS 100, AP 1), k=2 empty (0, 0), k=2 C I U (50, 1/3, Upper 100). One run is unscored.
    score = score_model([scored(1, "C"), None, scored(2, ""), scored(2, "CIU")])
    assert (score.scored_runs, score.unscored_runs, score.empty_runs) == (3, 1, 1)
    assert score.answer_score.value == 50
    assert score.answer_precision.value == Fraction(4, 9)
    assert score.upper_score.value == Fraction(200, 3)
    assert score.unverifiable_group_rate == Fraction(1, 4)


def test_model_with_no_scored_run_has_undefined_means() -> None:
    score = score_model([None, None])
    assert (score.answer_score.value, score.unverifiable_group_rate) == (None, None)
    assert (score.scored_runs, score.unscored_runs) == (0, 2)
