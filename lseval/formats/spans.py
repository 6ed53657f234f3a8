"""A trace of spans, whatever tool recorded it, as a run.

Every call of a model that succeeded is a turn: what it replied, not the history that it was sent. A tool's result
is looked for in what later calls were sent, then in the tool's own span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from lseval.domain.trajectory import RunRecord, UsageRecord
from lseval.formats.chat_runs import ChatRun, draft_call, pages_of
from lseval.formats.errors import MissingFieldError
from lseval.formats.fields import DraftTurn, optional_text
from lseval.formats.messages import (
    ChatCall,
    ChatMessage,
    ChatResult,
    as_text,
    chat_messages,
    decoded_arguments,
    decoded_json,
)
from lseval.formats.task_keys import digest_key, stated_key

MODEL, TOOL, AGENT, OTHER = "model", "tool", "agent", "other"

_QUESTION_KEYS = ("question", "query", "prompt", "input", "user_input", "problem", "task", "text")
_ANSWER_KEYS = (
    "final_answer",
    "answer",
    "output",
    "response",
    "result",
    "final_report",
    "report",
    "text",
    "content",
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Span:
    """One step of a trace. `started_ns` counts from 1970; `input` and `output` are as the source has them.

    `usage` has keys of `UsageRecord`. `call_id` is the id of the tool call that a tool's span carries out.
    """

    id: str
    parent_id: str = ""
    kind: str = OTHER
    name: str = ""
    started_ns: int | None = None
    input: Any = None
    output: Any = None
    is_error: bool = False
    error: str = ""
    model: str = ""
    usage: dict[str, int] = field(default_factory=dict)
    call_id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Trace:
    """The spans of one run, and what the source says of the run as a whole."""

    id: str
    spans: list[Span]
    input: Any = None
    output: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""


def trace_run(trace: Trace, default_model: str | None, kept: Mapping[str, Any] | None = None) -> RunRecord:
    """The run that a trace tells of; `kept` goes into its metadata.

    Raises `MissingFieldError` where the trace has no question or names no model.
    """
    spans = _in_order(trace.spans)
    root = _root(spans)
    models = [span for span in spans if span.kind == MODEL]
    run = _conversation(spans)
    question = _question(trace, root, run)
    answer = _answer(trace, root, run)
    stated: dict[str, Any] = {"trace_id": trace.id, "trace_name": trace.name or (root.name if root else "")}
    if failed := sum(span.is_error for span in models):
        stated["failed_model_calls"] = failed
    names = Counter(span.model for span in models if span.model)
    if len(names) > 1:
        stated["response_models"] = list(names)
    started = next((span.started_ns for span in spans if span.started_ns is not None), None)
    return RunRecord(
        task_key=stated_key(trace.metadata, root.metadata if root else {}) or digest_key(question),
        question=question,
        model_name=_model_name(names, default_model),
        final_answer=answer,
        turns=tuple(turn.record() for turn in run.turns),
        pages=pages_of(run.turns).records(),
        usage=_usage(models),
        started_at=moment_text(started),
        metadata={key: value for key, value in stated.items() if value} | dict(kept or {}),
        warnings=tuple(run.warnings),
    )


def moment_ns(value: Any) -> int | None:
    """Nanoseconds since 1970 of a date and time, or of a number of seconds, milli-, micro- or nanoseconds."""
    if isinstance(value, str) and not value.isdecimal():
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - _EPOCH) // timedelta(microseconds=1) * 1000
    if isinstance(value, bool) or not isinstance(value, str | int | float) or len(str(value)) > 25:
        return None
    number = int(value)
    for bound, factor in ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3)):
        if abs(number) < bound:
            return int(float(value) * factor) if isinstance(value, float) else number * factor
    return number


def moment_text(started_ns: int | None) -> str | None:
    """The moment in ISO 8601, in UTC; None where it is none of our calendar."""
    if started_ns is None:
        return None
    try:
        return (_EPOCH + timedelta(microseconds=started_ns // 1000)).isoformat()
    except OverflowError:
        return None


def _in_order(spans: Iterable[Span]) -> list[Span]:
    """By start; spans without one keep their place after those that have one."""
    return sorted(spans, key=lambda span: (span.started_ns is None, span.started_ns or 0))


def _root(spans: Sequence[Span]) -> Span | None:
    known = {span.id for span in spans}
    return next((span for span in spans if span.parent_id not in known), None)


def _conversation(spans: Sequence[Span]) -> ChatRun:
    run = ChatRun()
    agents = _agents(spans)
    tool_spans: list[tuple[Span, DraftTurn | None]] = []
    is_first = True
    for step, span in enumerate(spans):
        if span.kind == TOOL:
            tool_spans.append((span, run.turns[-1] if run.turns else None))
        if span.kind != MODEL or span.is_error:
            continue
        agent = agents.get(span.id, "")
        messages = chat_messages(decoded_json(span.input))
        if is_first:
            for message in messages:
                run.add(message, step, f"span {step + 1}", agent)
        else:
            _add_results(run, messages)
        is_first = False
        run.add_turn(_reply(span), step, f"span {step + 1}", agent)
    told: set[int] = set()
    for span, turn in tool_spans:
        _add_tool_span(run, span, turn, told)
    return run


def _agents(spans: Sequence[Span]) -> dict[str, str]:
    """The name of the nearest agent above each span, where a trace has several agents; else nothing."""
    by_id = {span.id: span for span in spans}
    if len({span.name for span in spans if span.kind == AGENT}) < 2:
        return {}
    found: dict[str, str] = {}
    for span in spans:
        above, seen = span, {span.id}
        while above.parent_id in by_id and above.parent_id not in seen:
            above = by_id[above.parent_id]
            seen.add(above.id)
            if above.kind == AGENT:
                found[span.id] = above.name
                break
    return found


def _reply(span: Span) -> ChatMessage:
    """What a model's span gave back, as one message."""
    output = decoded_json(span.output)
    if isinstance(output, str):
        return ChatMessage("assistant", output)
    messages = [message for message in chat_messages(output) if message.role == "assistant"]
    merged = ChatMessage("assistant")
    merged.text = "\n\n".join(message.text for message in messages if message.text)
    merged.reasoning = "\n\n".join(message.reasoning for message in messages if message.reasoning)
    merged.calls = [call for message in messages for call in message.calls]
    if not messages and isinstance(output, Mapping):
        merged.text = next((text for key in _ANSWER_KEYS if (text := optional_text(output, key))), "")
    return merged


def _add_results(run: ChatRun, messages: Iterable[ChatMessage]) -> None:
    """Results among what a model was sent; those met before, and those of calls out of sight, are passed over."""
    for message in messages:
        for result in message.results:
            if result.call_id in run.waiting:
                run.add_result(result)


def _add_tool_span(run: ChatRun, span: Span, turn: DraftTurn | None, told: set[int]) -> None:
    """Take a tool's span for the result of the call it carries out, or for a call that no message tells of.

    `told` are the calls, by identity, that an earlier span carried out, so that a call repeated is two calls.
    """
    text = _tool_text(span)
    if span.call_id in run.waiting:
        run.add_result(ChatResult(span.call_id, text, span.is_error))
        return
    if span.call_id and span.call_id in run.answered:
        return
    arguments, _ = decoded_arguments(decoded_json(span.input))
    waiting = [key for key, call in run.waiting.items() if call.original_name == span.name]
    exact = [key for key in waiting if run.waiting[key].arguments == arguments]
    if waiting:
        key = (exact or waiting)[0]
        told.add(id(run.waiting[key]))
        run.add_result(ChatResult(key, text, span.is_error))
        return
    for call in (call for held in run.turns for call in held.calls):
        is_same = call.original_name == span.name and (call.arguments == arguments or call.observation == text)
        if is_same and id(call) not in told:
            told.add(id(call))
            return
    if turn is None:
        turn = DraftTurn("")
        run.turns.insert(0, turn)
    made = draft_call(ChatCall("", span.name, arguments))
    made.observation, made.is_error = text, span.is_error
    told.add(id(made))
    turn.calls.append(made)


def _tool_text(span: Span) -> str | None:
    output = span.output
    decoded = decoded_json(output)
    if isinstance(decoded, Mapping):
        results = [result for message in chat_messages(decoded) for result in message.results]
        if results:
            return results[0].text
        if len(decoded) == 1 and isinstance(only := next(iter(decoded.values())), str):
            return only
    if output is None:
        return span.error or None
    return output if isinstance(output, str) else as_text(output)


def _question(trace: Trace, root: Span | None, run: ChatRun) -> str:
    """What was asked: by the trace's input, by its root span's, or by the first messages that a model was sent."""
    for value in (trace.input, root.input if root and root.kind != MODEL else None):
        if found := _asked(decoded_json(value)):
            return found
    if not run.question:
        raise MissingFieldError(f"trace {trace.id[:80]}: no message asks a question", ["input"])
    return run.question


def _asked(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    messages = [message.text.strip() for message in chat_messages(value) if message.role == "user"]
    if any(messages):
        return "\n\n".join(text for text in messages if text)
    return _keyed_text(value, _QUESTION_KEYS)


def _answer(trace: Trace, root: Span | None, run: ChatRun) -> str:
    """The final answer; the turn that says it is then no turn any more."""
    for value in (trace.output, root.output if root and root.kind != MODEL else None):
        text = _answered(decoded_json(value))
        if text:
            last = run.turns[-1] if run.turns else None
            if last and not last.calls and last.text.strip() == text.strip():
                run.turns.pop()
            return text
    return run.take_answer()


def _answered(value: Any) -> str:
    if isinstance(value, str):
        return value
    messages = chat_messages(value)
    if messages:
        last = messages[-1]
        return last.text if last.role == "assistant" and not last.calls else ""
    return _keyed_text(value, _ANSWER_KEYS)


def _keyed_text(value: Any, keys: Sequence[str]) -> str:
    if not isinstance(value, Mapping):
        return ""
    return next((text for key in keys if (text := optional_text(value, key)).strip()), "")


def _model_name(names: Counter[str], default_model: str | None) -> str:
    name = next(iter(names), "") or (default_model or "")
    if not name.strip():
        raise MissingFieldError("no span names a model; name it when you import the file", ["model"])
    return name


def _usage(models: Iterable[Span]) -> UsageRecord:
    total: Counter[str] = Counter()
    for span in models:
        total.update(span.usage)
    return UsageRecord(**{key: number for key, number in total.items() if number >= 0})
