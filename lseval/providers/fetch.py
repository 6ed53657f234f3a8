"""The one guarded client for every page that is asked for on the web."""

from __future__ import annotations

import io
import ssl
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urljoin

import httpcore
import httpx

from lseval.domain.labels import PageOutcome
from lseval.domain.storable_text import storable
from lseval.domain.urls import archived_original, canonical_key
from lseval.domain.web import FetchedPage, Hop
from lseval.errors import InputError
from lseval.providers.addresses import (
    Allowed,
    BadAddressError,
    Resolve,
    Target,
    UnresolvedError,
    checked_addresses,
    parse_target,
    resolve,
    resolve_as_written,
)
from lseval.providers.errors import BlockedAddressError
from lseval.providers.extract import Extracted, Extractor, default_extractor
from lseval.providers.fetch_connection import (
    MOST_HEADER_BYTES,
    Dial,
    Meter,
    OutOfTimeError,
    Reply,
    TlsError,
    TooManyBytesError,
    dial,
    send_request,
)
from lseval.providers.fetch_decoding import ACCEPTED, CutShortError, UndecodableError, decoded

PARTIAL: Final = "partial"
"""Flag: only a part of the page came; its text is for people and no evidence of what the rest says."""

ARCHIVED: Final = "archived_copy"
"""Flag: the address is that of a web archive's copy of another page."""

REFRESHED: Final = "meta_refresh"
"""Flag: the page came by way of another that sends its readers on."""

USER_AGENT: Final = "Mozilla/5.0 (compatible; LongSearchEval/0.1; evaluation of cited sources)"

_KEPT_OF_TOO_LARGE: Final = 1 << 20
_SHORT_TEXT: Final = 500
_SHELL_TEXT: Final = 250
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
READABLE: Final = (200, 203)
"""The statuses of a reply whose body is the page."""

_BY_STATUS: Final = {
    204: (PageOutcome.NO_CONTENT, "the server answers with no content"),
    205: (PageOutcome.NO_CONTENT, "the server answers with no content"),
    304: (PageOutcome.NO_CONTENT, "the server says that nothing has changed, and sends nothing"),
    401: (PageOutcome.WALLED, "the server asks to log in"),
    402: (PageOutcome.WALLED, "the server asks to be paid"),
    403: (PageOutcome.WALLED, "the server refuses this reader"),
    404: (PageOutcome.NOT_FOUND, "the server has no such page"),
    407: (PageOutcome.WALLED, "a proxy asks to log in"),
    408: (PageOutcome.UNAVAILABLE, "the server gave up waiting"),
    410: (PageOutcome.NOT_FOUND, "the page is gone"),
    425: (PageOutcome.UNAVAILABLE, "the server will not answer yet"),
    429: (PageOutcome.UNAVAILABLE, "the server has had too many requests"),
    451: (PageOutcome.WALLED, "the page is withheld for legal reasons"),
}


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one fetch may take, all its hops together: seconds, bytes over the wire, bytes of the decoded body."""

    total_s: float = 30.0
    connect_s: float = 10.0
    wire_bytes: int = 15 << 20
    body_bytes: int = 20 << 20
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class _Visit:
    """What one hop came to; `location` is where it leads on, `outcome` OK where there is a body to read."""

    outcome: str
    detail: str = ""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""
    location: str = ""


@dataclass(slots=True)
class _Trip:
    """A fetch under way."""

    url: str
    at: str
    meter: Meter
    hops: list[Hop] = field(default_factory=list)
    redirects: int = 0
    is_refreshed: bool = False


class WebFetch:
    """Fetches pages of the public web; see `lseval.domain.web.Fetch`.

    Every hop is checked anew and the checked IP address is the one dialled. At most `limits.redirects` redirects
    and one meta refresh are followed. Nothing is kept between two fetches: no cookie, no connection, no cache.
    Certificates are always verified. `resolve` and `dial` are the system's, and `tls` trusts the usual authorities,
    unless given. Any number of threads may use one.
    """

    def __init__(
        self,
        allowed: Allowed | None = None,
        limits: FetchLimits | None = None,
        *,
        extractor: Extractor | None = None,
        resolve: Resolve | None = None,
        dial: Dial = dial,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._allowed = allowed or Allowed()
        self.limits = limits or FetchLimits()
        self._extractor = extractor or default_extractor()
        self._resolve = resolve
        self._dial = dial
        self._tls = tls or httpx.create_ssl_context()

    def __call__(self, url: str) -> FetchedPage:
        """Fetch a page. Never raises for what the web does: whatever came of it is the outcome."""
        meter = Meter(time.monotonic() + self.limits.total_s, self.limits.wire_bytes)
        trip = _Trip(url, url.strip(), meter)
        while True:
            visit = self._visit(trip)
            if visit.location:
                problem = self._go_on(trip, visit.location)
                if problem is None:
                    continue
                return self._page(trip, replace(visit, outcome=problem[0], detail=problem[1]), None)
            found = self._read(visit)
            if self._follows_refresh(trip, found):
                continue
            return self._page(trip, visit, found)

    def _visit(self, trip: _Trip) -> _Visit:
        trip.meter.dialled = ""
        status = 0
        try:
            target = parse_target(trip.at)
            # An allowed origin may have a name that only this machine knows.
            ask = self._resolve or (resolve_as_written if self._allowed.has(target) else resolve)
            addresses = checked_addresses(target, self._allowed, ask, trip.meter.seconds_left())
            reply = self._send(target, addresses, trip.meter)
            status = reply.status
            try:
                return self._take(reply)
            finally:
                reply.close()
        except BadAddressError as error:
            return _Visit(PageOutcome.BAD_ADDRESS, str(error))
        except BlockedAddressError as error:
            return _Visit(PageOutcome.BLOCKED_ADDRESS, str(error))
        except UnresolvedError as error:
            return _Visit(PageOutcome.UNAVAILABLE, str(error))
        except _NO_REPLY as error:
            return _failed(error, trip.meter, self.limits)
        finally:
            trip.hops.append(Hop(trip.at, trip.meter.dialled, status))

    def _send(self, target: Target, addresses: tuple[str, ...], meter: Meter) -> Reply:
        headers = [
            ("User-Agent", USER_AGENT),
            (
                "Accept",
                "text/html,application/xhtml+xml,application/pdf,text/plain,application/json;q=0.9,*/*;q=0.5",
            ),
            ("Accept-Encoding", ACCEPTED),
            ("Accept-Language", "en,*;q=0.5"),
        ]
        return send_request(target, addresses, headers, meter, self._tls, self.limits.connect_s, self._dial)

    def _take(self, reply: Reply) -> _Visit:
        """The reply with its body, or where it leads, or why it has nothing to read."""
        status, headers = reply.status, reply.headers
        if status in _REDIRECTS and headers.get("location"):
            return _Visit(PageOutcome.OK, status=status, headers=headers, location=headers["location"])
        if status not in READABLE:
            outcome, detail = outcome_of_status(status)
            return _Visit(outcome, detail, status, headers)
        outcome, detail, content = self._body(reply)
        return _Visit(outcome, detail, status, headers, content)

    def _body(self, reply: Reply) -> tuple[str, str, bytes]:
        """How reading the body ended, why, and the decoded bytes: all of them, or those that came."""
        body = io.BytesIO()
        try:
            for chunk in decoded(reply.chunks, reply.codings):
                body.write(chunk)
                if body.tell() > self.limits.body_bytes:
                    raise TooManyBytesError("too many bytes")
        except UndecodableError as error:
            return PageOutcome.UNDECODABLE, str(error), b""
        except TooManyBytesError:
            body.truncate(_KEPT_OF_TOO_LARGE)
            most = min(self.limits.body_bytes, self.limits.wire_bytes)
            return PageOutcome.TOO_LARGE, f"the page is larger than {most:,} bytes", body.getvalue()
        except (CutShortError, httpcore.RemoteProtocolError, httpcore.ReadError):
            return PageOutcome.TRUNCATED, "the connection ended before the page did", body.getvalue()
        except OutOfTimeError:
            return PageOutcome.TIMEOUT, f"the page did not come whole in {self.limits.total_s:g} s", body.getvalue()
        return PageOutcome.OK, "", body.getvalue()

    def _go_on(self, trip: _Trip, location: str) -> tuple[str, str] | None:
        """Turn to where a redirect leads; returns the outcome and why where that cannot be."""
        trip.redirects += 1
        if trip.redirects > self.limits.redirects:
            return PageOutcome.UNAVAILABLE, f"the server redirects more than {self.limits.redirects} times"
        try:
            trip.at = _joined(trip.at, location)
        except ValueError as error:
            return PageOutcome.BAD_ADDRESS, f"the server redirects to what is no address: {error}"
        return None

    def _read(self, visit: _Visit) -> Extracted | None:
        """The text of what came; None where nothing came that could have one."""
        if visit.outcome != PageOutcome.OK and not visit.content:
            return None
        return self._extractor(visit.content, visit.headers.get("content-type", ""))

    def _follows_refresh(self, trip: _Trip, found: Extracted | None) -> bool:
        """Turn to where a page with next to no text sends its readers, once a fetch."""
        if found is None or not found.refresh or trip.is_refreshed or len(found.text) >= _SHORT_TEXT:
            return False
        try:
            leads_to = _joined(trip.at, found.refresh)
            if canonical_key(leads_to) == canonical_key(trip.at):
                return False
        except (ValueError, InputError):
            return False
        trip.is_refreshed = True
        trip.at = leads_to
        return True

    def _page(self, trip: _Trip, visit: _Visit, found: Extracted | None) -> FetchedPage:
        flags = [ARCHIVED] if archived_original(trip.url) else []
        if trip.is_refreshed:
            flags.append(REFRESHED)
        page = FetchedPage(
            url=trip.url,
            outcome=visit.outcome,
            final_url=trip.at,
            status=visit.status,
            detail=storable(visit.detail),
            hops=tuple(trip.hops),
            headers={name: storable(value) for name, value in visit.headers.items()},
            content=visit.content,
            content_type=storable(visit.headers.get("content-type", "")),
            flags=tuple(flags),
        )
        return page if found is None else _with_text(page, found)


def _with_text(page: FetchedPage, found: Extracted) -> FetchedPage:
    """The page with what was read of it. What kept it from coming whole stays its outcome."""
    outcome, detail, flags = page.outcome, page.detail, [*page.flags, *found.flags]
    if outcome == PageOutcome.OK:
        outcome, detail = found.outcome, found.detail
        is_shell = outcome in (PageOutcome.OK, PageOutcome.EMPTY) and len(found.text) < _SHELL_TEXT
        if found.refresh and is_shell:
            outcome, detail = PageOutcome.NEEDS_JS, "the page only sends its readers on"
    else:
        flags.append(PARTIAL)
    return replace(
        page,
        outcome=outcome,
        detail=detail,
        text=found.text,
        title=found.title,
        sniffed_type=found.sniffed_type,
        decoder=found.decoder,
        decoder_source=found.decoder_source,
        flags=tuple(dict.fromkeys(flags)),
        published=found.published,
    )


_NO_REPLY: Final = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
)


def _failed(error: Exception, meter: Meter, limits: FetchLimits) -> _Visit:
    """What a request that got no reply came to."""
    if isinstance(error, TlsError):
        return _Visit(PageOutcome.TLS_ERROR, str(error))
    if isinstance(error, TooManyBytesError):
        return _Visit(PageOutcome.TOO_LARGE, f"the reply has more than {limits.wire_bytes:,} bytes before its body")
    if isinstance(error, httpcore.TimeoutException):
        return _Visit(PageOutcome.TIMEOUT, f"no answer within {limits.total_s:g} s")
    if isinstance(error, httpcore.ProtocolError):
        if limits.wire_bytes - meter.bytes_left > MOST_HEADER_BYTES:
            return _Visit(PageOutcome.TOO_LARGE, f"the reply has more than {MOST_HEADER_BYTES:,} bytes of headers")
        return _Visit(PageOutcome.UNAVAILABLE, f"the reply is not HTTP: {str(error)[:200]}")
    return _Visit(PageOutcome.UNAVAILABLE, str(error)[:200])


def outcome_of_status(status: int) -> tuple[str, str]:
    """The outcome of a reply whose status is not `READABLE` and no redirect's, and the outcome in a few words."""
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    if 500 <= status <= 599:
        return PageOutcome.UNAVAILABLE, f"the server has failed (status {status})"
    return PageOutcome.UNEXPECTED_STATUS, f"the server answers with status {status}"


def _joined(at: str, location: str) -> str:
    """Where a relative or absolute address leads. Raises ValueError for what cannot be read."""
    with suppress(UnicodeError):
        # Headers are Latin-1 by the standard; servers that send other letters mean UTF-8.
        location = location.encode("latin-1").decode("utf-8")
    return urljoin(at, location.strip())
