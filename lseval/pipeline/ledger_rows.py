"""How chats, searches and their replies are written in the ledger, and how a request is known again.

A chat's digest is a chain over its messages: the digest of what it is asked with, then of that and the first
message, and so on. So a chat that has grown is known by what is new in it, and a row names the request that it goes
on from (`after`) and only the messages since: a run's storage and the work on it grow with its messages, not with
their square.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lseval.domain.chat import CalledTool, ChatReply, ChatRequest, Message, Role, ToolSchema, Usage
from lseval.domain.storable_text import storable
from lseval.domain.web import SearchHit

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode

LARGEST_TOKENS: Final = 2**53
"""More tokens than any call has: a count beyond is a provider's mistake and is kept as unknown."""


@dataclass(frozen=True, slots=True)
class Body:
    """A message, or a list of tools, as it is stored: canonical JSON, and the SHA-256 of it."""

    digest: str
    text: str


@dataclass(frozen=True, slots=True)
class RequestRow:
    """A request as its row has it: its digest, the JSON of the row, and the bodies that the row refers to."""

    digest: str
    text: str
    bodies: tuple[Body, ...]


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces, of text that a database can keep."""
    text = _encode(value)
    # NUL is written escaped, a lone surrogate as itself.
    if "\\u0000" in text or not _encodes(text):
        return _encode(_cleaned(value))
    return text


def sha256(text: str) -> str:
    """The digest of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def body_of_message(message: Message) -> Body:
    """A message as it is stored."""
    value: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        value["tool_calls"] = [_called(call) for call in message.tool_calls]
    if message.call_id:
        value["call_id"] = message.call_id
    text = canonical(value)
    return Body(sha256(text), text)


def message_of_body(value: Mapping[str, Any]) -> Message:
    """The message of a stored body."""
    role: Role = value["role"]
    calls = tuple(CalledTool(*call) for call in value.get("tool_calls", ()))
    return Message(role, value["content"], calls, value.get("call_id", ""))


def body_of_tools(tools: Sequence[ToolSchema]) -> Body:
    """The tools that a model is offered, as they are stored."""
    text = canonical([{"name": t.name, "description": t.description, "parameters": t.parameters} for t in tools])
    return Body(sha256(text), text)


class ChatChain:
    """The chats that one run or judge has asked so far, so that the next is known by what is new in it."""

    def __init__(self, scope: str) -> None:
        self._scope = scope
        self._params: dict[tuple[Any, ...], tuple[str, dict[str, Any], tuple[Body, ...], ChatRequest]] = {}
        self._last: tuple[str, tuple[Message, ...], str] | None = None

    def row_of(self, request: ChatRequest) -> RequestRow:
        """The row of a request; `recorded` tells the chain once it is in the database."""
        start, params, bodies = self._start(request)
        link, known, after = start, 0, ""
        if self._last is not None:
            last_start, messages, digest = self._last
            known_count = len(messages)
            # Equality of tuples looks at identity first, so this costs next to nothing for a chat that has grown.
            has_grown = len(request.messages) > known_count
            if last_start == start and has_grown and request.messages[:known_count] == messages:
                link, known, after = digest, known_count, digest
        new = [body_of_message(message) for message in request.messages[known:]]
        for body in new:
            link = sha256(f"{link}{body.digest}")
        value = {**params, "messages": [body.digest for body in new]}
        if after:
            value["after"] = after
            bodies = ()
        return RequestRow(link, canonical(value), (*bodies, *new))

    def recorded(self, request: ChatRequest, row: RequestRow) -> None:
        """The request is in the ledger: later ones may go on from it."""
        self._last = (self._start(request)[0], request.messages, row.digest)

    def _start(self, request: ChatRequest) -> tuple[str, dict[str, Any], tuple[Body, ...]]:
        """The digest of what the request is asked with, that in JSON, and the body of the tools."""
        key = (id(request.endpoint), id(request.tools), id(request.json_schema))
        found = self._params.get(key)
        if found is None:
            endpoint = request.endpoint
            params: dict[str, Any] = {"sampling": dict(endpoint.sampling)}
            tools = (body_of_tools(request.tools),) if request.tools else ()
            if tools:
                params["tools"] = tools[0].digest
            if request.json_schema is not None:
                params["json_schema"] = dict(request.json_schema)
            start = sha256(canonical(["chat", self._scope, endpoint.base_url, endpoint.model, params]))
            # The request is kept with the entry: its parts stay alive, so that no other object gets their ids.
            found = self._params[key] = (start, params, tools, request)
            if len(self._params) > 64:
                self._params.pop(next(iter(self._params)))
        return found[:3]


def search_row(scope: str, provider: str, query: str, count: int) -> RequestRow:
    """The row of a search."""
    value = {"query": storable(query), "count": count}
    return RequestRow(sha256(canonical(["search", scope, provider, value])), canonical(value), ())


def reply_text(reply: ChatReply) -> str:
    """A reply as its row has it."""
    value: dict[str, Any] = {"text": reply.text, "finish_reason": reply.finish_reason}
    if reply.tool_calls:
        value["tool_calls"] = [_called(call) for call in reply.tool_calls]
    for name in ("reasoning", "refusal", "served_model"):
        if getattr(reply, name):
            value[name] = getattr(reply, name)
    return canonical(value)


def reply_of(value: Mapping[str, Any], usage: Usage) -> ChatReply:
    """The reply of a row: of its JSON and its columns of tokens."""
    return ChatReply(
        text=value["text"],
        tool_calls=tuple(CalledTool(*call) for call in value.get("tool_calls", ())),
        reasoning=value.get("reasoning", ""),
        finish_reason=value["finish_reason"],
        usage=usage,
        refusal=value.get("refusal", ""),
        served_model=value.get("served_model", ""),
    )


def kept_usage(usage: Usage) -> Usage:
    """The usage as the ledger can keep it: a negative or absurd count is unknown."""
    counts = (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens)
    return Usage(*(count if count is not None and 0 <= count <= LARGEST_TOKENS else None for count in counts))


def hits_text(hits: Sequence[SearchHit]) -> str:
    """Search results as their row has them."""
    return canonical({"hits": [[hit.url, hit.title, hit.snippet, hit.published] for hit in hits]})


def hits_of(value: Mapping[str, Any]) -> tuple[SearchHit, ...]:
    """The search results of a row."""
    return tuple(SearchHit(*hit) for hit in value["hits"])


def _called(call: CalledTool) -> list[str]:
    return [call.call_id, call.name, call.arguments]


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable(str(key)): _cleaned(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(inner) for inner in value]
    return value
