"""A local OpenAI-compatible server that serves simulated models on loopback.

`python -m lseval.sandbox.server --port 8001 --seed 1 --tasks 10` prints its base URL and serves until interrupted.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final

from lseval.domain.chat import CalledTool, ChatReply, ChatRequest, Endpoint, Message, ToolSchema
from lseval.errors import LsevalError
from lseval.sandbox.model import SimulatedModel
from lseval.sandbox.profiles import PROFILES, profile_of
from lseval.sandbox.world import World, make_world

_LONGEST_BODY: Final = 50_000_000


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    world: ClassVar[World]
    wait_s: ClassVar[float] = 0.0

    def do_GET(self) -> None:
        if self.path.rstrip("/").endswith("/models"):
            models = [{"id": profile.name, "object": "model", "owned_by": profile.family} for profile in PROFILES]
            self._send(200, {"object": "list", "data": models})
        else:
            self._send(404, _error("there is no such address", "not_found"))

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        if not self.path.rstrip("/").endswith("/chat/completions") or not 0 < length < _LONGEST_BODY:
            self.close_connection = True
            self._send(404, _error("there is no such address", "not_found"))
            return
        try:
            body = json.loads(self.rfile.read(length))
            request = request_of(body)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._send(400, _error(f"the request cannot be read: {error}", "invalid_request_error"))
            return
        try:
            reply = SimulatedModel(self.world, profile_of(request.endpoint.model)).reply(request)
        except LsevalError as error:
            self._send(400, _error(str(error), "invalid_request_error"))
            return
        if self.wait_s:
            time.sleep(self.wait_s)
        self._send(200, body_of(reply, request.endpoint.model))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the callers keep the log."""

    def _send(self, status: int, body: Mapping[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def request_of(body: Mapping[str, Any]) -> ChatRequest:
    """A request's body as the program knows chats."""
    messages = tuple(
        Message(
            message["role"],
            message.get("content") or "",
            tuple(
                CalledTool(call["id"], call["function"]["name"], call["function"]["arguments"])
                for call in message.get("tool_calls") or ()
            ),
            message.get("tool_call_id") or "",
        )
        for message in body["messages"]
    )
    tools = tuple(
        ToolSchema(
            tool["function"]["name"], tool["function"].get("description", ""), tool["function"]["parameters"]
        )
        for tool in body.get("tools") or ()
    )
    return ChatRequest(Endpoint("", str(body["model"])), messages, tools)


def body_of(reply: ChatReply, model: str) -> dict[str, Any]:
    """A reply as such servers write it."""
    calls = [
        {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.tool_calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if calls:
        message["tool_calls"] = calls
    used = reply.usage
    return {
        "id": "chatcmpl-sandbox",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
        "usage": {
            "prompt_tokens": used.input_tokens,
            "completion_tokens": used.output_tokens,
            "total_tokens": (used.input_tokens or 0) + (used.output_tokens or 0),
            "prompt_tokens_details": {"cached_tokens": used.cached_tokens},
        },
    }


def _error(message: str, kind: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind}}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def make_server(world: World, port: int = 0, wait_s: float = 0.0) -> ThreadingHTTPServer:
    """A server on loopback that is bound and not yet serving; port 0 takes a free one."""
    handler = type("Handler", (_Handler,), {"world": world, "wait_s": wait_s})
    return _Server(("127.0.0.1", port), handler)


@contextmanager
def serving(world: World, wait_s: float = 0.0) -> Iterator[str]:
    """Serves the world's models in a thread; gives the base URL."""
    server = make_server(world, wait_s=wait_s)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def main(arguments: list[str] | None = None, tell: Callable[[str], None] = print) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--wait", type=float, default=0.0, help="seconds to wait before each reply")
    given = parser.parse_args(arguments)
    server = make_server(make_world(given.seed, given.tasks), given.port, given.wait)
    tell(f"http://127.0.0.1:{server.server_address[1]}/v1")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


if __name__ == "__main__":
    main()
