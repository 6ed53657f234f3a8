"""Conditions of the rubric that a group plainly breaks, and those that silence does not break."""

from __future__ import annotations

import pytest

from lseval.domain.evidence import EvidencePage, VerdictDraft
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.limits import limits, rates
from lseval.judging.embedded.stage1 import verify_group

PAGE = """Kelm Dam

Kelm Dam, in the Sarn district, was completed in 1964. In 2022 it had 18,900 visitors.
It lies 40 kilometres from the Ostra Hills. There are four public tours a year. A tour costs 12 euros.
The dam has no fish ladder, and the crest is open.
"""


def verify(condition: str, text: str = "", page: str = PAGE, **fields: str) -> VerdictDraft:
    rubric = RubricRecord(1, constraints=(condition,))
    return verify_group("q", rubric, "Kelm Dam", text, fields, [EvidencePage("p", "u", page)])


@pytest.mark.parametrize(
    ("condition", "bound", "value", "kind", "year"),
    [
        ("It carried more than 200,000 passengers in 2023.", ">", 200_000, "", 2023),
        ("no more than 50 rooms", "<=", 50, "", 0),
        ("a span of at least 1.2 km", ">=", 1.2, "length", 0),
        ("opened before 1975", "<", 1975, "year", 0),
        ("founded after March 2010", ">", 2010, "year", 0),
        ("50 rooms or more", ">=", 50, "", 0),
        ("a tour at least once a month", ">=", 12, "rate", 0),
    ],
)
def test_limit_of_a_condition(condition: str, bound: str, value: float, kind: str, year: int) -> None:
    (limit,) = limits(condition)
    assert (limit.bound, limit.value, limit.kind, limit.year) == (bound, value, kind, year)


def test_between_sets_two_limits() -> None:
    assert [(limit.bound, limit.value) for limit in limits("built between 1960 and 1970")] == [
        (">=", 1960),
        ("<=", 1970),
    ]


@pytest.mark.parametrize("condition", ["", "It is a dam.", "It had 18,900 visitors in 2022.", "the two best dams"])
def test_condition_without_a_bound_sets_no_limit(condition: str) -> None:
    assert limits(condition) == []


@pytest.mark.parametrize(
    ("text", "rate"),
    [("twice a month", 24), ("every Friday", 52), ("four public tours a year", 4), ("daily", 365)],
)
def test_rate_is_told_as_times_a_year(text: str, rate: float) -> None:
    assert [found for found, _, _ in rates(text)] == [rate]


@pytest.mark.parametrize(
    ("label", "condition"),
    [
        ("I", "It was completed before 1960."),
        ("C", "It was completed before 1970."),
        ("I", "It was completed between 1970 and 1980."),
        ("C", "It was completed between 1960 and 1970."),
    ],
)
def test_own_value_outside_a_limit_breaks_it(label: str, condition: str) -> None:
    verdict = verify(condition, Completed="1964")
    assert verdict.label == label
    assert (verdict.claims[-1].claim == f"condition on the time: {condition}") == (label == "I")


def test_value_of_a_field_that_shares_words_with_a_limit_and_is_another_is_not_compared() -> None:
    page = "Kelm Dam has a spring hall area of 900 m²."
    fields = {"Spring hall area": "900 m²"}
    assert verify("a turbine hall area of less than 500 m²", page=page, **fields).label == "C"
    assert verify("a spring hall area of less than 500 m²", page=page, **fields).label == "I"
    assert verify("a hall area of less than 500 m²", page=page, **fields).label == "I"


def test_own_value_for_another_year_is_not_compared() -> None:
    condition = "It had more than 20,000 visitors in 2021."
    assert verify(condition, "Kelm Dam had 18,900 visitors in 2022.").label == "C"
    assert verify(condition.replace("2021", "2022"), "Kelm Dam had 18,900 visitors in 2022.").label == "I"


def test_only_year_of_a_group_is_the_one_that_is_bounded() -> None:
    assert verify("It was opened before 1960.", Year="1964").label == "I"
    assert verify("It was opened before 1960.", Completed="1964").label == "C"


def test_value_on_the_page_breaks_a_limit_where_the_response_gives_none() -> None:
    verdict = verify("It had more than 20,000 visitors in 2022.", City="Sarn")
    assert verdict.label == "I"
    assert "18,900" in verdict.reason
    assert verdict.claims[-1].quotation is not None
    assert "18,900" in verdict.claims[-1].quotation.text
    assert verify("It had more than 15,000 visitors in 2022.", City="Sarn").label == "C"


def test_frequency_on_the_page_breaks_a_condition() -> None:
    assert verify("There is a public tour at least once a month.", City="Sarn").label == "I"
    assert verify("There is a public tour at least twice a year.", City="Sarn").label == "C"


def test_place_that_the_page_names_only_as_somewhere_else_breaks_a_condition() -> None:
    verdict = verify("It is in the Ostra Hills.", City="Sarn")
    assert verdict.label == "I"
    assert verdict.claims[-1].claim.startswith("condition on the place: ")
    there = PAGE + "The Ostra Hills begin behind it."
    assert verify("It is in the Ostra Hills.", page=there, City="Sarn").label == "C"


def test_place_that_the_page_does_not_name_breaks_nothing() -> None:
    assert verify("It is in the Vellin Valley.", City="Sarn").label == "C"


def test_feature_that_the_page_only_denies_breaks_a_condition() -> None:
    assert verify("The dam has a fish ladder.", City="Sarn").label == "I"
    both = PAGE + "The old fish ladder was of wood, and the new ladder is of steel."
    assert verify("The dam has a fish ladder.", page=both, City="Sarn").label == "C"


def test_price_breaks_the_condition_that_something_is_free() -> None:
    assert verify("The tour is free.", City="Sarn").label == "I"
    assert verify("The tour is free.", page=PAGE + "The tour is free for all.", City="Sarn").label == "C"
    assert verify("The parking is free.", City="Sarn").label == "C"


def test_broken_condition_never_makes_an_unreadable_page_incorrect() -> None:
    rubric = RubricRecord(1, constraints=("It was completed before 1960.",))
    gone = EvidencePage("p", "u", "", "not_found")
    assert verify_group("q", rubric, "Kelm Dam", "", {"Completed": "1964"}, [gone]).label == "U"
