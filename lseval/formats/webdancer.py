"""WebDancer's trajectories: a chat in which tags mark what is thought, called and answered.

Tool results come in messages of role `user`, inside `<tool_response>`. The `visit` tool returns, for each URL, what
a model found useful in the page for a stated goal, so a page's text here is that excerpt and summary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lseval.domain.labels import PageOutcome
from lseval.domain.trajectory import RunRecord
from lseval.formats.errors import MissingFieldError
from lseval.formats.fields import (
    DraftCall,
    DraftTurn,
    optional_text,
    optional_texts,
    required_objects,
    required_string,
)
from lseval.formats.pages import PageCollector, outcome_of_text
from lseval.formats.strict_json import JsonError, parse_json
from lseval.formats.task_keys import digest_key

MODEL_NAME = "WebDancer"
TOOL_NAMES = {"search": "web_search", "visit": "read_page"}

SUMMARY_WARNING = "page texts are the visit tool's excerpts and summaries, not the pages' own text"

_TAGGED = re.compile(r"<(think|tool_call|answer)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_RESPONSE = re.compile(r"<tool_response>(.*?)(?:</tool_response>|\Z)", re.DOTALL)
_VISITED = re.compile(
    r"^The useful information in (\S+) for user goal .{0,2000}? as follows:", re.DOTALL | re.MULTILINE
)
_RULE = re.compile(r"\n=======\s*\Z")
_NOT_ACCESSED = "The provided webpage content could not be accessed"
_FAILURES = ("Error", "[visit] Failed", "[search] Failed", "[Visit] Invalid", "[Search] Invalid")


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a parsed row is a WebDancer trajectory: a chat with a gold answer, and its tool calls in the text."""
    messages = row.get("messages")
    if not isinstance(messages, list) or "answer" not in row or "format" in row:
        return False
    return not any(isinstance(message, Mapping) and _calls_apart(message) for message in messages)


def _calls_apart(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "tool" or bool(message.get("tool_calls"))


def row_reader(path: Path, default_model: str | None) -> Callable[[Mapping[str, Any]], RunRecord]:
    """What reads the rows of `path`. The source names no model: it is `default_model`, or WebDancer."""
    return partial(_read_row, model_name=default_model or MODEL_NAME)


@dataclass(slots=True)
class _Chat:
    """The run as put together so far. `waiting` are the calls of the last turn without a result."""

    turns: list[DraftTurn] = field(default_factory=list)
    waiting: list[DraftCall] = field(default_factory=list)
    pages: PageCollector = field(default_factory=PageCollector)
    answer: str | None = None
    answer_reasoning: str = ""
    warnings: list[str] = field(default_factory=list)


def _read_row(row: Mapping[str, Any], model_name: str) -> RunRecord:
    messages = required_objects(row, "messages")
    question, asked_at = _question(messages)
    chat = _Chat()
    for step, message in enumerate(messages):
        if step <= asked_at:
            continue
        content = required_string(message, "content", f"messages[{step}].")
        if message.get("role") == "assistant":
            _add_turn(chat, content, step)
        else:
            _add_responses(chat, content, step)
    if chat.answer is None:
        _answer_without_tag(chat)
    pages = chat.pages.records()
    if pages:
        chat.warnings.append(SUMMARY_WARNING)
    metadata: dict[str, Any] = {key: value for key in ("task", "tag") if (value := optional_text(row, key))}
    if pages:
        metadata["page_text"] = "summary"
    if chat.answer_reasoning:
        metadata["answer_reasoning"] = chat.answer_reasoning
    return RunRecord(
        task_key=digest_key(question),
        question=question,
        model_name=model_name,
        final_answer=chat.answer or "",
        turns=tuple(turn.record() for turn in chat.turns),
        pages=pages,
        gold_answer="; ".join(_flattened(row.get("answer"))),
        metadata=metadata,
        warnings=tuple(chat.warnings),
    )


def _question(messages: list[Mapping[str, Any]]) -> tuple[str, int]:
    """The question, after the last `User:` of the first user message, and that message's index."""
    for step, message in enumerate(messages):
        if message.get("role") == "user":
            content = required_string(message, "content", f"messages[{step}].")
            question = content.rpartition("User:")[2].strip()
            if question:
                return question, step
            break
    raise MissingFieldError("messages: no user message asks a question", ["messages"])


def _add_turn(chat: _Chat, content: str, step: int) -> None:
    turn = DraftTurn(text=_TAGGED.sub("", content).strip(), source_step=step)
    answers = []
    for tag, inner in _TAGGED.findall(content):
        if tag == "think":
            turn.reasoning = "\n\n".join(part for part in (turn.reasoning, inner.strip()) if part)
        elif tag == "tool_call":
            turn.calls.append(_call(inner, chat, step))
        else:
            answers.append(inner.strip())
    if answers:
        chat.answer, chat.answer_reasoning = answers[-1], turn.reasoning
    if turn.calls or not answers:
        chat.turns.append(turn)
        chat.waiting = list(turn.calls)


def _call(inner: str, chat: _Chat, step: int) -> DraftCall:
    try:
        value = parse_json(inner.strip().encode()).value
    except JsonError as exc:
        chat.warnings.append(f"messages[{step}].content: the tool call cannot be read ({exc})")
        return DraftCall("unreadable", "unreadable", {"text": inner.strip()}, is_error=True)
    row = value if isinstance(value, Mapping) else {}
    name, arguments = optional_text(row, "name"), row.get("arguments")
    if not name or not isinstance(arguments, Mapping):
        chat.warnings.append(f"messages[{step}].content: the tool call has no name or no arguments")
        arguments = {"text": inner.strip()}
    return DraftCall(TOOL_NAMES.get(name, name or "unreadable"), name or "unreadable", arguments)


def _add_responses(chat: _Chat, content: str, step: int) -> None:
    responses = [text.strip() for text in _RESPONSE.findall(content)]
    if not responses or len(responses) > len(chat.waiting):
        chat.warnings.append(f"messages[{step}].content: holds what answers no tool call, left out")
    for call, text in zip(chat.waiting, responses, strict=False):
        call.observation = text
        call.is_error = call.is_error or text.startswith(_FAILURES)
        if call.original_name == "visit":
            _add_pages(chat.pages, call, text)
    chat.waiting = chat.waiting[len(responses) :]


def _add_pages(pages: PageCollector, call: DraftCall, response: str) -> None:
    starts = list(_VISITED.finditer(response))
    if not starts:
        outcome = PageOutcome.UNAVAILABLE if call.is_error else outcome_of_text(response)
        urls = optional_texts(call.arguments, "url")
        if len(urls) == 1 or outcome != PageOutcome.OK:
            for url in urls:
                pages.add(url, response, outcome=outcome)
        return
    ends = [start.start() for start in starts[1:]] + [len(response)]
    for start, end in zip(starts, ends, strict=True):
        text = _RULE.sub("", response[start.end() : end].rstrip()).strip()
        outcome = PageOutcome.UNAVAILABLE if _NOT_ACCESSED in text else outcome_of_text(text)
        pages.add(start[1], text, outcome=outcome)


def _answer_without_tag(chat: _Chat) -> None:
    """Take the words of a last turn without calls for the answer; a run may end without one."""
    if chat.turns and not chat.turns[-1].calls and chat.turns[-1].text:
        last = chat.turns.pop()
        chat.answer, chat.answer_reasoning = last.text, last.reasoning
        chat.warnings.append("no <answer> tag: the last message is taken for the answer")


def _flattened(value: Any) -> Iterable[str]:
    if isinstance(value, list):
        for item in value:
            yield from _flattened(item)
    elif isinstance(value, str) and value.strip():
        yield value.strip()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
