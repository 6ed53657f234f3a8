"""How turns become normalized rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lseval.domain.rounds import normalize_rounds
from lseval.domain.trajectory import ToolCallRecord, TurnRecord


def call(
    name: str,
    arguments: Mapping[str, Any] | None = None,
    observation: str | None = "seen",
    *,
    is_error: bool = False,
) -> ToolCallRecord:
    return ToolCallRecord(name, name, arguments or {}, observation, is_error)


def turn(*calls: ToolCallRecord, text: str = "", agent: str = "") -> TurnRecord:
    return TurnRecord(text, calls, agent)


def indices(*turns: TurnRecord) -> list[tuple[int, ...]]:
    return [round_.turn_indices for round_ in normalize_rounds(turns)]


def test_no_turns_give_no_rounds() -> None:
    assert normalize_rounds([]) == ()


def test_each_turn_is_a_round_numbered_from_one_with_its_words_and_calls() -> None:
    search, read = call("web_search", {"query": "a"}), call("read_page", {"url": "u"})
    first, second = normalize_rounds([turn(search, read, text="Looking."), turn(text="Done.", agent="Writer")])
    assert (first.number, first.turn_indices, first.text, first.calls) == (1, (0,), "Looking.", (search, read))
    assert (second.number, second.turn_indices, second.calls, second.agent) == (2, (1,), (), "Writer")


def test_repeat_of_an_identical_call_after_an_error_joins_the_round_it_repeats() -> None:
    failed = call("read_page", {"url": "u", "from": 0}, "timeout", is_error=True)
    again = call("read_page", {"from": 0, "url": "u"})  # the order of arguments does not matter
    rounds = normalize_rounds(
        [turn(failed, text="Reading."), turn(again, text="Once more."), turn(call("web_search"))]
    )
    assert [round_.turn_indices for round_ in rounds] == [(0, 1), (2,)]
    assert rounds[0].calls == (failed, again)
    assert rounds[0].text == "Reading.\n\nOnce more."
    assert rounds[1].number == 2


def test_repeats_join_until_one_succeeds() -> None:
    failed, succeeded = call("open_page", is_error=True), call("open_page")
    assert indices(turn(failed), turn(failed), turn(succeeded), turn(succeeded)) == [(0, 1, 2), (3,)]


def test_repeat_after_a_success_is_a_round_of_its_own() -> None:
    assert indices(turn(call("web_search")), turn(call("web_search"))) == [(0,), (1,)]


def test_repeat_with_other_arguments_is_a_round_of_its_own() -> None:
    failed = call("read_page", {"url": "a"}, is_error=True)
    assert indices(turn(failed), turn(call("read_page", {"url": "b"}))) == [(0,), (1,)]


def test_turn_that_also_calls_something_new_is_a_round_of_its_own() -> None:
    failed = call("read_page", is_error=True)
    assert indices(turn(failed), turn(call("read_page"), call("web_search"))) == [(0,), (1,)]


def test_only_the_failed_call_of_several_need_be_repeated() -> None:
    failed = call("read_page", {"url": "a"}, is_error=True)
    assert indices(turn(failed, call("read_page", {"url": "b"})), turn(call("read_page", {"url": "a"}))) == [(0, 1)]


def test_repeat_after_another_turn_does_not_reach_back_over_it() -> None:
    failed = call("read_page", is_error=True)
    assert indices(turn(failed), turn(text="Hm."), turn(call("read_page"))) == [(0,), (1,), (2,)]


def test_another_agents_identical_call_is_a_round_of_its_own() -> None:
    failed = call("read_page", is_error=True)
    assert indices(turn(failed, agent="A"), turn(call("read_page"), agent="B")) == [(0,), (1,)]


def test_each_message_of_a_several_agent_history_is_a_round() -> None:
    history = [turn(text="TERMINATE", agent="A"), turn(text="TERMINATE", agent="B"), turn(text="", agent="A")]
    assert indices(*history) == [(0,), (1,), (2,)]


def test_arguments_of_any_kind_are_compared() -> None:
    odd = {"list": [1, {"b": None}], "set": {1}, "text": "\ud800\x00"}
    assert indices(turn(call("x", odd, is_error=True)), turn(call("x", dict(odd)))) == [(0, 1)]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=12))
def test_every_turn_is_in_exactly_one_round_in_order(drawn: list[tuple[str, bool]]) -> None:
    rounds = normalize_rounds([turn(call(name, is_error=is_error)) for name, is_error in drawn])
    assert [index for round_ in rounds for index in round_.turn_indices] == list(range(len(drawn)))
    assert [round_.number for round_ in rounds] == list(range(1, len(rounds) + 1))
