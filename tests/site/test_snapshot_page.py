"""A snapshot on its page."""

from __future__ import annotations

import pytest
from django.urls import reverse

from lseval.models import Page
from lseval.site.selectors import pages
from lseval.site.selectors.pages import page_of
from tests.factories import PAGE_TEXT
from tests.site.building import World, make_world, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.fixture
def snapshot(world: World) -> Page:
    return world.run.pages.get(url="https://ferries.example/aldis")


def _get(world: World, page: Page, **asked: str) -> str:
    address = reverse("page", args=[world.study.slug, page.pk], query=asked)
    return signed_in(world.lead).get(address).content.decode()


def test_page_shows_address_source_outcome_digest_and_text(world: World, snapshot: Page) -> None:
    page = _get(world, snapshot)
    assert 'href="https://ferries.example/aldis" rel="noopener noreferrer nofollow" target="_blank"' in page
    assert "recorded in the trajectory" in page
    assert snapshot.text_digest in page
    assert PAGE_TEXT in page
    assert "the source does not say when" in page


def test_quotation_is_marked_where_it_stands(world: World, snapshot: Page) -> None:
    # "Lake Aldis ferry opened in 1962." : characters 17 to 31 are "opened in 1962".
    page = _get(world, snapshot, start="17", end="31")
    assert 'Lake Aldis ferry <mark id="quotation">opened in 1962</mark>. It is' in page


@pytest.mark.parametrize(
    ("start", "end"), [("31", "17"), ("17", "17"), ("0", "99999"), ("-1", "5"), ("x", "5"), ("5", ""), ("²", "5")]
)
def test_offsets_that_name_no_passage_are_reported_and_mark_nothing(
    world: World, snapshot: Page, start: str, end: str
) -> None:
    page = _get(world, snapshot, start=start, end=end)
    assert "names a passage that this snapshot does not have" in page
    assert "<mark" not in page
    assert PAGE_TEXT in page


def test_page_that_could_not_be_read_says_so(world: World) -> None:
    page = _get(world, world.run.pages.get(url="https://ferries.example/borun"))
    assert "not found" in page
    assert "There is no text to read" in page


def test_groups_that_cite_the_page_are_named(world: World, snapshot: Page) -> None:
    shown = page_of(world.study, snapshot.pk)
    assert [(run.pk, number) for run, number in shown.cited_by] == [(world.run.pk, 1)]


def test_long_text_is_cut_around_the_quotation(
    world: World, snapshot: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "TEXT_LIMIT", 20)
    whole = page_of(world.study, snapshot.pk)
    assert (whole.before + whole.after, whole.is_cut) == (PAGE_TEXT[:20], True)
    part = page_of(world.study, snapshot.pk, "17", "31")
    assert part.quoted == "opened in 1962"
    # 20 characters from 17 - 10; the quotation is kept whole though it ends later.
    assert (part.before, part.after) == (PAGE_TEXT[7:17], "")


def test_markup_in_a_snapshot_is_shown_as_text(world: World, snapshot: Page) -> None:
    Page.objects.filter(pk=snapshot.pk).update(text="<img src=x onerror=alert(1)>")
    page = _get(world, snapshot)
    assert "<img src=x" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_snapshot_page_pins_its_queries(world: World, snapshot: Page, django_assert_num_queries) -> None:
    client = signed_in(world.lead)
    # Session, user, study with role; page with its run, groups that cite it.
    with django_assert_num_queries(5):
        client.get(reverse("page", args=[world.study.slug, snapshot.pk]))
