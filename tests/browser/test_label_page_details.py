"""What the labeling page's scripts promise, in a real browser; and that the page needs none of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation import adjudication, leases, services
from annotation.models import Flag, LabelVersion, Slot, SlotStatus
from annotation.sampling import Plan
from lseval.models import User
from tests.annotation.making import Made, add_link, give, make_audit, submit
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


def press(page: Page, name: str) -> None:
    """Press a key that leads to another page, and wait until that page's scripts are there."""
    with page.expect_navigation(wait_until="load"):
        key(page, name)


def key(page: Page, name: str) -> None:
    """Press a key once the page takes it: an item that was just opened takes none for a moment."""
    if page.locator("form[data-goes-on]").count():
        page.locator("html[data-ready]").wait_for(state="attached")
    page.keyboard.press(name)


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

    key(page, "m")
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
    key(page, "s")
    page.keyboard.type("cannot read it")
    press(page, "Enter")
    assert LabelVersion.objects.latest("pk").comment == "cannot read it"
    assert Slot.objects.filter(status=SlotStatus.SKIPPED).count() == 1

    press(page, "g")
    assert "Guidelines" in page.title()
    press(page, "g")
    assert page.locator("form.decision-bar").count() == 1


def test_last_decisions_are_opened_by_keyboard_and_changed(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    first = page.input_value("form.decision-bar input[name=slot]")
    press(page, "c")
    page.locator(".recent > summary").focus()
    page.keyboard.press("Enter")
    link = page.locator(".recent-list li a")
    expect(link).to_have_count(1)
    no_violations(page)
    page.keyboard.press("Tab")
    press(page, "Enter")
    assert page.input_value("form.decision-bar input[name=slot]") == first
    press(page, "u")
    assert stored() == ["C", "U"]


def test_find_in_the_cited_page_has_a_key(context: BrowserContext, live_server: LiveServer, made: Made) -> None:
    Slot.objects.filter(queue=made.h1, item__group__title__contains="Borun").update(status=SlotStatus.SKIPPED)
    page = log_in(context, live_server, made.first)
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    key(page, "/")
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
    with pytest.raises(Error, match="ERR_INTERNET_DISCONNECTED"):
        page.reload()
    context.set_offline(False)
    page.goto(url)
    expect(page.locator("textarea[name=comment]")).to_have_value("written before the tunnel")
    assert stored() == []


def drafts(page: Page) -> list[str]:
    return page.evaluate("Object.entries(localStorage).filter(([key]) => key.startsWith('lseval-draft')).flat()")


def test_drafts_are_forgotten_at_the_log_out_in_every_window(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    url = f"{live_server.url}/queues/{made.h1.pk}/label/"
    page.goto(url)
    page.fill("textarea[name=comment]", "between me and this item")
    page.reload()
    expect(page.locator("textarea[name=comment]")).to_have_value("between me and this item")
    other = context.new_page()
    other.goto(url)
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login/**")
    assert drafts(page) == []
    # The window that was left open keeps nothing either.
    other.fill("textarea[name=comment]", "typed after the log-out")
    assert drafts(page) == []


def test_draft_is_shown_to_nobody_else_who_uses_the_browser(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    url = f"{live_server.url}/queues/{made.h1.pk}/label/"
    page.goto(url)
    page.fill("textarea[name=comment]", "mine alone")
    slot = made.h1.slots.get(lease__user=made.first)
    # The session ends without a log-out, and the next person is given the very same item.
    context.clear_cookies()
    third = seated(made, "third")
    made.h1.slots.exclude(pk=slot.pk).update(status="skipped")
    leases.hold(slot.pk, third)
    theirs = log_in(context, live_server, third)
    theirs.goto(url)
    expect(theirs.locator("textarea[name=comment]")).to_have_value("")
    assert "mine alone" not in theirs.content()
    # It is there again for whoever wrote it.
    context.clear_cookies()
    leases.hold(slot.pk, made.first)
    back = log_in(context, live_server, made.first)
    back.goto(url)
    expect(back.locator("textarea[name=comment]")).to_have_value("mine alone")


def test_keys_do_nothing_while_the_next_item_loads(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    page.locator("html[data-ready]").wait_for(state="attached")
    with page.expect_navigation(wait_until="load"):
        page.evaluate(
            """() => { for (const key of ["c", "i", "u"])
            document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true})) }"""
        )
    assert stored() == ["C"]


def test_second_press_of_a_key_does_not_decide_the_next_item(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    # A page that has just come up, at whatever speed: its clock stands still until the test lets it go on.
    page.clock.install()
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    page.keyboard.press("c")
    page.locator("button.decide").first.click()
    page.keyboard.press("m")
    page.keyboard.type("written at once")
    page.locator("textarea[name=comment]").blur()
    assert stored() == []
    page.clock.run_for(1_000)
    press(page, "i")
    version = LabelVersion.objects.get()
    assert (version.label, version.comment) == ("I", "written at once")


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
    key(page, "e")
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


def test_flag_has_a_key_and_a_note_and_can_be_taken_back(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    watched = Watched(page, live_server.url)
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    page.fill("textarea[name=comment]", "half a thought")
    page.locator("textarea[name=comment]").blur()
    key(page, "f")
    page.keyboard.type("which ferry is it?")
    press(page, "Enter")
    expect(page.get_by_text("which ferry is it?")).to_be_visible()
    expect(page.locator("textarea[name=comment]")).to_have_value("half a thought")
    no_violations(page)
    flag = Flag.objects.get()
    assert (flag.note, flag.is_raised) == ("which ferry is it?", True)
    press(page, "f")
    assert list(Flag.objects.order_by("pk").values_list("is_raised", flat=True)) == [True, False]
    assert stored() == []
    assert watched.complaints == []


def test_decision_that_finds_no_connection_is_kept_told_and_sent_once_it_is_back(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    slot = page.input_value("form.decision-bar input[name=slot]")
    page.fill("textarea[name=comment]", "decided in the tunnel")
    page.locator("textarea[name=comment]").blur()
    context.set_offline(True)
    key(page, "u")
    told = page.locator("[data-unsent]")
    expect(told).to_contain_text("There is no connection")
    expect(told).to_contain_text("Unverifiable")
    # Nothing else can be decided meanwhile.
    page.keyboard.press("c")
    assert stored() == []
    with page.expect_navigation(wait_until="load"):
        context.set_offline(False)
    version = LabelVersion.objects.get()
    assert (version.label, version.comment, str(version.slot_id)) == ("U", "decided in the tunnel", slot)
    expect(page.locator("[data-unsent]")).to_be_hidden()
    assert page.evaluate("Object.keys(localStorage).filter((key) => key !== 'lseval-shortcuts').length") == 0


def test_decision_that_was_not_sent_outlives_the_window(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    url = f"{live_server.url}/queues/{made.h1.pk}/label/"
    page.goto(url)
    context.set_offline(True)
    key(page, "i")
    expect(page.locator("[data-unsent]")).to_be_visible()
    page.close()
    context.set_offline(False)
    again = context.new_page()
    again.goto(url)
    expect(again.locator("main")).to_contain_text("1 of ")  # sent by itself, and the next item came
    again.wait_for_load_state("load")
    assert stored() == ["I"]
    assert again.evaluate("Object.keys(localStorage).filter((key) => key.includes('unsent')).length") == 0


def test_decision_waits_for_its_person_where_somebody_else_logs_in(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    url = f"{live_server.url}/queues/{made.h1.pk}/label/"
    page.goto(url)
    third = seated(made, "third")
    submit(give(made.h1.slots.latest("position"), third), third, "U")
    context.clear_cookies()
    theirs = log_in(context, live_server, third)
    key(page, "c")
    expect(page.locator("[data-unsent]")).to_contain_text("no longer logged in")
    theirs.goto(url)
    assert stored() == ["U"]
    theirs.get_by_role("button", name="Log out").click()
    theirs.wait_for_url("**/login/**")
    log_in(context, live_server, made.first)
    with page.expect_navigation(wait_until="load"):
        page.get_by_role("button", name="Send now").click()
    kept = list(LabelVersion.objects.order_by("pk").values_list("label", "user"))
    assert kept == [("U", third.pk), ("C", made.first.pk)]


def test_decision_is_sent_where_its_window_is_closed_before_the_reply(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    url = f"{live_server.url}/queues/{made.h1.pk}/label/"
    page.goto(url)
    slot = page.input_value("form.decision-bar input[name=slot]")
    page.route("**/label/", lambda route: None if route.request.method == "POST" else route.continue_())
    key(page, "i")
    expect(page.locator("html[aria-busy=true]")).to_have_count(1)
    page.close()
    assert stored() == []
    again = context.new_page()
    again.goto(url)
    expect(again.locator("main")).to_contain_text("1 of ")
    version = LabelVersion.objects.get()
    assert (version.label, str(version.slot_id)) == ("I", slot)


def test_decision_that_was_not_sent_can_be_taken_again(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    context.set_offline(True)
    key(page, "i")
    page.get_by_role("button", name="Decide again").click()
    expect(page.locator("[data-unsent]")).to_be_hidden()
    context.set_offline(False)
    press(page, "c")
    assert stored() == ["C"]


def test_logged_out_meanwhile_keeps_the_decision_until_one_is_in_again(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    context.clear_cookies()
    key(page, "c")
    expect(page.locator("[data-unsent]")).to_be_visible()
    assert stored() == []
    log_in(context, live_server, made.first).close()
    with page.expect_navigation(wait_until="load"):
        page.get_by_role("button", name="Send now").click()
    assert stored() == ["C"]


def test_refusal_of_the_server_is_shown_as_its_page(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    """Two windows; the second one decides otherwise and is shown both."""
    first = log_in(context, live_server, made.first)
    url = f"{live_server.url}/queues/{made.h1.pk}/label/"
    first.goto(url)
    second = context.new_page()
    second.goto(url)
    press(first, "c")
    press(second, "i")
    expect(second.get_by_role("heading", name="Stored", exact=True)).to_be_visible()
    assert stored() == ["C"]
    press(second, "i")
    assert stored() == ["C", "I"]


def test_time_on_task_goes_on_over_a_reload_and_rests_while_hidden(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    page.clock.install()
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    page.mouse.move(10, 10)
    page.clock.run_for(10_000)
    page.reload()
    page.clock.run_for(5_000)
    page.evaluate("Object.defineProperty(document, 'visibilityState', {value: 'hidden', configurable: true})")
    page.clock.run_for(30_000)
    page.evaluate("Object.defineProperty(document, 'visibilityState', {value: 'visible', configurable: true})")
    # Nobody is at it: after a minute without a sign the clock rests.
    page.clock.run_for(600_000)
    press(page, "c")
    seconds = LabelVersion.objects.get().seconds_on_task
    # 10 s before the reload, 5 s after it, and at most the rest of the minute since the reload.
    assert seconds is not None
    assert 14 <= seconds <= 15 + 60


def test_heartbeat_tells_that_the_item_is_gone_or_the_person_logged_out(
    context: BrowserContext, live_server: LiveServer, made: Made
) -> None:
    page = log_in(context, live_server, made.first)
    page.clock.install()
    page.goto(f"{live_server.url}/queues/{made.h1.pk}/label/")
    told = page.locator("[data-heartbeat-told]")
    with page.expect_response("**/heartbeat/") as beat:
        page.clock.run_for(61_000)
    assert beat.value.status == 200
    expect(told).to_be_hidden()
    cookies = context.cookies()
    context.clear_cookies(name="sessionid")
    page.mouse.move(10, 10)
    page.clock.run_for(61_000)
    expect(told).to_contain_text("You have been logged out")
    context.add_cookies(cookies)
    leases.hold(made.h1.slots.get(lease__user=made.first).pk, seated(made, "third"))
    page.mouse.move(20, 20)
    page.clock.run_for(61_000)
    expect(told).to_contain_text("with somebody else of your role")


def seated(made: Made, name: str) -> User:
    person = make_user(name, made.study)
    services.seat(made.h1, person)
    return person


def test_adjudicator_decides_by_keyboard(sized: BrowserContext, live_server: LiveServer) -> None:
    made = make_audit(Plan(h2_tasks=3, link_trajectories=0, round_trajectories=0))
    for place, slot in enumerate(made.h1.slots.order_by("position")):
        submit(give(slot, made.first), made.first, "C", comment="one view")
        other = made.h2.slots.get(item=slot.item_id)
        submit(give(other, made.second), made.second, "I" if place < 3 else "C", comment="another view")
    adjudication.rebuild_queue(made.audit, made.lead)
    adjudication.seat_adjudicator(made.audit, made.lead, made.lead)
    page = log_in(sized, live_server, made.lead)
    watched = Watched(page, live_server.url)
    page.goto(f"{live_server.url}/studies/s1/audit/{made.audit.pk}/adjudication/")
    no_violations(page)
    page.get_by_role("link", name="Adjudicate", exact=True).click()
    page.wait_for_load_state("load")
    no_violations(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    key(page, "c")
    expect(page.locator("#reason")).to_be_focused()
    page.locator("#reason").blur()
    key(page, "s")
    page.keyboard.type("the page does not open")
    no_violations(page)
    press(page, "Enter")
    assert list(LabelVersion.objects.filter(action="skip").values_list("comment", flat=True)) == [
        "the page does not open"
    ]
    press(page, "Backspace")
    key(page, "s")
    page.keyboard.type("the page still does not open")
    press(page, "Enter")
    for _ in range(2):
        page.fill("#reason", "the page says 1971")
        page.locator("#reason").blur()
        press(page, "i")
    assert "All decided" in page.content()
    page.goto(f"{live_server.url}/studies/s1/audit/{made.audit.pk}/adjudication/")
    assert page.get_by_text("the page says 1971").count() == 2
    assert page.get_by_text("the page still does not open").count() == 1
    no_violations(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert watched.complaints == []
