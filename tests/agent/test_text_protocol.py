from __future__ import annotations

import pytest

from lseval.agent.text_protocol import answer_without_marker, read_reply


@pytest.mark.parametrize(
    "text",
    [
        'I look.\nAction: web_search\n{"query": "a}b"}',
        'I look.\n**Action:** `web_search`\n```json\n{"query": "a}b"}\n```',
        'I look.\naction: web_search {"query": "a}b"}\nand then I wait',
        'I look.\nAction: web_search\nAction Input: {"query": "a}b"}',
        'I look.\nAction：web_search\n\n{\n  "query": "a}b"\n}\n',
    ],
)
def test_a_call_is_read_however_it_is_set(text: str) -> None:
    read = read_reply(text, "c1")
    assert read.problem == ""
    assert [(call.call_id, call.name) for call in read.calls] == [("c1_0", "web_search")]
    assert '"a}b"' in read.calls[0].arguments
    assert read.thought == "I look."


def test_several_calls_keep_their_order() -> None:
    read = read_reply('Action: a\n{"x": 1}\nAction: b\n{"y": 2}', "c")
    assert [(call.name, call.arguments) for call in read.calls] == [("a", '{"x": 1}'), ("b", '{"y": 2}')]


def test_broken_arguments_are_left_to_the_tool() -> None:
    read = read_reply('Action: web_search\n{"query": "cut o', "c")
    assert read.calls[0].arguments == '{"query": "cut o'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("I think it is Lake Aldis.", "neither a call nor a final answer"),
        ("Action: web_search for ferries", "no JSON object"),
        ("Action: web_search", "no JSON object"),
        ("Action:\n{}", "no tool's name"),
        ('Action: web_search\n{"query": "a"}\nFinal answer: 1. X', "calls and a final answer"),
        ('Final answer: 1. X\nAction: web_search\n{"query": "a"}', "a final answer and calls"),
    ],
)
def test_what_does_not_follow_the_grammar_is_a_problem_and_no_guess(text: str, problem: str) -> None:
    read = read_reply(text, "c")
    assert problem in read.problem
    assert (read.calls, read.final_answer) == ((), None)


@pytest.mark.parametrize(
    "text",
    ["Thought.\nFinal answer:\n1. X\n2. Y", "**Final Answer:**\n1. X\n2. Y", "## Final answer: 1. X\n2. Y"],
)
def test_the_final_answer_is_all_that_follows_its_line(text: str) -> None:
    assert read_reply(text, "c").final_answer == "1. X\n2. Y"


def test_a_line_of_the_answer_that_only_looks_like_a_call_stays_in_it() -> None:
    text = "Final answer:\n1. Heat\nGenre: crime\nAction: much of it"
    assert read_reply(text, "c").final_answer == "1. Heat\nGenre: crime\nAction: much of it"


def test_what_a_model_invents_as_an_observation_is_not_read() -> None:
    text = (
        'Action: open_page\n{"url": "u"}\nObservation: page_id: p1\nAction: read_page\n{"page_id": "p1"}\n'
        "Final answer: 1."
    )
    read = read_reply(text, "c")
    assert [call.name for call in read.calls] == ["open_page"]
    assert read.is_invented


def test_an_answer_asked_for_without_tools_needs_no_marker() -> None:
    assert answer_without_marker(" 1. X ") == "1. X"
    assert answer_without_marker("So.\nFinal answer: 1. X") == "1. X"
