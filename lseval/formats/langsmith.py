"""LangSmith runs, which are what this program calls spans: one a line, in a list, or nested under `child_runs`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from lseval.domain.trajectory import RunRecord
from lseval.formats.errors import MissingFieldError
from lseval.formats.fields import optional_integer, optional_object, optional_objects, optional_text
from lseval.formats.files import FileRow, SourceFile
from lseval.formats.spans import AGENT, MODEL, OTHER, TOOL, Span, Trace, moment_ns, trace_run
from lseval.formats.trace_files import Part, read_traces

_KINDS = {"llm": MODEL, "tool": TOOL, "retriever": TOOL}
_MODEL_KEYS = ("ls_model_name", "model_name", "model")


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a parsed row is a LangSmith run."""
    return isinstance(row.get("run_type"), str) and "inputs" in row


def read_file(source: SourceFile) -> Iterator[FileRow]:
    """Every trace of a file of LangSmith runs as a run."""
    return read_traces(source, _parts, partial(_build, default_model=source.default_model))


def _parts(row: Mapping[str, Any]) -> list[Part]:
    if not matches(row):
        raise MissingFieldError("run_type: is missing", ["run_type"])
    trace_id = optional_text(row, "trace_id") or _id(row)
    if not trace_id:
        raise MissingFieldError("trace_id: is missing", ["trace_id"])
    return [(trace_id, row)]


def _id(row: Mapping[str, Any]) -> str:
    return optional_text(row, "id") or optional_text(row, "run_id")


def _build(trace_id: str, rows: list[Mapping[str, Any]], default_model: str | None) -> RunRecord:
    found: dict[str, Mapping[str, Any]] = {}
    waiting = deque(rows)
    while waiting:
        row = waiting.popleft()
        found.setdefault(_id(row) or f"row {len(found) + 1}", row)
        waiting += [{"parent_run_id": _id(row), **child} for child in optional_objects(row, "child_runs")]
    spans = [_span(key, row) for key, row in found.items()]
    root = next((row for row in found.values() if not optional_text(row, "parent_run_id")), rows[0])
    metadata = _metadata(root)
    example = optional_text(root, "reference_example_id")
    stated = {**metadata, "example_id": example} if example else metadata
    kept = {key: value for key in ("session_id", "tags", "error") if (value := root.get(key))}
    return trace_run(Trace(trace_id, spans, metadata=stated, name=optional_text(root, "name")), default_model, kept)


def _metadata(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return optional_object(optional_object(row, "extra"), "metadata")


def _span(key: str, row: Mapping[str, Any]) -> Span:
    kind = _KINDS.get(optional_text(row, "run_type"), OTHER)
    outputs = row.get("outputs")
    inputs = row.get("inputs")
    name = optional_text(row, "name")
    if kind == OTHER and (agent := optional_text(_metadata(row), "lc_agent_name")):
        kind, name = AGENT, agent
    return Span(
        id=key,
        parent_id=optional_text(row, "parent_run_id"),
        kind=kind,
        name=name,
        started_ns=moment_ns(row.get("start_time")),
        input=_tool_input(inputs) if kind == TOOL else inputs,
        output=_replies(outputs) if kind == MODEL else _tool_output(outputs) if kind == TOOL else outputs,
        is_error=bool(row.get("error")) or row.get("status") == "error",
        error=optional_text(row, "error"),
        model=_model(row),
        usage=_usage(row) if kind == MODEL else {},
        call_id=optional_text(_metadata(row), "tool_call_id") or _output_call_id(outputs),
        metadata=_metadata(row),
    )


def _tool_input(inputs: Any) -> Any:
    """A tool's arguments, which LangChain puts as text under `input`."""
    if isinstance(inputs, Mapping) and set(inputs) == {"input"}:
        return inputs["input"]
    return inputs


def _tool_output(outputs: Any) -> Any:
    if isinstance(outputs, Mapping) and set(outputs) == {"output"}:
        return outputs["output"]
    return outputs


def _output_call_id(outputs: Any) -> str:
    output = _tool_output(outputs)
    if not isinstance(output, Mapping):
        return ""
    return optional_text(output, "tool_call_id") or optional_text(optional_object(output, "kwargs"), "tool_call_id")


def _replies(outputs: Any) -> Any:
    """The messages that a model gave back: LangChain's first generation, OpenAI's first choice, or messages."""
    if not isinstance(outputs, Mapping):
        return outputs
    generations = outputs.get("generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    if isinstance(generations, Mapping):
        return generations.get("message") or {"role": "assistant", "content": optional_text(generations, "text")}
    choices = optional_objects(outputs, "choices")
    if choices:
        return choices[0].get("message")
    output = outputs.get("output")
    return output if isinstance(output, Mapping | list) else outputs


def _model(row: Mapping[str, Any]) -> str:
    extra = optional_object(row, "extra")
    outputs = optional_object(row, "outputs")
    places = (
        optional_object(outputs, "llm_output"),
        outputs,
        _metadata(row),
        optional_object(extra, "invocation_params"),
    )
    return next((text for place in places for key in _MODEL_KEYS if (text := optional_text(place, key))), "")


def _usage(row: Mapping[str, Any]) -> dict[str, int]:
    outputs = optional_object(row, "outputs")
    stated = (
        optional_object(outputs, "usage_metadata")
        or optional_object(_metadata(row), "usage_metadata")
        or optional_object(optional_object(outputs, "llm_output"), "token_usage")
        or optional_object(outputs, "usage")
        or row
    )
    found = {
        "input_tokens": _first_integer(stated, ("input_tokens", "prompt_tokens")),
        "output_tokens": _first_integer(stated, ("output_tokens", "completion_tokens")),
        "cached_tokens": optional_integer(optional_object(stated, "input_token_details"), "cache_read"),
        "reasoning_tokens": optional_integer(optional_object(stated, "output_token_details"), "reasoning"),
    }
    return {key: value for key, value in found.items() if value is not None}


def _first_integer(row: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    return next((value for name in names if (value := optional_integer(row, name)) is not None), None)
