from __future__ import annotations

import json
from typing import Any

import pytest

from lseval.agent.errors import AgentFailedError
from lseval.agent.loop import MOST_CALLS_A_TURN
from lseval.domain.chat import Usage
from lseval.domain.controls import Controls
from lseval.providers.errors import (
    AccessRefusedError,
    BudgetSpentError,
    ContextTooLongError,
    OutOfCreditError,
    RateLimitedError,
)
from tests.agent.scripted import ANSWER, FERRY, QUESTION, TEXT, Model, Web, calls, finds, run, says

SEARCH = calls(("web_search", {"query": "ferry 1962"}))
OPEN = calls(("open_page", {"url": FERRY}))
READ = calls(("read_page", {"page_id": "p1"}), text="I read the page.")


def _kinds(result: Any) -> list[str]:
    return [event.kind for event in result.events]


def test_a_run_keeps_every_turn_with_words_calls_and_observations() -> None:
    model = Model(
        [SEARCH, OPEN, calls(("read_page", {"page_id": "p1"}), text="I read.", reasoning="hm"), says(ANSWER)]
    )
    result = run(model)
    assert (result.ended, result.final_answer, result.is_final_only) == ("answered", ANSWER, False)
    assert [call.name for turn in result.turns for call in turn.tool_calls] == [
        "web_search",
        "open_page",
        "read_page",
    ]
    assert (result.turns[2].text, result.turns[2].reasoning) == ("I read.", "hm")
    assert TEXT[:3000] in (result.turns[2].tool_calls[0].observation or "")
    assert result.iterations == 4
    assert result.usage == Usage(400, 150, 40, None)
    roles = [message.role for message in model.requests[-1].messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool", "assistant", "tool"]
    assert model.requests[0].messages[1].content == QUESTION


def test_each_request_continues_the_one_before_it() -> None:
    model = Model([SEARCH, OPEN, READ, says(ANSWER)])
    run(model)
    for earlier, later in zip(model.requests, model.requests[1:], strict=False):
        assert later.messages[: len(earlier.messages)] == earlier.messages


def test_calls_of_one_turn_are_carried_out_in_order() -> None:
    result = run(Model([calls(("open_page", {"url": FERRY}), ("read_page", {"page_id": "p1"})), says(ANSWER)]))
    assert [call.is_error for call in result.turns[0].tool_calls] == [False, False]


def test_more_calls_than_a_turn_may_have_are_refused() -> None:
    web = Web()
    asked = [("open_page", {"url": f"https://e.example/{number}"}) for number in range(MOST_CALLS_A_TURN + 3)]
    result = run(Model([calls(*asked), says(ANSWER)]), web=web)
    assert len(web.fetched) == MOST_CALLS_A_TURN
    assert sum(call.is_error for call in result.turns[0].tool_calls) == 3


def test_cut_off_arguments_are_told_and_asked_again_within_the_budget() -> None:
    broken = calls(("web_search", '{"query": "fer'), finish_reason="length")
    model = Model([broken, SEARCH, says(ANSWER)])
    result = run(model)
    assert result.turns[0].tool_calls[0].arguments == {"unparsed": '{"query": "fer'}
    assert "not JSON" in model.last_told(1)
    assert "cut off" in model.last_told(1)
    assert model.requests[1].messages[2].tool_calls[0].arguments == "{}"
    assert _kinds(result) == ["cut_off", "tool_error"]
    assert result.iterations == 3


def test_a_call_of_no_tool_is_told_under_a_name_that_providers_take() -> None:
    model = Model([calls(("browser.click now", {"x": 1})), says(ANSWER)])
    result = run(model)
    assert result.turns[0].tool_calls[0].name == "browser.click now"
    assert model.requests[1].messages[2].tool_calls[0].name == "unknown_tool"
    assert "the tools are web_search, open_page" in model.last_told()


def test_calls_without_an_identifier_or_with_the_same_get_their_own() -> None:
    reply = calls(("open_page", {"url": FERRY}), ("open_page", {"url": FERRY}))
    same = tuple(type(call)("", call.name, call.arguments) for call in reply.tool_calls)
    model = Model([type(reply)("", same), says(ANSWER)])
    run(model)
    sent = [call.call_id for call in model.requests[1].messages[2].tool_calls]
    assert sent == ["call_1_0", "call_1_1"]
    assert [message.call_id for message in model.requests[1].messages[3:]] == sent


@pytest.mark.parametrize(
    ("reply", "kind", "answer"),
    [
        (says(""), "empty_reply", ""),
        (says("  \n", reasoning="only thoughts"), "empty_reply", ""),
        (says("I'm sorry, I can't help with that."), "refused", "I'm sorry, I can't help with that."),
        (says("", refusal="I cannot."), "refused", "I cannot."),
    ],
)
def test_an_empty_reply_or_a_refusal_is_asked_once_more_and_then_final(reply: Any, kind: str, answer: str) -> None:
    result = run(Model([SEARCH, reply, reply]))
    assert (result.final_answer, result.ended) == (answer, "answered")
    assert _kinds(result) == [kind, kind]
    assert result.turns[-1].reasoning == reply.reasoning


def test_after_an_empty_reply_the_run_goes_on_and_may_be_empty_once_again() -> None:
    result = run(Model([says(""), SEARCH, says(""), says(ANSWER)]))
    assert result.final_answer == ANSWER
    assert _kinds(result) == ["empty_reply", "empty_reply"]


def test_an_answer_that_opens_with_regret_and_cites_is_an_answer() -> None:
    text = f"I could not find the second one. 1. Aldis {FERRY}"
    assert run(Model([says(text)])).final_answer == text


def test_a_call_written_as_text_is_not_taken_for_an_answer() -> None:
    model = Model([says('<tool_call>{"name": "web_search"}</tool_call>'), SEARCH, says(ANSWER)])
    result = run(model)
    assert result.final_answer == ANSWER
    assert "interface for tool calls" in model.last_told(1)


def test_when_the_budget_is_spent_one_answer_is_asked_for_without_tools() -> None:
    model = Model([SEARCH, OPEN, says(ANSWER)])
    result = run(model, controls=Controls(iterations=2))
    assert (result.ended, result.is_final_only, result.final_answer) == ("budget", True, ANSWER)
    assert [bool(request.tools) for request in model.requests] == [True, True, False]
    assert "budget" in model.last_told()
    assert len(result.turns) == 2


def test_early_stopping_stop_ends_without_an_answer() -> None:
    result = run(Model([SEARCH]), controls=Controls(iterations=1, early_stopping="stop"))
    assert (result.ended, result.is_final_only, result.final_answer) == ("budget", False, "")


def test_a_last_answer_that_is_empty_is_asked_for_once_more() -> None:
    result = run(Model([SEARCH, calls(("web_search", {"query": "x"})), says("")]), controls=Controls(iterations=1))
    assert (result.final_answer, result.is_final_only) == ("", True)
    assert "call_without_tools" in _kinds(result)


def test_the_watchdog_ends_a_run_that_takes_too_long() -> None:
    times = iter([0.0, 0.0, 50.0, 101.0])
    result = run(Model([SEARCH, OPEN, says(ANSWER)]), controls=Controls(watchdog_s=100), clock=lambda: next(times))
    assert (result.ended, result.is_final_only, result.iterations) == ("watchdog", True, 3)


def test_web_search_is_taken_away_after_too_many_fruitless_searches() -> None:
    model = Model([SEARCH, SEARCH, SEARCH, SEARCH, says(ANSWER)])
    result = run(model, controls=Controls(stagnation_warn=1, stagnation_cut=2), search=finds(FERRY))
    assert ["web_search" in {tool.name for tool in request.tools} for request in model.requests] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert _kinds(result) == ["stagnation", "search_taken", "tool_error"]
    assert result.turns[3].tool_calls[0].is_error


def _long_run(*errors: int) -> list[Any]:
    reading = [calls(("read_page", {"page_id": "p1", "offset": 100 * number})) for number in range(8)]
    script: list[Any] = [OPEN, *reading, says(ANSWER)]
    for place in sorted(errors, reverse=True):
        script.insert(place, ContextTooLongError("too long"))
    return script


def test_a_chat_too_long_for_the_model_is_shortened_and_the_run_keeps_it_whole() -> None:
    model = Model(_long_run(9))
    result = run(model)
    assert result.final_answer == ANSWER
    assert _kinds(result) == ["shortened"]
    before, after = model.requests[9].messages, model.requests[10].messages
    assert len(before) == len(after)
    assert sum(len(message.content) for message in after) < sum(len(message.content) for message in before) - 4_000
    assert "left out to make room" in after[5].content
    assert after[-1] == before[-1]
    assert all(len(turn.tool_calls[0].observation or "") > 3_000 for turn in result.turns[1:])


def test_a_chat_that_cannot_be_shortened_enough_ends_in_an_answer_without_tools() -> None:
    too_long = ContextTooLongError("too long")
    model = Model([OPEN, READ, READ, READ, READ, READ, *[too_long] * 3, says(ANSWER)])
    result = run(model)
    assert (result.ended, result.is_final_only, result.final_answer) == ("context", True, ANSWER)


def test_a_question_too_long_for_the_model_fails() -> None:
    with pytest.raises(AgentFailedError) as caught:
        run(Model([ContextTooLongError("too long")] * 2))
    assert caught.value.cause_code == "context_too_long"


@pytest.mark.parametrize("error", [AccessRefusedError("401"), OutOfCreditError("402")])
def test_a_provider_that_refuses_for_good_makes_no_run(error: Exception) -> None:
    with pytest.raises(AgentFailedError) as caught:
        run(Model([SEARCH, error]))
    assert caught.value.cause_code == error.code  # type: ignore[attr-defined]
    assert len(caught.value.partial.turns) == 1
    assert caught.value.partial.ended == "failed"


@pytest.mark.parametrize("error", [BudgetSpentError("spent"), RateLimitedError("later", 90.0)])
def test_what_may_go_on_later_passes_through(error: Exception) -> None:
    with pytest.raises(type(error)):
        run(Model([SEARCH, error]))


def test_progress_is_told_after_every_reply_and_may_end_the_loop() -> None:
    told: list[tuple[int, int]] = []
    run(Model([SEARCH, OPEN, says(ANSWER)]), on_progress=lambda p: told.append((p.iterations, p.tool_calls)))
    assert told == [(1, 1), (2, 2), (3, 2)]

    class Lost(Exception):
        pass

    def lose(progress: object) -> None:
        raise Lost

    with pytest.raises(Lost):
        run(Model([SEARCH]), on_progress=lose)


def test_a_model_that_writes_its_calls_runs_the_same_protocol() -> None:
    replies = [
        says('Thought: search.\nAction: web_search\n{"query": "ferry"}\nObservation: I made this up'),
        says("It is surely the Aldis ferry."),
        says(f'Action: open_page\n{json.dumps({"url": FERRY})}\nAction: read_page\n{{"page_id": "p1"}}'),
        says(f"Final answer:\n{ANSWER}"),
    ]
    model = Model(replies)
    result = run(model, tool_calls="text")
    assert result.final_answer == ANSWER
    assert [call.name for turn in result.turns for call in turn.tool_calls] == [
        "web_search",
        "open_page",
        "read_page",
    ]
    assert _kinds(result) == ["invented_observation", "malformed"]
    assert all(not request.tools for request in model.requests)
    assert "made this up" not in "".join(message.content for message in model.requests[1].messages)
    assert {message.role for message in model.requests[-1].messages} == {"system", "user", "assistant"}
    assert '"page_id"' in model.requests[0].messages[0].content


def test_text_that_cannot_be_stored_is_mended() -> None:
    result = run(
        Model([calls(("web_search", {"query": "x"}), text="\ud83d\ude00\x00"), says("A\udc00 https://a.example")])
    )
    assert result.turns[0].text == "😀�"
    assert result.final_answer == "A� https://a.example"
