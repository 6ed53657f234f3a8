"""Langfuse traces: a trace with its observations, as the page's download and the API give them.

`input` and `output` may be JSON, JSON inside text, or JSON inside text inside text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lseval.domain.trajectory import RunRecord
from lseval.formats.errors import MissingFieldError
from lseval.formats.fields import optional_object, optional_objects, optional_text
from lseval.formats.messages import decoded_json
from lseval.formats.spans import AGENT, MODEL, OTHER, TOOL, Span, Trace, moment_ns, trace_run

_KINDS = {"GENERATION": MODEL, "TOOL": TOOL, "RETRIEVER": TOOL, "AGENT": AGENT}
_USAGE = {
    "input_tokens": ("input", "input_tokens", "prompt_tokens"),
    "cached_tokens": ("input_cache_read", "input_cached_tokens", "cache_read_input_tokens"),
    "output_tokens": ("output", "output_tokens", "completion_tokens"),
    "reasoning_tokens": ("output_reasoning", "output_reasoning_tokens", "reasoning_tokens"),
}
_TOOL_PREFIXES = ("running tool: ", "execute_tool ")
_KEPT = ("sessionId", "release", "version", "environment", "tags")


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a parsed row is a trace with its observations."""
    if not isinstance(row.get("observations"), list):
        return False
    return isinstance(row.get("trace"), Mapping) or "timestamp" in row or "projectId" in row


def row_reader(path: Path, default_model: str | None) -> Callable[[Mapping[str, Any]], RunRecord]:
    """What reads the rows of `path`; `default_model` names the model where no observation does."""
    return partial(_read_trace, default_model=default_model)


def _read_trace(row: Mapping[str, Any], default_model: str | None) -> RunRecord:
    stated = optional_object(row, "trace") or row
    spans = [_span(item) for item in optional_objects(row, "observations")]
    if not spans:
        raise MissingFieldError("observations: is empty", ["observations"])
    metadata = decoded_json(stated.get("metadata"))
    trace = Trace(
        id=optional_text(stated, "id"),
        spans=spans,
        input=stated.get("input"),
        output=stated.get("output"),
        metadata=metadata if isinstance(metadata, Mapping) else {},
        name=optional_text(stated, "name"),
    )
    kept = {key: value for key in _KEPT if (value := stated.get(key)) not in (None, "", [])}
    return trace_run(trace, default_model, kept)


def _span(item: Mapping[str, Any]) -> Span:
    metadata = decoded_json(item.get("metadata"))
    metadata = metadata if isinstance(metadata, Mapping) else {}
    attributes = optional_object(metadata, "attributes")
    kind = _KINDS.get(optional_text(item, "type"), OTHER)
    name = optional_text(item, "name")
    agent = optional_text(attributes, "gen_ai.agent.name")
    if kind == OTHER and (agent or name.startswith("invoke_agent ")):
        kind, name = AGENT, agent or name
    if kind == TOOL:
        name = optional_text(attributes, "gen_ai.tool.name") or _without_prefix(name)
    return Span(
        id=optional_text(item, "id"),
        parent_id=optional_text(item, "parentObservationId"),
        kind=kind,
        name=name,
        started_ns=moment_ns(item.get("startTime")),
        input=item.get("input"),
        output=item.get("output"),
        is_error=item.get("level") == "ERROR",
        error=optional_text(item, "statusMessage"),
        model=optional_text(item, "model"),
        usage=_usage(item),
        call_id=optional_text(attributes, "gen_ai.tool.call.id"),
        metadata=metadata,
    )


def _without_prefix(name: str) -> str:
    return next((name[len(prefix) :] for prefix in _TOOL_PREFIXES if name.startswith(prefix)), name)


def _usage(item: Mapping[str, Any]) -> dict[str, int]:
    details = optional_object(item, "usageDetails") or optional_object(item, "usage")
    found: dict[str, int] = {}
    for key, names in _USAGE.items():
        value = next((details[name] for name in names if isinstance(details.get(name), int)), None)
        if value is not None:
            found[key] = value
    return found
