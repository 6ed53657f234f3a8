"""A person labels in a real browser, by keyboard alone, wide and narrow."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.models import Audit, LabelerRole, LabelVersion
from annotation.sampling import Plan
from annotation.services import create_audit, queue_of, seat
from lseval.models import Role, Study
from lseval.pipeline.evaluation import evaluate
from tests.browser.conftest import Watched
from tests.browser.test_label_page_details import key
from tests.factories import make_run, make_study, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@dataclass(frozen=True)
class Place:
    """A server with an evaluated study of ten runs, an audit, and h1 in a seat."""

    url: str
    study: Study
    audit: Audit

    def address_of(self, role: str) -> str:
        return f"{self.url}/queues/{queue_of(self.audit, role).pk}/label/"


@pytest.fixture
def place(live_server) -> Place:
    study = make_study()
    for task in ("t1", "t2", "t3", "t4", "t5"):
        for model in ("m1", "m2"):
            make_run(study, task, model)
    evaluate(study)
    plan = Plan(tasks=5, responses_per_task=2, h2_tasks=1, link_trajectories=0, round_trajectories=0)
    audit = create_audit(study, plan, 1, "A", None)
    for role in (LabelerRole.H1, LabelerRole.H2):
        seat(queue_of(audit, role), make_user(role.lower(), study))
    make_user("lead", study, Role.LEAD)
    return Place(live_server.url, study, audit)


def signed_in(context: BrowserContext, place: Place, username: str) -> Watched:
    """A page on which the person has signed in, by keyboard."""
    page = context.new_page()
    watched = Watched(page, place.url)
    page.goto(f"{place.url}/login/")
    page.locator("input[name=username]").press_sequentially(username)
    page.keyboard.press("Tab")
    page.keyboard.type("pw")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
    return watched


def progress(page: Page) -> str:
    return page.locator("main").inner_text()


def wait_until_done(page: Page, number: int) -> None:
    """Until the page says that so many of the twenty items are done."""
    text = f"{number} of 20 done" if number < 20 else "All done"
    expect(page.locator("main")).to_contain_text(text)
    page.wait_for_load_state("load")  # a key pressed before the scripts are there is lost


@pytest.mark.parametrize("width", [1280, 390])
def test_twenty_items_by_keyboard_alone_with_undo(browser: Browser, place: Place, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844})
    watched = signed_in(context, place, "h1")
    page = watched.page
    page.goto(place.address_of("H1"))
    keys = [*["c", "i", "u", "1", "2", "3"] * 3, "c", "i"]
    for number, pressed in enumerate(keys):
        assert f"{number} of 20" in progress(page)
        if number == 3:
            key(page, "Backspace")
            wait_until_done(page, 2)
            key(page, "u")
            wait_until_done(page, 3)
        key(page, pressed)
        wait_until_done(page, number + 1)
    slots = queue_of(place.audit, LabelerRole.H1).slots
    assert slots.filter(status="labeled").count() == 20
    assert LabelVersion.objects.filter(action="undo").count() == 1
    in_force = [slot.versions.get(number=slot.version).label for slot in slots.order_by("position")]
    assert sorted(in_force) == sorted([*["C", "I", "U"] * 6, "C", "I"])
    assert watched.complaints == []
    context.close()


def test_keys_do_nothing_while_a_comment_is_written(context: BrowserContext, place: Place) -> None:
    watched = signed_in(context, place, "h1")
    watched.page.goto(place.address_of("H1"))
    watched.page.locator("textarea").first.focus()
    watched.page.keyboard.type("ciu 123")
    assert watched.page.locator("textarea").first.input_value() == "ciu 123"
    assert not LabelVersion.objects.exists()


def test_a_draft_comment_survives_a_reload(context: BrowserContext, place: Place) -> None:
    page = signed_in(context, place, "h1").page
    page.goto(place.address_of("H1"))
    page.locator("textarea").first.fill("the year is on another page")
    page.reload()
    expect(page.locator("textarea").first).to_have_value("the year is on another page")


ROUTES = {
    "h1": ["/", "/studies/s1/audit/", "LABEL", "GUIDELINES"],
    "lead": [
        "/", "/studies/s1/", "/studies/s1/outcome/", "/studies/s1/process/", "/studies/s1/audit/",
        "/studies/s1/audit/draw/", "/studies/s1/agreement/", "/studies/s1/report/", "RUN", "PAGE",
    ],
}  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("username", list(ROUTES))
def test_pages_are_accessible_and_break_no_policy(
    browser: Browser, place: Place, username: str, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    watched = signed_in(context, place, username)
    run = place.study.runs.first()
    named = {
        "LABEL": place.address_of("H1").removeprefix(place.url),
        "GUIDELINES": place.address_of("H1").removeprefix(place.url).replace("label/", "guidelines/"),
        "RUN": f"/studies/s1/runs/{run.pk}/",
        "PAGE": f"/studies/s1/pages/{run.pages.first().pk}/",
    }
    for route in ROUTES[username]:
        path = named.get(route, route)
        response = watched.page.goto(place.url + path)
        assert response.status == 200, path
        watched.page.wait_for_load_state("networkidle")
        found = Axe().run(watched.page)
        assert found.violations_count == 0, f"{path}: {found.generate_report()}"
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width, f"{path} scrolls sideways"
    assert watched.complaints == []
    context.close()


def test_the_way_from_the_last_label_to_the_agreement_page(context: BrowserContext, place: Place) -> None:
    page = signed_in(context, place, "h1").page
    page.goto(place.address_of("H1"))
    for number in range(20):
        key(page, "c")
        wait_until_done(page, number + 1)
    page.locator("header button[form=log-out]").click()
    page = signed_in(context, place, "lead").page
    page.goto(f"{place.url}/studies/s1/agreement/?labels=people")
    assert "20 of 20 groups labeled by H1" in page.locator("main").inner_text()
