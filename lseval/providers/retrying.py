"""Trying a call again, by the type of what went wrong."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from lseval.providers.errors import DeferredError, ProviderError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is tried, and how long is waited between two tries.

    After try n the wait is drawn evenly from 0 to `first_wait_s` times 2 to the power n - 1, at most
    `longest_backoff_s` (full jitter, so that callers that failed together do not come back together). Where the
    provider asks for a pause, the wait is that pause and as much jitter again as a first wait has. A pause beyond
    `longest_pause_s` is not sat out: the call is deferred, for `longest_deferral_s` at most, whatever was asked.
    """

    tries: int = 5
    first_wait_s: float = 1.0
    longest_backoff_s: float = 30.0
    longest_pause_s: float = 60.0
    longest_deferral_s: float = 7 * 86_400.0

    def __post_init__(self) -> None:
        if self.tries < 1 or min(self.first_wait_s, self.longest_backoff_s, self.longest_pause_s) < 0:
            raise ValueError("A retry policy needs at least one try, and waits that are not negative")


def call_with_retries(
    attempt: Callable[[], T],
    *,
    policy: RetryPolicy = RetryPolicy(),
    on_error: Callable[[ProviderError, int, float | None], None] | None = None,
    sleep: Callable[[float], object] = time.sleep,
    rng: random.Random,
) -> T:
    """What `attempt` returns, from the first try that succeeds.

    Errors whose type is retryable are tried again; every other error goes through at once, and so does the error of
    the last try. A pause asked for that is longer than `policy.longest_pause_s` becomes a `DeferredError` with the
    pause and the error as its cause, so that the job goes back to the database and no thread or message sits it
    out. After each failed try `on_error` gets the error, the number of the try from 1, and the wait before the
    next try in seconds, None where there is none; what it raises (a budget that is spent, say) ends the trying.

    This is no use of stamina: there the wait cannot be handed a generator or a sleep of the caller's, and which
    error ends the trying (here one that becomes a `DeferredError`) is not the caller's either.
    """
    number = 0
    while True:
        number += 1
        try:
            return attempt()
        except ProviderError as error:
            pause_s = pause_asked_s(error)
            is_deferred = error.is_retryable and pause_s is not None and pause_s > policy.longest_pause_s
            is_over = is_deferred or not error.is_retryable or number >= policy.tries
            wait_s = None if is_over else _wait_s(number, pause_s, policy, rng)
            if on_error is not None:
                on_error(error, number, wait_s)
            if is_deferred and pause_s is not None:
                raise DeferredError(str(error), retry_after_s=min(pause_s, policy.longest_deferral_s)) from error
            if wait_s is None:
                raise
        # Outside of the handler, so that a wait does not keep the traceback of every try alive.
        sleep(wait_s)


def pause_asked_s(error: ProviderError) -> float | None:
    """The pause in seconds that the provider asks for with this error; None where it asks for none."""
    return getattr(error, "retry_after_s", None)


def _wait_s(number: int, pause_s: float | None, policy: RetryPolicy, rng: random.Random) -> float:
    if pause_s is not None:
        return pause_s + rng.uniform(0, policy.first_wait_s)
    most_s = min(policy.longest_backoff_s, policy.first_wait_s * 2.0 ** min(number - 1, 30))
    return rng.uniform(0, most_s)
