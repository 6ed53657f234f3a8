"""Chat messages as OpenAI, Anthropic, LangChain, Inspect, OpenTelemetry and OpenInference write them.

They differ in where a message keeps its role, its text, its tool calls and the results of these; `chat_message`
gives one shape for all of them.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from lseval.formats.fields import optional_object, optional_objects, optional_text
from lseval.formats.strict_json import JsonError, parse_json

_ROLES = {
    "human": "user",
    "humanmessage": "user",
    "humanmessagechunk": "user",
    "ai": "assistant",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "systemmessage": "system",
    "developer": "system",
    "toolmessage": "tool",
    "toolmessagechunk": "tool",
    "function": "tool",
    "functionmessage": "tool",
}
_inner_notes: ContextVar[dict[str, None] | None] = ContextVar("inner_notes", default=None)
_TEXT_KEYS = ("text", "content", "input_text", "output_text", "refusal")
_LONGEST_LITERAL = 20_000
_ID_KEYS = ("tool_call_id", "tool_use_id", "call_id", "id")


@dataclass(frozen=True, slots=True)
class ChatCall:
    """A tool call in a message. `problem` says why its arguments cannot be read; they are then under `text`."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ChatResult:
    """What a tool gave back for the call `call_id`; None for nothing at all. `name` is the tool's, where stated."""

    call_id: str
    text: str | None
    is_error: bool = False
    name: str = ""


@dataclass(slots=True)
class ChatMessage:
    """A message: `role` is user, assistant, system or tool, or what the source calls a further one."""

    role: str
    text: str = ""
    reasoning: str = ""
    calls: list[ChatCall] = field(default_factory=list)
    results: list[ChatResult] = field(default_factory=list)
    name: str = ""


def chat_messages(value: Any) -> list[ChatMessage]:
    """The messages in a list of them, a list of lists, one message, or an object with `messages`; else none."""
    if isinstance(value, Mapping):
        for key in ("messages", "message"):
            if isinstance(value.get(key), list | Mapping):
                return chat_messages(value[key])
        return [message] if (message := chat_message(value)) else []
    found: list[ChatMessage] = []
    for item in value if isinstance(value, list) else []:
        found += chat_messages(item) if isinstance(item, list | Mapping) else []
    return found


def chat_message(value: Mapping[str, Any]) -> ChatMessage | None:
    """The message that `value` holds, or None where it has no role or only tells the model of a tool."""
    value, role = _unwrapped(value)
    if not role or (role == "tool" and _is_definition(value.get("content"))):
        return None
    text: list[str] = []
    reasoning = [_stated_reasoning(value)]
    message = ChatMessage(role, name=optional_text(value, "name") or optional_text(value, "agent"))
    for block in _blocks(value):
        _add_block(message, block, text, reasoning)
    if role == "tool":
        message.results = message.results or [_tool_result(value, "\n\n".join(text))]
    elif role == "assistant":
        message.calls += _stated_calls(value)
    message.text = "\n\n".join(part for part in text if part)
    message.reasoning = "\n\n".join(dict.fromkeys(part for part in reasoning if part))
    return message


def decoded_arguments(value: Any) -> tuple[Mapping[str, Any], str]:
    """Arguments as an object, and why that could not be had; the text is then under `text`."""
    if isinstance(value, Mapping):
        return value, ""
    if value is None or value == "":
        return {}, ""
    if not isinstance(value, str):
        return {"value": value}, ""
    decoded = decoded_json(value)
    if decoded == value and value.startswith("{'"):
        decoded = _python_value(value)
    if isinstance(decoded, Mapping):
        return decoded, ""
    if decoded is None or decoded == value:
        return {"text": value}, "the arguments are not JSON"
    return {"value": decoded}, ""


def decoded_json(value: Any) -> Any:
    """What JSON inside text holds, text within text too; `value` as it is where it is none."""
    for _ in range(3):
        if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
            return value
        try:
            parsed = parse_json(value.encode(), nan_as_null=True)
        except JsonError:
            return value
        value = parsed.value
        if (notes := _inner_notes.get()) is not None:
            notes.update(dict.fromkeys(parsed.notes))
    return value


def _python_value(text: str) -> Any:
    """What a Python literal holds, as LangChain writes arguments; `text` where it is none, or none of JSON's."""
    if len(text) > _LONGEST_LITERAL:
        return text
    try:
        return parse_json(json.dumps(ast.literal_eval(text), allow_nan=False).encode()).value
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, JsonError):
        return text


@contextmanager
def noting_inner_text() -> Iterator[list[str]]:
    """A list that comes to hold, each once, the notes on what `decoded_json` mends within the block."""
    notes: dict[str, None] = {}
    found: list[str] = []
    token = _inner_notes.set(notes)
    try:
        yield found
    finally:
        _inner_notes.reset(token)
        found += [f"in JSON inside text: {note}" for note in notes]


def as_text(value: Any) -> str:
    """Text as it is, nothing for null, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unwrapped(value: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """The message itself, out of what LangChain and OpenInference put round it, and its role."""
    kind = ""
    if isinstance(value.get("message"), Mapping) and "role" not in value:
        value = value["message"]
    if "lc" in value and isinstance(value.get("kwargs"), Mapping):
        path = value.get("id")
        kind = path[-1] if isinstance(path, list) and path and isinstance(path[-1], str) else ""
        value = value["kwargs"]
    elif isinstance(value.get("data"), Mapping) and "role" not in value:
        kind, value = optional_text(value, "type"), value["data"]
    stated = optional_text(value, "role") or kind or optional_text(value, "type")
    role = _ROLES.get(stated.lower(), stated.lower())
    if "role" not in value and role not in ("user", "assistant", "system", "tool"):
        return value, ""
    return value, role


def _is_definition(content: Any) -> bool:
    return isinstance(content, Mapping) and isinstance(content.get("function"), Mapping)


def _blocks(value: Mapping[str, Any]) -> list[Any]:
    for key in ("parts", "content", "contents"):
        found = value.get(key)
        if isinstance(found, list):
            return found
        if isinstance(found, str) and found:
            return [found]
        if isinstance(found, Mapping):
            return [found]
    return []


def _add_block(message: ChatMessage, block: Any, text: list[str], reasoning: list[str]) -> None:
    if isinstance(block, str):
        text.append(block)
        return
    if not isinstance(block, Mapping):
        return
    block = block.get("message_content", block) if isinstance(block.get("message_content"), Mapping) else block
    kind = optional_text(block, "type")
    if kind in ("tool_use", "tool_call", "server_tool_use"):
        message.calls.append(_call(block))
    elif kind in ("tool_result", "tool_call_response"):
        message.results.append(_block_result(block))
    elif kind in ("reasoning", "thinking"):
        reasoning.append(_first_text(block, ("thinking", "reasoning", "content", "text")))
    elif message.role == "tool" and not kind:
        text.append(as_text(block))
    else:
        text.append(_first_text(block, _TEXT_KEYS))


def _first_text(block: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((found for key in keys if (found := optional_text(block, key))), "")


def _stated_reasoning(value: Mapping[str, Any]) -> str:
    found = _first_text(value, ("reasoning_content", "reasoning"))
    return found or optional_text(optional_object(value, "additional_kwargs"), "reasoning_content")


def _stated_calls(value: Mapping[str, Any]) -> list[ChatCall]:
    stated = optional_objects(value, "tool_calls") or optional_objects(
        optional_object(value, "additional_kwargs"), "tool_calls"
    )
    calls = [_call(optional_object(call, "tool_call") or call) for call in stated]
    calls += [
        ChatCall(call.id, call.name, call.arguments, optional_text(raw, "error") or "the arguments cannot be read")
        for raw in optional_objects(value, "invalid_tool_calls")
        for call in [_call(raw)]
    ]
    if not calls and isinstance(value.get("function_call"), Mapping):
        calls = [_call(value["function_call"])]
    return calls


def _call(call: Mapping[str, Any]) -> ChatCall:
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    name = function if isinstance(function, str) else optional_text(inner, "name") or optional_text(call, "name")
    stated = next((inner[key] for key in ("arguments", "args", "input") if inner.get(key) is not None), None)
    arguments, problem = decoded_arguments(stated)
    problem = optional_text(call, "parse_error") or problem
    return ChatCall(_first_text(call, ("id", "tool_call_id", "call_id")), name or "unnamed", arguments, problem)


def _tool_result(value: Mapping[str, Any], text: str) -> ChatResult:
    error = value.get("error")
    is_error = bool(error) or value.get("status") == "error" or value.get("is_error") is True
    if isinstance(error, Mapping) and not text:
        text = optional_text(error, "message")
    is_absent = not text and value.get("content") is None and "parts" not in value and "contents" not in value
    name = optional_text(value, "function") or optional_text(value, "name")
    return ChatResult(_first_text(value, _ID_KEYS), None if is_absent else text, is_error, name)


def _block_result(block: Mapping[str, Any]) -> ChatResult:
    found = next((block[key] for key in ("response", "result", "content") if key in block), None)
    if isinstance(found, list) and all(isinstance(item, Mapping) and "text" in item for item in found):
        found = "\n\n".join(as_text(item["text"]) for item in found)
    is_error = block.get("is_error") is True
    return ChatResult(
        _first_text(block, _ID_KEYS[1:] + _ID_KEYS[:1]), None if found is None else as_text(found), is_error
    )
