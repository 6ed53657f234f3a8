"""HTTP to the endpoints of models and search engines: guarded, bounded in time and size, quick to use again."""

from __future__ import annotations

import os
import select
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import h11
import httpx

from lseval.providers.addresses import Allowed, Resolve, Target
from lseval.providers.errors import (
    MalformedReplyError,
    RequestRefusedError,
    TimedOutError,
    UnavailableError,
)
from lseval.providers.guard import endpoint_addresses, endpoint_target

CONNECT_S = 10.0
MOST_REPLY_BYTES = 32 * 2**20

_KEEP_IDLE_S = 60.0
_MOST_IDLE = 256
_MOST_JOINED = 16_384
_READ_BYTES: Final = 65_536
_MOST_HEADER_BYTES: Final = 102_400
_OWN_HEADERS = ((b"User-Agent", b"LongSearchEval"), (b"Accept-Encoding", b"identity"))


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What a server replied; header names are in lower case, and of a header given twice the last is kept."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class GuardedHttp:
    """Sends requests to endpoints, for any number of threads; a connection is kept and used again.

    Each name is resolved and checked where it is dialled, so that what was checked is what is called. Redirects are
    replies like any other: nothing is ever sent to a second place. Proxies and settings in the environment have
    no say.

    httpx's client spends most of a millisecond a request, and its timeouts bound each read but not their sum; so
    this has h11 (what httpx itself speaks HTTP with) over sockets with a deadline.
    """

    def __init__(
        self,
        allowed: Allowed,
        *,
        resolve: Resolve | None = None,
        tls: Callable[[], ssl.SSLContext] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._tls = tls or _default_tls
        self._clock = clock
        self._lock = threading.Lock()
        self._idle: dict[str, list[_Connection]] = {}
        self._pid = os.getpid()

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Sequence[tuple[str, str]] = (),
        body: bytes = b"",
        timeout_s: float,
        connect_s: float = CONNECT_S,
        reply_s: float | None = None,
        most_bytes: int = MOST_REPLY_BYTES,
    ) -> HttpReply:
        """The reply to one request, sent once.

        `timeout_s` bounds the whole, `connect_s` the connecting, and `reply_s` what comes after it, however
        slowly the bytes trickle in.

        Raises:
            BlockedAddressError: the endpoint may not be called.
            UnavailableError: no connection, or it was lost.
            TimedOutError: the reply was not complete in time.
            MalformedReplyError: the reply is larger than `most_bytes` after decompression, or cannot be
            decompressed. RequestRefusedError: the server's certificate does not hold.
        """
        target = endpoint_target(url)
        end = self._clock() + timeout_s
        connection = self._take(target) or self._connect(target, min(connect_s, timeout_s))
        connection.end = end if reply_s is None else min(end, self._clock() + reply_s)
        try:
            reply = _exchange(connection, method, target, headers, body, most_bytes)
        except TimeoutError as error:
            raise TimedOutError(f"{target.origin} did not reply within {timeout_s:g} s.") from error
        except (OSError, h11.ProtocolError) as error:
            raise UnavailableError(f"The connection to {target.origin} was lost: {_reason(error)}.") from error
        finally:
            self._put_back(target, connection)
        return reply

    def close(self) -> None:
        """Close the connections that are kept; those in use close with their requests."""
        with self._lock:
            kept, self._idle = self._idle, {}
        for connections in kept.values():
            for connection in connections:
                connection.close()

    def _take(self, target: Target) -> _Connection | None:
        while True:
            with self._lock:
                if self._pid != os.getpid():
                    # A child process shares its parent's sockets: it leaves them alone and opens its own.
                    self._pid, self._idle = os.getpid(), {}
                kept = self._idle.get(target.origin)
                if not kept:
                    return None
                connection = kept.pop()
            # Not under the lock: this asks the system, so that all other threads may run in between.
            if connection.is_usable():
                return connection
            connection.close()

    def _put_back(self, target: Target, connection: _Connection) -> None:
        if connection.rests():
            with self._lock:
                kept = self._idle.setdefault(target.origin, [])
                if len(kept) < _MOST_IDLE:
                    kept.append(connection)
                    return
        connection.close()

    def _connect(self, target: Target, seconds: float) -> _Connection:
        end = self._clock() + seconds
        addresses = endpoint_addresses(target, self._allowed, seconds, self._resolve)
        trouble: Exception | None = None
        for address in addresses:
            left = end - self._clock()
            if left <= 0:
                break
            try:
                raw = socket.create_connection((address, target.port), timeout=left)
            except OSError as error:
                trouble = error
                continue
            return _Connection(self._secured(raw, target, end), self._clock)
        if trouble is None or isinstance(trouble, TimeoutError):
            raise UnavailableError(f"{target.origin} could not be reached within {seconds:g} s.") from trouble
        raise UnavailableError(f"{target.origin} could not be reached: {_reason(trouble)}.") from trouble

    def _secured(self, raw: socket.socket, target: Target, end: float) -> socket.socket:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if target.scheme != "https":
            return raw
        try:
            raw.settimeout(max(end - self._clock(), 0.001))
            return self._tls().wrap_socket(raw, server_hostname=target.host)
        except ssl.SSLCertVerificationError as error:
            raw.close()
            raise RequestRefusedError(
                f"The certificate of {target.origin} does not hold: {error.verify_message}. Nothing was sent."
            ) from error
        except OSError as error:
            raw.close()
            raise UnavailableError(f"No secure connection to {target.origin}: {_reason(error)}.") from error


class _Connection:
    """A connection to a server, for one request at a time. All that it waits for ends by the moment `end`."""

    def __init__(self, connected: socket.socket, clock: Callable[[], float]) -> None:
        self.end = 0.0
        self._socket = connected
        self._clock = clock
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_HEADER_BYTES)
        self._idle_since = 0.0

    def send(self, request: h11.Request, body: bytes) -> None:
        """Send a request whole."""
        parts = [self._http.send(request)]
        if body:
            parts.append(self._http.send(h11.Data(data=body)))
        parts.append(self._http.send(h11.EndOfMessage()))
        unsent = [part for part in parts if part]
        if sum(map(len, unsent)) <= _MOST_JOINED:
            unsent = [b"".join(unsent)]
        try:
            for part in unsent:
                self._bound()
                self._socket.sendall(part)
        except TimeoutError:
            raise
        except OSError:
            # A server may close on a request that it will not read to its end: its reply can still be there.
            pass

    def head(self) -> h11.Response:
        """Status and headers of the reply; what a server says beforehand (100, 103) is passed over."""
        while True:
            event = self._next()
            if isinstance(event, h11.Response):
                return event

    def chunks(self) -> Iterator[bytes]:
        """The reply's body as it comes."""
        while isinstance(event := self._next(), h11.Data):
            yield bytes(event.data)

    def rests(self) -> bool:
        """Whether the exchange has come to its end, so that the connection can be used again."""
        http = self._http
        if http.our_state is not h11.DONE or http.their_state is not h11.DONE or http.trailing_data[0]:
            return False
        http.start_next_cycle()
        self._idle_since = self._clock()
        return True

    def is_usable(self) -> bool:
        """Whether the connection has neither rested for long nor been closed by the server."""
        if self._clock() - self._idle_since > _KEEP_IDLE_S:
            return False
        poll = select.poll()
        poll.register(self._socket.fileno(), select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        self._socket.close()

    def _next(self) -> h11.Event:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._bound()
            content = self._socket.recv(_READ_BYTES)
            if not content and self._http.their_state is h11.SEND_RESPONSE:
                raise ConnectionError("the server closed it without a reply")
            self._http.receive_data(content)
        assert isinstance(event, h11.Event)  # `PAUSED` comes only to who asks for more than one reply
        return event

    def _bound(self) -> None:
        left = self.end - self._clock()
        if left <= 0:
            raise TimeoutError("the time is up")
        self._socket.settimeout(left)


def _exchange(
    connection: _Connection,
    method: str,
    target: Target,
    headers: Sequence[tuple[str, str]],
    body: bytes,
    most_bytes: int,
) -> HttpReply:
    sent = [(b"Host", target.authority.encode()), *_OWN_HEADERS]
    sent += [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]
    if body or method != "GET":
        sent.append((b"Content-Length", b"%d" % len(body)))
    connection.send(h11.Request(method=method.encode(), target=target.path.encode(), headers=sent), body)
    head = connection.head()
    got = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
    return HttpReply(head.status_code, got, _bounded_body(connection.chunks(), got, most_bytes, target.origin))


def _bounded_body(chunks: Iterator[bytes], headers: Mapping[str, str], most_bytes: int, origin: str) -> bytes:
    """The whole body, decompressed where a server compresses unasked."""
    encoding = headers.get("content-encoding", "").strip().lower()
    # 32 and more: zlib tells gzip's header from its own.
    inflater = zlib.decompressobj(32 + zlib.MAX_WBITS) if encoding in ("gzip", "x-gzip", "deflate") else None
    kept: list[bytes] = []
    size = 0
    for chunk in chunks:
        if inflater is not None:
            try:
                chunk = inflater.decompress(chunk, most_bytes - size + 1)
            except zlib.error as error:
                raise MalformedReplyError(f"The reply of {origin} cannot be decompressed: {error}.") from error
        size += len(chunk)
        if size > most_bytes:
            raise MalformedReplyError(f"The reply of {origin} is larger than {most_bytes:,} bytes.")
        kept.append(chunk)
    return b"".join(kept)


@cache
def _default_tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).rstrip(".") or type(error).__name__
