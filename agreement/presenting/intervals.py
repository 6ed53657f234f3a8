"""Estimates as text and as places on an axis, for `agreement/_estimate.html`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Any

DASH = "–"
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Axis:
    """What an interval is drawn on, in the unit shown: estimates are multiplied by `scale` first.

    `digits` is the number of decimals of texts, `reference` a value to mark.
    """

    low: float
    high: float
    digits: int = 3
    scale: float = 1.0
    reference: float | None = None

    def place(self, value: float) -> float:
        """Where a value (in the unit shown) lies, in per cent of the axis, kept on it."""
        return round(min(max((value - self.low) / (self.high - self.low), 0.0), 1.0) * 100, 2)

    def off(self, value: float) -> str:
        """`low` or `high` for a value that lies off the axis on that side, else nothing."""
        slack = 1e-9 * (self.high - self.low)
        return "low" if value < self.low - slack else "high" if value > self.high + slack else ""

    @property
    def text(self) -> str:
        """`0 to 1`."""
        return f"{self.low:g} to {self.high:g}".replace("-", _MINUS)


UNIT = Axis(0, 1)


def number(value: float, digits: int = 3) -> str:
    """A number with so many decimals, with a real minus sign and no minus zero."""
    text = f"{value:.{digits}f}"
    if text.startswith("-"):
        return text[1:] if float(text) == 0 else _MINUS + text[1:]
    return text


def value_text(value: Any, digits: int = 3) -> str:
    """A bare value of a report: the number, or a dash where it is undefined."""
    return DASH if isinstance(value, dict) or value is None else number(value, digits)


def reason_of(value: Any) -> str:
    """Why a bare value of a report is undefined; empty where it is not."""
    return str(value["undefined"]) if isinstance(value, dict) else ""


def bounds_text(interval: Any, digits: int = 3, scale: float = 1.0) -> str:
    """`[0.850, 0.952]`, or a dash where there is no interval."""
    if not isinstance(interval, list | tuple):
        return DASH
    return f"[{number(interval[0] * scale, digits)}, {number(interval[1] * scale, digits)}]"


def interval_view(estimate: dict[str, Any], axis: Axis = UNIT, label: str = "") -> dict[str, Any]:
    """An estimate (a point with an interval) drawn on an axis; `no_interval` says why it has none."""
    point, interval = estimate["point"], estimate.get("interval")
    if isinstance(point, dict):
        return {"undefined_reason": point["undefined"]}
    view: dict[str, Any] = {
        "point": number(point * axis.scale, axis.digits),
        "point_at": axis.place(point * axis.scale),
        "point_off": axis.off(point * axis.scale),
        "label": label,
        "no_interval": "",
        "remark": estimate.get("remark", ""),
    }
    if axis.reference is not None:
        view["reference_at"] = axis.place(axis.reference)
    if not isinstance(interval, list | tuple):
        view["no_interval"] = reason_of(interval)
        return view
    view["low"], view["high"] = (number(end * axis.scale, axis.digits) for end in interval)
    view["low_at"], view["high_at"] = (axis.place(end * axis.scale) for end in interval)
    view["low_off"], view["high_off"] = (axis.off(end * axis.scale) for end in interval)
    return view


def headline_number(
    term: str, estimate: dict[str, Any], digits: int, note: str, scale: float = 1.0
) -> dict[str, str]:
    """A number to read first, for `agreement/_headline.html`: with its interval, or why it has no value."""
    point = estimate["point"]
    has_interval = isinstance(estimate["interval"], list | tuple)
    return {
        "term": term,
        "value": "" if isinstance(point, dict) else number(point * scale, digits),
        "reason": reason_of(point),
        "interval": bounds_text(estimate["interval"], digits, scale) if has_interval else "",
        "note": note,
    }


def share_view(share: dict[str, Any], interval: str = "cluster_robust") -> dict[str, Any]:
    """A share with its counts: `counts` as `3 of 4` beside the interval named."""
    return {
        **interval_view({"point": share["point"], "interval": share[interval]}),
        "counts": f"{share['k']:,} of {share['n']:,}",
    }


def coefficient_axis(estimates: Iterable[dict[str, Any]], digits: int = 3) -> Axis:
    """From the fifth below every estimate and interval to 1; from -1, with 0 marked, where one is negative."""
    least = min(_ends(estimates), default=0.0)
    if least < 0:
        return Axis(-1, 1, digits, reference=0)
    return Axis(min(floor(least * 5) / 5, 0.8), 1, digits)


def axis_from_zero(estimates: Iterable[dict[str, Any]], digits: int = 2, scale: float = 1.0) -> Axis:
    """From 0 to a round number above every interval."""
    return Axis(0, _round_up(max(_ends(estimates), default=1.0) * scale), digits, scale)


def axis_around_zero(estimates: Iterable[dict[str, Any]], digits: int = 2, scale: float = 1.0) -> Axis:
    """Symmetric about 0, which is marked."""
    reach = _round_up(max((abs(end) for end in _ends(estimates)), default=1.0) * scale)
    return Axis(-reach, reach, digits, scale, reference=0)


def axis_within(estimates: Iterable[dict[str, Any]], low: float, high: float, digits: int, scale: float) -> Axis:
    """From `low` to `high` (in the unit shown), cut to the tens or tenths that the estimates need."""
    ends = [end * scale for end in _ends(estimates)]
    step = (high - low) / 10
    if not ends:
        return Axis(low, high, digits, scale)
    least = max(low, step * (min(ends) // step))
    most = min(high, step * ceil(max(ends) / step))
    return Axis(round(least, 9), round(most, 9) if most > least else high, digits, scale)


def _ends(estimates: Iterable[dict[str, Any]]) -> list[float]:
    found = []
    for estimate in estimates:
        if not isinstance(estimate["point"], dict):
            found.append(float(estimate["point"]))
            if isinstance(estimate.get("interval"), list | tuple):
                found += map(float, estimate["interval"])
    return found


def _round_up(value: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    if not isfinite(value) or value <= 0:
        return 1.0
    power = 10.0 ** int(ceil(log10(value)) - 1)
    return next((step * power for step in (1, 2, 5) if value <= step * power * (1 + 1e-12)), 10 * power)
