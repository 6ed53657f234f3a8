from __future__ import annotations

from typing import Any

import pytest

from lseval.agent.tools import Toolbox
from lseval.agent.wording import wording
from lseval.domain.chat import CalledTool
from lseval.domain.controls import Controls
from lseval.domain.skipping import METADATA_CHARS, is_listing
from lseval.domain.trajectory import ToolCallRecord
from lseval.domain.web import FetchedPage, SearchHit
from lseval.providers.errors import AccessRefusedError, RequestRefusedError, TimedOutError
from tests.agent.scripted import FERRY, TEXT, Web, calls, finds


def _toolbox(web: Web | None = None, search: Any = finds(FERRY), controls: Controls = Controls()) -> Toolbox:  # noqa: B008
    return Toolbox(search, web or Web(), controls, wording())


def _call(toolbox: Toolbox, name: str, given: Any) -> ToolCallRecord:
    return toolbox.call(calls((name, given)).tool_calls[0]).record


@pytest.fixture
def opened() -> Toolbox:
    toolbox = _toolbox()
    _call(toolbox, "open_page", {"url": FERRY})
    return toolbox


def test_open_page_tells_what_the_page_is_and_nothing_of_its_text() -> None:
    page = FetchedPage(FERRY, "ok", FERRY, "T" * 5_000, TEXT, detail="d" * 5_000, content_type="text/html " * 99)
    told = _call(_toolbox(Web({FERRY: page})), "open_page", {"url": FERRY})
    assert f"length: {len(TEXT)} characters" in (told.observation or "")
    assert "page_id: p1" in (told.observation or "")
    assert "1962" not in (told.observation or "")
    assert len(told.observation or "") < METADATA_CHARS + 2 * len(FERRY)
    assert is_listing(told)


def test_a_page_that_is_not_there_is_a_result_and_cannot_be_read() -> None:
    toolbox = _toolbox(Web({}))
    told = _call(toolbox, "open_page", {"url": "https://gone.example/x"})
    assert not told.is_error
    assert "outcome: not_found" in (told.observation or "")
    read = _call(toolbox, "read_page", {"page_id": "p1"})
    assert read.is_error
    assert "no readable text (outcome not_found)" in (read.observation or "")


def test_a_page_keeps_its_identifier_under_every_spelling_and_is_fetched_once() -> None:
    web = Web()
    toolbox = _toolbox(web)
    for url in (FERRY, "http://FERRIES.example:80/aldis/#top", f" {FERRY}?utm_source=x"):
        assert "page_id: p1" in (_call(toolbox, "open_page", {"url": url}).observation or "")
    assert web.fetched == [FERRY]
    assert "page_id: p2" in (_call(toolbox, "open_page", {"url": "https://other.example/"}).observation or "")


@pytest.mark.parametrize("url", ["ferries", "file:///etc/passwd", "https://user@host.example/", "https://a\\b/"])
def test_what_is_no_address_is_an_error_and_is_not_fetched(url: str) -> None:
    web = Web()
    assert _call(_toolbox(web), "open_page", {"url": url}).is_error
    assert web.fetched == []


def test_read_page_shows_a_window_and_says_where_it_is(opened: Toolbox) -> None:
    first = _call(opened, "read_page", {"page_id": "p1"}).observation or ""
    head, shown = first.split("\n\n", 1)
    assert head == f"Page p1 {FERRY}, characters 0 to 3000 of {len(TEXT)} ({len(TEXT) - 3000} left)"
    assert shown == TEXT[:3000]
    last = _call(opened, "read_page", {"page_id": "p1", "offset": len(TEXT) - 5}).observation or ""
    assert last.endswith(f"of {len(TEXT)} (the end)\n\n{TEXT[-5:]}")


def test_read_page_shows_no_more_than_the_cap(opened: Toolbox) -> None:
    told = _call(opened, "read_page", {"page_id": "p1", "chars": 90_000}).observation or ""
    assert told.split("\n\n", 1)[1] == TEXT[:5000]


def test_read_page_beyond_the_end_says_how_long_the_page_is(opened: Toolbox) -> None:
    told = _call(opened, "read_page", {"page_id": "p1", "offset": len(TEXT)})
    assert told.is_error
    assert f"has {len(TEXT)} characters" in (told.observation or "")


def test_find_in_page_is_literal_and_tells_count_and_offsets() -> None:
    page = FetchedPage(FERRY, "ok", text="Price: a.c (5 EUR). abc. A.C again. " + "x" * 500)
    toolbox = _toolbox(Web({FERRY: page}))
    _call(toolbox, "open_page", {"url": FERRY})
    told = _call(toolbox, "find_in_page", {"page_id": "p1", "pattern": "a.c"}).observation or ""
    assert '"a.c" is there 2 times' in told
    assert "\nat 7: " in told
    assert "\nat 25: " in told
    missing = _call(toolbox, "find_in_page", {"page_id": "p1", "pattern": "a.*c"})
    assert "is not there" in (missing.observation or "")
    assert not missing.is_error


def test_find_in_page_shows_ten_matches_and_counts_all(opened: Toolbox) -> None:
    told = _call(opened, "find_in_page", {"page_id": "p1", "pattern": "timetable"}).observation or ""
    assert "800 times; the first 10 are shown" in told
    assert told.count("\nat ") == 10
    assert len(told) < 5_000


def test_extract_gives_the_nearest_passages_with_their_offsets(opened: Toolbox) -> None:
    told = _call(opened, "extract", {"page_id": "p1", "fields": ["opening", "length in metres", "captain"]})
    lines = (told.observation or "").splitlines()
    assert lines[1:3] == ["opening:", "  at 0: Lake Aldis ferry opened in 1962."]
    assert "length in metres: nothing found" not in lines
    assert "  at 33: It is 840 metres long." in lines
    assert lines[-1] == "captain: nothing found"


def test_web_search_asks_for_ten_at_most() -> None:
    asked: list[int] = []

    def search(query: str, count: int) -> tuple[SearchHit, ...]:
        asked.append(count)
        return tuple(SearchHit(f"https://e.example/{n}", "a\nb", "c" * 900) for n in range(30))

    toolbox = _toolbox(search=search)
    for given in ({"query": "x"}, {"query": "y", "count": 3}, {"query": "z", "count": 500}):
        told = _call(toolbox, "web_search", given)
    assert asked == [10, 3, 10]
    assert (told.observation or "").count("https://e.example/") == 10
    assert "1. a b\n" in (told.observation or "")
    assert is_listing(told)


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("read_page", '{"page_id": "p1", "offs', "not JSON"),
        ("read_page", "[1]", "must be a JSON object"),
        ("read_page", "{}", "the argument page_id is missing"),
        ("read_page", {"page_id": 1}, "page_id cannot be 1"),
        ("read_page", {"page_id": "p1", "offset": "5"}, "offset cannot be '5'"),
        ("read_page", {"page_id": "p1", "offset": -1}, "offset cannot be -1"),
        ("read_page", {"page_id": "p1", "offset": True}, "offset cannot be True"),
        ("read_page", {"page_id": "p9"}, "there is no page 'p9'"),
        ("read_page", {"page_id": "p1", "page": 2}, "there is no argument 'page'"),
        ("web_search", {"query": "   "}, "query cannot be"),
        ("web_search", {"query": "x", "count": 0}, "count cannot be 0"),
        ("web_search", '{"query": "x", "count": NaN}', "cannot be read"),
        ("web_search", '{"query": "x", "count": 1e999}', "cannot be read"),
        ("web_search", '{"query": "x", "query": "y"}', "given twice"),
        ("extract", {"page_id": "p1", "fields": []}, "fields cannot be []"),
        ("click", {"x": 1}, "there is no tool 'click'"),
        ("", "", "there is no tool ''"),
        ("read_page", '{"a":' * 100_000, "cannot be read"),
    ],
)
def test_a_broken_call_is_told_and_kept(opened: Toolbox, name: str, given: Any, told: str) -> None:
    result = opened.call(calls((name, given)).tool_calls[0])
    assert result.record.is_error
    assert told in (result.record.observation or "")
    assert len(result.record.observation or "") < 1_000
    if isinstance(given, str) and given.startswith('{"page_id'):
        assert result.record.arguments == {"unparsed": given}
        assert result.echo == "{}"


def test_split_surrogates_in_arguments_are_joined_or_replaced() -> None:
    toolbox = _toolbox()
    record = toolbox.call(CalledTool("1", "web_search", '{"query": "\\ud83d\\ude00 \\ud83d \\u0000"}')).record
    assert record.arguments == {"query": "😀 � �"}
    record = toolbox.call(CalledTool("1", "web_search", '{"query": "\ud83d\ude00 \udc00"}')).record
    assert record.arguments == {"query": "😀 �"}


def test_a_search_that_fails_is_told_once_searching_has_worked() -> None:
    outcomes: list[Any] = [(SearchHit(FERRY, "t"),), TimedOutError("late"), RequestRefusedError("422")] * 3

    def search(query: str, count: int) -> tuple[SearchHit, ...]:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    toolbox = _toolbox(search=search)
    told = [_call(toolbox, "web_search", {"query": f"q{number}"}) for number in range(9)]
    assert [record.is_error for record in told] == [False, True, True] * 3


def test_a_search_engine_that_never_works_ends_the_run_instead_of_spoiling_it() -> None:
    def search(query: str, count: int) -> tuple[SearchHit, ...]:
        raise RequestRefusedError("404")

    toolbox = _toolbox(search=search)
    assert _call(toolbox, "web_search", {"query": "a"}).is_error
    assert _call(toolbox, "web_search", {"query": "b"}).is_error
    with pytest.raises(RequestRefusedError):
        _call(toolbox, "web_search", {"query": "c"})


def test_a_refused_key_of_the_search_engine_is_no_observation() -> None:
    def search(query: str, count: int) -> tuple[SearchHit, ...]:
        raise AccessRefusedError("401")

    with pytest.raises(AccessRefusedError):
        _call(_toolbox(search=search), "web_search", {"query": "a"})


def test_searches_that_repeat_or_find_nothing_new_are_told_so_and_then_refused() -> None:
    toolbox = _toolbox(controls=Controls(stagnation_warn=2, stagnation_cut=4))
    queries = ["a", "b", "A  ", "c", "d", "e"]
    told = [_call(toolbox, "web_search", {"query": query}) for query in queries]
    assert ["Note:" in (record.observation or "") for record in told] == [False, False, True, True, True, False]
    assert "2 searches" in (told[2].observation or "")
    assert "no longer available" in (told[4].observation or "")
    assert [record.is_error for record in told] == [False] * 5 + [True]


def test_a_search_that_finds_something_new_ends_the_row() -> None:
    pages = iter([("a",), ("a",), ("b",), ("b",), ("b",)])
    toolbox = _toolbox(
        search=lambda query, count: tuple(SearchHit(f"https://{name}.example", "t") for name in next(pages)),
        controls=Controls(stagnation_warn=2, stagnation_cut=3),
    )
    told = [_call(toolbox, "web_search", {"query": f"q{number}"}).observation or "" for number in range(5)]
    assert ["Note:" in text for text in told] == [False, False, False, False, True]
