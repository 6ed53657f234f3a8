"""Numbers as a reader sees them."""

from __future__ import annotations

from fractions import Fraction

from lseval.domain.scoring import mean_of
from lseval.site.quantities import Average, LabelCounts, Share, bar_parts, counted, heat_of


def test_mean_is_shown_with_two_decimals_and_its_standard_error() -> None:
    # Values 50 and 100: mean 75, sample deviation 35.355, divided by the root of 2: 25.
    average = Average.of(mean_of([Fraction(50), Fraction(100)]))
    assert (average.text, average.error_text) == ("75.00", "25.00")
    assert average.explanation == "Mean of 2 scored runs; standard error 25.00."


def test_a_share_is_shown_in_per_cent() -> None:
    # 1/3 and 2/3: mean 0.5, deviation 0.2357, divided by the root of 2: 0.1667.
    average = Average.of(mean_of([Fraction(1, 3), Fraction(2, 3)]), is_share=True)
    assert (average.text, average.error_text) == ("50.00%", "16.67")


def test_undefined_mean_is_a_dash_with_a_reason_and_null_in_json() -> None:
    average = Average.of(mean_of([]))
    assert (average.text, average.error_text) == ("–", "")
    assert average.explanation == "Undefined: no scored run."
    assert average.as_dict()["value"] is None
    assert average.as_dict()["reason"] == "no scored run"


def test_one_run_has_a_mean_and_no_standard_error() -> None:
    average = Average.of(mean_of([Fraction(40)]))
    assert (average.text, average.error_text) == ("40.00", "")
    assert "a standard error needs two scored runs" in average.explanation


def test_share_of_nothing_is_undefined_not_zero() -> None:
    share = Share(0, 0, "there are no rounds")
    assert (share.value, share.text) == (None, "–")
    assert share.as_dict() == {"count": 0, "of": 0, "share": None, "reason": "there are no rounds"}


def test_share_comes_with_its_counts() -> None:
    share = Share(1234, 2000)
    assert (share.text, share.counts, share.value) == ("61.7%", "1,234 of 2,000", 0.617)


def test_a_count_agrees_with_its_word() -> None:
    assert [counted(count, "run") for count in (0, 1, 2000)] == ["0 runs", "1 run", "2,000 runs"]


def test_heat_has_ten_steps_and_stays_within_them() -> None:
    assert [heat_of(value) for value in (None, 0, 9.9, 10, 55, 100)] == [0, 0, 0, 1, 5, 9]


def test_bar_pieces_follow_each_other_and_fill_the_bar() -> None:
    # 4 of which 1, 0, 3: the empty piece is left out.
    assert bar_parts({"C": 1, "I": 0, "U": 3}) == [
        {"label": "C", "count": 1, "start": 0.0, "width": 25.0},
        {"label": "U", "count": 3, "start": 25.0, "width": 75.0},
    ]
    assert bar_parts({"C": 0}) == []


def test_a_group_without_a_verdict_differs_from_an_unjudged_one_but_scores_neither() -> None:
    labels = LabelCounts.of({"C": 2, "unjudged": 1, "waiting": 3})
    assert (labels.total, labels.judged, labels.unjudged, labels.waiting) == (6, 3, 1, 3)
    assert labels.labels == ["C", "C", "unjudged", "unjudged", "unjudged", "unjudged"]


def test_ties_are_rounded_as_in_the_tables_of_the_paper() -> None:
    # 51.275 is a little less in binary, and 1 of 2,000 is 0.05% exactly: half goes away from zero in both.
    assert Average.of(mean_of([Fraction(51275, 1000)])).text == "51.28"
    assert Share(1, 2000).text == "0.1%"
