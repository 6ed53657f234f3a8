"""The agreement pages in a real browser: the figure's dots open, nothing is blocked, and axe finds nothing."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext

from annotation.models import LabelerRole
from annotation.sampling import Plan
from annotation.services import create_audit
from annotation.simulation import simulate_labels
from lseval.models import Role
from tests.browser.conftest import Watched
from tests.factories import give_verdict, make_run, make_study, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = ("", "people/", "process/", "study/", "leaderboard/", "items/?list=differ")
LABELS = {"t1": "CC", "t2": "CI", "t3": "UI"}


@pytest.fixture
def home(live_server) -> str:
    """The agreement page of a study of three tasks and two models, labeled by simulated H1 and H2."""
    study = make_study()
    for task, labels in LABELS.items():
        for model in ("m1", "m2"):
            give_verdict(make_run(study, task, model), *labels)
    plan = Plan(tasks=3, responses_per_task=2, h2_tasks=3, link_trajectories=0, round_trajectories=0)
    audit = create_audit(study, plan, 1, "A", None)
    for role in (LabelerRole.H1, LabelerRole.H2):
        simulate_labels(audit, role, lambda item: "CI"[item.group.number - 1], 1, 0)
    make_user("reader", study, Role.RESEARCHER)
    return f"{live_server.url}/studies/{study.slug}/agreement/"


def signed_in(context: BrowserContext, home: str) -> Watched:
    page = context.new_page()
    watched = Watched(page, home.split("/studies/")[0])
    page.goto(home)
    page.fill("input[name=username]", "reader")
    page.fill("input[name=password]", "pw")
    page.keyboard.press("Enter")
    page.wait_for_url(home)
    return watched


def test_a_dot_opens_its_responses_by_mouse_and_by_keyboard(context: BrowserContext, home: str) -> None:
    watched = signed_in(context, home)
    page = watched.page
    # AS automatic 100, 50, 0 on the three tasks, H1 50 throughout, two models each: three dots of two responses.
    dots = page.locator("figure svg a")
    assert dots.count() == 6
    dots.first.click()
    page.wait_for_url("**/responses/**")
    assert page.locator("tbody tr").count() == 2
    page.go_back()
    dots.nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/responses/**")
    page.locator("tbody a").first.click()
    page.wait_for_url("**/runs/**")
    assert watched.complaints == []


def test_a_cell_opens_its_groups(context: BrowserContext, home: str) -> None:
    page = signed_in(context, home).page
    cell = page.locator("table.matrix a").first
    count = int(cell.locator(".num").first.inner_text())
    cell.click()
    page.wait_for_url("**/items/**")
    assert page.locator("tbody tr").count() == count


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_pass_axe_fit_their_window_and_break_no_policy(
    context: BrowserContext, home: str, width: int, scheme: str
) -> None:
    watched = signed_in(context, home)
    page = watched.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    for address in PAGES:
        page.goto(home + address)
        page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
        found = Axe().run(page).response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), address
    assert watched.complaints == []
