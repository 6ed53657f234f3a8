"""One request over one fresh connection, to an address that was checked, within limits that hold while reading."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import httpcore

from lseval.providers.addresses import Target

Dial = Callable[[tuple[str, int], float], socket.socket]
"""Connects a TCP socket to (IP address, port) within some seconds; raises OSError."""

MOST_HEADER_BYTES: Final = httpcore.HTTP11Connection.MAX_INCOMPLETE_EVENT_SIZE
"""Bytes of a reply's headers that are read; a reply with more is refused."""

_MOST_HEADERS: Final = 100
_LONGEST_HEADER: Final = 2_000
_NOT_KEPT: Final = frozenset({"set-cookie", "set-cookie2"})


class OutOfTimeError(httpcore.TimeoutException):
    """The time for the whole fetch has run out."""


class TooManyBytesError(httpcore.NetworkError):
    """More bytes came over the wire than are read."""


class TlsError(httpcore.ConnectError):
    """The other side's certificate or its TLS is not acceptable."""


@dataclass(slots=True)
class Meter:
    """What a fetch has left: the moment of `time.monotonic` when it ends, and bytes over the wire.

    `dialled` is the IP address of the connection in use, or last tried.
    """

    until: float
    bytes_left: int
    dialled: str = ""

    def seconds_left(self, at_most: float | None = None) -> float:
        """Seconds that remain. Raises OutOfTimeError when there are none."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise OutOfTimeError("out of time")
        return left if at_most is None else min(left, at_most)


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply whose body is still to be read, from `chunks`, as it comes over the wire."""

    status: int
    headers: dict[str, str]
    codings: tuple[str, ...]
    chunks: Iterator[bytes]
    close: Callable[[], None] = field(repr=False)


def dial(address: tuple[str, int], seconds: float) -> socket.socket:
    """A TCP connection to an IP address; the host is never looked up again."""
    return socket.create_connection(address, timeout=seconds)


def send_request(
    target: Target,
    addresses: tuple[str, ...],
    headers: Iterable[tuple[str, str]],
    meter: Meter,
    tls: ssl.SSLContext,
    connect_s: float,
    dial: Dial,
) -> Reply:
    """GET the target from one of the addresses, the first that takes the connection.

    The Host header and the TLS name are the target's; cookies, redirects and decoding are left to nobody.

    Raises the errors of httpcore, and those of this module, which derive from them.
    """
    backend = _Backend(addresses, meter, connect_s, dial)
    connection = httpcore.HTTPConnection(
        httpcore.Origin(target.scheme.encode(), target.host.encode(), target.port),
        ssl_context=tls,
        network_backend=backend,
    )
    request = httpcore.Request(
        "GET",
        httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path),
        headers=[("Host", target.authority), *headers, ("Connection", "close")],
        extensions={"sni_hostname": target.host},
    )
    try:
        response = connection.handle_request(request)
    except BaseException:
        connection.close()
        raise
    raw = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers]
    return Reply(
        status=response.status,
        headers=_kept(raw),
        codings=_codings(raw),
        chunks=iter(response.iter_stream()),
        close=connection.close,
    )


def _kept(raw: list[tuple[str, str]]) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name, value in raw[:_MOST_HEADERS]:
        if name not in _NOT_KEPT:
            known = kept.get(name)
            whole = value if known is None else f"{known}, {value}"
            # A redirect's address that is cut short is another address.
            kept[name] = whole if name == "location" else whole[:_LONGEST_HEADER]
    return kept


def _codings(raw: list[tuple[str, str]]) -> tuple[str, ...]:
    """What the body was encoded with, in the order that the server did it."""
    values = ",".join(value for name, value in raw if name == "content-encoding")
    return tuple(
        part for part in (part.strip().lower() for part in values.split(",")) if part not in ("", "identity")
    )


class _Backend(httpcore.NetworkBackend):
    """Dials the checked addresses, whatever host httpcore names."""

    def __init__(self, addresses: tuple[str, ...], meter: Meter, connect_s: float, dial: Dial) -> None:
        self._addresses = addresses
        self._meter = meter
        self._connect_s = connect_s
        self._dial = dial

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        problem: httpcore.TimeoutException | httpcore.NetworkError = httpcore.ConnectError("no address")
        for address in self._addresses:
            self._meter.dialled = address
            try:
                connected = self._dial((address, port), self._meter.seconds_left(self._connect_s))
                connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except TimeoutError:
                problem = OutOfTimeError(f"no connection to {address} in time")
            except OSError as error:
                problem = httpcore.ConnectError(f"no connection: {error}")
            else:
                return _Stream(connected, self._meter)
        raise problem


class _Stream(httpcore.NetworkStream):
    """A connection whose every wait ends with the fetch, and whose bytes are counted."""

    def __init__(self, connected: socket.socket, meter: Meter) -> None:
        self._socket = connected
        self._meter = meter

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._socket.settimeout(self._meter.seconds_left())
        try:
            content = self._socket.recv(max_bytes)
        except TimeoutError as error:
            raise OutOfTimeError("out of time") from error
        except OSError as error:
            raise httpcore.ReadError(f"the connection broke: {error}") from error
        self._meter.bytes_left -= len(content)
        if self._meter.bytes_left < 0:
            raise TooManyBytesError("too many bytes")
        return content

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._socket.settimeout(self._meter.seconds_left())
        try:
            self._socket.sendall(buffer)
        except TimeoutError as error:
            raise OutOfTimeError("out of time") from error
        except OSError as error:
            raise httpcore.WriteError(f"the connection broke: {error}") from error

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        self._socket.settimeout(self._meter.seconds_left())
        try:
            return _Stream(ssl_context.wrap_socket(self._socket, server_hostname=server_hostname), self._meter)
        except ssl.SSLError as error:
            self.close()
            raise TlsError(_tls_words(error)) from error
        except TimeoutError as error:
            self.close()
            raise OutOfTimeError("out of time") from error
        except OSError as error:
            self.close()
            raise httpcore.ConnectError(f"no connection: {error}") from error


def _tls_words(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not accepted: {error.verify_message}"
    return f"no secure connection: {error.reason or error}"
