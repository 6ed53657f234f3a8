"""Numbers as a reader sees them: rounded, with what they rest on, and a dash with a reason where undefined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from lseval.domain.labels import UNJUDGED, GroupLabel
from lseval.domain.scoring import Mean

DASH = "–"
WAITING = "waiting"
"""Stands for a group without a verdict yet, which differs from one that the judge left unjudged."""

Number: TypeAlias = int | float | Fraction | Decimal


def fixed(number: Number, digits: int, *, grouped: bool = False) -> str:
    """The number with so many decimals, rounded exactly and half away from zero; minus zero is zero.

    What is printed so does not depend on how a fraction is kept in binary, and is the same on every page.
    """
    exact = Fraction(number)
    scaled = abs(exact) * 10**digits
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    before, after = divmod(whole, 10**digits)
    sign = "-" if exact < 0 and whole else ""
    head = f"{before:,}" if grouped else str(before)
    return f"{sign}{head}.{after:0{digits}d}" if digits else f"{sign}{head}"


def percent(count: int, of: int, digits: int = 2) -> str:
    """The count's share of the whole in per cent, without the sign; a dash where the whole is 0."""
    return fixed(Fraction(100 * count, of), digits) if of else DASH


@dataclass(frozen=True, slots=True)
class Average:
    """A mean over runs on a scale to 100, with its standard error."""

    value: Fraction | None
    standard_error: float | None
    runs: int
    reason: str = ""
    unit: str = ""

    @classmethod
    def of(cls, mean: Mean, *, is_share: bool = False) -> Average:
        """The mean as shown; `is_share` turns one from 0 to 1 into per cent."""
        scale = 100 if is_share else 1
        return cls(
            None if mean.value is None else mean.value * scale,
            None if mean.standard_error is None else mean.standard_error * scale,
            mean.runs,
            mean.undefined_reason,
            "%" if is_share else "",
        )

    @property
    def text(self) -> str:
        """Two decimals and the unit, or a dash."""
        return DASH if self.value is None else f"{fixed(self.value, 2)}{self.unit}"

    @property
    def error_text(self) -> str:
        """The standard error to two decimals, or empty where there is none."""
        return "" if self.standard_error is None else fixed(self.standard_error, 2)

    @property
    def explanation(self) -> str:
        """What the number rests on, in words."""
        if self.value is None:
            return f"Undefined: {self.reason}."
        error = f"standard error {self.error_text}" if self.error_text else self.reason
        return f"Mean of {counted(self.runs, 'scored run')}; {error}."

    def as_dict(self) -> dict[str, Any]:
        """JSON-able fields; an undefined mean has `value` null and a `reason`."""
        return {
            "value": None if self.value is None else float(self.value),
            "standard_error": self.standard_error,
            "runs": self.runs,
            "unit": "per cent" if self.unit else "of 100",
            **({"reason": self.reason} if self.reason else {}),
        }


@dataclass(frozen=True, slots=True)
class Share:
    """A count of a whole. The share is undefined where the whole is 0, for `reason`."""

    count: int
    of: int
    reason: str = "there are none to take a share of"

    @property
    def value(self) -> float | None:
        """The share from 0 to 1."""
        return self.count / self.of if self.of else None

    @property
    def text(self) -> str:
        """Per cent to one decimal, or a dash."""
        return f"{percent(self.count, self.of, 1)}%" if self.of else DASH

    @property
    def counts(self) -> str:
        """The count and the whole, as `12 of 34`."""
        return f"{self.count:,} of {self.of:,}"

    @property
    def explanation(self) -> str:
        """What the share rests on, in words."""
        return f"{self.counts}." if self.of else f"Undefined: {self.reason}."

    def as_dict(self) -> dict[str, Any]:
        """JSON-able fields; an undefined share has `share` null and a `reason`."""
        return {
            "count": self.count,
            "of": self.of,
            "share": self.value,
            **({} if self.of else {"reason": self.reason}),
        }


def counted(count: int, thing: str, things: str = "") -> str:
    """`1 run`, `2,000 runs`."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def heat_of(value: Fraction | float | None) -> int:
    """The step of the heat scale, 0 to 9, for a value from 0 to 100."""
    return 0 if value is None else max(0, min(9, int(value / 10)))


def bar_parts(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """The pieces of a bar in order, each {label, count, start, width} in per cent; pieces of 0 are left out."""
    total = sum(counts.values())
    parts: list[dict[str, Any]] = []
    before = 0
    for label, count in counts.items():
        if count:
            start, width = 100 * before / total, 100 * count / total
            parts.append({"label": label, "count": count, "start": round(start, 3), "width": round(width, 3)})
        before += count
    return parts


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """How many groups have each label, and how many have none yet."""

    correct: int = 0
    incorrect: int = 0
    unverifiable: int = 0
    unjudged: int = 0
    waiting: int = 0

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> LabelCounts:
        """From counts by label, where `WAITING` stands for no verdict."""
        return cls(
            counts.get(GroupLabel.CORRECT, 0),
            counts.get(GroupLabel.INCORRECT, 0),
            counts.get(GroupLabel.UNVERIFIABLE, 0),
            counts.get(UNJUDGED, 0),
            counts.get(WAITING, 0),
        )

    @property
    def total(self) -> int:
        """All groups."""
        return self.judged + self.waiting

    @property
    def judged(self) -> int:
        """Groups that have a verdict, an unjudged one included."""
        return self.correct + self.incorrect + self.unverifiable + self.unjudged

    @property
    def labels(self) -> list[str]:
        """One entry per group, as scoring takes them; a group without a verdict counts as unjudged."""
        return [
            *[GroupLabel.CORRECT.value] * self.correct,
            *[GroupLabel.INCORRECT.value] * self.incorrect,
            *[GroupLabel.UNVERIFIABLE.value] * self.unverifiable,
            *[UNJUDGED] * (self.unjudged + self.waiting),
        ]

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The pieces of a label bar."""
        return bar_parts(
            {
                "C": self.correct,
                "I": self.incorrect,
                "U": self.unverifiable,
                UNJUDGED: self.unjudged + self.waiting,
            }
        )

    def as_dict(self) -> dict[str, int]:
        """Counts by the names that the labels have in files."""
        return {
            "C": self.correct,
            "I": self.incorrect,
            "U": self.unverifiable,
            "unjudged": self.unjudged,
            "without_verdict": self.waiting,
        }
