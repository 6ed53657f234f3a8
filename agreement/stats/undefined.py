"""A statistic's value: a number, or undefined with the reason; and an estimate with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from lseval.errors import InputError


@dataclass(frozen=True, slots=True)
class Undefined:
    """The statistic does not exist for these data; `reason` says why, in words for a reader of the report."""

    reason: str

    def __str__(self) -> str:
        return f"undefined ({self.reason})"

    def as_dict(self) -> dict[str, str]:
        """`{"undefined": reason}`, the form in JSON."""
        return {"undefined": self.reason}


Value: TypeAlias = float | Undefined
Interval: TypeAlias = tuple[float, float] | Undefined


def ratio(numerator: float, denominator: float, reason: str) -> Value:
    """`numerator / denominator`, or undefined for `reason` where the denominator is zero."""
    if denominator == 0:
        return Undefined(reason)
    return float(numerator) / float(denominator)


def plain(value: Any) -> Any:
    """The JSON-able form of a value, an interval, an estimate, or a dict or list of them."""
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value


def check_level(level: float) -> float:
    """`level` where it is a confidence level strictly between 0 and 1; raises `InputError` otherwise."""
    if not 0 < level < 1:
        raise InputError(f"The confidence level must lie between 0 and 1, for example 0.95; got {level}.")
    return float(level)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point with its interval and everything needed to say how it was computed.

    `n` counts the units behind the point and `clusters` the tasks they fall in. `resamples` of zero means that
    the interval is analytic; otherwise `degenerate` of the resamples had no value and were set aside, and `seed`
    draws them again. `se` is the standard error that the method gives, where it gives one; `bca` is the
    bias-corrected and accelerated interval of the same resamples, where it was asked for.
    """

    point: Value
    interval: Interval
    level: float = 0.95
    method: str = ""
    n: int = 0
    clusters: int | None = None
    resamples: int = 0
    degenerate: int = 0
    seed: int | None = None
    se: Value | None = None
    bca: Interval | None = None

    @property
    def low(self) -> Value:
        """The lower end, or why there is none."""
        return self.interval if isinstance(self.interval, Undefined) else self.interval[0]

    @property
    def high(self) -> Value:
        """The upper end, or why there is none."""
        return self.interval if isinstance(self.interval, Undefined) else self.interval[1]

    def as_dict(self) -> dict[str, Any]:
        """JSON-able fields; `interval` is `[low, high]` or `{"undefined": reason}`; absent extras are left out."""
        fields: dict[str, Any] = {
            "point": plain(self.point),
            "interval": plain(self.interval),
            "level": self.level,
            "method": self.method,
            "n": self.n,
            "clusters": self.clusters,
            "resamples": self.resamples,
            "degenerate": self.degenerate,
            "seed": self.seed,
        }
        if self.se is not None:
            fields["se"] = plain(self.se)
        if self.bca is not None:
            fields["bca"] = plain(self.bca)
        return fields
