"""A chat with a language model, as the program keeps it, whoever serves the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class CalledTool:
    """A tool call that a model asks for. `arguments` is the text as the model wrote it, broken or not."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat.

    `tool_calls` stands in an assistant's message; `call_id` names, in a tool's message, the call that it answers.
    """

    role: Role
    content: str
    tool_calls: tuple[CalledTool, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool that a model may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is served and how it is asked.

    `key_env` names the environment variable with the key, never the key; empty where the server asks for none.
    `sampling` is sent as it is (temperature, top_p, max_tokens, seed, reasoning_effort and so on).
    """

    base_url: str
    model: str
    key_env: str = ""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    timeout_s: float = 600.0


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a model is asked. `json_schema`, where given, is the schema that the reply's text must follow."""

    endpoint: Endpoint
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    json_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the provider states them; None where it does not.

    `input_tokens` counts all of the prompt, cached tokens included; `output_tokens` all that was generated,
    reasoning included.
    """

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model said. `finish_reason` is stop, length, tool_calls, content_filter, or the provider's own word.

    `text` holds no reasoning: what stood between reasoning tags, or in a field of its own, is in `reasoning`.
    """

    text: str
    tool_calls: tuple[CalledTool, ...] = ()
    reasoning: str = ""
    finish_reason: str = "stop"
    usage: Usage = Usage()
    refusal: str = ""
    served_model: str = ""


Chat = Callable[[ChatRequest], ChatReply]
"""Asks a model. Raises `lseval.providers.errors.ProviderError` when no usable reply came."""
