"""A response that declines to answer supplies no group."""

from __future__ import annotations

import pytest

from lseval.domain.grouping import group_answer
from lseval.domain.refusals import LONGEST_REFUSAL, is_refusal


@pytest.mark.parametrize(
    "text",
    [
        "I am sorry, but I was not able to find out which two museums are meant.",
        "I'm sorry, I can’t help with that.",
        "Unfortunately, I could not verify the year.",
        "Unable to determine",
        "I cannot provide an answer because the page is behind a wall.",
        "No answer found.",
        "**Sorry**, nothing came up.",
        "很抱歉，没有找到答案。",
    ],
)
def test_a_response_that_says_it_has_no_answer_supplies_no_group(text: str) -> None:
    assert is_refusal(text)
    assert group_answer(text).groups == ()
    assert group_answer(text).method == "none"


@pytest.mark.parametrize(
    "text",
    [
        "The race is the Derby. I could not find the margin.",
        "Sorensen Bridge",
        "Nobody: no answer is recorded in the register.",
        "Cannot is a verb; the answer is 42.",
        "I found the ferry: Lake Aldis.",
    ],
)
def test_an_answer_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)
    assert len(group_answer(text).groups) == 1


def test_a_refusal_that_cites_a_page_is_kept_as_a_group() -> None:
    text = "I could not find the year, but see https://ferries.example/aldis for the ferry."
    assert len(group_answer(text).groups) == 1


def test_a_long_response_is_taken_at_its_word() -> None:
    text = "I could not find a single source, so here is what I pieced together. " + "It opened in 1962. " * 60
    assert len(text) > LONGEST_REFUSAL
    assert len(group_answer(text).groups) == 1
