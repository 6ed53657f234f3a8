"""No page, and no trick of one, makes the fetcher go where it must not."""

from __future__ import annotations

import pytest

from lseval.domain.web import Hop
from tests.providers.bad_web import TEXT, BadWeb, PublicWeb, fetcher, html, redirect

PUBLIC = "93.184.216.34"
OTHER = "151.101.1.69"


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "[::ffff:127.0.0.1]", "①②⑦.⓪.⓪.①", "127.0.0.1"]
)
def test_no_packet_is_sent_to_a_hidden_loopback_address(host: str) -> None:
    """S01, S02, S03."""
    with BadWeb({"/": html(TEXT)}) as web:
        net = PublicWeb({}, {"127.0.0.1": web, "0.0.0.0": web, "::ffff:7f00:1": web})
        page = net.fetcher()(f"http://{host}/")
    assert (page.outcome, page.text, net.dialled, web.requests) == ("blocked_address", "", [], [])
    assert page.hops == (Hop(f"http://{host}/"),)


def test_name_with_a_private_address_among_public_ones_is_refused_whole() -> None:
    """S04."""
    with BadWeb({"/": html(TEXT)}) as web:
        net = PublicWeb({"mixed.example": [[PUBLIC, "10.0.0.5"]]}, {PUBLIC: web})
        page = net.fetcher()("http://mixed.example/")
    assert (page.outcome, net.dialled, web.requests) == ("blocked_address", [], [])


def test_checked_address_is_the_one_dialled_though_the_name_changes_its_mind() -> None:
    """S05."""
    with BadWeb({"/": html(TEXT)}) as public, BadWeb({"/": html("secret")}) as inside:
        net = PublicWeb({"rebind.example": [[PUBLIC], ["127.0.0.1"]]}, {PUBLIC: public, "127.0.0.1": inside})
        fetch = net.fetcher()
        first = fetch("http://rebind.example/")
        second = fetch("http://rebind.example/")
    assert (first.outcome, first.text, first.hops[0].address) == ("ok", TEXT, PUBLIC)
    assert second.outcome == "blocked_address"
    assert net.dialled == [(PUBLIC, 80)]
    assert inside.requests == []


@pytest.mark.parametrize("hop", [1, 2, 3, 4, 5])
def test_every_hop_is_checked_again(hop: int) -> None:
    """S06."""
    pages = {f"/{number}": redirect(f"/{number + 1}") for number in range(1, hop)}
    pages[f"/{hop}"] = redirect("http://169.254.169.254/latest/meta-data/")
    with BadWeb(pages) as web:
        net = PublicWeb({"good.example": [[PUBLIC]]}, {PUBLIC: web, "169.254.169.254": web})
        page = net.fetcher()("http://good.example/1")
    assert page.outcome == "blocked_address"
    assert net.dialled == [(PUBLIC, 80)] * hop
    assert [step.status for step in page.hops] == [302] * hop + [0]
    assert page.hops[-1].url == "http://169.254.169.254/latest/meta-data/"


def test_redirect_to_a_name_that_leads_inside_is_blocked() -> None:
    """S06."""
    with BadWeb({"/": redirect("http://inside.example/")}) as web:
        net = PublicWeb({"good.example": [[PUBLIC]], "inside.example": [["192.168.0.1"]]}, {PUBLIC: web})
        page = net.fetcher()("http://good.example/")
    assert (page.outcome, len(page.hops)) == ("blocked_address", 2)


@pytest.mark.parametrize(
    "location",
    [
        *(
            "file:///etc/passwd",
            "gopher://good.example/",
            "javascript:alert(1)",
            "data:text/html,hi",
            "http://[::1",
        ),
        *("http://good.example:65536/", "http://good.example@127.0.0.1/", "\\\\127.0.0.1\\"),
    ],
)
def test_redirect_to_what_is_no_web_address_is_an_outcome(location: str) -> None:
    """S07."""
    with BadWeb({"/": redirect(location), "/next": html(TEXT)}) as web:
        fetch = fetcher(web)
        page = fetch(f"{web.origin}/")
        assert page.outcome in ("bad_address", "blocked_address", "not_found")
        assert page.text == ""
        assert fetch(f"{web.origin}/next").outcome == "ok"


def test_redirects_are_followed_up_to_five() -> None:
    pages = {
        f"/{number}": redirect(f"/{number + 1}", code) for number, code in enumerate((301, 302, 303, 307, 308), 1)
    }
    with BadWeb({**pages, "/0": redirect("/1"), "/6": html(TEXT)}) as web:
        fetch = fetcher(web)
        page = fetch(f"{web.origin}/1")
        assert (page.outcome, page.final_url, len(page.hops)) == ("ok", f"{web.origin}/6", 6)
        page = fetch(f"{web.origin}/0")
        assert (page.outcome, page.text) == ("unavailable", "")
        assert "more than 5 times" in page.detail


def test_no_cookie_is_ever_sent() -> None:
    """S13."""
    pages = {
        "/set": html(TEXT, ("Set-Cookie", "id=1; Path=/")),
        "/hop": redirect("/set"),
    }
    with BadWeb(pages) as web, BadWeb(pages) as other:
        fetch = fetcher(web, other)
        for url in (f"{web.origin}/set", f"{web.origin}/set", f"{web.origin}/hop", f"{other.origin}/set"):
            page = fetch(url)
            assert page.outcome == "ok"
            assert "set-cookie" not in page.headers
        sent = [request.headers for request in (*web.requests, *other.requests)]
    assert len(sent) == 5
    assert not any("cookie" in headers or "referer" in headers or "authorization" in headers for headers in sent)


def test_meta_refresh_goes_through_the_same_guard_once() -> None:
    """R17."""

    def leads_to(url: str) -> object:
        return html("", head=f'<meta http-equiv="refresh" content="0; url={url}">')

    pages = {
        "/a": leads_to("/b"),
        "/b": html(TEXT),
        "/inside": leads_to("http://169.254.169.254/"),
        "/twice": leads_to("/a"),
        "/self": leads_to("/self"),
    }
    with BadWeb(pages) as web:
        fetch = fetcher(web)
        followed = fetch(f"{web.origin}/a")
        assert (followed.outcome, followed.text, followed.final_url) == ("ok", TEXT, f"{web.origin}/b")
        assert "meta_refresh" in followed.flags
        assert fetch(f"{web.origin}/inside").outcome == "blocked_address"
        assert fetch(f"{web.origin}/twice").outcome == "needs_js"
        assert len(web.requests) == 2 + 1 + 2
        assert fetch(f"{web.origin}/self").outcome == "needs_js"
        assert len(web.requests) == 6


def test_one_name_in_two_spellings_is_one_host() -> None:
    """U01."""
    with BadWeb({"/": html(TEXT)}) as web:
        net = PublicWeb({"xn--bcher-kva.example": [[PUBLIC]]}, {PUBLIC: web})
        fetch = net.fetcher()
        assert fetch("http://bücher.example/").outcome == "ok"
        assert fetch("http://xn--bcher-kva.example/").outcome == "ok"
        assert {request.headers["host"] for request in web.requests} == {"xn--bcher-kva.example"}
        assert fetch("http://bü\u200bcher.example/").outcome == "bad_address"


def test_next_address_is_tried_where_one_does_not_answer() -> None:
    with BadWeb({"/": html(TEXT)}) as web:
        net = PublicWeb({"good.example": [[OTHER, PUBLIC]]}, {PUBLIC: web})
        page = net.fetcher()("http://good.example/")
    assert (page.outcome, page.hops[0].address) == ("ok", PUBLIC)
    assert net.dialled == [(OTHER, 80), (PUBLIC, 80)]


def test_archived_copy_is_fetched_as_given_and_flagged() -> None:
    """U04."""
    url = "http://web.archive.org/web/2023/http://ferries.example/aldis"
    with BadWeb({"/web/2023/http://ferries.example/aldis": html(TEXT)}) as web:
        net = PublicWeb({"web.archive.org": [[PUBLIC]]}, {PUBLIC: web})
        page = net.fetcher()(url)
    assert (page.outcome, page.final_url, page.flags) == ("ok", url, ("archived_copy",))
