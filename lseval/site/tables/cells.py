"""Cells of the paper's tables: a number as it is printed, and the exact one behind it.

Every number of every table and figure is rounded here and nowhere else, by `quantities.fixed`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from lseval.site.quantities import DASH, Average, Number, Share, fixed, percent


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: `text` as printed, and `value` JSON-able; None with a `reason` where it is undefined.

    `low` and `high` are the ends of a 95% interval in the unit of the value. `count` and `of` are what a share
    rests on, and `counts_text` says them where no other column does. `is_outside` marks text that came from
    outside.
    """

    text: str
    value: float | int | str | None = None
    low: float | None = None
    high: float | None = None
    count: int | None = None
    of: int | None = None
    reason: str = ""
    interval_text: str = ""
    is_outside: bool = False
    counts_text: str = ""

    @property
    def is_undefined(self) -> bool:
        """Whether the number does not exist for these data."""
        return bool(self.reason) and self.value is None

    @property
    def is_number(self) -> bool:
        """Whether the cell holds a number, or would."""
        return not isinstance(self.value, str) or self.low is not None

    @property
    def full_text(self) -> str:
        """The text with its interval and its counts behind it, where it has them."""
        counts = f"({self.counts_text})" if self.counts_text else ""
        return " ".join(part for part in (self.text, self.interval_text, counts) if part)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able: the value, and whatever else there is."""
        found: dict[str, Any] = {"value": self.value, "text": self.text}
        if self.low is not None:
            found["interval"] = [self.low, self.high]
        if self.count is not None:
            found |= {"count": self.count, "of": self.of}
        if self.reason:
            found["undefined"] = self.reason
        return found


def text(words: object, *, is_outside: bool = False) -> Cell:
    """Words."""
    return Cell(str(words), str(words), is_outside=is_outside)


def name(words: str) -> Cell:
    """A name that somebody outside chose."""
    return text(words, is_outside=True)


def whole(number: int) -> Cell:
    """A count."""
    return Cell(f"{number:,}", number)


def undefined(reason: str) -> Cell:
    """A dash, and why."""
    return Cell(DASH, reason=reason)


def decimal(number: Number | None, digits: int, reason: str = "", *, grouped: bool = False) -> Cell:
    """A number with so many decimals, or undefined."""
    return undefined(reason) if number is None else Cell(fixed(number, digits, grouped=grouped), float(number))


def mean(total: int, of: int, digits: int = 2, *, scale: int = 1, reason: str = "there are no runs") -> Cell:
    """A total over so many units, divided by `scale`; the count beside it is the total."""
    if not of:
        return undefined(reason)
    value = Fraction(total, of * scale)
    return Cell(fixed(value, digits), float(value), count=total, of=of)


def share(found: Share, digits: int = 2) -> Cell:
    """A share in per cent."""
    if not found.of:
        return Cell(DASH, count=found.count, of=found.of, reason=found.reason)
    value = float(Fraction(100 * found.count, found.of))
    return Cell(percent(found.count, found.of, digits), value, count=found.count, of=found.of)


def with_counts(cell: Cell) -> Cell:
    """The cell of a share, with what it rests on beside it."""
    if cell.count is None or not cell.of:
        return cell
    return replace(cell, counts_text=f"{cell.count:,} of {cell.of:,}")


def average(found: Average, low: float | None = None, high: float | None = None, digits: int = 2) -> Cell:
    """A mean over runs, with the interval of the task bootstrap where there is one."""
    if found.value is None:
        return undefined(found.reason)
    value = fixed(found.value, digits)
    return Cell(value, float(found.value), low, high, of=None, interval_text=_interval(low, high, digits))


def with_interval(cell: Cell, low: float | None, high: float | None, digits: int = 2) -> Cell:
    """The cell with an interval."""
    return replace(cell, low=low, high=high, interval_text=_interval(low, high, digits))


def estimate(found: dict[str, Any], digits: int = 4, scale: float = 1.0) -> Cell:
    """An estimate of an agreement report (`stats.undefined.Estimate.as_dict`), times `scale`."""
    point, interval = found["point"], found.get("interval", found.get("wilson"))
    count, of = (found["k"], found["n"]) if found.get("k") is not None else (None, None)
    if isinstance(point, dict):
        return Cell(DASH, count=count, of=of, reason=point["undefined"])
    value = point * scale
    if not isinstance(interval, list | tuple):
        return Cell(fixed(value, digits), value, count=count, of=of)
    low, high = interval[0] * scale, interval[1] * scale
    words = _interval(low, high, digits)
    return Cell(fixed(value, digits), value, low, high, count, of, interval_text=words)


def _interval(low: float | None, high: float | None, digits: int) -> str:
    return "" if low is None or high is None else f"[{fixed(low, digits)}, {fixed(high, digits)}]"
