"""The trajectory page in a real browser: keyboard only, arcs and shared words, axe, and nothing that leaves."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page

from lseval.domain.trajectory import ToolCallRecord, TurnRecord
from lseval.models import Role
from tests.browser.conftest import Watched
from tests.factories import PAGE_TEXT, give_verdict, make_run, make_study, make_user
from tests.site.building import give_judgements, reading_turns

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAID = "document.querySelector('[data-said]').textContent"
LIT = (
    "[...document.querySelectorAll('.arcs path[data-on]')].map(arc => `${arc.dataset.round}-${arc.dataset.group}`)"
)
SHARED = "[...(CSS.highlights.get('shared') ?? [])].map(range => range.toString().toLowerCase())"


@pytest.fixture
def address(live_server) -> str:
    """A run of eight rounds: 1 and 2 set aside, 4 and 6 nodes linked to groups 2 and 1, 5 split, 7 long."""
    study = make_study()
    turns = list(reading_turns(8))
    long = ToolCallRecord("read_page", "read_page", {"url": "u"}, f"{PAGE_TEXT} " * 40 + "THE END")
    turns[6] = TurnRecord("I read on.", (long,))
    run = make_run(study, turns=tuple(turns))
    give_verdict(run, "I", "I")
    run.rounds.filter(number__in=(1, 2)).update(skip_reason="planning_only")
    for number, verdicts, groups in (
        (3, ("non_error", "non_error"), []),
        (4, ("error", "error"), [2]),
        (5, ("error", "non_error"), [1]),
        (6, ("error", "error"), [1]),
        (7, ("non_error", "non_error"), []),
        (8, ("non_error", "non_error"), []),
    ):
        give_judgements(run, number, *verdicts, error_type="scope_error", groups=groups)
    make_user("reader", study, Role.RESEARCHER)
    return f"{live_server.url}/studies/{study.slug}/runs/{run.pk}/"


def opened(context: BrowserContext, address: str) -> Watched:
    page = context.new_page()
    watched = Watched(page, address.split("/studies/")[0])
    page.goto(address)
    page.fill("input[name=username]", "reader")
    page.fill("input[name=password]", "pw")
    page.keyboard.press("Enter")
    page.wait_for_url(address)
    page.locator(".steps").wait_for()
    return watched


def press(page: Page, keys: str) -> str:
    """What the address ends with after the keys."""
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    return page.evaluate("location.hash")


def test_everything_can_be_reached_by_keyboard(context: BrowserContext, address: str) -> None:
    watched = opened(context, address)
    page = watched.page
    entries = page.evaluate("history.length")
    assert press(page, "j") == "#r1"
    assert page.locator("#r1").is_visible(), "the folded stretch has opened"
    assert page.evaluate("document.activeElement.textContent") == "1"
    assert press(page, "jj") == "#r3"
    assert press(page, "k") == "#r2"
    assert press(page, "n") == "#r4"
    assert press(page, "n") == "#r5"
    assert press(page, "nn") == "#r6"
    assert page.evaluate(SAID) == "That was the last one."
    assert page.evaluate("history.length") == entries, "steps do not pile up in the history"
    page.keyboard.press("?")
    assert page.locator("dialog[open]").inner_text().startswith("Keyboard shortcuts")
    page.keyboard.press("Escape")
    page.keyboard.press("o")
    page.wait_for_url("**/rounds/6/")
    page.keyboard.press("j")
    page.wait_for_url("**/rounds/7/")
    page.keyboard.press("u")
    page.wait_for_url("**#r7")
    assert watched.complaints == []


def test_a_round_lights_its_arcs_and_the_words_it_shares(context: BrowserContext, address: str) -> None:
    page = opened(context, address).page
    press(page, "nnn")
    assert page.evaluate(LIT) == ["6-1"]
    # Group 1 is "Lake Aldis ferry: opened in 1962"; "opened" is the question's. Each is marked on both sides.
    assert set(page.evaluate(SHARED)) == {"lake", "aldis", "ferry", "1962"}
    inside = (
        "[...CSS.highlights.get('shared')]"
        ".map(range => Boolean(range.startContainer.parentElement.closest('.group')))"
    )
    assert set(page.evaluate(inside)) == {True, False}
    press(page, "j")
    assert page.evaluate(LIT) == []


def test_a_round_chosen_by_its_mark_shows_its_observation(context: BrowserContext, address: str) -> None:
    page = opened(context, address).page
    page.locator(".round-strip a", has_text="6").click()
    page.locator("#r6 details.call .observation").wait_for(state="visible")
    assert page.evaluate(LIT) == ["6-1"]
    page.locator(".round-strip a", has_text="1").first.click()
    page.locator("#r1").wait_for(state="visible")
    bare = page.context.new_page()
    bare.goto(f"{address}#r4")
    bare.locator("#r4 details.call .observation").wait_for(state="visible")


def test_a_group_shows_the_rounds_that_led_to_it(context: BrowserContext, address: str) -> None:
    page = opened(context, address).page
    press(page, "g")
    assert page.evaluate(SAID) == "Group 1: led to by round 5, 6."
    assert page.evaluate(LIT) == ["6-1"]
    assert page.evaluate("[...document.querySelectorAll('[data-led]')].map(one => one.id)") == ["r5", "r6"]
    assert press(page, "n") == "#r5", "of the flagged rounds only those of the group"
    press(page, "g")
    assert page.evaluate(SAID) == "Group 2: led to by round 4."
    press(page, "g")
    assert page.evaluate(SAID) == "No group is selected."


def test_the_rest_of_an_observation_comes_when_asked_for(context: BrowserContext, address: str) -> None:
    watched = opened(context, address)
    page = watched.page
    page.locator("#r7 details.call summary").click()
    assert "THE END" not in page.locator("#r7").inner_text()
    page.locator("#r7 .call-note a").click()
    page.get_by_text("THE END").wait_for()
    assert page.locator("#r7 .call-note").count() == 0
    assert watched.complaints == []


def test_permalinks_work_without_scripts(context: BrowserContext, address: str) -> None:
    page = opened(context, address).page
    plain = page.context.browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    try:
        bare = plain.new_page()
        bare.goto(f"{address}#r6")
        assert bare.locator("#r6").is_visible()
        assert bare.locator(".steps").is_hidden()
        bare.locator("#r6 .own").click()
        bare.wait_for_url("**/rounds/6/")
        assert bare.locator("mark").count() > 4
        bare.goto(f"{address}rounds/7/")
        assert "THE END" in bare.locator("pre.observation").inner_text()
    finally:
        plain.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_pass_axe_fit_their_window_and_break_no_policy(
    context: BrowserContext, address: str, width: int, scheme: str
) -> None:
    watched = opened(context, address)
    page = watched.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    process = f"{address.split('/runs/')[0]}/process/"
    for where, keys in ((address, ""), (f"{address}?page=1#r6", "ng"), (f"{address}rounds/6/", ""), (process, "")):
        page.goto(where)
        press(page, keys)
        page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
        found = Axe().run(page).response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), where
    assert watched.complaints == []
