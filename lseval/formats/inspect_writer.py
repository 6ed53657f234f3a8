"""Writes runs as an Inspect AI log in JSON, which Inspect's viewer and `read_eval_log` open."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from lseval.domain.trajectory import RunRecord, ToolCallRecord, TurnRecord, UsageRecord
from lseval.formats.errors import FieldError
from lseval.formats.inspect_samples import OWN

_OWN_FIELDS = ("task_key", "task_topic", "task_language", "model_family", "attempts", "is_final_only")
_USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "input_tokens_cache_read": "cached_tokens",
    "reasoning_tokens": "reasoning_tokens",
}


@dataclass(frozen=True, slots=True)
class LogHeading:
    """What a log says before its samples: all of them are of one `model`. `task_keys` are in the samples' order."""

    study: str
    model: str
    created: datetime
    task_keys: Sequence[str]


def inspect_log(heading: LogHeading, records: Iterable[RunRecord]) -> Iterator[str]:
    """The log in pieces, so that no more than one run is held; `created` must know its offset from UTC.

    What Inspect has no field for is in each sample's metadata under `lseval`. Pages are there only as the results
    of the calls that read them. Raises `FieldError` where a run's arguments or metadata are not JSON.
    """
    created = heading.created.isoformat(timespec="seconds")
    head = {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": f"{heading.study}-{heading.model}",
            "run_id": f"{heading.study}-{heading.model}",
            "created": created,
            "task": heading.study,
            "task_id": heading.study,
            "dataset": {
                "name": heading.study,
                "samples": len(heading.task_keys),
                "sample_ids": list(heading.task_keys),
            },
            "model": heading.model,
            "config": {"epochs": 1},
        },
        "plan": {"name": "plan", "steps": []},
        "stats": {"started_at": created, "completed_at": created, "model_usage": {}},
    }
    yield _text(head, heading.study)[:-1] + ', "samples": ['
    # Samples are indented: an object that begins its line would look like a row of JSONL.
    for index, record in enumerate(records):
        yield (",\n " if index else "\n ") + _text(
            _sample(record), f"run of {record.model_name} on {record.task_key}"
        )
    yield "\n]}\n"


def _text(value: Any, what: str) -> str:
    try:
        return json.dumps(value, ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as exc:
        raise FieldError(f"{what}: cannot be written as JSON: {exc}") from exc


def _sample(record: RunRecord) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": record.question, "source": "input"}]
    calls = 0
    for turn in record.turns:
        messages += _turn(turn, calls + 1)
        calls += len(turn.tool_calls)
    output: dict[str, Any] = {"model": record.model_name, "choices": []}
    if record.final_answer:
        answer = {"role": "assistant", "content": record.final_answer, "source": "generate"}
        messages.append(answer)
        output["choices"] = [{"message": answer, "stop_reason": "stop"}]
    usage = _usage(record.usage)
    sample: dict[str, Any] = {
        "id": record.task_key,
        "epoch": 1,
        "input": record.question,
        "target": record.gold_answer,
        "messages": messages,
        "output": output,
        "metadata": {**record.metadata, OWN: _own(record)},
        "model_usage": {record.model_name: usage} if usage else {},
    }
    if record.started_at:
        sample["started_at"] = record.started_at
    return sample


def _own(record: RunRecord) -> dict[str, Any]:
    own = {name: value for name in _OWN_FIELDS if (value := getattr(record, name)) not in ("", False)}
    if record.rubric:
        own["rubric"] = asdict(record.rubric)
    return own


def _turn(turn: TurnRecord, first: int) -> list[dict[str, Any]]:
    content: Any = turn.text
    if turn.reasoning:
        content = [{"type": "reasoning", "reasoning": turn.reasoning}, {"type": "text", "text": turn.text}]
    message: dict[str, Any] = {"role": "assistant", "content": content, "source": "generate"}
    ids = [f"call-{first + index}" for index in range(len(turn.tool_calls))]
    if ids:
        message["tool_calls"] = [_call(call, name) for call, name in zip(turn.tool_calls, ids, strict=True)]
    if turn.agent:
        message["metadata"] = {"agent": turn.agent}
    results = [_result(call, name) for call, name in zip(turn.tool_calls, ids, strict=True)]
    return [message, *(result for result in results if result)]


def _call(call: ToolCallRecord, call_id: str) -> dict[str, Any]:
    return {"id": call_id, "function": call.original_name or call.name, "arguments": dict(call.arguments)}


def _result(call: ToolCallRecord, call_id: str) -> dict[str, Any] | None:
    if call.observation is None and not call.is_error:
        return None
    result: dict[str, Any] = {
        "role": "tool",
        "content": call.observation or "",
        "tool_call_id": call_id,
        "function": call.original_name or call.name,
    }
    if call.is_error:
        result["error"] = {"type": "unknown", "message": (call.observation or "no result")[:1000]}
    return result


def _usage(usage: UsageRecord) -> dict[str, int]:
    """Token counts in Inspect's names, which wants both sides and their sum; nothing where neither is known."""
    if usage.input_tokens is None and usage.output_tokens is None:
        return {}
    stated = {name: value for name, key in _USAGE.items() if (value := getattr(usage, key)) is not None}
    found = {"input_tokens": 0, "output_tokens": 0, **stated}
    return {**found, "total_tokens": found["input_tokens"] + found["output_tokens"]}
