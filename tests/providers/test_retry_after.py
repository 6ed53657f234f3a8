"""R18: Retry-After in every form that servers use, and in none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lseval.providers.retry_after import retry_after_s

NOW = datetime(1994, 11, 6, 8, 49, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("30", 30),
        (" 30 ", 30),
        ("0.493", 0.493),
        ("86400", 86_400),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 30),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 30),
        ("Sun Nov  6 08:49:37 1994", 30),
        ("Sun, 06 Nov 1994 09:49:37 +0100", 30),
        ("Sun, 06 Nov 1994 08:49:37 -0000", 30),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
        ("6m0s", 360),
        ("20ms", 0.02),
    ],
)
def test_each_form_of_retry_after_is_read(text: str, seconds: float) -> None:
    assert retry_after_s({"retry-after": text}, NOW) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-5",
        "soon",
        "1e3",
        "NaN",
        "inf",
        "0x10",
        "٣",
        "1,5",
        "5 minutes",
        "Sun, 99 Nov 1994 08:49:37 GMT",
        "9" * 400,
    ],
)
def test_junk_asks_for_nothing(text: str) -> None:
    assert retry_after_s({"retry-after": text}, NOW) is None


def test_no_header_asks_for_nothing() -> None:
    assert retry_after_s({"content-type": "text/html"}, NOW) is None


def test_milliseconds_come_before_seconds() -> None:
    assert retry_after_s({"retry-after-ms": "493", "retry-after": "1"}, NOW) == pytest.approx(0.493)


def test_unreadable_milliseconds_leave_the_seconds() -> None:
    assert retry_after_s({"retry-after-ms": "?", "retry-after": "1"}, NOW) == 1


@pytest.mark.parametrize(
    ("text", "seconds"), [("1s", 1), ("6m0s", 360), ("20ms", 0.02), ("1h2m3.5s", 3_723.5), ("60", 60)]
)
def test_resets_of_limits_are_lengths_of_time(text: str, seconds: float) -> None:
    assert retry_after_s({"x-ratelimit-reset-requests": text}, NOW) == pytest.approx(seconds)


def test_the_limit_that_is_used_up_counts_and_the_other_does_not() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "6m0s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "2s",
    }
    assert retry_after_s(headers, NOW) == 2


def test_both_limits_used_up_ask_for_the_longer_wait() -> None:
    assert retry_after_s({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "3s"}, NOW) == 3


def test_a_moment_since_1970_is_no_length_of_time() -> None:
    assert retry_after_s({"x-ratelimit-reset-requests": "1700000000"}, NOW) is None


@given(st.text(max_size=40), st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset-tokens"]))
def test_no_text_makes_it_fail(text: str, name: str) -> None:
    seconds = retry_after_s({name: text}, NOW)
    assert seconds is None or seconds >= 0
