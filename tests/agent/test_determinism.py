"""Given the same replies, the loop asks the same, byte by byte."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lseval.domain.chat import CalledTool, ChatReply, ChatRequest, Usage
from lseval.domain.controls import Controls
from lseval.providers.errors import ContextTooLongError
from tests.agent.scripted import ANSWER, FERRY, Model, Web, calls, finds, run, says

_ARGUMENTS = st.one_of(
    st.fixed_dictionaries({"query": st.sampled_from(["a", "b", "é", ""])}),
    st.fixed_dictionaries({"url": st.sampled_from([FERRY, "https://b.example/", "no address"])}),
    st.fixed_dictionaries({"page_id": st.sampled_from(["p1", "p2"]), "offset": st.integers(-1, 9_000)}),
    st.fixed_dictionaries({"page_id": st.just("p1"), "pattern": st.sampled_from(["ferry", "840"])}),
    st.fixed_dictionaries({"page_id": st.just("p1"), "fields": st.lists(st.sampled_from(["opened", "metres"]))}),
).map(json.dumps) | st.text(max_size=20)
_CALL = st.builds(
    CalledTool,
    call_id=st.sampled_from(["a", "b", ""]),
    name=st.sampled_from(["web_search", "open_page", "read_page", "find_in_page", "extract", "none"]),
    arguments=_ARGUMENTS,
)
_TEXT = st.sampled_from(
    ["", "I see.", "I'm sorry.", "<tool_call>{}", 'Action: open_page\n{"url": "https://b.example"}', "\ud800"]
)
_REPLY = st.builds(
    ChatReply,
    text=_TEXT,
    tool_calls=st.lists(_CALL, max_size=3).map(tuple),
    finish_reason=st.sampled_from(["stop", "length"]),
    usage=st.just(Usage(1, None, 1, None)),
)
_SCRIPT = st.lists(_REPLY | st.just("too long"), max_size=12)


def _script(drawn: list[Any]) -> list[Any]:
    replies = [ContextTooLongError("x") if reply == "too long" else reply for reply in drawn]
    return [*replies, *[ChatReply(f"Final answer:\n{ANSWER}")] * 3]


def _bytes(requests: list[ChatRequest]) -> bytes:
    return json.dumps([asdict(request) for request in requests], ensure_ascii=True).encode()


@settings(max_examples=150, deadline=None)
@given(drawn=_SCRIPT, tool_calls=st.sampled_from(["native", "text"]))
def test_the_same_replies_get_the_same_requests(drawn: list[Any], tool_calls: Any) -> None:
    controls = Controls(iterations=10, stagnation_warn=1, stagnation_cut=2)
    seen = []
    for _ in range(2):
        model = Model(_script(drawn))
        try:
            result = run(model, controls=controls, search=finds(FERRY), web=Web(), tool_calls=tool_calls)
        except Exception as error:  # noqa: BLE001 - whatever ends the run must end it the same way
            outcome: object = (type(error), str(error))
        else:
            outcome = (result.turns, result.final_answer, result.metadata)
            json.dumps(result.metadata).encode()
        seen.append((_bytes(model.requests), outcome))
    assert seen[0] == seen[1]
    assert not isinstance(seen[0][1][0], type) or seen[0][1][0].__name__ == "AgentFailedError"  # type: ignore[index]


class _Crash(Exception):
    pass


class _Kept:
    """A model whose replies are kept by what it was asked; it goes down before its reply number `crash_at`."""

    def __init__(self, script: list[Any], crash_at: int) -> None:
        self._model = Model(script)
        self._replies: dict[str, ChatReply] = {}
        self._crash_at = crash_at
        self.asked = 0

    def __call__(self, request: ChatRequest) -> ChatReply:
        key = json.dumps(asdict(request))
        if key not in self._replies:
            if self.asked == self._crash_at:
                self._crash_at = -1
                raise _Crash
            self.asked += 1
            self._replies[key] = self._model(request)
        return self._replies[key]


@pytest.mark.parametrize("crash_at", range(6))
@pytest.mark.parametrize("tool_calls", ["native", "text"])
def test_a_run_that_crashed_anywhere_goes_on_and_asks_nothing_twice(crash_at: int, tool_calls: Any) -> None:
    script: list[Any] = [
        calls(("web_search", {"query": "a"}), ("open_page", {"url": FERRY})),
        calls(("read_page", {"page_id": "p1"}), text="I read."),
        calls(("find_in_page", '{"broken')),
        says(""),
        says(f"Final answer:\n{ANSWER}"),
    ]
    if tool_calls == "text":
        script[:3] = [
            says('Action: web_search\n{"query": "a"}'),
            says(f'Action: open_page\n{{"url": "{FERRY}"}}\nAction: read_page\n{{"page_id": "p1"}}'),
            says("Just words."),
        ]
    whole = run(Model(list(script)), tool_calls=tool_calls)
    model: Any = _Kept(list(script), crash_at)
    try:
        result = run(model, tool_calls=tool_calls)
    except _Crash:
        result = run(model, tool_calls=tool_calls)
    assert result == whole
    assert model.asked == len(script)
