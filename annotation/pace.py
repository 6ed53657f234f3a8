"""How fast people label, how long what is left takes, and how sure the agreement will be: plain numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

NORMAL_95: Final = 1.959963984540054
"""The 97.5th percentile of the standard normal distribution."""

FEWEST_TIMED: Final = 10
"""A person's speed is not judged by fewer items than these."""

FAST_BELOW: Final = 1 / 2
SLOW_ABOVE: Final = 2.0

UNREAD_BELOW_S: Final = {"group": 2.0, "link": 2.0, "round": 1.5}
"""By kind of item, in seconds: who takes less on most items cannot have read them.

People read about 240 words a minute (Brysbaert, J. Mem. Lang. 109, 2019), so that 2 s are eight words, of a group
with its pages or of a link with its round and its group. A round may be a single line of planning: 1.5 s, six
words.
"""


@dataclass(frozen=True, slots=True)
class Pace:
    """What `timed` decided items took, in seconds of active time; items without a recorded time are left out."""

    timed: int
    seconds: float

    @property
    def items_per_hour(self) -> float | None:
        """None before anything is timed."""
        return 3600 * self.timed / self.seconds if self.timed and self.seconds > 0 else None

    def seconds_for(self, items: int) -> float | None:
        """How much active time so many more items take at this pace; None before anything is timed."""
        return items * self.seconds / self.timed if self.timed and self.seconds > 0 else None


@dataclass(frozen=True, slots=True)
class AgreementSoFar:
    """In how many of the items that two raters labeled they chose the same label; `planned` is how many both will.

    Items of one response go together, which these intervals leave aside: they say how the audit advances. The
    agreement page resamples whole tasks.
    """

    agreeing: int
    pairs: int
    planned: int

    @property
    def share(self) -> float | None:
        return self.agreeing / self.pairs if self.pairs else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of the share; None without a pair."""
        return wilson(self.agreeing, self.pairs) if self.pairs else None

    @property
    def width_now(self) -> float | None:
        """Half the width of the interval now."""
        return _half(self.interval)

    @property
    def width_at_end(self) -> float | None:
        """Half the width of the interval when all planned items have both labels, if the share stays as it is."""
        share = self.share
        return None if share is None else _half(wilson(share * self.planned, self.planned))


def wilson(successes: float, trials: int, z: float = NORMAL_95) -> tuple[float, float]:
    """Wilson's score interval of a share (J. Am. Stat. Assoc. 22, 1927, 209-212), within 0 and 1.

    `trials` is 1 or more; `successes` need not be whole. Raises ValueError where they do not fit.
    """
    if trials < 1 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is no share")
    share = successes / trials
    shrink = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / shrink
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / shrink
    return max(0.0, middle - half), min(1.0, middle + half)


def speed_of(kind: str, median_s: float | None, timed: int, others_median_s: float | None) -> str:
    """`fast` for at most half of the others' median time, `slow` for at least twice; else empty.

    A time in which nobody can read an item of the kind is fast whatever others take, and where there are none.
    """
    if median_s is None or timed < FEWEST_TIMED:
        return ""
    if is_unread(kind, median_s):
        return "fast"
    if not others_median_s:
        return ""
    ratio = median_s / others_median_s
    return "fast" if ratio <= FAST_BELOW else "slow" if ratio >= SLOW_ABOVE else ""


def is_unread(kind: str, median_s: float) -> bool:
    """Whether nobody can read an item of the kind in such a time."""
    return median_s < UNREAD_BELOW_S[kind]


def _half(interval: tuple[float, float] | None) -> float | None:
    return None if interval is None else (interval[1] - interval[0]) / 2
