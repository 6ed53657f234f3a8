"""Writes a run in our own format, `lseval-run/1`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lseval.domain.trajectory import RunRecord, ToolCallRecord, TurnRecord
from lseval.formats.errors import FieldError
from lseval.formats.lseval_models import FORMAT_NAME

# Some tools take the first three for line ends, and UTF-8 has no lone surrogates: both are written escaped.
_TO_ESCAPE = re.compile("[\x85\u2028\u2029\ud800-\udfff]")


def write_run(record: RunRecord) -> str:
    """The run as one line of JSONL, without the line end; reading it gives an equal record.

    What has its default value is left out. Raises `FieldError` where the arguments of a call or the metadata
    are not JSON.
    """
    row = _without_defaults(
        {
            "format": FORMAT_NAME,
            "task": _task(record),
            "model": _without_defaults({"name": record.model_name, "family": record.model_family}, keep=("name",)),
            "messages": _messages(record),
            "final_answer": record.final_answer,
            "usage": {key: value for key, value in asdict(record.usage).items() if value is not None},
            "pages": [_page(page) for page in map(asdict, record.pages)],
            "references": [_without_defaults(asdict(item), keep=("step",)) for item in record.references],
            "attempts": None if record.attempts == 1 else record.attempts,
            "is_final_only": record.is_final_only,
            "started_at": record.started_at,
            "metadata": dict(record.metadata),
            "warnings": list(record.warnings),
        },
        keep=("messages", "final_answer"),
    )
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as exc:
        raise FieldError(
            f"run of {record.model_name} on {record.task_key}: cannot be written as JSON: {exc}"
        ) from exc
    return _TO_ESCAPE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _without_defaults(values: Mapping[str, Any], keep: tuple[str, ...] = ()) -> dict[str, Any]:
    """`values` without what is empty, False or None, the keys in `keep` aside."""
    return {
        key: value
        for key, value in values.items()
        if key in keep or not (value is None or value is False or value in ("", [], {}))
    }


def _task(record: RunRecord) -> dict[str, Any]:
    rubric = None
    if record.rubric:
        rubric = {
            key: list(value) if isinstance(value, tuple) else value for key, value in asdict(record.rubric).items()
        }
    values = {
        "key": record.task_key,
        "question": record.question,
        "topic": record.task_topic,
        "language": record.task_language,
        "gold_answer": record.gold_answer,
        "rubric": _without_defaults(rubric, keep=("required_count",)) if rubric else None,
    }
    return _without_defaults(values, keep=("key", "question"))


def _page(page: Mapping[str, Any]) -> dict[str, Any]:
    return _without_defaults(page, keep=("url", "outcome"))


def _messages(record: RunRecord) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    calls = 0
    for turn in record.turns:
        first = calls + 1
        calls += len(turn.tool_calls)
        ids = [f"call-{number}" for number in range(first, calls + 1)]
        messages.append(_assistant_message(turn, ids, len(messages)))
        messages += [
            _tool_message(call, call_id)
            for call, call_id in zip(turn.tool_calls, ids, strict=True)
            if call.observation is not None or call.is_error
        ]
    return messages


def _assistant_message(turn: TurnRecord, ids: list[str], index: int) -> dict[str, Any]:
    message = _without_defaults(
        {
            "role": "assistant",
            "content": turn.text,
            "reasoning": turn.reasoning,
            "agent": turn.agent,
            "tool_calls": [_tool_call(call, call_id) for call, call_id in zip(turn.tool_calls, ids, strict=True)],
        }
    )
    if turn.source_step != index:
        message["source_step"] = turn.source_step
    return message


def _tool_call(call: ToolCallRecord, call_id: str) -> dict[str, Any]:
    values: dict[str, Any] = {"id": call_id, "name": call.name, "arguments": dict(call.arguments)}
    if call.original_name != call.name:
        values["original_name"] = call.original_name
    return values


def _tool_message(call: ToolCallRecord, call_id: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "tool", "tool_call_id": call_id, "content": call.observation}
    if call.is_error:
        message["is_error"] = True
    return message
