"""Spans of OpenTelemetry with what the GenAI conventions or OpenInference say of models and tools.

Read as OTLP JSON (`resourceSpans`), as one span a line or in a list, or as a table's rows (`context.trace_id`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from lseval.domain.trajectory import RunRecord
from lseval.formats.attributes import Attributes
from lseval.formats.errors import MissingFieldError
from lseval.formats.fields import optional_object, optional_objects, optional_text
from lseval.formats.files import FileRow, SourceFile
from lseval.formats.messages import decoded_json
from lseval.formats.spans import AGENT, MODEL, OTHER, TOOL, Span, Trace, moment_ns, trace_run
from lseval.formats.trace_files import Part, read_traces

_TRACE_IDS = ("traceId", "trace_id", "context.trace_id")
_SPAN_IDS = ("spanId", "span_id", "context.span_id")
_PARENT_IDS = ("parentSpanId", "parent_span_id", "parent_id", "parentId")
_STARTS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")
_KINDS = {
    "llm": MODEL,
    "chat": MODEL,
    "text_completion": MODEL,
    "completion": MODEL,
    "generate_content": MODEL,
    "tool": TOOL,
    "retriever": TOOL,
    "execute_tool": TOOL,
    "agent": AGENT,
    "invoke_agent": AGENT,
}
_INPUTS = ("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt")
_OUTPUTS = ("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion")
_PLAIN_INPUT = ("input.value", "traceloop.entity.input")
_PLAIN_OUTPUT = ("output.value", "traceloop.entity.output")
_USAGE = {
    "input_tokens": ("gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens"),
    "cached_tokens": (
        "gen_ai.usage.cache_read.input_tokens",
        "llm.token_count.prompt_details.cache_read",
        "gen_ai.usage.details.cache_read_tokens",
    ),
    "output_tokens": (
        "gen_ai.usage.output_tokens",
        "llm.token_count.completion",
        "gen_ai.usage.completion_tokens",
    ),
    "reasoning_tokens": (
        "gen_ai.usage.reasoning.output_tokens",
        "llm.token_count.completion_details.reasoning",
        "gen_ai.usage.details.reasoning_tokens",
    ),
}


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a parsed row is a span, or a batch of them in OTLP JSON."""
    if isinstance(row.get("resourceSpans", row.get("resource_spans")), list):
        return True
    if not _stated(row, _TRACE_IDS) or not _stated(row, _SPAN_IDS):
        return False
    return "attributes" in row or any(key.startswith("attributes.") for key in row)


def read_file(source: SourceFile) -> Iterator[FileRow]:
    """Every trace of a file of spans as a run."""
    return read_traces(source, _parts, partial(_build, default_model=source.default_model))


def _parts(row: Mapping[str, Any]) -> list[Part]:
    spans = list(_flat_spans(row))
    parts = [(trace_id, span) for span in spans if (trace_id := _stated(span, _TRACE_IDS))]
    if len(parts) < len(spans):
        raise MissingFieldError("traceId: is missing", ["traceId"])
    return parts


def _flat_spans(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "resourceSpans" not in row and "resource_spans" not in row:
        yield row
        return
    for resource in optional_objects(row, "resourceSpans") or optional_objects(row, "resource_spans"):
        for key in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            for scope in optional_objects(resource, key):
                yield from optional_objects(scope, "spans")


def _stated(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    context = optional_object(row, "context") or optional_object(row, "spanContext")
    for name in names:
        found = row.get(name, context.get(name))
        if isinstance(found, str) and found.strip("0 "):
            return found
    return ""


def _build(trace_id: str, rows: list[Mapping[str, Any]], default_model: str | None) -> RunRecord:
    seen: dict[str, Span] = {}
    metadata: dict[str, Any] = {}
    for row in rows:
        span, attributes = _span(row)
        seen.setdefault(span.id, span)  # exporters send a span again when they are not sure that it arrived
        stated = decoded_json(attributes.get("metadata"))
        metadata |= stated if isinstance(stated, Mapping) else {}
        metadata |= {key: value for key in ("task_id", "question_id", "query_id") if (value := attributes.get(key))}
    kept = {
        key: value
        for key, names in (("session_id", ("session.id", "gen_ai.conversation.id")), ("user_id", ("user.id",)))
        if (value := next((text for row in rows if (text := Attributes(row).text(*names))), ""))
    }
    return trace_run(Trace(trace_id, list(seen.values()), metadata=metadata), default_model, kept)


def _span(row: Mapping[str, Any]) -> tuple[Span, Attributes]:
    attributes = Attributes(row)
    kind = _kind(row, attributes)
    name = optional_text(row, "name")
    if kind == TOOL:
        name = attributes.text("gen_ai.tool.name", "tool.name", "traceloop.entity.name") or name
    elif kind == AGENT:
        name = attributes.text("gen_ai.agent.name", "agent.name", "traceloop.entity.name") or name
    is_error, error = _status(row)
    span = Span(
        id=_stated(row, _SPAN_IDS),
        parent_id=_stated(row, _PARENT_IDS),
        kind=kind,
        name=name,
        started_ns=moment_ns(next((row[key] for key in _STARTS if row.get(key) is not None), None)),
        input=_side(attributes, kind, _INPUTS, ("gen_ai.tool.call.arguments", "tool_arguments"), _PLAIN_INPUT),
        output=_side(attributes, kind, _OUTPUTS, ("gen_ai.tool.call.result", "tool_response"), _PLAIN_OUTPUT),
        is_error=is_error,
        error=error,
        model=attributes.text("gen_ai.response.model", "gen_ai.request.model", "llm.model_name"),
        usage={key: value for key, names in _USAGE.items() if (value := attributes.integer(*names)) is not None},
        call_id=attributes.text("gen_ai.tool.call.id", "tool_call.id", "tool.id"),
    )
    return span, attributes


def _kind(row: Mapping[str, Any], attributes: Attributes) -> str:
    for stated in (
        attributes.text("openinference.span.kind"),
        attributes.text("gen_ai.operation.name"),
        attributes.text("traceloop.span.kind"),
        attributes.text("llm.request.type"),
        optional_text(row, "span_kind"),
    ):
        if found := _KINDS.get(stated.lower()):
            return found
    return OTHER


def _side(
    attributes: Attributes, kind: str, messages: tuple[str, ...], tool: tuple[str, ...], plain: tuple[str, ...]
) -> Any:
    """What went into a span, or came out of it."""
    if kind == TOOL and (found := attributes.get(*tool)) is not None:
        return found
    if kind != TOOL:
        for key in messages:
            if found := attributes.listed(key):
                return found
    return attributes.get(*plain)


def _status(row: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether the span failed, and with what message. OTLP's code 2 is an error."""
    status = row.get("status", row.get("status_code"))
    code = status.get("code", status.get("status_code")) if isinstance(status, Mapping) else status
    message = optional_text(status, "message") if isinstance(status, Mapping) else ""
    message = message or optional_text(row, "status_message")
    return code == 2 or (isinstance(code, str) and code.upper().endswith("ERROR")), message
