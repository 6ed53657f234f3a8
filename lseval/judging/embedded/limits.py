"""Limits that a condition sets: *more than 200,000 passengers in 2023*, *opened before 1975*, *once a month*."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lseval.judging.embedded.quantities import Date, Number, quantities
from lseval.judging.embedded.text import normal_form, tokens

_ABOUT: Final = r"\s+(?:a |an |the |about |some |roughly |approximately )?$"
_BOUND_WORDS: Final = (
    (
        "<=",
        r"(?:no|not) (?:more|later|greater|longer|larger|higher) than|at most|up to|maximum of|not exceed(?:ing)?",
    ),
    (">=", r"(?:no|not) (?:fewer|less|earlier|shorter|smaller|lower) than|at least|minimum of|since"),
    (">", r"(?:more|greater|larger|longer|higher|taller|wider|later) than|over|above|exceed(?:s|ed|ing)?|after"),
    ("<", r"(?:less|fewer|smaller|shorter|lower|earlier|lighter) than|under|below|before|prior to"),
)
_BEFORE: Final = tuple(
    (re.compile(rf"\b(?:{words}){_ABOUT}", re.IGNORECASE), bound) for bound, words in _BOUND_WORDS
)
_OR: Final = r"\s*(?:[a-z]+\s)?or "
_AFTER: Final = (
    (re.compile(_OR + r"(?:more|later|longer|larger|higher|above|over)\b", re.IGNORECASE), ">="),
    (re.compile(_OR + r"(?:less|fewer|earlier|shorter|smaller|lower|below|under)\b", re.IGNORECASE), "<="),
)
_BETWEEN: Final = re.compile(r"\b(?:between|from)\s+$", re.IGNORECASE)
_AND: Final = re.compile(r"\s*(?:and|to|–|-)\s*", re.IGNORECASE)
_COMPARING: Final = (
    "least most fewer less greater larger longer higher later exceed exceeds exceeding maximum minimum"
)
_LIMIT_WORDS: Final = frozenset(map(normal_form, _COMPARING.split()))

_PERIODS: Final = {"day": 365.0, "week": 52.0, "month": 12.0, "year": 1.0}
_ADVERBS: Final = {
    "daily": 365.0, "weekly": 52.0, "fortnightly": 26.0, "monthly": 12.0, "quarterly": 4.0, "yearly": 1.0,
    "annually": 1.0,
}  # fmt: skip
_COUNT_WORDS: Final = "once twice three four five six seven eight nine ten eleven twelve"
_TIMES: Final = {word: float(count) for count, word in enumerate(_COUNT_WORDS.split(), start=1)}
_RATE: Final = re.compile(
    rf"\b(?P<times>{'|'.join(_TIMES)}|\d{{1,3}})(?: times)?(?: [a-z]+){{0,3}}? (?:a|per|each|every)"
    r" (?P<period>day|week|month|year)\b"
    r"|\b(?:of|in) (?:every|each|the) (?P<monthly>month)\b"
    r"|\b(?:every|each) (?:(?P<each>day|week|month|year)|(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b"
    rf"|\b(?P<adverb>{'|'.join(_ADVERBS)})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound on one quantity. `value` is the bound, `bound` one of `<`, `<=`, `>`, `>=`.

    `kind` is what is bounded: `year`, `rate` (times a year), a `Number.kind`, or empty for a plain count. `unit` is
    the bound's own. `topic` holds the forms of the words that say what it bounds, and `year` the one it is told
    for, 0 where none is.
    """

    bound: str
    value: float
    kind: str
    unit: str
    topic: frozenset[str]
    year: int = 0

    def allows(self, value: float) -> bool:
        """Whether a value in the bound's own unit keeps the limit."""
        if self.bound.startswith("<"):
            return value < self.value or (self.bound == "<=" and value == self.value)
        return value > self.value or (self.bound == ">=" and value == self.value)


def limits(condition: str) -> list[Limit]:
    """The limits that a condition sets, in order; empty where it sets none in figures."""
    found = [*_rate_limits(condition)]
    if found:
        return found
    held = quantities(condition)
    told = (value for value in held.values if isinstance(value, Number) or value.year)
    values = sorted(told, key=lambda value: value.start)
    bounds = list(_bounds(condition, values))
    bounded = {value.start for value, _ in bounds}
    years = {value.year for value in values if isinstance(value, Date) and value.start not in bounded}
    topic = _topic(condition, [(value.start, value.end) for value in values])
    year = years.pop() if len(years) == 1 else 0
    return [_limit(value, bound, topic, year) for value, bound in bounds]


def rates(text: str) -> list[tuple[float, int, int]]:
    """How often a year, and where the text says so: *once a month* is 12, *every Friday* 52."""
    found = []
    for match in _RATE.finditer(text):
        if match["times"]:
            times = match["times"].casefold()
            rate = (_TIMES.get(times) or float(times)) * _PERIODS[match["period"].casefold()]
        elif match["adverb"]:
            rate = _ADVERBS[match["adverb"].casefold()]
        else:
            rate = 52.0 if match["weekday"] else _PERIODS[(match["monthly"] or match["each"]).casefold()]
        found.append((rate, *match.span()))
    return found


def _rate_limits(condition: str) -> Iterator[Limit]:
    for rate, start, end in rates(condition):
        bound = _bound_before(condition, start)
        if bound:
            yield Limit(bound, rate, "rate", "", _topic(condition, [(start, end)]))


def _bounds(text: str, values: list[Number | Date]) -> Iterator[tuple[Number | Date, str]]:
    for place, value in enumerate(values):
        following = values[place + 1] if place + 1 < len(values) else None
        if _BETWEEN.search(text[: value.start]) and following and _AND.fullmatch(text[value.end : following.start]):
            yield value, ">="
            yield following, "<="
            continue
        bound = _bound_before(text, value.start) or next(
            (bound for pattern, bound in _AFTER if pattern.match(text, value.end)), ""
        )
        if bound:
            yield value, bound


def _bound_before(text: str, start: int) -> str:
    before = text[max(start - 40, 0) : start]
    return next((bound for pattern, bound in _BEFORE if pattern.search(before)), "")


def _limit(value: Number | Date, bound: str, topic: frozenset[str], year: int) -> Limit:
    if isinstance(value, Date):
        return Limit(bound, float(value.year), "year", "", topic)
    return Limit(bound, value.value, value.kind, value.unit, topic, year)


def _topic(condition: str, taken: list[tuple[int, int]]) -> frozenset[str]:
    return frozenset(
        token.form
        for token in tokens(condition)
        if token.form not in _LIMIT_WORDS and not any(start <= token.start < end for start, end in taken)
    )
