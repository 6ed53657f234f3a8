"""How many calls may be under way at an endpoint: grown until the endpoint protests, then cut."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lseval.providers.addresses import BadAddressError, parse_target
from lseval.providers.errors import RateLimitedError, UnavailableError


@dataclass(frozen=True, slots=True)
class LimitState:
    """A limit at one moment: `allowed` calls may be under way, and none may start for `pause_s`."""

    allowed: int
    under_way: int
    waiting: int
    episodes: int
    pause_s: float


class AdaptiveLimit:
    """A limit on the calls under way at one endpoint, for any number of threads.

    It starts at `start` and grows, up to `most`: until the first rate limit by one with every success (which
    doubles it with each full turn), afterwards by one with each full turn of successes. A rate limit cuts it by a
    fifth, never below 1, and opens an *episode*: the calls that were under way at that moment belong to it, so
    that however many of them are rate limited too there is one cut. A pause that the provider asks for holds for
    every caller of the endpoint. An `UnavailableError` stops growth for a full turn of successes and cuts
    nothing: the endpoint is ill, not crowded.
    """

    def __init__(
        self,
        start: int = 4,
        most: int = 64,
        *,
        longest_pause_s: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not 1 <= start <= most:
            raise ValueError("A limit starts at 1 or more, and at no more than its most")
        self._most = most
        self._longest_pause_s = longest_pause_s
        self._clock = clock
        self._changed = threading.Condition()
        self._allowed = float(start)
        self._under_way = 0
        self._waiting = 0
        self._episodes = 0
        self._paused_until = 0.0
        self._successes = 0
        self._holds_for = 0

    @property
    def state(self) -> LimitState:
        with self._changed:
            return LimitState(
                allowed=int(self._allowed),
                under_way=self._under_way,
                waiting=self._waiting,
                episodes=self._episodes,
                pause_s=max(0.0, self._paused_until - self._clock()),
            )

    @contextmanager
    def place(self) -> Iterator[None]:
        """Wait for a place, hold it for the block, and learn from how the block ended."""
        episode = self._enter()
        try:
            yield
        except RateLimitedError as error:
            self._leave_rate_limited(episode, error.retry_after_s)
            raise
        except UnavailableError as error:
            self._leave_unavailable(error.retry_after_s)
            raise
        except BaseException:
            self._leave()
            raise
        else:
            self._leave_successful()

    def grow_to(self, most: int) -> None:
        """Let the limit grow to `most` where that is more than it might so far."""
        with self._changed:
            self._most = max(self._most, most)

    def _enter(self) -> int:
        with self._changed:
            self._waiting += 1
            try:
                while True:
                    pause_s = self._paused_until - self._clock()
                    if pause_s <= 0 and self._under_way < int(self._allowed):
                        break
                    self._changed.wait(pause_s if pause_s > 0 else None)
            finally:
                self._waiting -= 1
            self._under_way += 1
            return self._episodes

    def _leave(self) -> None:
        with self._changed:
            self._free_place()

    def _leave_successful(self) -> None:
        with self._changed:
            self._free_place()
            if self._holds_for > 0:
                self._holds_for -= 1
                return
            self._successes += 1
            if self._episodes == 0 or self._successes >= int(self._allowed):
                self._successes = 0
                self._allowed = min(float(self._most), self._allowed + 1)
                self._changed.notify()

    def _leave_rate_limited(self, episode: int, retry_after_s: float | None) -> None:
        with self._changed:
            if episode == self._episodes:
                self._episodes += 1
                self._allowed = max(1.0, self._allowed * 0.8)
            self._successes = 0
            self._pause(retry_after_s)
            self._free_place()

    def _leave_unavailable(self, retry_after_s: float | None) -> None:
        with self._changed:
            self._successes = 0
            self._holds_for = int(self._allowed)
            self._pause(retry_after_s)
            self._free_place()

    def _pause(self, seconds: float | None) -> None:
        """Let nobody start for as long as was asked, up to the cap: one header must not stop a study."""
        if seconds:
            until = self._clock() + min(seconds, self._longest_pause_s)
            self._paused_until = max(self._paused_until, until)

    def _free_place(self) -> None:
        self._under_way -= 1
        # Several may wait where a cut has let fewer in than there were, and a pause may have just begun.
        self._changed.notify()


_limits: dict[tuple[str, str], AdaptiveLimit] = {}
_limits_lock = threading.Lock()


def limit_for(base_url: str, model: str = "", *, start: int = 4, most: int = 64) -> AdaptiveLimit:
    """The one limit of this process for an endpoint and, where providers limit by model, a model of it.

    The first caller's `start` holds; the greatest `most` of all callers does.
    """
    key = (_endpoint(base_url), model)
    with _limits_lock:
        limit = _limits.get(key)
        if limit is None:
            limit = _limits[key] = AdaptiveLimit(min(start, most), most)
        limit.grow_to(most)
        return limit


def _endpoint(base_url: str) -> str:
    """The origin; what is no web address (an embedded provider's name) stands for itself."""
    try:
        return parse_target(base_url).origin
    except BadAddressError:
        return base_url


def forget_limits() -> None:
    """Start every endpoint's limit anew."""
    with _limits_lock:
        _limits.clear()
