"""Simulated models behind the interface of real ones: they know nothing but the chat that they are sent."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from lseval.domain.chat import CalledTool, ChatReply, ChatRequest, Message, Usage
from lseval.providers.errors import RequestRefusedError
from lseval.sandbox.plans import Plan, plan_of
from lseval.sandbox.profiles import Profile
from lseval.sandbox.steps import PlannedCall, Step
from lseval.sandbox.world import SandboxTask, World

_PAGE_ID: Final = re.compile(r"\bpage_id\W{1,4}(p\d+)\b")
_CHARS_A_TOKEN: Final = 4


class SimulatedModel:
    """One model on one world. It keeps nothing between calls: the chat alone says where it is."""

    def __init__(self, world: World, profile: Profile) -> None:
        self._world = world
        self._profile = profile

    def reply(self, request: ChatRequest) -> ChatReply:
        """The next turn of the run that the chat is.

        Raises:
            RequestRefusedError: the chat asks none of the world's questions.
        """
        plan = self._plan_of(self.task_of(request))
        turn = _turns(request)
        if not request.tools or turn >= len(plan.steps):
            return _reply(request.messages, plan.answer, ())
        step = plan.steps[turn]
        calls = _calls(step, turn, request.messages)
        return _reply(request.messages, step.text, calls)

    def task_of(self, request: ChatRequest) -> SandboxTask:
        """The task whose question the chat asks; raises as `reply` does."""
        for message in request.messages:
            task = self._world.task_of(message.content) if message.role == "user" else None
            if task is not None:
                return task
        raise RequestRefusedError("This simulated model answers only the questions of its own made-up world.")

    def is_busy(self, request: ChatRequest) -> bool:
        """Whether this is the turn at which its server turns a first attempt away."""
        return self._plan_of(self.task_of(request)).busy_turn == _turns(request) + 1

    def _plan_of(self, task: SandboxTask) -> Plan:
        return plan_of(self._world, self._profile, task.number)


def _turns(request: ChatRequest) -> int:
    return sum(1 for message in request.messages if message.role == "assistant")


def _calls(step: Step, turn: int, messages: Sequence[Message]) -> tuple[CalledTool, ...]:
    needed = {call.url for call in step.calls if call.name not in ("open_page", "web_search")}
    known = _page_ids(messages, needed) if needed else {}
    return tuple(
        CalledTool(f"call_{turn + 1}_{number}", call.name, json.dumps(_arguments(call, known)))
        for number, call in enumerate(step.calls, start=1)
    )


def _arguments(call: PlannedCall, known: dict[str, str]) -> dict[str, object]:
    if call.name in ("open_page", "web_search"):
        return dict(call.arguments)
    return {"page_id": known.get(call.url, "p0"), **call.arguments}


def _page_ids(messages: Sequence[Message], urls: set[str]) -> dict[str, str]:
    """The identifiers that opening these addresses has given, read from the chat."""
    asked: dict[str, str] = {}
    found: dict[str, str] = {}
    for message in messages:
        if message.role == "assistant":
            for call in message.tool_calls:
                if call.name == "open_page" and (url := _url_of(call)) in urls:
                    asked[call.call_id] = url
        elif message.role == "tool" and message.call_id in asked:
            told = _PAGE_ID.search(message.content)
            if told:
                found[asked[message.call_id]] = told[1]
    return found


def _url_of(call: CalledTool) -> str:
    try:
        given = json.loads(call.arguments)
    except ValueError:
        return ""
    return str(given.get("url", "")) if isinstance(given, dict) else ""


def _reply(messages: Sequence[Message], text: str, calls: tuple[CalledTool, ...]) -> ChatReply:
    """The reply with its tokens: a token for every four characters, all but the latest messages from the cache."""
    sizes = [len(message.content) for message in messages]
    last = max((place for place, message in enumerate(messages) if message.role == "assistant"), default=0)
    written = len(text) + sum(len(call.arguments) + len(call.name) for call in calls)
    usage = Usage(
        input_tokens=sum(sizes) // _CHARS_A_TOKEN,
        cached_tokens=sum(sizes[:last]) // _CHARS_A_TOKEN,
        output_tokens=written // _CHARS_A_TOKEN + 1,
        reasoning_tokens=0,
    )
    return ChatReply(text, calls, finish_reason="tool_calls" if calls else "stop", usage=usage)
