"""What the labeling page's scripts promise, in a real browser; and that the page needs none of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation import services
from annotation.models import LabelVersion, Slot, SlotStatus
from annotation.sampling import Plan
from lseval.models import User
from tests.annotation.making import Made, add_link, make_audit
from tests.browser.conftest import Watched
from tests.factories import make_run, make_study, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def made(transactional_db: None) -> Made:
    return make_audit()


def log_in(context: BrowserContext, server: LiveServer, user: User) -> Page:
    page = context.new_page()
    page.goto(f"{server.url}/login/")
    page.fill("input[name=username]", user.username)
    page.fill("input[name=password]", "pw")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
    return page


def press(page: Page, key: str) -> None:
    """Press a key that leads to another page, and wait until that page's scripts are there."""
    with page.expect_navigation(wait_until="load"):
        page.keyboard.press(key)


def no_violations(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def stored() -> list[str]:
    return list(LabelVersion.objects.order_by("pk").values_list("label", flat=True))


def test_undo_skip_comment_help_and_guidelines_have_keys(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    first = page.input_value("form.decision-bar input[name=slot]")
    press(page, "c")
    press(page, "Backspace")
    assert page.input_value("form.decision-bar input[name=slot]") == first
    assert Slot.objects.get(pk=first).status == SlotStatus.OPEN

    page.keyboard.press("m")
    page.keyboard.type("cui 123 ?")
    expect(page.locator("textarea[name=comment]")).to_have_value("cui 123 ?")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    press(page, "i")
    version = LabelVersion.objects.latest("pk")
    assert (version.label, version.comment) == ("I", "cui 123 ?")
    assert version.seconds_on_task is not None

    # What is typed right after the key belongs to the reason, and is no key of its own.
    page.keyboard.press("s")
    page.keyboard.type("cannot read it")
    press(page, "Enter")
    assert LabelVersion.objects.latest("pk").comment == "cannot read it"
    assert Slot.objects.filter(status=SlotStatus.SKIPPED).count() == 1

    press(page, "g")
    assert "Guidelines" in page.title()
    press(page, "g")
    assert page.locator("form.decision-bar").count() == 1


def test_find_in_the_cited_page_has_a_key(context: BrowserContext, live_server: LiveServer, made: Made) -> None:
    Slot.objects.filter(queue=made.h1, item__group__title__contains="Borun").update(status=SlotStatus.SKIPPED)
    page = log_in(context, live_server, made.first)
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    page.keyboard.press("/")
    page.keyboard.type("840 metres")
    expect(page.locator("[data-find-count]")).to_have_text("1 of 1")
    assert stored() == []


def test_draft_goes_once_it_is_sent(context: BrowserContext, live_server: LiveServer, made: Made) -> None:
    page = log_in(context, live_server, made.first)
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    page.fill("textarea[name=comment]", "half a thought")
    page.locator("h1").evaluate("() => document.activeElement.blur()")
    press(page, "c")
    expect(page.locator("textarea[name=comment]")).to_have_value("")
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('lseval-draft')).length") == 0


def test_draft_survives_a_lost_connection(context: BrowserContext, live_server: LiveServer, made: Made) -> None:
    page = log_in(context, live_server, made.first)
    url = f"{live_server.url}/queues/{made.h1.pk}/label/"
    page.goto(url)
    page.fill("textarea[name=comment]", "written before the tunnel")
    context.set_offline(True)
    page.locator("button[value=C]").click()
    page.wait_for_timeout(300)
    context.set_offline(False)
    page.goto(url)
    expect(page.locator("textarea[name=comment]")).to_have_value("written before the tunnel")
    assert stored() == []


def test_keys_do_nothing_while_the_next_item_loads(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    with page.expect_navigation(wait_until="load"):
        page.evaluate(
            """() => { for (const key of ["c", "i", "u"])
            document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true})) }"""
        )
    assert stored() == ["C"]


def test_cited_pages_change_in_place(context: BrowserContext, live_server: LiveServer) -> None:
    study = make_study()
    answer = "1. Both ferries opened early [1][2]\n2. One more [2]\n\n[1] https://ferries.example/aldis\n"
    make_run(study, answer=answer + "[2] https://ferries.example/borun\n")
    audit = services.create_audit(study, Plan(link_trajectories=0, round_trajectories=0), 1, "A", None)
    queue, user = audit.queues.get(role="H1"), make_user("first", study)
    services.seat(queue, user)
    Slot.objects.filter(queue=queue, item__group__number=2).update(status=SlotStatus.SKIPPED)
    page = log_in(context, live_server, user)
    watched = Watched(page, live_server.url)
    page.goto(f"{live_server.url}/queues/{queue.pk}/label/")
    page.fill("textarea[name=comment]", "kept")
    page.get_by_role("link", name="ferries.example/borun").first.click()
    expect(page.locator("#snapshot")).to_contain_text("no text came back")
    expect(page.locator("textarea[name=comment]")).to_have_value("kept")
    assert page.url.endswith("/label/")
    assert watched.complaints == []


def test_error_without_its_type_puts_the_cursor_into_the_list(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    audit = services.create_audit(made.study, Plan(link_trajectories=0), 2, "B", None)
    queue = audit.queues.get(role="H1")
    services.seat(queue, made.first)
    queue.slots.filter(item__kind="group").update(status=SlotStatus.SKIPPED)
    page = log_in(context, live_server, made.first)
    page.goto(f"{live_server.url}/queues/{queue.pk}/label/")
    page.keyboard.press("e")
    expect(page.locator("#error-type")).to_be_focused()
    page.select_option("#error-type", "scope_error")
    page.keyboard.press("Escape")
    press(page, "e")
    assert LabelVersion.objects.get().error_type == "scope_error"


@pytest.fixture(params=[(1280, "light"), (390, "dark")], ids=str)
def sized(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    width, scheme = request.param
    made = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    yield made
    made.close()


def test_every_kind_of_item_passes_axe_and_fits_the_screen(sized: BrowserContext, live_server: LiveServer) -> None:
    study = make_study()
    add_link(make_run(study))
    audit = services.create_audit(study, Plan(), 1, "A", None)
    queue, user = audit.queues.get(role="H1"), make_user("first", study)
    services.seat(queue, user)
    page = log_in(sized, live_server, user)
    watched = Watched(page, live_server.url)
    page.goto(f"{live_server.url}/queues/{queue.pk}/label/")
    for key in ("c", "i", "n", "x", "d"):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        no_violations(page)
        press(page, key)
    assert stored() == ["C", "I", "non_error", "skipped", "does_not"]
    assert "All done" in page.content()
    no_violations(page)
    assert watched.complaints == []


def test_draw_is_shown_and_confirmed(sized: BrowserContext, live_server: LiveServer, made: Made) -> None:
    page = log_in(sized, live_server, made.lead)
    watched = Watched(page, live_server.url)
    page.goto(f"{live_server.url}/studies/s1/audit/draw/")
    page.get_by_role("button", name="Show the draw").click()
    expect(page.get_by_role("button", name="Confirm this draw")).to_be_visible()
    no_violations(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Confirm this draw").click()
    expect(page.get_by_text("Audit 1 is drawn")).to_be_visible()
    page.get_by_text("Frame and draw").first.click()
    no_violations(page)
    assert watched.complaints == []


def test_labeling_works_without_script(browser: Browser, live_server: LiveServer, made: Made) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = log_in(context, live_server, made.first)
    page.goto(f"{live_server.url}/studies/s1/audit/")
    page.get_by_role("link", name="Start labeling").click()
    page.locator("button[value=U]").click()
    page.locator("summary", has_text="Skip").click()
    page.fill("input[name=reason]", "no script here")
    page.get_by_role("button", name="Skip it").click()
    page.get_by_role("button", name="Undo last").click()
    assert list(LabelVersion.objects.order_by("pk").values_list("action", flat=True)) == ["label", "skip", "undo"]
    context.close()
