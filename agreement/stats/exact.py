"""Scores as exact rationals, kept as the double nearest to each, so that equal fractions tie.

Division in IEEE arithmetic is correctly rounded, so the quotient of two integers below 2**53 is the double
nearest to the rational: equal rationals give equal doubles whichever way they were reduced. What can break a tie
is arithmetic before or after that one division (100 * (1 / 3) against 100 / 3), or a file that printed too few
digits. `canonical` undoes both. What a file holds beyond a double's digits is kept as a `Fraction`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lseval.errors import InputError

MAX_DENOMINATOR = 1000
LARGEST = 10_000.0
RELATIVE_TOLERANCE = 1e-14
"""A value up to `LARGEST` this close to a fraction with a denominator up to `MAX_DENOMINATOR` is that fraction.

The ways of reaching 100/3 in doubles differ by a few units of 2**-53, about 4e-16; a file with 16 digits leaves up
to 1e-15. Two different such fractions lie 1e-6 or more apart, so none are merged, and a measurement that is no such
fraction meets one by chance less than once in 10,000 times. It is kept digit for digit.
"""


SMALLEST_SIZE, LARGEST_SIZE = 1e-100, 1e100
"""A score other than 0 lies between these in size: beyond them its square leaves the range of a double, and a
correlation of such scores would come out wrong without a sign of it."""


PRINTED_DIGITS = range(13, 18)
"""How many significant digits a double that stands for a fraction is printed with; more are no double's."""
MOST_CHARACTERS = 400

Number: TypeAlias = "Fraction | float"


def parse_number(text: str) -> Number:
    """The number that a cell of a file holds, exactly: a decimal or a fraction such as `1/3`; NaN for none.

    A decimal of 13 to 17 significant digits within `RELATIVE_TOLERANCE` of a fraction with a denominator up to
    `MAX_DENOMINATOR` is a printed double and stands for that fraction; every other decimal is what it says, so that
    two that differ in any digit are two numbers. Raises ValueError for anything else, infinities included, and for
    a size or length out of range: a score is finite.
    """
    text = text.strip()
    if text.lower() in ("", "nan", "na", "n/a", "null", "none"):
        return math.nan
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"the number has more than {MOST_CHARACTERS} characters")
    if "/" in text:
        try:
            return Fraction(text)
        except ZeroDivisionError:
            raise ValueError(f"{text!r} divides by zero") from None
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text!r} is not finite")
    if number == 0 or abs(number) < SMALLEST_SIZE:
        # Not by Fraction, which would write out 1e-999999999; what is too small and no zero is refused by its size.
        return (
            Fraction(number) if number or not re.search(r"[1-9]", re.split("[eE]", text)[0]) else SMALLEST_SIZE / 2
        )
    exact = Fraction(text)
    if _digits(text) in PRINTED_DIGITS and abs(number) <= LARGEST:
        simple = exact.limit_denominator(MAX_DENOMINATOR)
        if abs(float(simple) - number) <= RELATIVE_TOLERANCE * abs(number):
            return simple
    return exact


def _digits(text: str) -> int:
    """How many significant digits a decimal is written with, trailing zeros not counted."""
    mantissa = re.split("[eE]", text)[0].replace("_", "")
    return len(re.sub(r"\D", "", mantissa).strip("0"))


def check_sizes(numbers: NDArray[np.float64]) -> None:
    """Raise `InputError` where a score's size is out of range; NaN is passed over."""
    sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    if ((sizes > LARGEST_SIZE) | (sizes < SMALLEST_SIZE)).any():
        raise InputError(
            f"A score is 0 or between {SMALLEST_SIZE:g} and {LARGEST_SIZE:g} in size, since its square has to stay "
            "in the range of a double. Scale the scores."
        )


def exact_levels(values: Sequence[Number]) -> tuple[list[Fraction], NDArray[np.int64]]:
    """The distinct exact values, ascending, and the place of each entry among them; NaN is refused by `Fraction`.

    Doubles are taken as `canonical` takes them.
    """
    known: dict[Number, Fraction] = {}
    for value in set(values):
        known[value] = value if isinstance(value, Fraction) else _fraction(float(value))
    # Compared as doubles first: a comparison of fractions is dear, and few are as close as that.
    distinct = sorted(set(known.values()), key=lambda value: (float(value), value))
    place = {value: index for index, value in enumerate(distinct)}
    return distinct, np.array([place[known[value]] for value in values], dtype=np.int64)


def _fraction(number: float) -> Fraction:
    value = float(canonical([number])[0])
    simple = Fraction(value).limit_denominator(MAX_DENOMINATOR)
    return simple if float(simple) == value and abs(value) <= LARGEST else Fraction(value)


def canonical(values: Sequence[float | int | Fraction] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The values as doubles in which equal rationals are equal; NaN stays NaN.

    A value within `RELATIVE_TOLERANCE` of a fraction with a denominator up to `MAX_DENOMINATOR` becomes the double
    nearest to that fraction; every other value is kept as it is.
    """
    numbers = np.array([float(value) for value in values] if not isinstance(values, np.ndarray) else values, float)
    finite = np.isfinite(numbers)
    distinct, position = np.unique(numbers[finite], return_inverse=True)
    numbers[finite] = _snap(distinct)[position]
    return numbers


def _snap(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each number replaced by its simplest close fraction, found among the convergents of its continued fraction.

    A fraction p/q closer than 1/(2 q**2) to a number is one of that number's convergents (Legendre), which holds
    for every fraction sought here.
    """
    result = numbers.copy()
    open_ = (np.abs(numbers) <= LARGEST) & (numbers != np.round(numbers))
    rest = np.where(open_, numbers, 0.0)
    whole = np.floor(rest)
    top_before, top = np.ones_like(rest), whole.copy()
    bottom_before, bottom = np.zeros_like(rest), np.ones_like(rest)
    remainder = rest - whole
    for _ in range(40):
        quotient = top / bottom
        close = open_ & (np.abs(quotient - numbers) <= RELATIVE_TOLERANCE * np.abs(numbers))
        result[close] = quotient[close]
        open_ = open_ & ~close & (remainder > 0)
        if not open_.any():
            break
        inverse = np.divide(1.0, remainder, out=np.ones_like(remainder), where=remainder > 0)
        whole = np.floor(inverse)
        remainder = np.where(open_, inverse - whole, 0.0)
        top, top_before = np.where(open_, whole * top + top_before, top), top
        bottom, bottom_before = np.where(open_, whole * bottom + bottom_before, bottom), bottom
        open_ &= bottom <= MAX_DENOMINATOR
    return result
