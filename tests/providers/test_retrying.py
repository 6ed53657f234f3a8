"""Trying again is decided by the error's type; what is too long to sit out is deferred."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from lseval.providers.errors import (
    AccessRefusedError,
    BlockedAddressError,
    BudgetSpentError,
    ContextTooLongError,
    DeferredError,
    MalformedReplyError,
    OutOfCreditError,
    ProviderError,
    RateLimitedError,
    RequestRefusedError,
    TimedOutError,
    UnavailableError,
)
from lseval.providers.retrying import RetryPolicy, call_with_retries


class Attempts:
    """Fails with the errors given, in their order, then returns "done"."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.made = 0
        self.waits: list[float] = []
        self.seen: list[tuple[str, int, float | None]] = []

    def __call__(self) -> str:
        self.made += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"

    def run(self, policy: RetryPolicy | None = None, seed: int = 1) -> str:
        return call_with_retries(
            self,
            policy=policy or RetryPolicy(),
            on_error=lambda error, number, wait_s: self.seen.append((error.code, number, wait_s)),
            sleep=self.waits.append,
            rng=random.Random(seed),
        )


@pytest.mark.parametrize("kind", [RateLimitedError, UnavailableError, TimedOutError, MalformedReplyError])
def test_errors_that_may_pass_are_tried_again(kind: type[ProviderError]) -> None:
    attempts = Attempts(kind("no"), kind("no"))
    assert attempts.run() == "done"
    assert attempts.made == 3


@pytest.mark.parametrize(
    "kind",
    [
        AccessRefusedError,
        RequestRefusedError,
        ContextTooLongError,
        OutOfCreditError,
        BudgetSpentError,
        BlockedAddressError,
    ],
)
def test_errors_that_stay_are_raised_at_once(kind: type[ProviderError]) -> None:
    attempts = Attempts(kind("no"))
    with pytest.raises(kind):
        attempts.run()
    assert (attempts.made, attempts.waits) == (1, [])
    assert attempts.seen == [(kind.code, 1, None)]


def test_the_fifth_error_is_the_last() -> None:
    attempts = Attempts(*[UnavailableError(f"no {n}") for n in range(1, 9)])
    with pytest.raises(UnavailableError, match="no 5"):
        attempts.run()
    assert attempts.made == 5
    assert len(attempts.waits) == 4
    assert [wait_s for _, _, wait_s in attempts.seen] == [*attempts.waits, None]


def test_other_errors_are_not_caught() -> None:
    with pytest.raises(ZeroDivisionError):
        Attempts(ZeroDivisionError()).run()


def test_waits_are_drawn_below_a_bound_that_doubles() -> None:
    policy = RetryPolicy(tries=8, first_wait_s=1, longest_backoff_s=30)
    drawn: list[list[float]] = []
    for seed in range(200):
        attempts = Attempts(*[UnavailableError("no")] * 7)
        attempts.run(policy, seed)
        drawn.append(attempts.waits)
    for waits, bound in zip(zip(*drawn, strict=True), (1, 2, 4, 8, 16, 30, 30), strict=True):
        assert 0 <= min(waits) < bound * 0.1
        assert bound * 0.9 < max(waits) <= bound


def test_a_seed_draws_the_same_waits() -> None:
    waits: list[list[float]] = []
    for _ in range(2):
        attempts = Attempts(*[TimedOutError("no")] * 4)
        attempts.run(seed=7)
        waits.append(attempts.waits)
    assert waits[0] == waits[1]


@pytest.mark.parametrize("kind", [RateLimitedError, UnavailableError])
@pytest.mark.parametrize("pause_s", [0.0, 0.493, 30.0, 60.0])
def test_a_pause_that_is_asked_for_is_sat_out(kind: Callable[..., ProviderError], pause_s: float) -> None:
    attempts = Attempts(kind("wait", retry_after_s=pause_s))
    assert attempts.run() == "done"
    (wait_s,) = attempts.waits
    assert pause_s <= wait_s <= pause_s + 1


@pytest.mark.parametrize("pause_s", [60.5, 86_400.0])
def test_a_pause_beyond_the_cap_defers_the_call(pause_s: float) -> None:
    asked = RateLimitedError("wait", retry_after_s=pause_s)
    attempts = Attempts(asked)
    with pytest.raises(DeferredError) as caught:
        attempts.run()
    assert caught.value.retry_after_s == pause_s
    assert caught.value.__cause__ is asked
    assert not caught.value.is_retryable
    assert (attempts.made, attempts.waits, attempts.seen) == (1, [], [("rate_limited", 1, None)])


def test_a_pause_of_millennia_is_deferred_for_a_week() -> None:
    """A header can ask for the year 9999, which no schedule can add up to."""
    with pytest.raises(DeferredError) as caught:
        Attempts(RateLimitedError("wait", retry_after_s=1e12)).run()
    assert caught.value.retry_after_s == 7 * 86_400


def test_a_pause_beyond_the_cap_after_the_last_try_defers_too() -> None:
    attempts = Attempts(UnavailableError("no"), RateLimitedError("wait", retry_after_s=3_600))
    with pytest.raises(DeferredError):
        attempts.run(RetryPolicy(tries=2))


def test_what_on_error_raises_ends_the_trying() -> None:
    attempts = Attempts(UnavailableError("no"))

    def stop(error: ProviderError, number: int, wait_s: float | None) -> None:
        raise BudgetSpentError("spent")

    with pytest.raises(BudgetSpentError):
        call_with_retries(attempts, on_error=stop, sleep=attempts.waits.append, rng=random.Random(1))
    assert attempts.made == 1


@pytest.mark.parametrize("values", [{"tries": 0}, {"first_wait_s": -1}, {"longest_pause_s": -1}])
def test_a_policy_without_tries_or_with_negative_waits_is_refused(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="policy"):
        RetryPolicy(**values)  # type: ignore[arg-type]
