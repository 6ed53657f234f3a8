"""What a question's wording asks for."""

from __future__ import annotations

import pytest

from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.rubric import MOST_CONSTRAINTS, derive_rubric


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("List five companies founded after 2010.", 5),
        ("Name 3 museums in Denmark.", 3),
        ("Please find at least four peer-reviewed papers on SRAM.", 4),
        ("What are the top 10 largest lakes in Africa?", 10),
        ("Which two countries border Spain?", 2),
        ("Give the names of three open-source databases.", 3),
        ("I need 3 recommendations.", 3),
        ("列出5个位于北京的大学", 5),
        ("找出三家2015年之后成立的电动车公司", 3),
        ("前十大银行有哪些？", 10),
        ("Who wrote Dune?", 1),
        ("", 1),
        ("\x00", 1),
        ("Find restaurants within 5 miles of Boston.", 1),
        ("Give 30 minutes to each.", 1),
        ("In 2015, which city hosted the show of the 12 animals?", 1),
        ("Which of the five Great Lakes is the deepest?", 1),
        ("Find 5,000 people", 1),
        ("List 0 things", 1),
        ("Find 999 people", 1),
    ],
)
def test_required_count(question: str, count: int) -> None:
    assert derive_rubric(question).required_count == count


@pytest.mark.parametrize(
    ("question", "fields"),
    [
        ("List five companies, with their founding year and location.", ("founding year", "location")),
        (
            "Name 3 museums. For each, give the opening year, the director and a source URL.",
            ("opening year", "director"),
        ),
        ("Find a hotel along with its phone number, price and address.", ("phone number", "price", "address")),
        ("Find four papers, including their DOI and first author.", ("DOI", "first author")),
        ("列出5个大学，以及其成立时间和学生人数。", ("成立时间", "学生人数")),
        ("Which museum opened with its new wing in 1990?", ()),
        ("Who wrote Dune?", ()),
    ],
)
def test_required_fields(question: str, fields: tuple[str, ...]) -> None:
    assert derive_rubric(question).required_fields == fields


@pytest.mark.parametrize(
    ("question", "constraints"),
    [
        (
            "List five companies founded after 2010 in Berlin that make batteries, with their founding year.",
            ("founded after 2010 in Berlin", "make batteries"),
        ),
        (
            "Which two countries border Spain and have a population of at least 5 million?",
            ("have a population of at least 5 million",),
        ),
        ("In 2015, which city hosted the show?", ("In 2015",)),
        ("Who wrote Dune?", ()),
    ],
)
def test_constraints_are_the_limiting_clauses_as_they_stand(question: str, constraints: tuple[str, ...]) -> None:
    assert derive_rubric(question).constraints == constraints


def test_grouping_rule_names_the_thing_asked_for() -> None:
    assert derive_rubric("List five companies in Berlin.").grouping_rule.startswith("Each company that")
    assert derive_rubric("Who wrote Dune?").grouping_rule.startswith("Each thing asked for that")


def test_rubric_of_a_question_is_always_the_same() -> None:
    question = "List five companies founded after 2010 that make batteries, with their founding year and location."
    assert derive_rubric(question) == derive_rubric(question)
    assert isinstance(derive_rubric(question), RubricRecord)


@pytest.mark.parametrize(
    "piece", ["with their a and ", "that which who ", "in b, ", "list ", "，", "1 ", "\x00", "\ud800"]
)
@pytest.mark.timeout(60)
def test_hostile_question_gives_a_short_rubric(piece: str) -> None:
    rubric = derive_rubric("List two things, " + piece * 50_000)
    assert rubric.required_count == 2
    assert len(rubric.constraints) <= MOST_CONSTRAINTS
