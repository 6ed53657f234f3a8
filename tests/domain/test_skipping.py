"""The pre-skip rules, one by one, and what they leave to the judges."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from lseval.domain.labels import SkipReason
from lseval.domain.rounds import normalize_rounds
from lseval.domain.skipping import METADATA_CHARS, skip_reasons
from lseval.domain.statements import makes_claim
from lseval.domain.trajectory import ToolCallRecord, TurnRecord
from lseval.formats.reading import read_runs
from tests.shared import shared_path

PAGE = "The harbour museum opened in 1987 in the old customs house. " * 20


def call(
    name: str, arguments: Mapping[str, Any] | None = None, observation: str | None = PAGE, *, is_error: bool = False
) -> ToolCallRecord:
    return ToolCallRecord(name, name, arguments or {}, observation, is_error)


def turn(*calls: ToolCallRecord, text: str = "", agent: str = "") -> TurnRecord:
    return TurnRecord(text, calls, agent)


def reasons(*turns: TurnRecord) -> list[SkipReason | None]:
    return list(skip_reasons(normalize_rounds(turns)))


def test_no_rounds_have_no_reasons() -> None:
    assert skip_reasons(()) == ()


def test_round_that_read_a_page_goes_to_the_judges() -> None:
    assert reasons(turn(call("read_page"))) == [None]


@pytest.mark.parametrize("observation", [None, "", " \n\t"])
def test_call_without_anything_observed_is_no_observation(observation: str | None) -> None:
    assert reasons(turn(call("read_page", observation=observation), text="It opened in 1987.")) == [
        SkipReason.NO_OBSERVATION
    ]


def test_round_without_calls_or_words_is_no_observation() -> None:
    assert reasons(turn(text=" \n")) == [SkipReason.NO_OBSERVATION]


def test_only_failed_calls_are_a_tool_error() -> None:
    failed = call("read_page", observation="HTTP 500", is_error=True)
    assert reasons(turn(failed)) == [SkipReason.TOOL_ERROR]
    assert reasons(turn(failed, call("open_page", observation=None))) == [SkipReason.TOOL_ERROR]


def test_failed_call_beside_an_answered_one_does_not_set_the_round_aside() -> None:
    assert reasons(turn(call("open_page", is_error=True), call("read_page", {"url": "b"}))) == [None]


def test_failure_that_a_repeat_mended_does_not_count() -> None:
    assert reasons(turn(call("read_page", is_error=True)), turn(call("read_page"))) == [None]


def test_same_call_with_the_same_observation_is_a_duplicate_of_the_earlier_round() -> None:
    read = call("read_page", {"url": "u"})
    assert reasons(turn(read), turn(call("web_search")), turn(read)) == [
        None,
        SkipReason.LISTING_ONLY,
        SkipReason.DUPLICATE,
    ]


def test_same_call_with_another_observation_is_no_duplicate() -> None:
    assert reasons(
        turn(call("read_page", {"url": "u"})), turn(call("read_page", {"url": "u"}, "Other. " * 200))
    ) == [
        None,
        None,
    ]


def test_repeated_call_with_a_new_claim_is_no_duplicate() -> None:
    read = call("read_page", {"url": "u"})
    assert reasons(turn(read), turn(read, text="The page says that it opened in 1987.")) == [None, None]


def test_repeated_call_with_the_same_claim_is_a_duplicate() -> None:
    said = turn(call("read_page", {"url": "u"}), text="The page says that it opened in 1987.")
    assert reasons(said, said) == [None, SkipReason.DUPLICATE]


def test_calls_of_two_earlier_rounds_together_are_no_duplicate_of_one() -> None:
    first, second = call("read_page", {"url": "a"}), call("read_page", {"url": "b"})
    assert reasons(turn(first), turn(second), turn(first, second)) == [None, None, None]


def test_message_repeated_by_the_same_agent_is_a_duplicate() -> None:
    said = "The count is 4."
    assert reasons(turn(text=said, agent="A"), turn(text=said, agent="B"), turn(text=said + "\n", agent="A")) == [
        None,
        None,
        SkipReason.DUPLICATE,
    ]


@pytest.mark.parametrize(
    "words",
    [
        "Let me search for the opening year of the Harbour Museum in Esbjerg.",
        "I will open https://museum.example/1987 next.",
        "1. Search for the 2019 report\n2. Read it\n3. Compare both numbers",
        "What did the museum cost in 2019?",
        "Please navigate to the Wikipedia page of Esbjerg and find the year.",
        "TERMINATE",
        "Next speaker WebSurfer",
        "让我搜索2019年的报告。",
    ],
)
def test_words_that_plan_ask_or_direct_are_planning_only(words: str) -> None:
    assert reasons(turn(text=words)) == [SkipReason.PLANNING_ONLY]


@pytest.mark.parametrize(
    "words",
    [
        "The museum opened in 1987.",
        "Based on the result, no gym near Tompkins Square Park has classes before 7am.",
        "Let me verify this. The final count of clients is 4, which is confirmed.",
        "Answer: Harbour Museum",
        "Here is the program:\n```python\nprint(sum(range(10)))\n```",
        "1. **Harbour Museum**: 85 kroner\n2. **Fishing Pavilion**: free",
        "北京大学成立于1898年，位于北京市海淀区。",
    ],
)
def test_message_that_states_something_is_evaluable_without_a_call(words: str) -> None:
    assert reasons(turn(text=words, agent="Expert")) == [None]


def test_bookkeeping_calls_without_a_claim_are_planning_only() -> None:
    todo = call("write_todos", {"todos": ["read"]}, "Updated to-do list")
    assert reasons(turn(todo)) == [SkipReason.PLANNING_ONLY]
    assert reasons(turn(todo, call("read_page"))) == [None]


def test_search_results_without_a_claim_are_listing_only() -> None:
    search = call("web_search", {"query": "museum"})
    assert reasons(turn(search, text="Let me search first.")) == [SkipReason.LISTING_ONLY]
    assert reasons(turn(search, text="The museum opened in 1987, as the first result says.")) == [None]
    assert reasons(turn(search, call("read_page"))) == [None]


def test_page_metadata_is_a_listing_and_page_content_is_not() -> None:
    metadata = json.dumps({"page_id": "p1", "title": "Harbour Museum", "url": "https://m.example/" + "x" * 900})
    links = json.dumps([{"title": f"Result {number}"} for number in range(200)])
    for listing in (metadata, links):
        assert reasons(turn(call("open_page", observation=listing))) == [SkipReason.LISTING_ONLY]
    for content in (json.dumps({"page_id": "p1", "page": [{"text": PAGE}]}), f"[1] {PAGE}"):
        assert reasons(turn(call("open_page", observation=content))) == [None]


def test_border_between_metadata_and_content() -> None:
    assert reasons(turn(call("open_page", observation="x" * METADATA_CHARS))) == [SkipReason.LISTING_ONLY]
    assert reasons(turn(call("open_page", observation="x" * (METADATA_CHARS + 1)))) == [None]
    assert reasons(turn(call("read_page", observation="x"))) == [None]


def test_tool_that_no_rule_names_is_left_to_the_judges() -> None:
    assert reasons(turn(call("Computer_terminal", observation="exitcode: 0\n4"))) == [None]


@pytest.mark.parametrize(
    "text", ["\x00" * 1000, "?" * 200_000, "#" * 200_000, "a " * 100_000, "\ud800", "😀" * 10_000]
)
def test_hostile_words_claim_nothing(text: str) -> None:
    assert not makes_claim(text)


def test_hostile_observation_is_content_like_any_other() -> None:
    assert reasons(turn(call("open_page", observation='{"a":' * 100_000))) == [None]


def test_decisive_steps_that_people_named_are_mostly_evaluable() -> None:
    """Who&When: the step that a person calls decisive should rarely be set aside before judging."""
    evaluable = total = 0
    for path in sorted(shared_path("data/who_and_when").glob("*/*.json")):
        for result in read_runs(path):
            assert result.record is not None
            record = result.record
            rounds = normalize_rounds(record.turns)
            for round_, reason in zip(rounds, skip_reasons(rounds), strict=True):
                steps = {record.turns[index].source_step for index in round_.turn_indices}
                if any(reference.step in steps for reference in record.references):
                    total += 1
                    evaluable += reason is None
    assert total == 92
    assert evaluable >= 84  # 86 when this was written
