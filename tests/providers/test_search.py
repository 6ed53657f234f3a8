"""Searching: each engine's own form, and the same errors and the same clean results from all."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from lseval.domain.web import SearchHit
from lseval.providers import errors
from lseval.providers.addresses import Allowed
from lseval.providers.search import ENGINES, search_engine
from lseval.providers.search.engine import plain, shortened
from lseval.providers.transport import GuardedHttp
from tests.providers.bad_llm import answers, answers_bytes, endless, fails, hangs, redirects, resets, trickles
from tests.providers.clients import KEY
from tests.providers.loopback import Behaviour, SeenRequest
from tests.providers.search_servers import SearchServer, finds, result_of

ALL = sorted(ENGINES)


def query_in(request: SeenRequest) -> dict[str, object]:
    if request.method == "POST":
        return request.json()
    return {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}


@pytest.mark.parametrize("name", ALL)
def test_results_come_in_the_engines_order(name: str) -> None:
    results = [
        result_of(name, "https://a.example/1", "First", "About the first", "2026-01-02"),
        result_of(name, "https://b.example/2", "Second"),
    ]
    with SearchServer(name, [finds(name, *results)]) as server:
        hits = server.engine()("rivers of France", 10)
    assert hits == (
        SearchHit("https://a.example/1", "First", "About the first", "2026-01-02"),
        SearchHit("https://b.example/2", "Second", "A snippet", ""),
    )


@pytest.mark.parametrize(
    ("name", "method", "path", "header", "fields"),
    [
        ("searxng", "GET", "/search", ("authorization", f"Bearer {KEY}"), {"q": "é & b", "format": "json"}),
        (
            "brave",
            "GET",
            "/res/v1/web/search",
            ("x-subscription-token", KEY),
            {"q": "é & b", "count": "7", "text_decorations": "false", "result_filter": "web"},
        ),
        ("serper", "POST", "/search", ("x-api-key", KEY), {"q": "é & b", "num": 7}),
        (
            "tavily",
            "POST",
            "/search",
            ("authorization", f"Bearer {KEY}"),
            {"query": "é & b", "max_results": 7, "search_depth": "basic"},
        ),
    ],
)
def test_each_engine_is_asked_in_its_own_form(
    name: str, method: str, path: str, header: tuple[str, str], fields: dict[str, object]
) -> None:
    with SearchServer(name) as server:
        server.engine()("é & b", 7)
    (request,) = server.requests
    assert (request.method, urlsplit(request.path).path) == (method, path)
    assert request.headers[header[0]] == header[1]
    assert query_in(request) == fields
    assert KEY not in request.path


@pytest.mark.parametrize("name", ALL)
def test_nothing_found_is_no_error(name: str) -> None:
    with SearchServer(name) as server:
        assert server.engine()("nothing at all", 10) == ()


@pytest.mark.parametrize(
    ("name", "reply"), [("brave", {"type": "search"}), ("serper", {"searchParameters": {"q": "q"}})]
)
def test_a_list_that_is_left_out_because_it_is_empty_is_no_error(name: str, reply: object) -> None:
    with SearchServer(name, [answers(reply)]) as server:
        assert server.engine()("nothing at all", 10) == ()


@pytest.mark.parametrize("name", ALL)
def test_results_without_a_usable_address_are_left_out(name: str) -> None:
    bad = [
        None,
        "https://a.example/",
        result_of(name, None),
        result_of(name, ""),
        result_of(name, 7),
        result_of(name, "/relative"),
        result_of(name, "javascript:alert(1)"),
        result_of(name, "ftp://a.example/"),
        result_of(name, "https://"),
        result_of(name, "https://user@a.example/"),
        result_of(name, "https://a.example/\x00"),
        result_of(name, "https://a.example/\ud83d"),
        result_of(name, "https://a.example/" + "x" * 3_000),
    ]
    with SearchServer(name, [finds(name, *bad, result_of(name, " https://good.example/ "))]) as server:
        hits = server.engine()("q", 10)
    assert [hit.url for hit in hits] == ["https://good.example/"]


@pytest.mark.parametrize("name", ALL)
def test_a_page_comes_once_and_no_more_than_asked_for(name: str) -> None:
    same = [
        "https://a.example/x",
        "http://A.example/x/",
        "https://a.example/x#part",
        "https://a.example/x?utm_source=s",
    ]
    results = [result_of(name, url) for url in same] + [
        result_of(name, f"https://b.example/{n}") for n in range(30)
    ]
    with SearchServer(name, [finds(name, *results)] * 3) as server:
        engine = server.engine()
        assert [hit.url for hit in engine("q", 3)] == [
            "https://a.example/x",
            "https://b.example/0",
            "https://b.example/1",
        ]
        assert len(engine("q", 50)) == 10
        assert len(engine("q", 0)) == 1


@pytest.mark.parametrize("name", ALL)
def test_titles_and_snippets_are_plain_text(name: str) -> None:
    result = result_of(
        name, "https://a.example/", "The <strong>Loire</strong> &amp;\n\x00 <3", None, {"no": "text"}
    )
    with SearchServer(
        name, [finds(name, result, result_of(name, "https://b.example/", ["x"], "y" * 5_000))]
    ) as server:
        first, second = server.engine()("q", 10)
    assert (first.title, first.snippet, first.published) == ("The Loire & \ufffd <3", "", "")
    assert second.title == "https://b.example/"
    assert len(second.snippet) == 1_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a < b and c > d", "a < b and c > d"),
        ("&lt;script&gt;", "<script>"),
        ('<a href="x">y</a><br/>z', "yz"),
        ("half \ud83d", "half \ufffd"),
    ],
)
def test_markup_goes_and_what_only_looks_like_it_stays(text: str, shown: str) -> None:
    assert plain(text, 100) == shown


@pytest.mark.parametrize("name", ALL)
def test_a_query_is_sent_without_what_no_server_can_read(name: str) -> None:
    with SearchServer(name) as server:
        server.engine()(" rivers\x00 of\ud83d\n France ", 10)
    assert "rivers of France" in query_in(server.requests[0]).values()


@pytest.mark.parametrize("query", ["", " \n ", "\x00"])
def test_an_empty_query_is_refused_without_asking(query: str) -> None:
    with SearchServer("serper") as server, pytest.raises(errors.RequestRefusedError, match="empty"):
        server.engine()(query, 10)
    assert server.requests == []


def test_a_query_is_cut_to_what_an_engine_accepts() -> None:
    with SearchServer("brave") as brave, SearchServer("tavily") as tavily:
        brave.engine()(" ".join(["river"] * 60), 10)
        tavily.engine()("river " * 100, 10)
    assert query_in(brave.requests[0])["q"] == " ".join(["river"] * 50)
    # 66 words of 5 letters and 65 spaces between them are 395 characters; a 67th would make 401.
    assert query_in(tavily.requests[0])["query"] == " ".join(["river"] * 66)
    assert shortened("x" * 500, 400) == "x" * 400


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        (fails(400), errors.RequestRefusedError),
        (fails(401), errors.AccessRefusedError),
        (fails(402), errors.OutOfCreditError),
        (fails(403), errors.AccessRefusedError),
        (fails(429), errors.RateLimitedError),
        (fails(500), errors.UnavailableError),
        (fails(504), errors.TimedOutError),
        (redirects("https://elsewhere.example/"), errors.RequestRefusedError),
        (resets(), errors.UnavailableError),
        (hangs(), errors.TimedOutError),
        (trickles(), errors.TimedOutError),
        (endless(), errors.MalformedReplyError),
        (answers_bytes(b"<html>Hello</html>"), errors.MalformedReplyError),
        (answers_bytes(b'{"results": ['), errors.MalformedReplyError),
        (answers([]), errors.MalformedReplyError),
        (answers({}), errors.MalformedReplyError),
        (answers({"results": None, "web": None, "organic": None}), errors.MalformedReplyError),
        (answers({"error": {"code": 429, "message": "slow down"}}), errors.RateLimitedError),
        (answers({"detail": {"error": "no such thing"}}), errors.MalformedReplyError),
    ],
    ids=lambda value: getattr(value, "code", ""),
)
def test_what_goes_wrong_has_the_same_types_as_with_models(
    name: str, behaviour: Behaviour, kind: type[errors.ProviderError]
) -> None:
    with SearchServer(name, [behaviour]) as server, pytest.raises(errors.ProviderError) as caught:
        server.engine(read_s=0.25 if kind is errors.TimedOutError else 20.0)("q", 10)
    assert type(caught.value) is kind


@pytest.mark.parametrize("status", [432, 433])
def test_tavilys_own_statuses_for_a_spent_plan_are_out_of_credit(status: int) -> None:
    limit = answers({"detail": {"error": "This request exceeds your plan's set usage limit."}}, status)
    with SearchServer("tavily", [limit]) as server, pytest.raises(errors.OutOfCreditError, match="usage limit"):
        server.engine()("q", 10)


def test_a_missing_key_names_the_engines_usual_variable() -> None:
    with SearchServer("brave") as server, pytest.raises(errors.AccessRefusedError, match="BRAVE_API_KEY"):
        server.engine(key_env="")("q", 10)
    assert server.requests == []


def test_searxng_needs_no_key_and_an_address() -> None:
    with SearchServer("searxng") as server:
        server.engine(key_env="")("q", 10)
    assert "authorization" not in server.requests[0].headers
    with pytest.raises(errors.RequestRefusedError, match="base_url"):
        search_engine("searxng", http=GuardedHttp(Allowed()))


def test_the_engines_own_addresses_are_https() -> None:
    addresses = {
        name: search_engine(name, http=GuardedHttp(Allowed())).base_url for name in ALL if name != "searxng"
    }
    assert all(address.startswith("https://") for address in addresses.values())


def test_an_unknown_engine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(errors.RequestRefusedError, match="brave, searxng, serper, tavily"):
        search_engine("altavista", http=GuardedHttp(Allowed()))


def test_an_engine_on_loopback_that_is_not_allowed_is_not_asked() -> None:
    with SearchServer("searxng") as server, pytest.raises(errors.BlockedAddressError):
        search_engine("searxng", http=GuardedHttp(Allowed()), base_url=server.origin)("q", 10)
    assert server.requests == []


def test_the_key_in_a_complaint_is_blotted_out() -> None:
    with SearchServer("serper", [fails(403, message=f"Unauthorized {KEY}")]) as server:
        engine = server.engine()
        with pytest.raises(errors.AccessRefusedError) as caught:
            engine("q", 10)
    assert KEY not in json.dumps(str(caught.value))
