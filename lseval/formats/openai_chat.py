"""Chats in OpenAI's format, one a line: `messages` with tool calls and their results, and what else the row says.

A request that was recorded with its reply is read too: the reply's message then ends the chat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lseval.domain.trajectory import RunRecord, UsageRecord
from lseval.formats.chat_runs import ChatRun, pages_of
from lseval.formats.errors import FieldError, MissingFieldError
from lseval.formats.fields import (
    optional_integer,
    optional_object,
    optional_objects,
    optional_text,
    optional_texts,
    required_objects,
)
from lseval.formats.messages import chat_message
from lseval.formats.task_keys import STATED_KEYS, digest_key, stated_key

_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
_GOLD = ("gold_answer", "reference_answer", "ground_truth", "answer", "target", "expected_output")
_NOT_KEPT = {
    "id",
    "custom_id",
    "messages",
    "model",
    "usage",
    "metadata",
    "choices",
    "response",
    "request",
    "body",
    "tools",
    "functions",
    *_GOLD,
}
_LONGEST_KEPT = 2000


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a parsed row is a chat whose messages have OpenAI's roles."""
    messages = _request(row).get("messages")
    if not isinstance(messages, list) or not messages or "format" in row:
        return False
    first = messages[:5]
    return all(isinstance(message, Mapping) and optional_text(message, "role") in _ROLES for message in first)


def row_reader(path: Path, default_model: str | None) -> Callable[[Mapping[str, Any]], RunRecord]:
    """What reads the rows of `path`; `default_model` names the model where a row does not."""
    return partial(_read_chat, default_model=default_model)


def _read_chat(row: Mapping[str, Any], default_model: str | None) -> RunRecord:
    request, reply = _request(row), _reply(row)
    run = ChatRun()
    messages = required_objects(request, "messages")
    for step, raw in enumerate((*messages, *_choices(reply))):
        message = chat_message(raw)
        if message is None:
            raise FieldError(f"messages[{step}].role: is missing", [f"messages[{step}].role"])
        run.add(message, step, f"messages[{step}]")
    if not run.question:
        raise MissingFieldError("messages: no user message asks a question", ["messages"])
    answer = run.take_answer()
    metadata = _metadata(row)
    if run.later_questions:
        metadata["later_user_messages"] = run.later_questions
    stated = optional_object(row, "metadata")
    return RunRecord(
        task_key=stated_key(row, stated, names=(*STATED_KEYS, "custom_id", "id")) or digest_key(run.question),
        question=run.question,
        model_name=_model_name(row, request, reply, default_model),
        final_answer=answer,
        turns=tuple(turn.record() for turn in run.turns),
        pages=pages_of(run.turns).records(),
        gold_answer=_gold(row, stated),
        usage=usage_record(optional_object(row, "usage") or optional_object(reply, "usage")),
        metadata=metadata,
        warnings=tuple(run.warnings),
    )


def usage_record(usage: Mapping[str, Any]) -> UsageRecord:
    """Tokens as OpenAI's chat or responses interface states them."""
    inputs = optional_object(usage, "prompt_tokens_details") or optional_object(usage, "input_tokens_details")
    outputs = optional_object(usage, "completion_tokens_details") or optional_object(usage, "output_tokens_details")
    found = (
        _first(usage, ("prompt_tokens", "input_tokens")),
        _first(inputs, ("cached_tokens",)) if inputs else _first(usage, ("input_tokens_cached",)),
        _first(usage, ("completion_tokens", "output_tokens")),
        _first(outputs, ("reasoning_tokens",)) if outputs else _first(usage, ("included_reasoning_tokens",)),
    )
    return UsageRecord(*(None if value is None or value < 0 else value for value in found))


def _first(usage: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    return next((value for name in names if (value := optional_integer(usage, name)) is not None), None)


def _request(row: Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(row.get("messages"), list):
        return row
    return optional_object(row, "request") or optional_object(row, "body")


def _reply(row: Mapping[str, Any]) -> Mapping[str, Any]:
    response = optional_object(row, "response")
    return optional_object(response, "body") or response or row


def _choices(reply: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The reply's first choice; the further ones are other samples of the same step."""
    choices = optional_objects(reply, "choices")
    return [message] if choices and (message := optional_object(choices[0], "message")) else []


def _model_name(
    row: Mapping[str, Any], request: Mapping[str, Any], reply: Mapping[str, Any], default_model: str | None
) -> str:
    places = (row, reply, request, optional_object(row, "metadata"))
    found = next((text for place in places if (text := optional_text(place, "model").strip())), "")
    if not (found or (default_model or "").strip()):
        raise MissingFieldError("model: is missing; name the model when you import the file", ["model"])
    return found or str(default_model)


def _gold(row: Mapping[str, Any], stated: Mapping[str, Any]) -> str:
    for place in (row, stated):
        for key in _GOLD:
            if texts := optional_texts(place, key):
                return "; ".join(texts)
    return ""


def _metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = dict(optional_object(row, "metadata"))
    for key, value in row.items():
        if (
            key not in _NOT_KEPT
            and isinstance(value, str | int | float | bool)
            and len(str(value)) <= _LONGEST_KEPT
        ):
            kept[key] = value
    return kept
