"""Rows in the formats of traces: the run of `samples_chats` as its spans."""

from __future__ import annotations

import json
from typing import Any

from tests.formats.samples_chats import ANSWER, PAGE, QUESTION, URL

TRACE = "0af7651916cd43dd8448eb211c80319c"
ARGUMENTS = {"url": URL}


def langfuse_row(**changes: Any) -> dict[str, Any]:
    """As a download has it: what is JSON stands inside text."""
    call = {"id": "c1", "type": "function", "function": {"name": "fetch_url", "arguments": json.dumps(ARGUMENTS)}}
    asked = [{"role": "user", "content": QUESTION}]
    replied = {"role": "assistant", "content": "", "tool_calls": [call]}
    answered = [*asked, replied, {"role": "tool", "tool_call_id": "c1", "content": PAGE}]
    row = {
        "trace": {
            "id": "t1",
            "projectId": "p1",
            "name": "rivers",
            "timestamp": "2026-01-25T09:39:56.000Z",
            "input": json.dumps(json.dumps({"question": QUESTION})),
            "output": None,
            "metadata": json.dumps({"task_id": "q1"}),
        },
        "observations": [
            _observation(
                "o3", "GENERATION", 3, json.dumps(answered), json.dumps({"role": "assistant", "content": ANSWER})
            ),
            _observation("o1", "GENERATION", 1, json.dumps(asked), json.dumps(replied)),
            _observation("o2", "TOOL", 2, json.dumps(ARGUMENTS), PAGE, name="fetch_url"),
        ],
    }
    return row | changes


def _observation(key: str, kind: str, second: int, given: Any, output: Any, **changes: Any) -> dict[str, Any]:
    observation = {
        "id": key,
        "traceId": "t1",
        "type": kind,
        "name": "chat",
        "startTime": f"2026-01-25T09:39:{56 + second}.000Z",
        "parentObservationId": None,
        "level": "DEFAULT",
        "input": given,
        "output": output,
        "model": "m1" if kind == "GENERATION" else None,
        "usageDetails": {"input": 50, "output": 10, "input_cache_read": 20} if kind == "GENERATION" else {},
    }
    return observation | changes


def genai_spans(trace: str = TRACE) -> list[dict[str, Any]]:
    """Spans by OpenTelemetry's GenAI conventions, as OTLP JSON writes them."""
    asked = [{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}]
    replied = [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "I should read."},
                {"type": "tool_call", "id": "c1", "name": "fetch_url", "arguments": ARGUMENTS},
            ],
        }
    ]
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": PAGE}]}
    answered = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}], "finish_reason": "stop"}]
    return [
        _otlp(trace, "01", "", "invoke_agent seeker", 1, **{"gen_ai.operation.name": "invoke_agent"}),
        _model_span(trace, "02", 2, asked, replied),
        _otlp(
            trace,
            "03",
            "01",
            "execute_tool fetch_url",
            3,
            **{
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "fetch_url",
                "gen_ai.tool.call.id": "c1",
                "gen_ai.tool.call.arguments": json.dumps(ARGUMENTS),
                "gen_ai.tool.call.result": PAGE,
            },
        ),
        _model_span(trace, "04", 4, [*asked, *replied, result], answered),
    ]


def _model_span(trace: str, key: str, second: int, given: Any, output: Any) -> dict[str, Any]:
    return _otlp(
        trace,
        key,
        "01",
        "chat m1",
        second,
        **{
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m1",
            "gen_ai.input.messages": json.dumps(given),
            "gen_ai.output.messages": json.dumps(output),
            "gen_ai.usage.input_tokens": 50,
            "gen_ai.usage.output_tokens": 10,
        },
    )


def _otlp(trace: str, key: str, parent: str, name: str, second: int, **attributes: Any) -> dict[str, Any]:
    def typed(value: Any) -> dict[str, Any]:
        return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}

    return {
        "traceId": trace,
        "spanId": key * 8,
        "parentSpanId": parent * 8,
        "name": name,
        "startTimeUnixNano": str(1_769_333_996_000_000_000 + second * 10**9),
        "attributes": [{"key": name, "value": typed(value)} for name, value in attributes.items()],
        "status": {},
    }


def otlp_row(*spans: dict[str, Any]) -> dict[str, Any]:
    scope = {"scope": {"name": "seeker"}, "spans": list(spans) or genai_spans()}
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}


def openinference_spans(trace: str = TRACE) -> list[dict[str, Any]]:
    """Spans by OpenInference, flat, as an exporter writes them a line each."""
    call = "llm.output_messages.0.message.tool_calls.0.tool_call"
    before = "llm.input_messages.1.message.tool_calls.0.tool_call"
    return [
        _flat(trace, "01", None, "agent", 1, "AGENT", {"input.value": QUESTION, "output.value": ANSWER}),
        _flat(
            trace,
            "02",
            "01",
            "ChatOpenAI",
            2,
            "LLM",
            {
                "llm.model_name": "m1",
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": QUESTION,
                "llm.output_messages.0.message.role": "assistant",
                f"{call}.id": "c1",
                f"{call}.function.name": "fetch_url",
                f"{call}.function.arguments": json.dumps(ARGUMENTS),
                "llm.token_count.prompt": 50,
                "llm.token_count.completion": 10,
            },
        ),
        _flat(
            trace,
            "03",
            "01",
            "fetch_url",
            3,
            "TOOL",
            {"tool.name": "fetch_url", "input.value": json.dumps(ARGUMENTS), "output.value": PAGE},
        ),
        _flat(
            trace,
            "04",
            "01",
            "ChatOpenAI",
            4,
            "LLM",
            {
                "llm.model_name": "m1",
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": QUESTION,
                "llm.input_messages.1.message.role": "assistant",
                f"{before}.id": "c1",
                f"{before}.function.name": "fetch_url",
                "llm.input_messages.2.message.role": "tool",
                "llm.input_messages.2.message.tool_call_id": "c1",
                "llm.input_messages.2.message.content": PAGE,
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": ANSWER,
                "llm.token_count.prompt": 50,
                "llm.token_count.completion": 10,
            },
        ),
    ]


def _flat(
    trace: str, key: str, parent: str | None, name: str, second: int, kind: str, attributes: dict[str, Any]
) -> dict[str, Any]:
    return {
        "name": name,
        "context": {"trace_id": f"0x{trace}", "span_id": f"0x{key * 8}"},
        "parent_id": f"0x{parent * 8}" if parent else None,
        "start_time": f"2026-01-25T09:40:0{second}.000000Z",
        "status": {"status_code": "OK"},
        "attributes": {"openinference.span.kind": kind, **attributes},
    }


def langsmith_rows(trace: str = "tr1") -> list[dict[str, Any]]:
    """Runs as LangSmith exports them, one a row; messages as LangChain serialises them."""
    human = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"]}
    ai = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"]}
    tool = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"]}
    asked = human | {"kwargs": {"content": QUESTION, "type": "human"}}
    called = ai | {"kwargs": {"content": "", "tool_calls": [{"id": "c1", "name": "fetch_url", "args": ARGUMENTS}]}}
    result = tool | {"kwargs": {"content": PAGE, "tool_call_id": "c1", "name": "fetch_url"}}
    answered = ai | {"kwargs": {"content": ANSWER}}
    usage = {"token_usage": {"prompt_tokens": 50, "completion_tokens": 10}, "model_name": "m1"}
    return [
        _run(trace, trace, None, 1, "chain", {"question": QUESTION}, {"answer": ANSWER}),
        _run(
            trace,
            "m-1",
            trace,
            2,
            "llm",
            {"messages": [[asked]]},
            {"generations": [[{"text": "", "message": called}]], "llm_output": usage},
        ),
        _run(trace, "t-1", trace, 3, "tool", {"input": str(ARGUMENTS)}, {"output": result}, name="fetch_url"),
        _run(
            trace,
            "m-2",
            trace,
            4,
            "llm",
            {"messages": [[asked, called, result]]},
            {"generations": [[{"text": ANSWER, "message": answered}]], "llm_output": usage},
        ),
    ]


def _run(
    trace: str, key: str, parent: str | None, second: int, kind: str, given: Any, output: Any, name: str = "step"
) -> dict[str, Any]:
    return {
        "id": key,
        "trace_id": trace,
        "parent_run_id": parent,
        "name": name,
        "run_type": kind,
        "start_time": f"2026-01-25T09:40:0{second}.000000",
        "inputs": given,
        "outputs": output,
        "error": None,
        "extra": {"metadata": {"task_id": "q1"}},
    }


def langsmith_tree() -> dict[str, Any]:
    """The same runs as one tree."""
    root, *children = langsmith_rows()
    return root | {"child_runs": children}
