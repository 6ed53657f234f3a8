"""LangGraph threads: the state that a LangGraph server returns for a thread, with its messages under `values`.

The tools `web_search` and `web_fetch` are known; every other tool keeps its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lseval.domain.labels import PageOutcome
from lseval.domain.trajectory import RunRecord, UsageRecord
from lseval.formats.errors import MissingFieldError
from lseval.formats.fields import (
    DraftCall,
    DraftTurn,
    optional_integer,
    optional_object,
    optional_objects,
    optional_text,
    required_objects,
)
from lseval.formats.langgraph_report import choose_report
from lseval.formats.pages import PageCollector, outcome_of_text

TOOL_NAMES = {"web_search": "web_search", "web_fetch": "read_page"}
KEPT_METADATA = ("graph_id", "run_id", "thinking_enabled", "is_plan_mode", "langgraph_version")

_NOTHING_EXTRACTED = "No content could be extracted"
_UNTITLED = "Untitled"
_HEADING = re.compile(r"#\s+(\S.*)")
_STATUS_OUTCOMES = (
    (re.compile(r"\b(404|410)\b"), PageOutcome.NOT_FOUND),
    (re.compile(r"\b(401|402|403|451)\b"), PageOutcome.WALLED),
)


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a parsed row is a thread's state."""
    return isinstance(optional_object(row, "values").get("messages"), list)


def row_reader(path: Path, default_model: str | None) -> Callable[[Mapping[str, Any]], RunRecord]:
    """What reads the rows of `path`; `default_model` names the model where a thread does not."""
    return partial(_read_thread, default_model=default_model)


@dataclass(slots=True)
class _Thread:
    """The run as put together so far. `waiting` maps a call's id to the last call with it that has no result."""

    questions: list[str] = field(default_factory=list)
    turns: list[DraftTurn] = field(default_factory=list)
    waiting: dict[str, DraftCall] = field(default_factory=dict)
    pages: PageCollector = field(default_factory=PageCollector)
    warnings: list[str] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)


def _read_thread(row: Mapping[str, Any], default_model: str | None) -> RunRecord:
    values, metadata = optional_object(row, "values"), optional_object(row, "metadata")
    messages = required_objects(values, "messages", "values.")
    thread = _Thread()
    for step, message in enumerate(messages):
        _add_message(thread, message, step)
    if not thread.questions:
        raise MissingFieldError("values.messages: no human message asks a question", ["values.messages"])
    report = choose_report(thread.turns, values)
    if report.text and not report.is_turn_kept:
        thread.turns.pop()
    return RunRecord(
        task_key=_thread_id(row, metadata),
        question="\n\n".join(thread.questions),
        model_name=_model_name(metadata, messages, default_model),
        final_answer=report.text,
        turns=tuple(turn.record() for turn in thread.turns),
        pages=thread.pages.records(),
        usage=UsageRecord(**thread.usage),
        attempts=max(1, optional_integer(metadata, "run_attempt") or 1),
        metadata=_metadata(row, values, metadata, messages) | report.metadata,
        warnings=tuple(thread.warnings),
    )


def _add_message(thread: _Thread, message: Mapping[str, Any], step: int) -> None:
    kind = message.get("type")
    if kind == "human":
        if text := _split_content(message.get("content"))[0].strip():
            thread.questions.append(text)
    elif kind == "ai":
        _add_turn(thread, message, step)
    elif kind == "tool":
        _add_result(thread, message, step)
    elif kind != "system":
        thread.warnings.append(f"values.messages[{step}]: a message of type {str(kind)[:40]!r} is left out")


def _add_turn(thread: _Thread, message: Mapping[str, Any], step: int) -> None:
    text, thinking = _split_content(message.get("content"))
    reasoning = optional_text(optional_object(message, "additional_kwargs"), "reasoning_content") or thinking
    turn = DraftTurn(text=text, reasoning=reasoning, source_step=step)
    for call in optional_objects(message, "tool_calls"):
        name = optional_text(call, "name") or "unnamed"
        draft = DraftCall(TOOL_NAMES.get(name, name), name, optional_object(call, "args"))
        turn.calls.append(draft)
        thread.waiting[optional_text(call, "id")] = draft
    for call in optional_objects(message, "invalid_tool_calls"):
        name = optional_text(call, "name") or "unnamed"
        error = optional_text(call, "error") or "the arguments cannot be read"
        arguments = {"text": optional_text(call, "args")}
        draft = DraftCall(TOOL_NAMES.get(name, name), name, arguments, observation=error, is_error=True)
        turn.calls.append(draft)
        thread.waiting[optional_text(call, "id")] = draft
    _add_usage(thread.usage, optional_object(message, "usage_metadata"))
    if text.strip() or reasoning.strip() or turn.calls:
        thread.turns.append(turn)


def _add_result(thread: _Thread, message: Mapping[str, Any], step: int) -> None:
    draft = thread.waiting.pop(optional_text(message, "tool_call_id"), None)
    if draft is None:
        thread.warnings.append(f"values.messages[{step}]: answers no tool call, left out")
        return
    text = _split_content(message.get("content"))[0]
    draft.observation = text
    draft.is_error = draft.is_error or message.get("status") == "error" or text.startswith("Error:")
    if draft.original_name == "web_fetch":
        _add_page(thread.pages, optional_text(draft.arguments, "url"), text, draft.is_error)


def _add_page(pages: PageCollector, url: str, text: str, is_error: bool) -> None:
    heading = _HEADING.match(text)
    title = heading[1].strip() if heading and heading[1].strip() != _UNTITLED else ""
    if is_error:
        outcome = next(
            (found for pattern, found in _STATUS_OUTCOMES if pattern.search(text)), PageOutcome.UNAVAILABLE
        )
        pages.add(url, "", outcome=outcome)
    elif _NOTHING_EXTRACTED in text[:200]:
        pages.add(url, "", title=title, outcome=PageOutcome.EMPTY)
    else:
        pages.add(url, text, title=title, outcome=outcome_of_text(text))


def _split_content(content: Any) -> tuple[str, str]:
    """The text and the thinking of a message's content, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content, ""
    text, thinking = [], []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            text.append(block)
        elif isinstance(block, Mapping):
            text.append(optional_text(block, "text"))
            thinking.append(optional_text(block, "thinking"))
    return "\n\n".join(part for part in text if part), "\n\n".join(part for part in thinking if part)


def _add_usage(usage: dict[str, int], stated: Mapping[str, Any]) -> None:
    found = {
        "input_tokens": optional_integer(stated, "input_tokens"),
        "output_tokens": optional_integer(stated, "output_tokens"),
        "cached_tokens": optional_integer(optional_object(stated, "input_token_details"), "cache_read"),
        "reasoning_tokens": optional_integer(optional_object(stated, "output_token_details"), "reasoning"),
    }
    for key, value in found.items():
        if value is not None:
            usage[key] = usage.get(key, 0) + value


def _thread_id(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    found = optional_text(metadata, "thread_id") or optional_text(optional_object(row, "checkpoint"), "thread_id")
    if not found.strip():
        raise MissingFieldError("metadata.thread_id: is missing", ["metadata.thread_id"])
    return found


def _model_name(metadata: Mapping[str, Any], messages: list[Mapping[str, Any]], default_model: str | None) -> str:
    found = optional_text(metadata, "model_name") or default_model or next(iter(_response_models(messages)), "")
    if not found.strip():
        raise MissingFieldError(
            "metadata.model_name: is missing; name the model when you import the file", ["metadata.model_name"]
        )
    return found


def _response_models(messages: list[Mapping[str, Any]]) -> dict[str, None]:
    """The models that the replies name, each once, in order."""
    names = (optional_text(optional_object(message, "response_metadata"), "model_name") for message in messages)
    return {name: None for name in names if name}


def _metadata(
    row: Mapping[str, Any],
    values: Mapping[str, Any],
    metadata: Mapping[str, Any],
    messages: list[Mapping[str, Any]],
) -> dict[str, Any]:
    kept = {key: metadata[key] for key in KEPT_METADATA if isinstance(metadata.get(key), str | bool)}
    found = {
        "title": optional_text(values, "title"),
        "checkpoint_created_at": optional_text(row, "created_at"),
        "response_models": list(_response_models(messages)),
    }
    return kept | {key: value for key, value in found.items() if value}
