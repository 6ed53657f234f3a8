"""The made-up web: every kind of page, read by the program's own extraction."""

from __future__ import annotations

import io
from collections import Counter, defaultdict

import pypdf
import pytest

from lseval.domain.labels import PageOutcome
from lseval.domain.web import FetchedPage
from lseval.sandbox.fetching import fetcher
from lseval.sandbox.pages import (
    DEAD,
    ENCYCLOPEDIA,
    LEAFLET,
    MIRROR,
    MOVED,
    NEWS,
    OF_A_THING,
    OFFICIAL,
    SHELL,
    VISIT,
    WALLED,
    document_of,
    mirrored,
    places_of,
    url_of,
)
from lseval.sandbox.web import Web, WebResponse, respond
from lseval.sandbox.world import World, make_world
from tests.providers.bad_web import BadWeb
from tests.providers.bad_web import fetcher as web_fetcher
from tests.providers.bad_web import status as given


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(31, 4)


@pytest.fixture(scope="module")
def fetched(world: World) -> dict[str, dict[str, FetchedPage]]:
    """All pages by kind and address."""
    fetch = fetcher(Web(world))
    found: dict[str, dict[str, FetchedPage]] = defaultdict(dict)
    for task in world.tasks:
        for place in places_of(task):
            found[place.page][place.url] = fetch(place.url)
    return found


def test_each_kind_of_page_has_the_outcome_it_is_made_for(fetched: dict[str, dict[str, FetchedPage]]) -> None:
    outcomes = {page: {found.outcome for found in pages.values()} for page, pages in fetched.items()}
    assert outcomes.pop(DEAD) == {PageOutcome.NOT_FOUND}
    assert outcomes.pop(WALLED) == {PageOutcome.WALLED}
    assert outcomes.pop(SHELL) == {PageOutcome.NEEDS_JS}
    assert set(OF_A_THING) - {DEAD, WALLED, SHELL} <= set(outcomes)
    assert all(found == {PageOutcome.OK} for found in outcomes.values()), outcomes


@pytest.mark.parametrize("status", [203, 204, 302, 400, 401, 403, 404, 407, 410, 418, 429, 451, 500, 503])
def test_status_means_what_it_means_to_the_real_fetcher(status: int) -> None:
    class Answering:
        def respond(self, url: str) -> WebResponse:
            return WebResponse(status, {"content-type": "text/html"}, b"<p>Words.</p>")

    page = fetcher(Answering())("https://any.example/")  # type: ignore[arg-type]
    with BadWeb({"/": given(status, body=b"<p>Words.</p>")}) as web:
        real = web_fetcher(web)(f"{web.origin}/")
    assert (page.outcome, page.status) == (real.outcome, real.status)


def test_extraction_keeps_every_sentence_whatever_the_encoding(
    world: World, fetched: dict[str, dict[str, FetchedPage]]
) -> None:
    decoders = Counter()
    for task in world.tasks:
        for place in places_of(task):
            page = fetched[place.page][place.url]
            if page.outcome != PageOutcome.OK or place.page in (MOVED, LEAFLET):
                continue
            decoders[page.decoder] += 1
            words = " ".join(page.text.split())
            for paragraph in document_of(place).paragraphs:
                assert " ".join(paragraph.split()) in words, place.url
            for row in document_of(place).rows:
                assert all(cell in page.text for cell in row), place.url
    assert {"utf-8", "utf-16", "cp1252"} <= set(decoders)


def test_leaflet_is_a_real_pdf_that_is_the_same_every_time(world: World) -> None:
    task = world.tasks[0]
    place = next(place for place in places_of(task) if place.page == LEAFLET)
    first = respond(place).content
    text = " ".join(pypdf.PdfReader(io.BytesIO(first)).pages[0].extract_text().split())
    assert first == respond(place).content
    assert place.thing is not None
    assert place.thing.value("a") in text
    assert place.thing.name in text


def test_redirect_leads_to_the_official_page(world: World) -> None:
    task = world.tasks[1]
    thing = task.eligible[0]
    page = fetcher(Web(world))(url_of(task, MOVED, thing))
    assert page.final_url == url_of(task, OFFICIAL, thing)
    assert [hop.status for hop in page.hops] == [301, 200]
    assert thing.value("a") in page.text


def test_pages_tell_what_they_are_meant_to_and_no_more(
    world: World, fetched: dict[str, dict[str, FetchedPage]]
) -> None:
    for task in world.tasks:
        for thing in task.things:
            official = fetched[OFFICIAL][url_of(task, OFFICIAL, thing)].text
            news = fetched[NEWS][url_of(task, NEWS, thing)].text
            visit = fetched[VISIT][url_of(task, VISIT, thing)].text
            mirror = fetched[MIRROR][url_of(task, MIRROR, thing)].text
            assert all(thing.value(slot) in official for slot in thing.facts)
            assert thing.value("count") not in news
            assert f"{thing.older:,}" in news
            assert not any(thing.value(slot) in visit for slot in ("a", "year", "count"))
            assert mirrored(thing)["year"] != thing.facts["year"]
            assert f"in {mirrored(thing)['year']}" in mirror


def test_namesakes_have_pages_of_their_own_with_other_figures(
    world: World, fetched: dict[str, dict[str, FetchedPage]]
) -> None:
    seen = 0
    for task in world.tasks:
        for thing in task.eligible:
            other = task.namesakes.get(thing.name)
            if other is None:
                continue
            seen += 1
            page = fetched[ENCYCLOPEDIA][url_of(task, ENCYCLOPEDIA, other)]
            assert task.other_region in page.text
            assert other.value("count") in page.text
            assert url_of(task, ENCYCLOPEDIA, other) != url_of(task, ENCYCLOPEDIA, thing)
    assert seen > 3


def test_unknown_address_is_not_found_and_spelling_does_not_matter(world: World) -> None:
    fetch = fetcher(Web(world))
    url = url_of(world.tasks[0], OFFICIAL, world.tasks[0].eligible[0])
    assert fetch("https://nowhere.example/").outcome == PageOutcome.NOT_FOUND
    assert fetch("no address").outcome == PageOutcome.NOT_FOUND
    assert fetch(url.upper().replace("FACTS", "facts") + "#top").outcome == PageOutcome.OK
