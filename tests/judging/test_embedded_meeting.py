"""A value counts only where the page says that it is what the group says it is."""

from __future__ import annotations

import pytest

from lseval.domain.evidence import EvidencePage, VerdictDraft
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.claims import claims_of_text
from lseval.judging.embedded.meeting import untold
from lseval.judging.embedded.passages import PageIndex
from lseval.judging.embedded.stage1 import verify_group
from lseval.judging.embedded.surroundings import Surroundings

DAM = """Kelm Dam

Kelm Dam closes the upper Arn valley. The dam is 84 metres high and 310 metres long at the crest.
Building began in 1958 and the dam was completed in 1964.

The power station at its foot, opened in 1971, has a capacity of 46 MW. The road has been open again since 2021.

Visitors
2021: 14,200
2022: 18,900

In 2019 the restaurant served 7,300 guests. The dam belongs to the Arn Water Board.
"""
TABLE = """Dams of the valley

Dam | Height (m) | Completed | Visitors (2019)
Kelm Dam | 84 | 1964 | 11,300
Ruun Dam | 62 | 1951 | 8,800
"""


def verify(text: str, page: str = DAM, title: str = "Kelm Dam", **fields: str) -> VerdictDraft:
    rubric = RubricRecord(1)
    return verify_group("Which dams?", rubric, title, text, fields, [EvidencePage("p", "u", page)])


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("I", "Kelm Dam is 310 metres high."),  # the dam's length
        ("C", "Kelm Dam is 310 metres long."),
        ("I", "Kelm Dam was completed in 1958."),  # one sentence, another clause
        ("C", "Kelm Dam was completed in 1964."),
        ("I", "Kelm Dam was completed in 1971, with a power station of 46 MW."),  # another sentence
    ],
)
def test_value_under_another_name_is_contradicted(label: str, text: str) -> None:
    assert verify(text).label == label


def test_field_whose_value_is_another_fields_is_contradicted() -> None:
    verdict = verify("", Height="310 m")
    assert verdict.label == "I"
    assert "84 metres" in verdict.reason
    assert verify("", Height="84 m", Length="310 metres").label == "C"


def test_values_under_each_others_names_are_contradicted() -> None:
    page = "The tower height of Low Light is 14 m. Its focal height is 76 m."
    assert verify("", page, title="Low Light", **{"Tower height": "14 m", "Focal height": "76 m"}).label == "C"
    assert verify("", page, title="Low Light", **{"Tower height": "76 m", "Focal height": "14 m"}).label == "I"
    assert verify("", page, title="Low Light", **{"Height": "14 m"}).label == "C"


def test_field_of_one_word_is_not_compared_with_a_sentence_on_something_else() -> None:
    # "Open" stands beside 2021 too, but that sentence is about the road.
    page = "The Tarn Boat has run since 1949. The road has been open again since 2021."
    assert verify("", page, title="Tarn Boat", Opened="1949").label == "C"
    opening = "The Tarn Boat has run since 1949. Opening to all came in 2021."
    assert verify("", opening, title="Tarn Boat", Opened="1949").label == "I"


def test_value_of_another_year_is_contradicted() -> None:
    verdict = verify("14,200 visitors in 2022.")
    assert verdict.label == "I"
    assert "2021" in verdict.reason
    assert verify("18,900 visitors in 2022.").label == "C"


def test_year_in_a_columns_head_dates_its_values() -> None:
    assert verify("", TABLE, **{"Visitors 2022": "11,300"}).label == "I"
    assert verify("", TABLE, **{"Visitors 2019": "11,300"}).label == "C"


def test_value_in_another_things_row_is_contradicted() -> None:
    verdict = verify("", TABLE, Height="62 m")
    assert verdict.label == "I"
    assert "84" in verdict.reason
    assert verify("", TABLE, Height="84 m").label == "C"
    assert verify("", TABLE, title="Ruun Dam", Height="62 m").label == "C"


def test_value_in_another_column_is_contradicted() -> None:
    page = "Year | Visitors | Cars\n2021 | 14,200 | 3,100\n2022 | 18,900 | 4,400\n"
    assert verify("", f"Kelm Dam\n{page}", **{"Visitors 2022": "4,400"}).label == "I"
    assert verify("", f"Kelm Dam\n{page}", **{"Visitors 2022": "18,900"}).label == "C"


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("I", "Kelm Dam belongs to the Arn Water Board and was listed in 1999."),
        ("I", "Kelm Dam, of the Arn Water Board, holds 4,500 objects."),
        ("C", "Kelm Dam belongs to the Arn Water Board and is 84 m high."),
    ],
)
def test_number_in_digits_or_date_that_no_page_tells_makes_the_group_incorrect(label: str, text: str) -> None:
    assert verify(text).label == label


def test_count_in_words_may_be_the_writers_own() -> None:
    claims = claims_of_text("Kelm Dam has two parts. Kelm Dam has 2 parts.")
    assert [untold(claim, [PageIndex("Kelm Dam is old.")]) for claim in claims] == ["", "2"]


def test_date_is_told_by_any_of_the_cited_pages() -> None:
    pages = [EvidencePage("a", "u", DAM), EvidencePage("b", "v", "Kelm Dam was listed in 1999.")]
    verdict = verify_group("q", RubricRecord(1), "Kelm Dam", "Kelm Dam was listed in 1999.", {}, pages)
    assert verdict.label == "C"


def test_weekday_of_an_attribute_must_stand_on_the_page() -> None:
    page = "Kelm Dam is 84 metres high. Guided tours of the dam start every Sunday."
    assert verify("Kelm Dam: 84 m high, completed in 1964, guided tours every Friday", DAM + page).label == "I"
    assert verify("Kelm Dam: 84 m high, completed in 1964, guided tours every Sunday", DAM + page).label == "C"


def test_value_stands_under_its_row_and_column_or_heading() -> None:
    labels = {told.words: told.label for told in Surroundings(PageIndex(TABLE)).told}
    assert labels["62"] == "Ruun Dam Height (m)"
    assert labels["8,800"] == "Ruun Dam Visitors (2019)"
    headed = {told.words: told.label for told in Surroundings(PageIndex(DAM)).told}
    assert headed["18,900"] == "Visitors"
    assert headed["1964"] == ""
