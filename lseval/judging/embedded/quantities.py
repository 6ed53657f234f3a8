"""Numbers and dates found in a text, and when two of them say the same."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lseval.judging.embedded.units import measure_at, measure_named


@dataclass(frozen=True, slots=True)
class Number:
    """A quantity: its value with any magnitude word applied, the last place it is told to, its unit, its offsets.

    `unit` is `%`, a currency sign, the symbol of a unit of measure (`units`), or empty; other words that follow a
    number are left to the words. The offsets hold the unit.
    """

    value: float
    resolution: float
    unit: str
    start: int
    end: int

    def is_told_by(self, other: Number) -> bool:
        """Whether the other number, read at this one's precision, says the same: 41.3 is told by 41.27.

        Units of one dimension are converted; a number without a unit is told by one with any.
        """
        if not self.is_comparable(other):
            return False
        slack = max(self.resolution / 2, 1e-9 * max(abs(self.value), 1.0))
        return abs(self.value - other.value_in(self.unit)) <= slack

    def is_comparable(self, other: Number) -> bool:
        """Whether both have the same unit, units of the same dimension, or at least one has none."""
        return not self.unit or not other.unit or self.unit == other.unit or self.kind == other.kind

    @property
    def kind(self) -> str:
        """The dimension of a unit of measure, else the unit itself; empty without one."""
        measure = measure_named(self.unit)
        return measure.dimension if measure else self.unit

    def value_in(self, unit: str) -> float:
        """The value in another unit of the same dimension; as it stands where either has no factor."""
        if self.unit == unit or not (self.unit and unit):
            return self.value
        mine, theirs = measure_named(self.unit), measure_named(unit)
        return self.value * mine.factor / theirs.factor if mine and theirs else self.value


@dataclass(frozen=True, slots=True)
class Date:
    """A date as far as it is told: year, month and day, 0 for a part left out.

    `is_decade` marks *the 1990s*; `may_swap` a form such as 03/12/2024, whose day and month may be the other way.
    """

    year: int
    month: int
    day: int
    start: int
    end: int
    is_decade: bool = False
    may_swap: bool = False

    def is_told_by(self, other: Date) -> bool:
        """Whether the other date agrees in every part that both tell, and they share at least one."""
        if self.is_decade or other.is_decade:
            return bool(self.year and other.year) and self.year // 10 == other.year // 10
        if self._agrees(self.year, self.month, self.day, other):
            return True
        return (self.may_swap or other.may_swap) and self._agrees(self.year, self.day, self.month, other)

    @staticmethod
    def _agrees(year: int, month: int, day: int, other: Date) -> bool:
        pairs = [
            (mine, theirs) for mine, theirs in zip((year, month, day), other.parts, strict=True) if mine and theirs
        ]
        return bool(pairs) and all(mine == theirs for mine, theirs in pairs)

    @property
    def parts(self) -> tuple[int, int, int]:
        return self.year, self.month, self.day


@dataclass(frozen=True, slots=True)
class Quantities:
    """The numbers and the dates of a text, each in order; no digit is in both."""

    numbers: tuple[Number, ...]
    dates: tuple[Date, ...]

    @property
    def values(self) -> tuple[Number | Date, ...]:
        """The numbers, then the dates."""
        return (*self.numbers, *self.dates)


MONTH_NAMES: Final = "january february march april may june july august september october november december"
_MONTHS: Final = tuple(MONTH_NAMES.split())
_MONTH: Final = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR: Final = r"(?:1[0-9]\d\d|20\d\d)"
_DATE: Final = re.compile(
    rf"(?<![\w.])(?P<y1>{_YEAR})[-/.](?P<m1>0?[1-9]|1[0-2])[-/.](?P<d1>0?[1-9]|[12]\d|3[01])(?![\d-])"
    rf"|(?P<y2>{_YEAR})\s*年(?:\s*(?P<m2>0?[1-9]|1[0-2])\s*月(?:\s*(?P<d2>0?[1-9]|[12]\d|3[01])\s*[日号])?)?"
    rf"|\b(?P<d3>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH.format('n3')}(?:,?\s+(?P<y3>{_YEAR})\b)?"
    rf"|\b{_MONTH.format('n4')}\s+(?P<d4>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?\b(?!\s*[:%])(?:,?\s+(?P<y4>{_YEAR})\b)?"
    rf"|\b{_MONTH.format('n5')},?\s+(?P<y5>{_YEAR})\b"
    r"|(?<![\w.])(?P<d6>0?[1-9]|[12]\d|3[01])[/.](?P<m6>0?[1-9]|[12]\d|3[01])[/.](?P<y6>(?:1[0-9]|20)\d\d)(?![\d-])"
    rf"|\b(?P<y7>{_YEAR[:-1]}))(?P<s7>['’]?s\b)"
    rf"|(?<![\w.,$€£¥])(?P<y8>{_YEAR})(?![\w%]|[.,]\d)",
    re.IGNORECASE,
)
_MAGNITUDES: Final = {
    "dozen": 12.0, "hundred": 100.0, "thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "m": 1e6, "billion": 1e9,
    "bn": 1e9, "b": 1e9, "trillion": 1e12,
    "千": 1e3, "万": 1e4, "萬": 1e4, "百万": 1e6, "亿": 1e8, "億": 1e8, "万亿": 1e12,
}  # fmt: skip
_NUMBER: Final = re.compile(
    r"(?P<currency>[$€£¥₹])?\s?(?<![\w.])"
    r"(?P<digits>\d{1,3}(?:[,\u00a0\u202f\u2009 ’']\d{3})+(?!\d)(?:\.\d+)?"
    r"|\d{1,3}(?:\.\d{3}){2,}(?!\d)|\d+(?:[.,]\d+)?)"
    r"(?:st|nd|rd|th)?"
    r"(?:[\s-]?(?P<magnitude>thousand|million|billion|trillion|dozen|hundred|mn|bn|[kmb](?![\w²³/]))(?!\w)"
    r"|\s?(?P<magnitude_cjk>百万|万亿|千|万|萬|亿|億))?"
    r"(?:\s?(?P<percent>%|percent\b|per cent\b))?",
    re.IGNORECASE,
)
_NUMBER_WORDS: Final = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_WORD_VALUES: Final = {word: float(value) for value, word in enumerate(_NUMBER_WORDS.split(), start=2)}
_WORD_NUMBER: Final = re.compile(
    rf"\b(?P<word>{'|'.join(_WORD_VALUES)})(?:[\s-](?P<magnitude>hundred|thousand|million|billion|dozen))?\b",
    re.IGNORECASE,
)
_LONGEST_DIGITS: Final = 30


@lru_cache(maxsize=4096)
def quantities(text: str) -> Quantities:
    """The numbers and dates of a text, with offsets in it.

    A four-digit number from 1000 to 2099 that stands alone is a year. `1,200,000`, `1.2 million` and `120万` are
    the same number; a single comma before one, two or more than three digits is a decimal comma. A string of more
    than 30 digits is no quantity.
    """
    flat = _flat(text)
    dates = tuple(date for match in _DATE.finditer(flat) if (date := _date(match)))
    taken = [(date.start, date.end) for date in dates]
    numbers = [_number(match, flat) for match in _NUMBER.finditer(flat)]
    numbers += [_word_number(match) for match in _WORD_NUMBER.finditer(flat)]
    free = [
        number for number in numbers if number and not any(s < number.end and number.start < e for s, e in taken)
    ]
    return Quantities(tuple(sorted(free, key=lambda number: number.start)), dates)


def _flat(text: str) -> str:
    """The text with full-width digits and signs made plain, character for character, so that offsets hold."""
    if text.isascii():
        return text
    plain = (unicodedata.normalize("NFKC", sign) if "\uff01" <= sign <= "\uff5e" else sign for sign in text)
    return "".join(sign if len(sign) == 1 else "?" for sign in plain)


def _date(match: re.Match[str]) -> Date | None:
    found = {name[:-1]: value for name, value in match.groupdict().items() if value}
    month = int(found["m"]) if "m" in found else _month_number(found.get("n", ""))
    if "s" in found:
        return (
            Date(int(found["y"][:3] + "0"), 0, 0, *match.span(), is_decade=True)
            if found["y"].endswith("0")
            else None
        )
    day = int(found.get("d", 0))
    is_numeric_day_first = match["y6"] is not None
    if is_numeric_day_first and month > 12:
        day, month = month, day
    if month > 12:
        return None
    return Date(int(found.get("y", 0)), month, day, *match.span(), may_swap=is_numeric_day_first and day <= 12)


def _month_number(name: str) -> int:
    for number, month in enumerate(_MONTHS, start=1):
        if name and month.startswith(name[:3].casefold()):
            return number
    return 0


def _number(match: re.Match[str], text: str) -> Number | None:
    digits = match["digits"]
    if len(digits) > _LONGEST_DIGITS:
        return None
    plain = _plain_digits(digits)
    word = (match["magnitude"] or match["magnitude_cjk"] or "").casefold()
    is_metre_or_byte = word in ("m", "b") and not match["currency"]
    magnitude = 1.0 if is_metre_or_byte else _MAGNITUDES.get(word, 1.0)
    unit = "%" if match["percent"] else (match["currency"] or "")
    start = match.start("currency") if match["currency"] else match.start("digits")
    end = match.end()
    if not unit:
        # The letter of "12 m" was read as a magnitude word, and is the unit.
        found = measure_at(text, match.end("digits") if is_metre_or_byte else end)
        if found:
            unit, end = found[0].symbol, found[1]
    return Number(float(plain) * magnitude, _resolution(plain) * magnitude, unit, start, end)


def _plain_digits(digits: str) -> str:
    """Digits with a point before decimals and no mark between thousands."""
    if re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", digits):
        return digits.replace(".", "")
    plain = re.sub(r"(?<=\d)[,\u00a0\u202f\u2009 ’'](?=\d{3}(?!\d))", "", digits)
    return plain.replace(",", ".")


def _resolution(plain: str) -> float:
    """The worth of the last place told, of two significant places at least: 260000 is told to ten thousands."""
    if "." in plain:
        return float(10.0 ** -len(plain.split(".")[1]))
    zeros = len(plain) - len(plain.rstrip("0"))
    return float(10.0 ** min(zeros, max(len(plain) - 2, 0))) if zeros >= 2 else 1.0


def _word_number(match: re.Match[str]) -> Number:
    magnitude = _MAGNITUDES.get((match["magnitude"] or "").casefold(), 1.0)
    return Number(
        _WORD_VALUES[match["word"].casefold()] * magnitude,
        magnitude / 10 if magnitude > 1 else 1.0,
        "",
        *match.span(),
    )
