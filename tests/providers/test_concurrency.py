"""The limit of an endpoint: grows until the first rate limit, is cut once an episode, pauses when asked to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from lseval.providers.concurrency import AdaptiveLimit, forget_limits, limit_for
from lseval.providers.errors import RateLimitedError, TimedOutError, UnavailableError


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def succeed(limit: AdaptiveLimit, times: int = 1) -> None:
    for _ in range(times):
        with limit.place():
            pass


def enter(limit: AdaptiveLimit, count: int) -> list[AbstractContextManager[None]]:
    places = [limit.place() for _ in range(count)]
    for place in places:
        place.__enter__()
    return places


def end_with(place: AbstractContextManager[None], error: Exception) -> None:
    """End a call that was under way with an error, which is not swallowed."""
    assert not place.__exit__(type(error), error, None)


def fail_with(limit: AdaptiveLimit, error: Exception) -> None:
    with pytest.raises(type(error)), limit.place():
        raise error


def test_it_grows_with_every_success_up_to_its_most() -> None:
    limit = AdaptiveLimit(4, 7)
    succeed(limit, 2)
    assert limit.state.allowed == 6
    succeed(limit, 10)
    assert limit.state.allowed == 7


def test_a_rate_limit_cuts_a_fifth() -> None:
    limit = AdaptiveLimit(10, 64)
    fail_with(limit, RateLimitedError("no"))
    assert limit.state.allowed == 8


def test_an_episode_of_many_rate_limits_cuts_once() -> None:
    limit = AdaptiveLimit(50, 64)
    for place in enter(limit, 50):
        end_with(place, RateLimitedError("no"))
    assert limit.state.allowed == 40
    assert limit.state.episodes == 1


def test_a_call_begun_after_the_cut_opens_the_next_episode() -> None:
    limit = AdaptiveLimit(50, 64)
    fail_with(limit, RateLimitedError("no"))
    fail_with(limit, RateLimitedError("no"))
    assert limit.state.allowed == 32
    assert limit.state.episodes == 2


def test_it_is_never_cut_below_one() -> None:
    limit = AdaptiveLimit(2, 64)
    for _ in range(40):
        fail_with(limit, RateLimitedError("no"))
    assert limit.state.allowed == 1
    succeed(limit)
    assert limit.state.under_way == 0


def test_after_the_first_rate_limit_it_grows_by_one_a_turn() -> None:
    limit = AdaptiveLimit(10, 64)
    fail_with(limit, RateLimitedError("no"))
    succeed(limit, 7)
    assert limit.state.allowed == 8
    succeed(limit)
    assert limit.state.allowed == 9
    succeed(limit, 9)
    assert limit.state.allowed == 10


def test_a_server_error_pauses_growth_and_cuts_nothing() -> None:
    limit = AdaptiveLimit(4, 64)
    fail_with(limit, UnavailableError("502"))
    assert limit.state.allowed == 4
    succeed(limit, 4)
    assert limit.state.allowed == 4
    succeed(limit)
    assert limit.state.allowed == 5


@pytest.mark.parametrize("error", [TimedOutError("slow"), ValueError("ours")])
def test_other_errors_teach_nothing_and_give_the_place_back(error: Exception) -> None:
    limit = AdaptiveLimit(1, 64)
    fail_with(limit, error)
    assert (limit.state.allowed, limit.state.under_way) == (1, 0)


def test_a_pause_is_as_long_as_asked_up_to_the_cap(clock: Clock) -> None:
    limit = AdaptiveLimit(4, 64, clock=clock, longest_pause_s=60)
    fail_with(limit, RateLimitedError("no", retry_after_s=20))
    assert limit.state.pause_s == 20
    clock.now += 15
    assert limit.state.pause_s == 5
    clock.now += 5
    fail_with(limit, UnavailableError("503", retry_after_s=86_400))
    assert limit.state.pause_s == 60


def test_a_shorter_pause_does_not_end_a_longer_one(clock: Clock) -> None:
    limit = AdaptiveLimit(4, 64, clock=clock)
    first, second = enter(limit, 2)
    for place, seconds in ((first, 30.0), (second, 1.0)):
        end_with(place, RateLimitedError("no", retry_after_s=seconds))
    assert limit.state.pause_s == 30


def test_nobody_starts_during_a_pause() -> None:
    limit = AdaptiveLimit(4, 64)
    fail_with(limit, RateLimitedError("no", retry_after_s=0.15))
    before = time.monotonic()
    succeed(limit)
    assert time.monotonic() - before >= 0.1


def test_threads_never_hold_more_places_than_are_allowed() -> None:
    limit = AdaptiveLimit(3, 3)
    lock = threading.Lock()
    under_way, most, done = 0, 0, 0

    def work() -> None:
        nonlocal under_way, most, done
        for _ in range(20):
            with limit.place():
                with lock:
                    under_way += 1
                    most = max(most, under_way)
                time.sleep(0.0005)
                with lock:
                    under_way -= 1
                    done += 1

    run_threads(work, 16)
    assert most == 3
    assert done == 16 * 20
    assert (limit.state.under_way, limit.state.waiting) == (0, 0)


def test_a_storm_of_rate_limits_ends_and_loses_no_place() -> None:
    """J14, the limit's part: 8 workers, a server that takes 2 calls at once and answers 429 to the rest."""
    limit = AdaptiveLimit(8, 8)
    lock = threading.Lock()
    serving, served, refused = 0, 0, 0

    def attempt() -> bool:
        nonlocal serving, served, refused
        try:
            with limit.place():
                with lock:
                    if serving >= 2:
                        refused += 1
                        raise RateLimitedError("crowded", retry_after_s=0.002)
                    serving += 1
                time.sleep(0.001)
                with lock:
                    serving -= 1
                    served += 1
        except RateLimitedError:
            return False
        return True

    def work() -> None:
        for _ in range(12):
            while not attempt():
                pass

    run_threads(work, 8)
    assert served == 8 * 12
    assert refused > 0
    assert limit.state.allowed < 8
    assert (limit.state.under_way, limit.state.waiting) == (0, 0)


@pytest.mark.parametrize(("start", "most"), [(0, 4), (5, 4)])
def test_a_start_outside_of_its_bounds_is_refused(start: int, most: int) -> None:
    with pytest.raises(ValueError, match="limit"):
        AdaptiveLimit(start, most)


@pytest.fixture
def _own_registry() -> Iterator[None]:
    forget_limits()
    yield
    forget_limits()


@pytest.mark.usefixtures("_own_registry")
def test_one_origin_has_one_limit_however_it_is_written() -> None:
    limit = limit_for("https://api.example.com/v1")
    assert limit_for("https://API.example.com:443/v2/") is limit
    assert limit_for("https://api.example.com:8443/v1") is not limit
    assert limit_for("https://api.example.com/v1", "big-model") is not limit
    assert limit_for("sandbox") is limit_for("sandbox")


@pytest.mark.usefixtures("_own_registry")
def test_the_greatest_most_of_all_callers_holds() -> None:
    limit = limit_for("https://api.example.com", start=2, most=2)
    succeed(limit, 5)
    assert limit.state.allowed == 2
    limit_for("https://api.example.com", most=4)
    succeed(limit, 5)
    assert limit.state.allowed == 4


def run_threads(work: Callable[[], None], count: int) -> None:
    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert not any(thread.is_alive() for thread in threads)
