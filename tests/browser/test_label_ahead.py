"""The next item is there at once: fetched while the one before is read, shown while it is given out."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotation import services
from annotation.models import LabelVersion, Lease, Slot
from tests.annotation.making import Made, give, make_audit
from tests.browser.test_label_page_details import key, log_in
from tests.factories import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

QUESTION = ".evidence:not([hidden]) .group h2"


@pytest.fixture
def made(transactional_db: None) -> Made:
    return make_audit()


class Held:
    """Requests that decide wait here until they are let go."""

    def __init__(self, page: Page, address: str) -> None:
        self.waiting: list[Route] = []
        page.route(address, self._meet)

    def _meet(self, route: Route) -> None:
        if route.request.method == "POST":
            self.waiting.append(route)
        else:
            route.continue_()

    def let_go(self) -> None:
        self.waiting.pop().continue_()


def at_an_item(context: BrowserContext, server: LiveServer, made: Made) -> tuple[Page, str]:
    """The labeling page once the next item has come ahead."""
    page = log_in(context, server, made.first)
    url = f"{server.url}/queues/{made.h1.pk}/label/"
    with page.expect_response("**/ahead/") as ahead:
        page.goto(url)
    ahead.value.finished()
    return page, url


def test_next_item_is_shown_while_the_decision_is_on_its_way(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page, url = at_an_item(context, live_server, made)
    first = page.locator(QUESTION).inner_text()
    held = Held(page, url)
    key(page, "c")
    expect(page.locator(".evidence[inert]")).to_be_visible()
    ahead = page.locator(QUESTION).inner_text()
    assert ahead != first
    # It is only shown: no key decides it, nobody has it, and the item before is not stored yet.
    page.keyboard.press("i")
    assert Lease.objects.count() == len(held.waiting) == 1
    assert not LabelVersion.objects.exists()
    with page.expect_navigation(wait_until="load"):
        held.let_go()
    assert page.locator(QUESTION).inner_text() == ahead
    assert page.locator(".evidence[inert]").count() == 0
    assert [version.label for version in LabelVersion.objects.all()] == ["C"]


def test_item_comes_back_as_it_was_where_the_decision_was_not_taken(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page, _ = at_an_item(context, live_server, made)
    first = page.locator(QUESTION).inner_text()
    page.locator("textarea[name=comment]").fill("the year is on another page")
    page.locator("textarea[name=comment]").blur()
    context.set_offline(True)
    key(page, "u")
    expect(page.locator("[data-unsent]")).to_be_visible()
    assert page.locator(QUESTION).inner_text() == first
    expect(page.locator("textarea[name=comment]")).to_have_value("the year is on another page")
    with page.expect_navigation(wait_until="load"):
        context.set_offline(False)
    assert LabelVersion.objects.get().comment == "the year is on another page"


def test_undo_shows_no_next_item(context: BrowserContext, live_server: LiveServer, made: Made) -> None:
    page, url = at_an_item(context, live_server, made)
    with page.expect_response("**/ahead/") as ahead, page.expect_navigation(wait_until="load"):
        key(page, "c")
    ahead.value.finished()
    second = page.locator(QUESTION).inner_text()
    held = Held(page, url.replace("/label/", "/undo/"))
    key(page, "Backspace")
    expect(page.locator("html[aria-busy=true]")).to_have_count(1)
    assert page.locator(QUESTION).inner_text() == second
    with page.expect_navigation(wait_until="load"):
        held.let_go()


def test_another_item_than_the_one_shown_ahead_says_so_and_waits(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page, url = at_an_item(context, live_server, made)
    held = Held(page, url)
    key(page, "c")
    ahead = page.locator(".evidence[inert]")
    expect(ahead).to_be_visible()
    # A colleague is given it in the meantime.
    colleague = make_user("third", made.study)
    services.seat(made.h1, colleague)
    give(Slot.objects.get(pk=ahead.get_attribute("data-slot")), colleague)
    with page.expect_navigation(wait_until="load"):
        held.let_go()
    told = page.locator("[data-another-told]")
    expect(told).to_contain_text("another item")
    page.unroute(url)
    with page.expect_navigation(wait_until="load"):
        key(page, "i")
    assert list(LabelVersion.objects.order_by("pk").values_list("label", flat=True)) == ["C", "I"]
    expect(told).to_be_hidden()
