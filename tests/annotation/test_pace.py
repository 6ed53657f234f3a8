"""Pace, time left, and the interval of the agreement, against values worked by hand."""

from __future__ import annotations

import pytest

from annotation.lead_presenting import duration
from annotation.pace import AgreementSoFar, Pace, speed_of, wilson


def test_wilson_interval_as_worked_by_hand() -> None:
    """8 of 10, z = 1.96: z² = 3.8416; middle (0.8 + 0.19208) / 1.38416 = 0.71674;
    half 1.96 · √(0.016 + 0.009604) / 1.38416 = 0.22658."""
    low, high = wilson(8, 10, z=1.96)
    assert low == pytest.approx(0.71674 - 0.22658, abs=2e-5)
    assert high == pytest.approx(0.71674 + 0.22658, abs=2e-5)


@pytest.mark.parametrize(("successes", "trials"), [(0, 5), (5, 5), (0, 1), (1, 1)])
def test_interval_stays_within_0_and_1_and_has_a_width_at_the_ends(successes: int, trials: int) -> None:
    low, high = wilson(successes, trials)
    assert 0 <= low < high <= 1
    # By the formula's end: with none, high is z² / (n + z²).
    if not successes:
        assert low == 0
        assert high == pytest.approx(3.841459 / (trials + 3.841459), abs=1e-6)


@pytest.mark.parametrize(("successes", "trials"), [(1, 0), (-1, 5), (6, 5)])
def test_what_is_no_share_is_refused(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        wilson(successes, trials)


def test_interval_at_the_end_is_that_of_the_same_share_of_all() -> None:
    found = AgreementSoFar(agreeing=8, pairs=10, planned=40)
    low, high = wilson(32, 40)
    assert found.share == 0.8
    assert found.width_at_end == pytest.approx((high - low) / 2)
    assert found.width_now is not None
    assert found.width_at_end < found.width_now


def test_agreement_without_a_pair_is_undefined() -> None:
    found = AgreementSoFar(0, 0, 40)
    assert (found.share, found.interval, found.width_now, found.width_at_end) == (None, None, None, None)


def test_pace_counts_timed_items_only() -> None:
    """10 items in 600 s are 60 an hour; 30 more take 1,800 s."""
    pace = Pace(10, 600)
    assert pace.items_per_hour == 60
    assert pace.seconds_for(30) == 1800
    assert Pace(0, 0).items_per_hour is None
    assert Pace(0, 0).seconds_for(30) is None
    assert Pace(3, 0).items_per_hour is None


@pytest.mark.parametrize(
    ("median_s", "timed", "verdict"), [(15, 10, "fast"), (16, 10, ""), (60, 10, "slow"), (59, 10, ""), (1, 9, "")]
)
def test_speed_is_judged_from_ten_items_on_beside_the_others(median_s: float, timed: int, verdict: str) -> None:
    assert speed_of("group", median_s, timed, 30) == verdict


@pytest.mark.parametrize("others", [None, 0.1, 1, 30])
@pytest.mark.parametrize(
    ("kind", "median_s", "is_fast"),
    [("group", 1.9, True), ("link", 1.9, True), ("round", 1.4, True), ("round", 0, True), ("group", 2, False)],
)
def test_time_in_which_nobody_can_read_is_fast_whatever_others_take(
    kind: str, median_s: float, is_fast: bool, others: float | None
) -> None:
    assert (speed_of(kind, median_s, 10, others) == "fast") == (is_fast or others == 30)
    assert speed_of(kind, median_s, 9, others) == ""


def test_who_is_alone_and_can_have_read_is_neither_fast_nor_slow() -> None:
    assert speed_of("round", 1.5, 10, None) == ""
    assert speed_of("round", None, 10, 30) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0, "0 s"),
        (0.1, "0.1 s"),
        (3, "3 s"),
        (5.4, "5 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7199, "120 min"),
        (7200, "2.0 h"),
    ],
)
def test_duration_in_the_largest_unit_that_fits(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text
