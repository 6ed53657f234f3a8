"""The lead's page in a real browser: it renews itself, and nothing under the lead's hands jumps."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, expect

from annotation.services import create_audit, seat
from lseval.models import Role, User
from tests.annotation.making import GROUPS_ONLY, next_slot, submit
from tests.browser.conftest import Watched
from tests.factories import make_run, make_study, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def labeler(transactional_db: None) -> User:
    study = make_study()
    for task in ("t1", "t2", "t3"):
        for model in ("m1", "n1"):
            make_run(study, task, model)
    audit = create_audit(study, GROUPS_ONLY, 1, "A", None)
    first = make_user("first", study)
    seat(audit.queues.get(role="H1"), first)
    make_user("lead", study, Role.LEAD)
    return first


def lead_page(context: BrowserContext, url: str) -> Watched:
    page = context.new_page()
    watched = Watched(page, url)
    page.clock.install()
    page.goto(f"{url}/login/?next=/studies/s1/audit/")
    page.locator("input[name=username]").fill("lead")
    page.locator("input[name=password]").fill("pw")
    page.locator("main button[type=submit]").click()
    expect(page.get_by_role("heading", name="Audit", exact=True)).to_be_visible()
    return watched


def test_numbers_renew_themselves_and_the_focus_stays(context: BrowserContext, live_server, labeler: User) -> None:
    queue = labeler.seats.get().queue
    submit(next_slot(queue, labeler), labeler)
    held = next_slot(queue, labeler)
    watched = lead_page(context, live_server.url)
    page = watched.page
    expect(page.get_by_text("1 of 12")).to_be_visible()
    release = page.locator(f"#release-{held.pk}")
    release.focus()
    # A second label of the same person elsewhere: their first decision again, so that the item in work stays.
    slot = queue.slots.get(status="labeled")
    submit(slot, labeler, "I")
    queue.slots.exclude(pk__in=[held.pk, slot.pk]).order_by("pk").first().delete()
    with page.expect_response(lambda response: "/progress/" in response.url):
        page.clock.fast_forward(11_000)
    expect(page.get_by_text("1 of 11")).to_be_visible()
    expect(release).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The item is back in its queue.")).to_be_visible()
    expect(page.get_by_text("Nobody is working on an item now.")).to_be_visible()
    assert watched.complaints == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lead_page_with_its_actions_open_has_no_violation(
    browser: Browser, live_server, labeler: User, width: int, scheme: str
) -> None:
    next_slot(labeler.seats.get().queue, labeler)
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    watched = lead_page(context, live_server.url)
    for summary in watched.page.locator("details.audit-action > summary").all():
        summary.click()
    found = Axe().run(watched.page)
    assert found.violations_count == 0, found.generate_report()
    assert not watched.page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert watched.complaints == []
    context.close()
