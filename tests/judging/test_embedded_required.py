"""Which required fields a group is found to leave out."""

from __future__ import annotations

import pytest

from lseval.judging.embedded.required import missing_fields

REQUIRED = ("main span", "year of opening", "number of visitors")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Low Bridge: main span 120 m, opened in 1931, 900 visitors", ()),
        ("Low Bridge: 120 m, 1931, 900 visitors", ()),  # a length, a year, the chief word
        ("Low Bridge: length 412 m, opened in 1931, 900 visitors", ("main span",)),  # a length, but named otherwise
        ("Low Bridge is 412 m long, opened in 1931 and has 900 visitors.", ("main span",)),
        ("Low Bridge: span 120 m, 900 visitors", ("year of opening",)),
        ("Low Bridge: span 120 m, opened in 1931", ("number of visitors",)),  # the one number is the span's
    ],
)
def test_field_is_supplied_by_its_chief_word_or_a_value_of_its_kind(text: str, missing: tuple[str, ...]) -> None:
    assert missing_fields(REQUIRED, "Low Bridge", text, {}) == missing


def test_date_that_the_question_gives_supplies_no_field() -> None:
    text = "Low Bridge had 900 visitors in 2023."
    assert missing_fields(("year of opening",), "Low Bridge", text, {}, given="visitors in 2023") == (
        "year of opening",
    )
    assert missing_fields(("year of opening",), "Low Bridge", text, {}) == ()


@pytest.mark.parametrize("value", ["at most 65 dB(A)", "65 dB", "Noise: 65 decibels"])
def test_amount_supplies_a_maximum_however_it_is_worded(value: str) -> None:
    assert missing_fields(("maximum level",), "XQ 114", f"**XQ 114** – fans; {value}", {}) == ()


def test_number_in_the_title_supplies_a_designation_and_no_amount() -> None:
    assert missing_fields(("maximum level", "number"), "XQ 114", "Fans in halls", {}) == ("maximum level",)


def test_synonym_of_a_dimension_supplies_it() -> None:
    assert missing_fields(("altitude",), "Top", "", {"Elevation": "655 m"}) == ()
    assert missing_fields(("altitude",), "Top", "", {"Width": "655 m"}) == ("altitude",)


def test_field_named_as_the_title_is_no_naming_of_fields() -> None:
    assert missing_fields(("operator",), "Low Boat", "", {"Low Boat": "run by the Low Board since 1931"}) == ()
    assert missing_fields(("operator",), "Low Boat", "", {"Opened": "1931"}) == ("operator",)


def test_chief_word_of_two_required_fields_does_not_tell_which_is_supplied() -> None:
    required = ("display area", "storage area")
    both = {"Display area": "900 m²", "Storage area": "300 m²"}
    assert missing_fields(required, "Low Museum", "", both) == ()
    assert missing_fields(required, "Low Museum", "", {"Display area": "900 m²"}) == ("storage area",)
    assert missing_fields(required, "Low Museum", "", {"Area": "900 m²"}) == ()  # either may be meant
    assert missing_fields(required, "Low Museum", "", {"Display area": "900 m²", "Storage": "300 m²"}) == ()


@pytest.mark.parametrize("value", ["–", "-", "n/a", "Not found", "unknown", "not publicly available", "未知", "…"])
def test_field_without_a_value_is_not_supplied(value: str) -> None:
    fields = {"Operator": value, "Opened": "1931"}
    assert missing_fields(("operator",), "Low Boat", f"- Operator: {value}\n- Opened: 1931", fields) == (
        "operator",
    )
    assert missing_fields(("opened",), "Low Boat", "", fields) == ()


@pytest.mark.parametrize("value", ["None", "No", "not far from Esbjerg", "Unknown Pleasures Ltd"])
def test_field_with_a_value_that_sounds_like_none_is_supplied(value: str) -> None:
    assert missing_fields(("operator",), "Low Boat", "", {"Operator": value, "Opened": "1931"}) == ()
