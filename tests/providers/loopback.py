"""A threaded HTTP server on loopback whose every answer a test writes, down to the bytes and the socket."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

REASONS = {200: "OK", 302: "Found", 307: "Temporary Redirect", 400: "Bad Request", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request as the server got it; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Exchange:
    """One request and the means to answer it, well or badly."""

    def __init__(self, request: SeenRequest, handler: BaseHTTPRequestHandler, closing: threading.Event) -> None:
        self.request = request
        self.closing = closing
        self._handler = handler

    def send(self, status: int, body: bytes, headers: Sequence[tuple[str, str]] = ()) -> None:
        """Answer whole: the length is stated, and the connection stays open."""
        self.send_raw(head_of(status, [*headers, ("Content-Length", str(len(body)))]) + body)

    def send_json(self, status: int, value: Any, headers: Sequence[tuple[str, str]] = ()) -> None:
        body = json.dumps(value).encode()
        self.send(status, body, [("Content-Type", "application/json"), *headers])

    def send_raw(self, data: bytes) -> None:
        """Write bytes as they are; a client that has gone is no error."""
        try:
            self._handler.connection.sendall(data)
        except OSError:
            self._handler.close_connection = True

    def end(self) -> None:
        """Close the connection in good order after this exchange."""
        self._handler.close_connection = True

    def reset(self) -> None:
        """Break the connection off: the client sees ECONNRESET."""
        self._handler.close_connection = True
        connection = self._handler.connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(connection.detach())

    def wait(self, seconds: float) -> bool:
        """Wait that long or until the server closes; True where it closes or the client has gone."""
        return self._handler.close_connection or self.closing.wait(seconds)


Behaviour = Callable[[Exchange], None]
"""What the server does with one request."""

Script = Sequence[Behaviour] | Callable[[SeenRequest], Behaviour]
"""Behaviours in the order that requests arrive, or a choice by the request (for any number of threads)."""


def head_of(status: int, headers: Sequence[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class LoopbackServer:
    """A server on 127.0.0.1 and a free port, for use with `with`.

    Requests are answered by `script`; when a sequence has run out, by `default`. `requests` holds all that came, in
    the order of arrival.
    """

    def __init__(self, script: Script = (), *, default: Behaviour, port: int = 0) -> None:
        self.requests: list[SeenRequest] = []
        self._script = script
        self._default = default
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._served = 0
        self._server = _Server(("127.0.0.1", port), self._handler_class())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def then(self, *behaviours: Behaviour) -> None:
        """Put more behaviours at the end of a script that is a sequence."""
        with self._lock:
            assert not callable(self._script)
            self._script = [*self._script, *behaviours]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, request: SeenRequest, handler: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self.requests.append(request)
            behaviour = self._choose(request)
        behaviour(Exchange(request, handler, self._closing))

    def _choose(self, request: SeenRequest) -> Behaviour:
        if callable(self._script):
            return self._script(request)
        if self._served < len(self._script):
            self._served += 1
            return self._script[self._served - 1]
        return self._default

    def _handler_class(self) -> type[BaseHTTPRequestHandler]:
        answer = self._answer

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                self._serve()

            def do_POST(self) -> None:
                self._serve()

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer(SeenRequest(self.command, self.path, headers, body), self)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing: a test's output is for its failures."""

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that breaks off is what some tests are about."""
