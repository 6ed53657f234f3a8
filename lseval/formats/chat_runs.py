"""A run put together from chat messages: its question, turns, answers of tools, pages and final answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lseval.domain.labels import PageOutcome
from lseval.formats.fields import DraftCall, DraftTurn, optional_text, optional_texts
from lseval.formats.messages import ChatCall, ChatMessage, ChatResult, decoded_json
from lseval.formats.pages import PageCollector, outcome_of_text
from lseval.formats.tool_names import protocol_name

NO_ANSWER = "the run ended without a final answer"

_READING = ("open_page", "read_page")
_URL_KEYS = ("url", "link", "href", "uri", "page_url", "urls")
_PAGE_TEXT_KEYS = ("text", "content", "markdown", "raw_content", "page_content", "body")
_MAX_STRAY = 5


@dataclass(slots=True)
class ChatRun:
    """A run as put together so far. `waiting` maps a call's id to the last call with it that has no result.

    A result without an id answers the first call that waits.
    """

    questions: list[str] = field(default_factory=list)
    later_questions: int = 0
    turns: list[DraftTurn] = field(default_factory=list)
    waiting: dict[str, DraftCall] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    strays: int = 0
    answered: set[str] = field(default_factory=set)

    def add(self, message: ChatMessage, step: int | None, where: str = "", agent: str = "") -> None:
        """Take in a message; `where` is its place in the source, for warnings."""
        if message.role == "assistant":
            self.add_turn(message, step, where, agent)
        elif message.role == "user" and not message.results:
            self._add_question(message.text.strip())
        elif message.role not in ("user", "tool", "system"):
            self.warnings.append(f"{where}: a message of role {message.role[:40]!r} is left out")
        for result in message.results:
            self.add_result(result, where)

    def add_turn(
        self, message: ChatMessage, step: int | None, where: str = "", agent: str = ""
    ) -> DraftTurn | None:
        """Take in an assistant's message; None where it holds nothing."""
        turn = DraftTurn(message.text, message.reasoning, agent, step)
        for call in message.calls:
            draft = draft_call(call)
            if call.problem:
                self.warnings.append(f"{where}: the call of {call.name[:80]}: {call.problem[:200]}")
            turn.calls.append(draft)
            self.waiting[call.id or f"unnamed {len(self.turns)}-{len(turn.calls)}"] = draft
        if not (turn.text.strip() or turn.reasoning.strip() or turn.calls):
            return None
        self.turns.append(turn)
        return turn

    def add_result(self, result: ChatResult, where: str = "") -> None:
        """Give a result to the call that it answers.

        One that answers none becomes a call of its own where it names its tool, else it is left out; both with a
        warning.
        """
        call = self.waiting.pop(result.call_id, None)
        self.answered.add(result.call_id)
        if call is None and not result.call_id and self.waiting:
            key = next(iter(self.waiting), "")
            call = self.waiting.pop(key, None)
        if call is None:
            self.strays += 1
            if self.strays <= _MAX_STRAY:
                done = f"a call of {result.name[:80]} is added" if result.name else "left out"
                self.warnings.append(f"{where}: answers no tool call, {done}")
            if not result.name:
                return
            if not self.turns:
                self.turns.append(DraftTurn(""))
            call = draft_call(ChatCall(result.call_id, result.name, {}))
            self.turns[-1].calls.append(call)
        call.observation = result.text
        call.is_error = call.is_error or result.is_error or (result.text or "").startswith("Error:")

    @property
    def question(self) -> str:
        """What was asked before the first turn; empty where nothing was."""
        return "\n\n".join(self.questions)

    def take_answer(self) -> str:
        """The words of the last turn, which then is no turn any more; empty where the run ended on a tool call."""
        if self.turns and not self.turns[-1].calls and self.turns[-1].text.strip():
            return self.turns.pop().text
        self.warnings.append(NO_ANSWER)
        return ""

    def _add_question(self, text: str) -> None:
        if not text:
            return
        if self.turns:
            self.later_questions += 1
        else:
            self.questions.append(text)


def draft_call(call: ChatCall) -> DraftCall:
    """A call that still waits for its result; one whose arguments cannot be read is an error already."""
    return DraftCall(protocol_name(call.name), call.name, call.arguments, is_error=bool(call.problem))


def pages_of(turns: list[DraftTurn]) -> PageCollector:
    """The pages that the results of opening and reading calls hold, where a call or its result names an address."""
    pages = PageCollector()
    for turn in turns:
        for call in turn.calls:
            if call.name in _READING:
                _add_page(pages, call)
    return pages


def _add_page(pages: PageCollector, call: DraftCall) -> None:
    urls = [url for key in _URL_KEYS for url in optional_texts(call.arguments, key)]
    text, title = call.observation or "", ""
    decoded: Any = decoded_json(text) if text[:1] == "{" else None
    if isinstance(decoded, Mapping):
        inner = next((found for key in _PAGE_TEXT_KEYS if (found := optional_text(decoded, key))), "")
        urls = urls or [found for key in _URL_KEYS[:4] if (found := optional_text(decoded, key))]
        text, title = inner or text, optional_text(decoded, "title")
    urls = [url for url in dict.fromkeys(urls) if url.startswith(("http://", "https://"))]
    if call.observation is None or len(urls) != 1:
        return
    outcome = PageOutcome.UNAVAILABLE.value if call.is_error else outcome_of_text(text)
    pages.add(urls[0], text, title=title, outcome=outcome)
