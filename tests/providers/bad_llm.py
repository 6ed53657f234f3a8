"""An OpenAI-compatible server on loopback that can behave as badly as the real ones do.

    with BadLLM([rate_limited("0.493"), says("Paris")]) as llm:
        ask(llm.base_url)

Each function below gives a behaviour for one request. A script is a sequence of them, or a function from the
request to one, which is what many threads need.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.providers.loopback import Behaviour, Exchange, LoopbackServer, Script, head_of

USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 30,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 100},
    "completion_tokens_details": {"reasoning_tokens": 10},
}


class BadLLM(LoopbackServer):
    """The server; `base_url` is what a study's settings would name."""

    def __init__(self, script: Script = (), *, default: Behaviour | None = None, port: int = 0) -> None:
        super().__init__(script, default=default or says("Done."), port=port)

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"


def completion(message: Mapping[str, Any], *, finish_reason: str = "stop", usage: Any = USAGE) -> dict[str, Any]:
    """A whole chat completion around an assistant's message."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "served-model",
        "choices": [
            {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason},
        ],
        "usage": usage,
    }


def answers(value: Any, status: int = 200, headers: Sequence[tuple[str, str]] = ()) -> Behaviour:
    """Any JSON value with any status."""
    return lambda exchange: exchange.send_json(status, value, headers)


def answers_bytes(body: bytes, status: int = 200, headers: Sequence[tuple[str, str]] = ()) -> Behaviour:
    """Any bytes with any status."""
    return lambda exchange: exchange.send(status, body, [("Content-Type", "application/json"), *headers])


def says(text: str, **options: Any) -> Behaviour:
    return answers(completion({"content": text}, **options))


def calls_tools(*calls: tuple[str, str], text: str | None = None) -> Behaviour:
    """Tool calls as (name, arguments); the arguments are sent as they are, broken or not."""
    tool_calls = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    return answers(completion({"content": text, "tool_calls": tool_calls}, finish_reason="tool_calls"))


def cut_off_arguments() -> Behaviour:
    """A whole reply whose tool call has arguments that end in the middle."""
    return calls_tools(("web_search", '{"query": "longest river in'))


def fails(
    status: int, *, code: str | None = None, message: str = "It failed.", headers: Sequence[tuple[str, str]] = ()
) -> Behaviour:
    """An error in OpenAI's form."""
    return answers({"error": {"message": message, "type": "some_error", "code": code}}, status, headers)


def rate_limited(retry_after: str | None = None, *, header: str = "Retry-After") -> Behaviour:
    """429, with the header as the text given (or without it)."""
    headers = [] if retry_after is None else [(header, retry_after)]
    return fails(429, code="rate_limit_exceeded", headers=headers)


def choices_null(error_code: int | str | None = 429) -> Behaviour:
    """200 with `choices: null` and the real status inside."""
    return answers({"id": "1", "choices": None, "error": {"message": "Rate limit exceeded", "code": error_code}})


def choices_empty() -> Behaviour:
    return answers({"id": "1", "choices": [], "usage": USAGE})


def cut_off_body() -> Behaviour:
    """A whole HTTP reply whose JSON ends in the middle."""
    return answers_bytes(json.dumps(completion({"content": "Paris is the capital"})).encode()[:90])


def cut_off_connection() -> Behaviour:
    """The connection closes before as many bytes as were promised have come."""

    def behave(exchange: Exchange) -> None:
        body = json.dumps(completion({"content": "Paris"})).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body) + 500))]
        exchange.send_raw(head_of(200, headers) + body)
        exchange.end()

    return behave


def split_surrogates() -> Behaviour:
    """Half of an emoji in the text and in the arguments, and a NUL, none of which a database can keep."""
    body = (
        b'{"model":"m\\ud83d","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant",'
        b'"content":"half \\ud83d of \\u0000 it","tool_calls":[{"id":"call_1","type":"function","function":'
        b'{"name":"web_search","arguments":"{\\"query\\": \\"smile \\ude00\\"}"}}]}}]}'
    )
    return answers_bytes(body)


def split_surrogates_inside() -> Behaviour:
    """Arguments that are whole until somebody reads them as JSON: half of an emoji is escaped in them."""
    return calls_tools(("web_search", '{"query": "smile \\ud83d and \\u0000"}'))


def says_nothing() -> Behaviour:
    """An empty reply that claims to be complete."""
    return answers(completion({"content": ""}))


def refuses(text: str = "I can't help with that.") -> Behaviour:
    return answers(completion({"content": None, "refusal": text}))


def filtered() -> Behaviour:
    return answers(completion({"content": ""}, finish_reason="content_filter"))


def reasons_in_tags(reasoning: str, text: str, tag: str = "think", *, is_closed: bool = True) -> Behaviour:
    end = f"</{tag}>" if is_closed else ""
    return says(f"<{tag}>{reasoning}{end}{text}")


def reasons_in_field(reasoning: str, text: str, field: str = "reasoning_content") -> Behaviour:
    return answers(completion({"content": text, field: reasoning}))


def hangs() -> Behaviour:
    """Take the request and never answer; ends when the server closes."""

    def behave(exchange: Exchange) -> None:
        exchange.wait(30)
        exchange.reset()

    return behave


def resets() -> Behaviour:
    return lambda exchange: exchange.reset()


def redirects(location: str, status: int = 302) -> Behaviour:
    return lambda exchange: exchange.send(status, b"", [("Location", location)])


def trickles(every_s: float = 0.02) -> Behaviour:
    """A reply that never ends: a space every so often, which keeps a per-read timeout from firing."""

    def behave(exchange: Exchange) -> None:
        exchange.send_raw(head_of(200, [("Content-Type", "application/json"), ("Content-Length", "1000000")]))
        while not exchange.wait(every_s):
            exchange.send_raw(b" ")
        exchange.end()

    return behave


def trickles_headers(every_s: float = 0.02) -> Behaviour:
    """Headers that never end."""

    def behave(exchange: Exchange) -> None:
        exchange.send_raw(b"HTTP/1.1 200 OK\r\n")
        while not exchange.wait(every_s):
            exchange.send_raw(b"X-Filler: 1\r\n")
        exchange.end()

    return behave


def endless(chunk: bytes = b" " * 65_536) -> Behaviour:
    """A body without a stated length that goes on for as long as the client reads."""

    def behave(exchange: Exchange) -> None:
        exchange.send_raw(head_of(200, [("Content-Type", "application/json"), ("Connection", "close")]))
        while not exchange.wait(0):
            exchange.send_raw(chunk)
        exchange.end()

    return behave


def after(seconds: float, behaviour: Behaviour) -> Behaviour:
    """The behaviour, some time later."""

    def behave(exchange: Exchange) -> None:
        exchange.wait(seconds)
        behaviour(exchange)

    return behave
