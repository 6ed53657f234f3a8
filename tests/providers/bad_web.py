"""A web server on loopback that can behave as badly as the web does, and a fetcher that may talk to it.

    with BadWeb({"/a": html("<p>Hello</p>"), "/b": redirect("/a")}) as web:
        page = fetcher(web)(web.origin + "/b")

With `public_web`, names and public addresses lead to such servers, so that the whole guard is at work.
"""

from __future__ import annotations

import gzip
import socket
import ssl
from collections.abc import Mapping, Sequence
from typing import Any

import trustme

from lseval.providers.addresses import Allowed, UnresolvedError
from lseval.providers.extract import default_extractor
from lseval.providers.fetch import FetchLimits, WebFetch
from tests.providers.loopback import Behaviour, Exchange, LoopbackServer, SeenRequest

_MOST_PIECES = 2_000
"""What goes on for ever ends after so many pieces: far beyond every limit, and no thread is left behind."""

TEXT = "The Lake Aldis ferry opened in 1962 and carried 210,000 passengers in 2023."


class BadWeb(LoopbackServer):
    """The server: a behaviour for each path, 404 for every other. With an authority it is behind TLS."""

    def __init__(
        self,
        pages: Mapping[str, Behaviour] | None = None,
        *,
        authority: trustme.CA | None = None,
        name: str = "good.test",
    ) -> None:
        self.pages = dict(pages or {})
        super().__init__(self._page, default=status(404))
        if authority is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert(name).configure_cert(context)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def _page(self, request: SeenRequest) -> Behaviour:
        return self.pages.get(request.path, status(404))


def fetcher(*webs: LoopbackServer, limits: FetchLimits | None = None, **options: Any) -> WebFetch:
    """A fetcher that may go to these servers and to the public web, which is not there."""
    return WebFetch(Allowed.of(web.origin for web in webs), limits, extractor=default_extractor(), **options)


class PublicWeb:
    """The public internet as a fetcher sees it: names with addresses, and addresses with servers behind them.

    `names` gives each name the addresses that it resolves to, one list after another where it is asked again (the
    last one stays); `servers` gives addresses their servers. `dialled` is every address that was dialled.
    """

    def __init__(self, names: Mapping[str, Sequence[Sequence[str]]], servers: Mapping[str, LoopbackServer]) -> None:
        self._names = {name: [tuple(addresses) for addresses in answers] for name, answers in names.items()}
        self._servers = servers
        self.dialled: list[tuple[str, int]] = []

    def resolve(self, host: str, port: int, seconds: float) -> tuple[str, ...]:
        answers = self._names.get(host)
        if not answers:
            raise UnresolvedError(f"The name {host} cannot be resolved: no such name.")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def dial(self, address: tuple[str, int], seconds: float) -> socket.socket:
        self.dialled.append(address)
        if address[0] not in self._servers:
            raise ConnectionRefusedError("nobody is there")
        return socket.create_connection(("127.0.0.1", self._servers[address[0]].port), timeout=seconds)

    def fetcher(self, limits: FetchLimits | None = None, **options: Any) -> WebFetch:
        return WebFetch(
            limits=limits, resolve=self.resolve, dial=self.dial, extractor=default_extractor(), **options
        )


def html(
    body: str, *headers: tuple[str, str], head: str = "", content_type: str = "text/html; charset=utf-8"
) -> Behaviour:
    """A page of HTML in UTF-8."""
    return content(
        f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode(), content_type, *headers
    )


def content(body: bytes, content_type: str = "", *headers: tuple[str, str]) -> Behaviour:
    """Any bytes, with or without a type."""
    given = [("Content-Type", content_type)] if content_type else []
    return lambda exchange: exchange.send(200, body, [*given, *headers])


def status(
    code: int, *headers: tuple[str, str], body: bytes = b"<p>Some words of the server's own.</p>"
) -> Behaviour:
    """A status with a body that says nothing about the page; 1xx, 204 and 304 have none."""
    if code in (204, 304):
        return raw(f"HTTP/1.1 {code} Status\r\n\r\n".encode())
    return lambda exchange: exchange.send(code, body, [("Content-Type", "text/html"), *headers])


def redirect(location: str, code: int = 302) -> Behaviour:
    """A redirect."""
    return status(code, ("Location", location))


def raw(*pieces: bytes, pause_s: float = 0.0) -> Behaviour:
    """These bytes and nothing else, then the end of the connection."""

    def behave(exchange: Exchange) -> None:
        for piece in pieces:
            exchange.send_raw(piece)
            if pause_s and exchange.closing.wait(pause_s):
                break
        exchange.end()

    return behave


def trickle(
    head: bytes = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", pause_s: float = 0.1
) -> Behaviour:
    """A byte now and then, for ever."""

    def behave(exchange: Exchange) -> None:
        exchange.send_raw(head)
        for _ in range(_MOST_PIECES):
            exchange.send_raw(b"x")
            if exchange.closing.wait(pause_s):
                break

    return behave


def endless(chunk: bytes = b"<p>and on and on it goes</p>\n" * 1000) -> Behaviour:
    """A body without length or end."""

    def behave(exchange: Exchange) -> None:
        exchange.send_raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body>")
        for _ in range(_MOST_PIECES):
            exchange.send_raw(chunk)

    return behave


def bomb(size: int, times: int = 1) -> bytes:
    """Zeros, packed by gzip once or more often."""
    packed = b"\0" * size
    for _ in range(times):
        packed = gzip.compress(packed, 9)
    return packed
