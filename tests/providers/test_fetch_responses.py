"""Whatever a server answers, the fetch ends with an outcome that says so, within its limits."""

from __future__ import annotations

import gzip
import json
import ssl
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import trustme

from lseval.providers.addresses import Allowed
from lseval.providers.fetch import FetchLimits, WebFetch
from tests.providers.bad_web import (
    TEXT,
    BadWeb,
    PublicWeb,
    bomb,
    content,
    endless,
    fetcher,
    html,
    raw,
    redirect,
    status,
    trickle,
)
from tests.providers.loopback import Behaviour

PACKED = b"<html><body><p>" + TEXT.encode() + b"</p></body></html>"
SMALL = FetchLimits(body_bytes=2 << 20, wire_bytes=1 << 20)


def fetched(behaviour: Behaviour, limits: FetchLimits | None = None):
    with BadWeb({"/": behaviour}) as web:
        return fetcher(web, limits=limits)(f"{web.origin}/")


def packed(body: bytes, *codings: str) -> Behaviour:
    return content(body, "text/html", *(("Content-Encoding", coding) for coding in codings))


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        *((204, "no_content"), (205, "no_content"), (304, "no_content")),
        *(
            (206, "unexpected_status"),
            (999, "unexpected_status"),
            (418, "unexpected_status"),
            (300, "unexpected_status"),
        ),
        *((202, "unexpected_status"), (400, "unexpected_status"), (302, "unexpected_status")),
        *((401, "walled"), (402, "walled"), (403, "walled"), (451, "walled")),
        *((404, "not_found"), (410, "not_found")),
        *(
            (429, "unavailable"),
            (500, "unavailable"),
            (502, "unavailable"),
            (503, "unavailable"),
            (520, "unavailable"),
        ),
    ],
)
def test_status_is_an_outcome_and_its_body_no_evidence(code: int, outcome: str) -> None:
    """R15, R19."""
    page = fetched(status(code))
    assert (page.outcome, page.status, page.text) == (outcome, code, "")
    assert page.detail
    assert [hop.status for hop in page.hops] == [code]


def test_a_page_that_comes_is_kept_whole() -> None:
    body = html(f"<h1>Ferries</h1><p>{TEXT}</p>", ("X-Told", "a"), ("X-Told", "b"), head="<title>The ferry</title>")
    page = fetched(body)
    assert (page.outcome, page.title, page.status, page.decoder, page.decoder_source) == (
        "ok", "The ferry", 200, "utf-8", "header",
    )  # fmt: skip
    assert TEXT in page.text
    assert b"<h1>Ferries</h1>" in page.content
    assert page.headers["x-told"] == "a, b"
    assert (page.content_type, page.sniffed_type) == ("text/html; charset=utf-8", "text/html")
    assert page.hops[0].address == "127.0.0.1"


def test_nobody_home_is_unavailable() -> None:
    """R19."""
    with BadWeb() as web:
        fetch, url = fetcher(web), f"{web.origin}/"
    page = fetch(url)
    assert (page.outcome, page.text) == ("unavailable", "")
    net = PublicWeb({}, {})
    page = net.fetcher()("http://no-such-name.example/")
    assert (page.outcome, net.dialled) == ("unavailable", [])
    assert "no-such-name.example cannot be resolved" in page.detail


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [
        (raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 2_000_000 + b"\r\n\r\n"), "too_large"),
        (raw(b"".join(b"HTTP/1.1 103 Early Hints\r\nLink: <%d>\r\n\r\n" % n for n in range(50_000))), "too_large"),
        (raw(b"HTTP/1.1 abc Hello\r\n\r\n"), "unavailable"),
        (raw(b"<html>no headers at all"), "unavailable"),
        (raw(b""), "unavailable"),
        (raw(b"SSH-2.0-OpenSSH_9.6\r\n"), "unavailable"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nx"), "unavailable"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"), "unavailable"),
        (lambda exchange: exchange.reset(), "unavailable"),
    ],
)
def test_what_is_no_proper_reply_is_a_typed_outcome(behaviour: Behaviour, outcome: str) -> None:
    """R05."""
    page = fetched(behaviour, SMALL)
    assert (page.outcome, page.text) == (outcome, "")
    assert page.detail


@pytest.mark.parametrize(
    "behaviour",
    [
        raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n" + PACKED),
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % len(PACKED) + PACKED + b"\r\n"),
        content(gzip.compress(PACKED)[:-12], "text/html", ("Content-Encoding", "gzip")),
    ],
)
def test_body_that_ends_early_is_truncated_and_what_came_is_flagged(behaviour: Behaviour) -> None:
    """R05."""
    page = fetched(behaviour)
    assert page.outcome == "truncated"
    assert "partial" in page.flags
    assert "The Lake Aldis ferry opened in 1962" in page.text


@pytest.mark.parametrize("pause_s", [0.05, 0.5])
def test_deadline_holds_against_a_trickle(pause_s: float) -> None:
    """R04."""
    began = time.monotonic()
    page = fetched(trickle(pause_s=pause_s), FetchLimits(total_s=1.2))
    assert page.outcome == "timeout"
    assert 1.0 < time.monotonic() - began < 15.0


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nX-Slow: "])
def test_deadline_holds_against_headers_that_never_end(head: bytes) -> None:
    """R04, R05."""
    page = fetched(trickle(head, 0.05), FetchLimits(total_s=0.8))
    assert (page.outcome, page.status, page.text) == ("timeout", 0, "")


def test_deadline_covers_all_hops_together() -> None:
    def slow(location: str) -> Behaviour:
        def behave(exchange) -> None:
            exchange.closing.wait(0.4)
            redirect(location)(exchange)

        return behave

    with BadWeb({f"/{number}": slow(f"/{number + 1}") for number in range(6)}) as web:
        page = fetcher(web, limits=FetchLimits(total_s=1.0))(f"{web.origin}/0")
    assert page.outcome == "timeout"
    assert 2 <= len(page.hops) <= 4


def test_endless_body_stops_at_the_cap_and_the_part_is_flagged() -> None:
    """R03."""
    page = fetched(endless(), SMALL)
    assert page.outcome == "too_large"
    assert "partial" in page.flags
    assert "and on and on it goes" in page.text
    assert len(page.content) <= SMALL.wire_bytes


@pytest.mark.parametrize(
    ("body", "codings"),
    [
        (gzip.compress(PACKED), ["gzip"]),
        (gzip.compress(PACKED), ["X-GZIP"]),
        (gzip.compress(PACKED[:40]) + gzip.compress(PACKED[40:]), ["gzip"]),
        (gzip.compress(PACKED) + b"trailing rubbish", ["gzip"]),
        (zlib.compress(PACKED), ["deflate"]),
        (zlib.compress(PACKED)[2:-4], ["deflate"]),
        (gzip.compress(zlib.compress(PACKED)), ["deflate, gzip"]),
        (gzip.compress(gzip.compress(PACKED)), ["gzip", "gzip"]),
        (PACKED, ["identity"]),
    ],
)
def test_known_codings_are_undone(body: bytes, codings: list[str]) -> None:
    page = fetched(packed(body, *codings))
    assert (page.outcome, page.content, page.text) == ("ok", PACKED, TEXT)


@pytest.mark.parametrize(
    ("body", "codings"),
    [
        (b"\x8b\x03\x80Hello brotli\x03", ["br"]),
        (gzip.compress(PACKED), ["zstd"]),
        (gzip.compress(PACKED), ["gzip, gzip, gzip, gzip, gzip"]),
        (PACKED, ["gzip"]),
        (b"\x1f\x8b\x08\0" + PACKED, ["gzip"]),
        (gzip.compress(PACKED), []),
        (PACKED[:9] + b"\0\1\2\3" * 200, []),
        (b"\x89PNG\r\n\x1a\n" + bytes(200), []),
    ],
)
def test_undecodable_bytes_are_never_shown_as_text(body: bytes, codings: list[str]) -> None:
    """R02."""
    page = fetched(packed(body, *codings))
    assert (page.outcome, page.text) == ("undecodable", "")
    assert page.detail


_MEASURE = """
import json, sys
from lseval.providers.addresses import Allowed
from lseval.providers.extract import Extractor
from lseval.providers.fetch import FetchLimits, WebFetch

def peak_kb():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))

origin, cap = sys.argv[1], int(sys.argv[2])
fetch = WebFetch(Allowed.of([origin]), FetchLimits(body_bytes=cap), extractor=Extractor())
fetch(origin + "/small")
before = peak_kb()
page = fetch(origin + "/bomb")
print(json.dumps({"grown": (peak_kb() - before) * 1024, "outcome": page.outcome, "kept": len(page.content)}))
"""


@pytest.mark.parametrize(
    ("body", "codings"),
    [
        (bomb(50_000_000), "gzip"),
        (bomb(100_000_000, times=2), "gzip, gzip"),
        (zlib.compress(bytes(50_000_000)), "deflate"),
    ],
    ids=["gzip", "gzip twice", "deflate"],
)
def test_bomb_stops_at_the_cap_and_takes_no_more_memory(body: bytes, codings: str) -> None:
    """R01."""
    cap = 10 << 20
    assert len(body) < 60_000
    with BadWeb({"/small": html(TEXT), "/bomb": packed(body, codings)}) as web:
        measured = subprocess.run(
            [sys.executable, "-c", _MEASURE, web.origin, str(cap)],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
    result = json.loads(measured.stdout)
    assert result["outcome"] == "too_large"
    assert result["kept"] <= 1 << 20
    assert result["grown"] < cap + (2 << 20)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def _secure_page(web: BadWeb, name: str, trusted: trustme.CA | None):
    tls = ssl.create_default_context()
    if trusted is not None:
        trusted.configure_trust(tls)
    net = PublicWeb({name: [["93.184.216.34"]]}, {"93.184.216.34": web})
    return net.fetcher(tls=tls)(f"https://{name}/")


def test_tls_is_verified_and_there_is_no_way_round_it(authority: trustme.CA) -> None:
    """R20."""
    with BadWeb({"/": html(TEXT)}, authority=authority) as web:
        trusted = _secure_page(web, "good.test", authority)
        assert (trusted.outcome, trusted.text) == ("ok", TEXT)
        for name, trusts, reason in (("other.test", authority, "Hostname mismatch"), ("good.test", None, "issuer")):
            page = _secure_page(web, name, trusts)
            assert (page.outcome, page.text) == ("tls_error", "")
            assert reason in page.detail
        assert len(web.requests) == 1


def test_expired_certificate_is_refused() -> None:
    """R20."""
    authority = trustme.CA()
    web = BadWeb({"/": html(TEXT)})
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ended = datetime.now(UTC) - timedelta(days=1)
    authority.issue_cert("good.test", not_after=ended).configure_cert(context)
    web._server.socket = context.wrap_socket(web._server.socket, server_side=True)
    with web:
        page = _secure_page(web, "good.test", authority)
    assert page.outcome == "tls_error"
    assert "expired" in page.detail
    assert web.requests == []


def test_plain_http_where_tls_is_expected_is_a_tls_error() -> None:
    with BadWeb({"/": html(TEXT)}) as web:
        page = _secure_page(web, "good.test", None)
    assert page.outcome == "tls_error"


@pytest.fixture(scope="module")
def shared_web() -> Iterator[BadWeb]:
    with BadWeb({"/": html(TEXT)}) as web:
        yield web


def test_header_values_that_a_database_cannot_keep_are_made_storable(shared_web: BadWeb) -> None:
    shared_web.pages["/odd"] = content(PACKED, "text/html", ("X-Odd", "caf\xe9 \x9f"))
    page = fetcher(shared_web)(f"{shared_web.origin}/odd")
    assert page.headers["x-odd"] == "caf\xe9 \x9f"
    assert page.outcome == "ok"


def test_redirect_address_in_utf8_is_understood(shared_web: BadWeb) -> None:
    shared_web.pages["/from"] = redirect("/b\xc3\xbccher")  # the bytes of UTF-8, as servers send them
    shared_web.pages["/b%C3%BCcher"] = html(TEXT)
    page = fetcher(shared_web)(f"{shared_web.origin}/from")
    assert (page.outcome, page.final_url) == ("ok", f"{shared_web.origin}/bücher")


def test_long_redirect_address_is_followed_whole(shared_web: BadWeb) -> None:
    path = "/" + "a" * 5_000
    shared_web.pages["/short"] = redirect(path)
    shared_web.pages[path] = html(TEXT)
    page = fetcher(shared_web)(f"{shared_web.origin}/short")
    assert (page.outcome, page.final_url) == ("ok", f"{shared_web.origin}{path}")


def test_what_is_no_address_at_all_is_an_outcome() -> None:
    fetch = WebFetch(Allowed())
    for url in ("", "no address", "mailto:a@b.example", "http://", "http://[::1", "\ud800"):
        page = fetch(url)
        assert (page.outcome, page.url) == ("bad_address", url)
