"""Numbers and dates as the embedded judges read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lseval.judging.embedded.quantities import quantities


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1,200,000 people", 1_200_000, ""),
        ("1.2 million people", 1_200_000, ""),
        ("1.200.000 Menschen", 1_200_000, ""),
        ("1\u202f200\u202f000 habitants", 1_200_000, ""),
        ("120万人", 1_200_000, ""),
        ("4.2亿元", 420_000_000, ""),
        ("$4,5", 4.5, "$"),
        ("€3bn", 3_000_000_000, "€"),
        ("$2m", 2_000_000, "$"),
        ("2 m", 2, "m"),
        ("412 metres", 412, "m"),
        ("a 12-meter wall", 12, "m"),
        ("3.5 km²", 3.5, "km²"),
        ("840 square kilometres", 840, "km²"),
        ("65 dB(A)", 65, "dB"),
        ("55 kilometres an hour", 55, "km/h"),
        ("7 moths", 7, ""),
        ("41.3 %", 41.3, "%"),
        ("41.3 percent", 41.3, "%"),
        ("４２ 人", 42, ""),
        ("three dozen eggs", 36, ""),
        ("two children", 2, ""),
        ("the 15th award", 15, ""),
    ],
)
def test_number_with_its_magnitude_and_unit(text: str, value: float, unit: str) -> None:
    (number,) = quantities(text).numbers
    assert number.value == pytest.approx(value)
    assert number.unit == unit
    assert quantities(text).dates == ()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("on 2024-03-12.", (2024, 3, 12)),
        ("12 March 2024", (2024, 3, 12)),
        ("March 12th, 2024", (2024, 3, 12)),
        ("3rd of May 1999", (1999, 5, 3)),
        ("March 2024", (2024, 3, 0)),
        ("in 2024", (2024, 0, 0)),
        ("November 2", (0, 11, 2)),
        ("2024年3月12日", (2024, 3, 12)),
        ("25/12/2024", (2024, 12, 25)),
        ("12/25/2024", (2024, 12, 25)),
        ("the 1990s", (1990, 0, 0)),
    ],
)
def test_date_as_far_as_it_is_told(text: str, parts: tuple[int, int, int]) -> None:
    (date,) = quantities(text).dates
    assert date.parts == parts
    assert quantities(text).numbers == ()


@pytest.mark.parametrize("text", ["", "no digits", "v1.2.3", "9" * 50, "13/13/2024x", "\x00"])
def test_text_without_a_date_has_none(text: str) -> None:
    assert quantities(text).dates == ()


def told(claim: str, page: str) -> bool:
    claimed, found = quantities(claim), quantities(page)
    if claimed.numbers:
        return any(claimed.numbers[0].is_told_by(other) for other in found.numbers)
    return any(claimed.dates[0].is_told_by(other) for other in found.dates)


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        ("1.2 million", "1,187,000"),  # 1.187 million rounds to 1.2
        ("260,000", "263,500"),  # told to two significant places
        ("41.3%", "41.27 %"),
        ("41.3%", "41.3"),
        ("2024", "12 March 2024"),
        ("12 March 2024", "March 2024"),
        ("03/12/2024", "12 March 2024"),
        ("the 1990s", "1994"),
        ("412 m", "412 metres"),
        ("1.9 km", "1,900 m"),
        ("3 per cent", "3%"),
        ("2 million", "2,000,000"),
        ("412 m", "412"),
    ],
)
def test_same_quantity_told_otherwise(claim: str, page: str) -> None:
    assert told(claim, page)


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        ("1.2 million", "1.3 million"),
        ("85", "86"),
        ("$5", "€5"),
        ("41.3%", "41.4%"),
        ("2024", "March 2023"),
        ("12 March 2024", "13 March 2024"),
        ("13/12/2024", "12 March 2024"),
        ("November 2", "2004"),
        ("412 m", "412 kg"),
        ("412 m", "412 km"),
        ("1.9 km", "1,800 m"),
    ],
)
def test_another_quantity_is_not_the_same(claim: str, page: str) -> None:
    assert not told(claim, page)


@given(st.text(max_size=200))
def test_offsets_lie_in_the_text_and_no_number_is_inside_a_date(text: str) -> None:
    found = quantities(text)
    for quantity in (*found.numbers, *found.dates):
        assert 0 <= quantity.start < quantity.end <= len(text)
    for number in found.numbers:
        assert all(number.end <= date.start or date.end <= number.start for date in found.dates)
