"""Language models behind an OpenAI-compatible endpoint, in a cloud or on this network."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from lseval.domain.chat import CalledTool, ChatReply, ChatRequest, Endpoint, Message, ToolSchema
from lseval.domain.storable_text import storable
from lseval.providers.complaints import error_of
from lseval.providers.errors import RequestRefusedError
from lseval.providers.guard import endpoint_target
from lseval.providers.keys import key_from
from lseval.providers.llm_replies import reply_in
from lseval.providers.transport import GuardedHttp

OWN_FIELDS = frozenset({"model", "messages", "tools", "stream", "n"})
"""What the program sets itself, so that a study's `sampling` may not."""


class OpenAIChat:
    """Asks the model that a request names, by one POST to `{base_url}/chat/completions`, never repeated here.

    For any number of threads. Keys are read from `environ` by name at each call and kept nowhere. What may be
    called is what `http` lets through.
    """

    def __init__(self, http: GuardedHttp, *, environ: Mapping[str, str] = os.environ) -> None:
        self._http = http
        self._environ = environ

    def __call__(self, request: ChatRequest) -> ChatReply:
        """What the model replied. An empty text is a reply too: what it is worth is for the caller to say.

        Raises a `ProviderError` whose type says what went wrong and whether the same request may succeed later.
        """
        endpoint = request.endpoint
        who = endpoint_target(endpoint.base_url).origin
        key = key_from(self._environ, endpoint.key_env, who)
        headers = [("Content-Type", "application/json")]
        if key:
            headers.append(("Authorization", f"Bearer {key}"))
        reply = self._http.request(
            "POST", chat_url(endpoint), headers=headers, body=body_of(request), timeout_s=endpoint.timeout_s
        )
        if not 200 <= reply.status < 300:
            raise error_of(reply, who, key)
        return reply_in(reply, who, key)


def chat_url(endpoint: Endpoint) -> str:
    """Where chats are posted; a query in the base URL stays behind the path."""
    base, mark, query = endpoint.base_url.partition("?")
    return f"{base.rstrip('/')}/chat/completions{mark}{query}"


def body_of(request: ChatRequest) -> bytes:
    """The JSON that is sent: equal requests give equal bytes, whatever the order of their settings' keys.

    Messages are made into JSON once each and kept, because every turn of a chat sends all those before it again. A
    `response_format` in `sampling` takes the place of the request's schema, for servers that know other forms only.

    Raises:
        RequestRefusedError: `sampling` sets what the program sets itself.
    """
    endpoint = request.endpoint
    taken = OWN_FIELDS & endpoint.sampling.keys()
    if taken:
        raise RequestRefusedError(
            f"The settings' sampling sets {', '.join(sorted(taken))}, which is not for the settings: remove it."
        )
    pieces = [b'{"model":', _json(endpoint.model), b',"messages":[', _messages(request.messages), b"]"]
    if request.tools:
        pieces += (b',"tools":', _tools(request.tools))
    if request.json_schema is not None and "response_format" not in endpoint.sampling:
        form = {"name": "reply", "strict": True, "schema": request.json_schema}
        pieces += (b',"response_format":', _json({"type": "json_schema", "json_schema": form}))
    if endpoint.sampling:
        pieces += (b",", _json(endpoint.sampling, sort_keys=True)[1:-1])
    pieces.append(b"}")
    return b"".join(pieces)


# A study of 64 runs at once keeps some 5,000 messages alive, most of them far below the 5,000 characters of a page.
@lru_cache(maxsize=8_192)
def _message(message: Message) -> bytes:
    parts: dict[str, Any] = {"role": message.role, "content": _without_nul(message.content)}
    if message.tool_calls:
        parts["content"] = parts["content"] or None
        parts["tool_calls"] = [_called(call) for call in message.tool_calls]
    if message.role == "tool":
        parts["tool_call_id"] = message.call_id
    return _json(parts)


class _Chat(threading.local):
    """The JSON of the messages that this thread sent last: the next turn of a chat only adds to them."""

    def __init__(self) -> None:
        self._messages: tuple[Message, ...] = ()
        self._made = b""

    def __call__(self, messages: tuple[Message, ...]) -> bytes:
        known = len(self._messages)
        # Equality of tuples looks at identity first, so this costs next to nothing for a chat that has grown.
        if known and messages[:known] == self._messages:
            parts = [self._made, *map(_message, messages[known:])]
        else:
            parts = [_message(message) for message in messages]
        self._messages, self._made = messages, b",".join(parts)
        return self._made


_messages = _Chat()


def _called(call: CalledTool) -> dict[str, Any]:
    function = {"name": _without_nul(call.name), "arguments": _readable(_without_nul(call.arguments))}
    return {"id": call.call_id, "type": "function", "function": function}


def _readable(arguments: str) -> str:
    """Arguments as they may be sent back: some servers (vLLM) fail on a history where they are no object."""
    try:
        is_object = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        is_object = False
    return arguments if is_object else json.dumps({"unreadable": arguments})


class _Tools:
    """The JSON of the tools that were last asked for: an agent's tools are one object for all of its calls."""

    def __init__(self) -> None:
        self._last: tuple[tuple[ToolSchema, ...], bytes] = ((), b"[]")

    def __call__(self, tools: tuple[ToolSchema, ...]) -> bytes:
        known, made = self._last
        if known is not tools:
            made = _json([_tool(tool) for tool in tools])
            self._last = (tools, made)
        return made


_tools = _Tools()


def _tool(tool: ToolSchema) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _without_nul(text: str) -> str:
    return text.replace("\x00", "\ufffd")


def _json(value: Any, *, sort_keys: bool = False) -> bytes:
    """JSON in UTF-8. Keys keep their order unless asked: models fill in a schema's fields in its order."""
    separators = (",", ":")
    text = json.dumps(value, ensure_ascii=False, sort_keys=sort_keys, separators=separators, default=dict)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return storable(text).encode()
