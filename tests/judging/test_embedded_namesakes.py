"""A page about a namesake bears nothing out."""

from __future__ import annotations

import pytest

from lseval.domain.evidence import EvidencePage, VerdictDraft
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.namesakes import is_only_set_apart
from lseval.judging.embedded.passages import PageIndex
from lseval.judging.embedded.stage1 import verify_group

WEIR = "The weir at Kelm was built in 1988 and is 31 metres wide. "


@pytest.mark.parametrize(
    "sentence",
    [
        "It is often confused with Kelm Dam in the next valley.",
        "Unlike Kelm Dam, it keeps no water.",
        "It has no tie to Kelm Dam.",
        "Kelm Dam, with which it is often confused, is older.",
    ],
)
def test_name_that_is_only_told_apart_is_not_the_pages_subject(sentence: str) -> None:
    assert is_only_set_apart("Kelm Dam", PageIndex(WEIR + sentence))


@pytest.mark.parametrize(
    "page",
    [
        WEIR,  # not named at all
        "Kelm Dam was built in 1964. It is often confused with the weir at Kelm.",
        "Kelm Dam was built in 1964. Unlike Kelm Dam, the weir keeps no water.",
        "",
    ],
)
def test_name_that_is_told_of_or_missing_is_not_set_apart(page: str) -> None:
    assert not is_only_set_apart("Kelm Dam", PageIndex(page))


def test_longer_title_counts_as_named_by_what_stands_before_its_bracket() -> None:
    page = PageIndex(WEIR + "It has no tie to Kelm Dam.")
    assert is_only_set_apart("Kelm Dam (Sarn)", page)
    assert not is_only_set_apart("Kelm Weir (Sarn)", page)


def verify(*pages: str) -> VerdictDraft:
    evidence = [EvidencePage(str(number), "u", page) for number, page in enumerate(pages)]
    fields = {"Built": "1988", "Width": "31 m"}
    return verify_group("q", RubricRecord(1), "Kelm Dam", "", fields, evidence)


def test_group_cited_to_a_namesakes_page_is_incorrect_though_every_value_is_there() -> None:
    verdict = verify(WEIR + "It is often confused with Kelm Dam.")
    assert verdict.label == "I"
    assert {check.status for check in verdict.claims} == {"not_found"}
    assert verdict.claims[0].claim == "Kelm Dam"


def test_namesakes_page_is_passed_over_where_another_page_is_about_the_thing() -> None:
    dam = "Kelm Dam was built in 1988. The dam has a width of 31 metres."
    assert verify(WEIR + "It is often confused with Kelm Dam.", dam).label == "C"
