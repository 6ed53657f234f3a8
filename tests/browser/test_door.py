"""B04 in a real browser: what the back button shows after logging out, and the pages of the door by axe."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page

from lseval.door.invitations import invite
from lseval.door.members import change_role
from lseval.models import Role, Study
from tests.browser.conftest import Watched
from tests.factories import make_study, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SECRET = "Ferries of the northern lakes"


@pytest.fixture
def study(live_server) -> Study:
    made = make_study()
    Study.objects.update(description=SECRET)
    make_user("lead", made, Role.LEAD)
    make_user("r", made, Role.RESEARCHER)
    return made


def sign_in(page: Page, home: str, username: str) -> None:
    page.goto(f"{home}/login/")
    page.fill("input[name=username]", username)
    page.fill("input[name=password]", "pw")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/login/" not in url)


def test_back_after_logging_out_shows_nothing(context: BrowserContext, live_server, study: Study) -> None:
    page = context.new_page()
    sign_in(page, live_server.url, "lead")
    page.goto(f"{live_server.url}/studies/s1/")
    page.goto(f"{live_server.url}/")
    assert SECRET in page.content()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login/**")
    for _ in range(2):
        page.go_back()
        page.wait_for_load_state()
        assert SECRET not in page.content()
        assert "Study s1" not in page.content()
        assert page.get_by_role("button", name="Sign in").is_visible()


def test_back_after_a_change_of_role_shows_nothing_stale(
    context: BrowserContext, live_server, study: Study
) -> None:
    page = context.new_page()
    sign_in(page, live_server.url, "r")
    page.goto(f"{live_server.url}/studies/s1/report/")
    assert page.locator("h1").inner_text() != "There is no such page"
    page.goto(f"{live_server.url}/")
    study.memberships.filter(user__username="r").delete()
    page.go_back()
    page.wait_for_load_state()
    assert page.locator("h1").inner_text() == "There is no such page"


def test_invited_person_gets_in_without_a_complaint(context: BrowserContext, live_server, study: Study) -> None:
    page = context.new_page()
    watched = Watched(page, live_server.url)
    sign_in(page, live_server.url, "lead")
    page.goto(f"{live_server.url}/studies/s1/members/")
    page.get_by_label("For whom").fill("the second labeler")
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("code.command").inner_text()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login/**")
    page.goto(link)
    assert page.url == f"{live_server.url}/invitation/"
    page.get_by_label("Username").fill("newcomer")
    page.get_by_label("Password", exact=True).fill("blue-harbour-71")
    page.get_by_label("The password again").fill("blue-harbour-71")
    page.get_by_role("button", name="Make the account and join").click()
    page.wait_for_url("**/studies/s1/audit/")
    assert "You are annotator of Study s1" in page.locator("main").inner_text()
    assert watched.complaints == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_of_the_door_pass_axe(browser: Browser, live_server, study: Study, width: int, scheme: str) -> None:
    lead = study.memberships.get(user__username="lead").user
    _, token = invite(study, Role.ANNOTATOR, lead, "the second labeler")
    for name in ("h1", "h2"):
        make_user(name, study)
    change_role(study, study.memberships.get(user__username="h2").pk, Role.RESEARCHER, lead)
    members = reverse("members", args=["s1"])
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    watched = Watched(page, live_server.url)
    page.goto(f"{live_server.url}/invitations/{token}/")
    check(page)
    page.goto(f"{live_server.url}/password/forgotten/")
    check(page)
    sign_in(page, live_server.url, "lead")
    for address in (
        reverse("members", args=["s1"]),
        reverse("account"),
        reverse("password_change"),
        "/invitation/",
    ):
        page.goto(live_server.url + address)
        check(page)
    page.goto(live_server.url + reverse("account"))
    page.get_by_label("What it is for").fill("notebook")
    page.get_by_role("button", name="Make a token").click()
    assert page.locator("code.command").inner_text().startswith("lst_")
    check(page)
    page.goto(live_server.url + members)
    page.get_by_role("button", name="Make a link").click()
    assert "/invitations/lsi_" in page.locator("code.command").inner_text()
    check(page)
    assert watched.complaints == []
    context.close()


def check(page: Page) -> None:
    """No violation by axe, and nothing wider than the window."""
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url
