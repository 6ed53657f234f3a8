"""The loop that every evaluated model runs in.

It is a function of the replies that it gets: given the same ones it asks the same, byte by byte. So a run is
resumed after a crash by running the loop again, on a ledger that serves what was answered already.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from lseval.agent.chat_log import ChatLog
from lseval.agent.errors import AgentFailedError
from lseval.agent.run import AgentRun, Ended, Event, Progress, sum_usage
from lseval.agent.schemas import tool_schemas
from lseval.agent.text_protocol import answer_without_marker, read_reply
from lseval.agent.texts import clean
from lseval.agent.tools import Toolbox, ToolResult
from lseval.agent.wording import Wording, wording
from lseval.domain.chat import CalledTool, Chat, ChatReply, ChatRequest, Endpoint, Message, ToolSchema, Usage
from lseval.domain.controls import Controls
from lseval.domain.refusals import is_refusal
from lseval.domain.trajectory import TurnRecord
from lseval.domain.web import Fetch, Search
from lseval.providers.errors import (
    AccessRefusedError,
    BlockedAddressError,
    ContextTooLongError,
    OutOfCreditError,
    ProviderError,
    RequestRefusedError,
)

MOST_CALLS_A_TURN = 32
"""Calls beyond these in one turn are refused, so that one reply cannot ask for thousands."""

_PERMANENT = (AccessRefusedError, BlockedAddressError, OutOfCreditError, RequestRefusedError)
_CUT_OFF = "length"
_WRITTEN_CALL = re.compile(r"<tool_call>|<\|?tool[_▁]calls?|<function=|<\|python_tag\|>|\[TOOL_CALLS\]")
_URL = re.compile(r"https?://")
_SAFE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def run_agent(
    question: str,
    endpoint: Endpoint,
    controls: Controls,
    chat: Chat,
    search: Search,
    fetch: Fetch,
    *,
    tool_calls: Literal["native", "text"] = "native",
    clock: Callable[[], float] = time.monotonic,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> AgentRun:
    """The run of a model on a question, once it has ended.

    `clock` tells seconds and is asked for the watchdog only. `on_progress` is called after every reply; what it
    raises ends the loop.

    Raises:
        AgentFailedError: a provider refuses for good; there is no run.
        ProviderError: any other error of a provider, such as a pause it asks for or a spent budget: the same
            call of this function can go on later.
    """
    loop = _Loop(question, endpoint, controls, chat, Toolbox(search, fetch, controls, wording()), tool_calls)
    loop.clock, loop.on_progress = clock, on_progress
    try:
        return loop.run()
    except _PERMANENT as error:
        raise AgentFailedError(f"The run cannot go on: {error}", error.code, loop.result("failed", "")) from error


@dataclass(frozen=True, slots=True)
class _Final:
    text: str
    reasoning: str = ""


class _OutOfRoomError(Exception):
    """The chat does not fit the model even when it is shortened."""


class _Loop:
    """One run in the making."""

    def __init__(
        self,
        question: str,
        endpoint: Endpoint,
        controls: Controls,
        chat: Chat,
        toolbox: Toolbox,
        tool_calls: Literal["native", "text"],
    ) -> None:
        self.clock: Callable[[], float] = time.monotonic
        self.on_progress: Callable[[Progress], None] = lambda progress: None
        self._endpoint = endpoint
        self._controls = controls
        self._chat = chat
        self._toolbox = toolbox
        self._words: Wording = wording()
        self._is_text = tool_calls == "text"
        schemas = tool_schemas(controls)
        opening = (
            Message("system", self._words.opening(schemas, is_text=self._is_text)),
            Message("user", clean(question)),
        )
        self._log = ChatLog(opening, self._words)
        self._schemas: tuple[ToolSchema, ...] = () if self._is_text else schemas
        self._turns: list[TurnRecord] = []
        self._events: list[Event] = []
        self._served: dict[str, None] = {}
        self._iterations = 0
        self._calls = 0
        self._usage = Usage()
        self._without_usage = 0
        self._was_asked_again = False
        self._is_final_only = False

    def run(self) -> AgentRun:
        started = self.clock()
        ended: Ended = "budget"
        while self._iterations < self._controls.iterations:
            if self.clock() - started > self._controls.watchdog_s:
                ended = "watchdog"
                break
            try:
                reply = self._ask(self._schemas)
            except _OutOfRoomError:
                ended = "context"
                break
            final = self._take_written(reply) if self._is_text else self._take(reply)
            self.on_progress(Progress(self._iterations, self._calls, self._usage))
            if final is not None:
                return self.result("answered", final.text, final.reasoning)
        self._note(ended)
        if self._controls.early_stopping == "stop":
            return self.result(ended, "")
        final = self._final_only()
        return self.result(ended, final.text, final.reasoning)

    def result(self, ended: Ended, answer: str, reasoning: str = "") -> AgentRun:
        return AgentRun(
            turns=tuple(self._turns),
            final_answer=answer,
            ended=ended,
            is_final_only=self._is_final_only,
            iterations=self._iterations,
            usage=self._usage,
            controls=self._controls,
            words=self._words,
            tool_calls="text" if self._is_text else "native",
            final_reasoning=reasoning,
            events=tuple(self._events),
            pages=self._toolbox.pages.opened(),
            served_models=tuple(self._served),
            replies_without_usage=self._without_usage,
        )

    def _ask(self, tools: tuple[ToolSchema, ...], *, is_last: bool = False) -> ChatReply:
        """The model's next reply, the chat shortened as often as it has to be; see `ChatLog.shorten`."""
        while True:
            try:
                reply = self._chat(ChatRequest(self._endpoint, self._log.messages(), tools))
                break
            except ContextTooLongError as error:
                if not self._log.shorten(also_recent=is_last):
                    if is_last:
                        raise
                    raise _OutOfRoomError from error
                self._note("shortened")
        self._iterations += 1
        self._usage = sum_usage((self._usage, reply.usage))
        if reply.usage.input_tokens is None and reply.usage.output_tokens is None:
            self._without_usage += 1
        if reply.served_model:
            self._served[clean(reply.served_model)] = None
        if reply.finish_reason == _CUT_OFF:
            self._note("cut_off")
        return replace(
            reply, text=clean(reply.text), reasoning=clean(reply.reasoning), refusal=clean(reply.refusal)
        )

    def _take(self, reply: ChatReply) -> _Final | None:
        """Carry out a reply's calls; the final answer where it makes none."""
        if reply.tool_calls:
            self._was_asked_again = False
            self._carry_out(reply, reply.tool_calls)
            return None
        if _WRITTEN_CALL.search(reply.text):
            self._turn_back(reply, "written_call", self._words.notice("written_call"))
            return None
        return self._answer(reply, reply.text)

    def _take_written(self, reply: ChatReply) -> _Final | None:
        """The same for a model that writes its calls."""
        if reply.tool_calls:
            problem = self._words.notice("call_in_interface")
            self._turn_back(reply, "malformed", self._words.notice("malformed", problem=problem))
            return None
        if not reply.text.strip() or reply.refusal:
            return self._answer(reply, reply.text)
        read = read_reply(reply.text, f"call_{self._iterations}")
        if read.final_answer is not None:
            return self._answer(reply, read.final_answer)
        if read.problem:
            if is_refusal(reply.text) and not _URL.search(reply.text):
                return self._answer(reply, reply.text)
            self._turn_back(reply, "malformed", self._words.notice("malformed", problem=read.problem))
            return None
        if read.is_invented:
            self._note("invented_observation")
        self._was_asked_again = False
        self._carry_out(replace(reply, text=read.thought), read.calls)
        return None

    def _answer(self, reply: ChatReply, text: str) -> _Final | None:
        """The final answer; None where it is empty or a refusal, and is asked for once more."""
        said = text.strip() or reply.refusal.strip()
        is_refused = bool(reply.refusal) or (is_refusal(said) and not _URL.search(said))
        if (said and not is_refused) or self._was_asked_again:
            if not said or is_refused:
                self._note("refused" if said else "empty_reply", "again, so it is final")
            return _Final(said, reply.reasoning)
        self._was_asked_again = True
        name = "refused" if said else "empty_reply"
        self._turn_back(replace(reply, text=said), name, self._words.notice(name))
        return None

    def _turn_back(self, reply: ChatReply, kind: str, notice: str) -> None:
        """Keep a reply that leads nowhere as a turn without calls, and say so to the model."""
        self._note(kind)
        if reply.finish_reason == _CUT_OFF:
            notice = f"{notice} {self._words.notice('cut_off')}"
        self._turns.append(TurnRecord(reply.text, (), reasoning=reply.reasoning))
        self._log.say(Message("assistant", reply.text or self._words.notice("nothing_said")))
        self._log.say(Message("user", notice))

    def _carry_out(self, reply: ChatReply, asked: tuple[CalledTool, ...]) -> None:
        results = [self._call(number, call, reply) for number, call in enumerate(asked)]
        self._turns.append(
            TurnRecord(reply.text, tuple(result.record for result in results), reasoning=reply.reasoning)
        )
        self._calls += len(results)
        if self._is_text:
            self._log.say(Message("assistant", _written(reply.text, results)))
            for result in results:
                told = f"Observation ({result.record.name}):\n{result.record.observation}"
                self._log.observe(Message("user", told))
        else:
            self._log_native(reply.text, asked, results)
        if self._toolbox.stagnation.is_cut and any(tool.name == "web_search" for tool in self._schemas):
            self._schemas = tuple(tool for tool in self._schemas if tool.name != "web_search")

    def _call(self, number: int, call: CalledTool, reply: ChatReply) -> ToolResult:
        was_cut = self._toolbox.stagnation.is_cut
        before = self._toolbox.stagnation.in_a_row
        refusal = (
            f"at most {MOST_CALLS_A_TURN} calls can be made in one turn." if number >= MOST_CALLS_A_TURN else ""
        )
        result = self._toolbox.call(call, refusal=refusal)
        record = result.record
        if record.is_error:
            self._note("tool_error", f"{record.name[:60]}: {(record.observation or '')[:200]}")
            if reply.finish_reason == _CUT_OFF:
                told = f"{record.observation} {self._words.notice('cut_off')}"
                return replace(result, record=replace(record, observation=told))
        in_a_row = self._toolbox.stagnation.in_a_row
        if self._toolbox.stagnation.is_cut and not was_cut:
            self._note("search_taken", str(in_a_row))
        elif in_a_row > before and in_a_row >= self._controls.stagnation_warn:
            self._note("stagnation", str(in_a_row))
        return result

    def _log_native(self, text: str, asked: tuple[CalledTool, ...], results: list[ToolResult]) -> None:
        """Send calls back as they came, made safe: providers refuse broken arguments, names and doubled ids."""
        sent: list[CalledTool] = []
        taken: set[str] = set()
        for number, (call, result) in enumerate(zip(asked, results, strict=True)):
            call_id = clean(call.call_id)
            if not call_id or call_id in taken:
                call_id = f"call_{self._iterations}_{number}"
            taken.add(call_id)
            name = call.name if _SAFE_NAME.fullmatch(call.name) else "unknown_tool"
            sent.append(CalledTool(call_id, name, result.echo))
        self._log.say(Message("assistant", text, tuple(sent)))
        for call, result in zip(sent, results, strict=True):
            self._log.observe(Message("tool", result.record.observation or "", call_id=call.call_id))

    def _final_only(self) -> _Final:
        """One answer asked for without tools; once more where it is empty or a refusal."""
        self._is_final_only = True
        self._was_asked_again = False
        self._log.say(Message("user", self._words.final_only))
        while True:
            reply = self._ask((), is_last=True)
            if reply.tool_calls:
                self._note("call_without_tools", ", ".join(clean(call.name)[:60] for call in reply.tool_calls[:5]))
            answer = answer_without_marker(reply.text) if self._is_text else reply.text
            final = self._answer(reply, answer)
            self.on_progress(Progress(self._iterations, self._calls, self._usage))
            if final is not None:
                return final

    def _note(self, kind: str, detail: str = "") -> None:
        self._events.append(Event(self._iterations, kind, detail))


def _written(thought: str, results: list[ToolResult]) -> str:
    """A turn of a model that writes its calls, as it is sent back: without anything it wrote after them."""
    lines = [thought] if thought else []
    lines += [f"Action: {result.record.name}\n{result.echo}" for result in results]
    return "\n\n".join(lines)


__all__ = ["MOST_CALLS_A_TURN", "ProviderError", "run_agent"]
