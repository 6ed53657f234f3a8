"""The agreement page and its downloads, as the people who may see them and those who may not."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.test import Client

from agreement.presenting.computed import process_panel
from agreement.reporting import process_parts
from agreement.selectors import SIMULATED
from annotation.models import LabelerRole
from annotation.sampling import Plan
from annotation.services import create_audit
from annotation.simulation import simulate_labels
from lseval.models import Role, Study
from tests.agreement.conftest import Audited
from tests.factories import give_verdict, make_run, make_study, make_user

PAGES = [
    "agreement/",
    "agreement/people/",
    "agreement/process/",
    "agreement/study/",
    "agreement/leaderboard/",
    "agreement/items/?list=auto_h1&first=C&second=I",
    "agreement/responses/?score=as&x=50.0&y=50.0",
]
FILES = [
    "agreement/files/all.json",
    "agreement/groups.csv",
    "agreement/files/labels.csv",
    "agreement/files/people.md",
    "agreement/files/process.tex",
    "agreement/files/study.json",
    "agreement/files/leaderboard.csv",
    "agreement/figures/scores.svg",
    "agreement/figures/intervals.svg",
    "agreement/figures/models.svg",
    "agreement/leaderboard/as.svg",
]


def client_of(username: str, study: Study | None, role: str = Role.RESEARCHER) -> Client:
    made = Client()
    made.force_login(make_user(username, study, role))
    return made


def test_page_shows_matrices_marks_simulation_and_links_disagreements(audited: Audited) -> None:
    page = client_of("r", audited.study).get("/studies/s1/agreement/").content.decode()
    assert "Simulated labels" in page
    assert "Cohen&#x27;s kappa" in page
    run = audited.study.runs.get(task__key="t1")
    assert f"/studies/s1/runs/{run.pk}/#g2" in page


@pytest.mark.parametrize("address", ["", "people/", "process/", "study/"])
def test_page_without_an_audit_says_what_to_do(db: None, address: str) -> None:
    page = client_of("r", make_study()).get(f"/studies/s1/agreement/{address}")
    assert page.status_code == 200
    assert "No audit has been drawn yet" in page.content.decode()


def test_file_without_an_audit_is_a_clear_400(db: None) -> None:
    found = client_of("r", make_study()).get("/studies/s1/agreement/files/all.json")
    assert found.status_code == 400
    assert "draw_audit s1" in found.content.decode()


def test_leaderboard_needs_no_audit(db: None) -> None:
    study = make_study()
    client = client_of("r", study)
    assert "No runs yet" in client.get("/studies/s1/agreement/leaderboard/").content.decode()
    give_verdict(make_run(study), "C", "I")
    page = client.get("/studies/s1/agreement/leaderboard/?score=ap").content.decode()
    assert "50.00" in page  # one of the two groups is correct
    assert client.get("/studies/s1/agreement/leaderboard/?score=best").status_code == 400


@pytest.mark.parametrize("address", ["", "people/", "study/"])
def test_page_without_labels_says_so(audited: Audited, address: str) -> None:
    page = client_of("r", audited.study).get(f"/studies/s1/agreement/{address}?labels=people").content.decode()
    assert "No labels yet" in page


def test_process_page_without_labels_says_so(audited: Audited) -> None:
    page = client_of("r", audited.study).get("/studies/s1/agreement/process/").content.decode()
    assert "No link has been labeled" in page
    assert "No round has been labeled" in page


@pytest.mark.parametrize(
    ("address", "formula", "source"),
    [
        ("", "Bowker&#x27;s test of symmetry", "Gwet, K. L. (2008)."),
        ("people/", "Delete-one-task jackknife interval", "Tukey, J. W. (1958)."),
        ("process/", "Correspondence precision", "Wilson, E. B. (1927)."),
        ("study/", "PPI++, tuned", "Rogan, W. J. &amp; Gladen, B. (1978)."),
        ("leaderboard/", "p, Holm", "Holm, S. (1979)."),
    ],
)
def test_every_page_says_how_it_was_computed(audited: Audited, address: str, formula: str, source: str) -> None:
    page = client_of("r", audited.study).get(f"/studies/s1/agreement/{address}").content.decode()
    panel = page[page.index('id="how"') :]
    assert formula in panel
    assert source in panel
    for heading in ("Used", "Formulas", "References", "Download"):
        assert heading in panel


def test_process_panel_counts_what_was_drawn_and_left_out(audited: Audited) -> None:
    panel = process_panel(*process_parts(audited.audit, SIMULATED).values())
    assert [row["counts"] for row in panel["used"]] == [[0, 0, 0], [0, 0, 0]]
    assert panel["left_out"] == []


@pytest.mark.parametrize("address", PAGES)
def test_every_page_marks_simulated_labels_and_stays_under_agreement(audited: Audited, address: str) -> None:
    page = client_of("r", audited.study).get(f"/studies/s1/{address}").content.decode()
    assert ("Simulated labels" in page) == ("leaderboard" not in address)
    assert re.search(r'href="/studies/s1/agreement/" aria-current="page"', page)


def test_figure_is_in_the_page_and_its_dots_are_links(audited: Audited) -> None:
    page = client_of("r", audited.study).get("/studies/s1/agreement/").content.decode()
    figure = page[page.index('<svg role="group"') :]
    figure = figure[: figure.index("</figure>")]
    # Scores (AS): t1 100 and 50, t2 50 and 50, t3 0 and 50: three dots, and the same three of AP.
    assert figure.count("xlink:href=") == 6
    run = audited.study.runs.get(task__key="t1")
    assert f'xlink:href="/studies/s1/runs/{run.pk}/"' in figure
    assert "style=" not in figure


def test_planner_says_what_a_wanted_half_width_takes(audited: Audited) -> None:
    client = client_of("r", audited.study)
    wide, narrow = (
        client.get(f"/studies/s1/agreement/study/?share={share}").context["plans"] for share in ("0.45", "0.01")
    )
    # Six groups on three tasks agree on four: the interval is wide, so a half-width of .45 takes few tasks.
    assert wide[0]["what"] == "Observed agreement, automatic – H1"
    assert 0 <= wide[0]["more_tasks"] < narrow[0]["more_tasks"]
    assert wide[4]["reason"] == "nothing has been labeled yet"  # links


def test_planner_refuses_a_half_width_that_no_share_has(audited: Audited) -> None:
    page = client_of("r", audited.study).get("/studies/s1/agreement/study/?share=0.7").content.decode()
    assert "less than or equal to 0.49" in page


@pytest.mark.parametrize("address", PAGES + FILES)
def test_labelers_strangers_and_visitors_are_kept_out(audited: Audited, address: str) -> None:
    url = f"/studies/s1/{address}"
    assert client_of("lead", audited.study, Role.LEAD).get(url).status_code == 200
    assert client_of("a", audited.study, Role.ANNOTATOR).get(url).status_code == 403
    assert client_of("x", make_study("other")).get(url).status_code == 404
    assert Client().get(url).status_code == 302


@pytest.mark.parametrize("query", ["?audit=none", "?labels=robots"])
def test_a_choice_that_does_not_exist_is_a_clear_400(audited: Audited, query: str) -> None:
    found = client_of("r", audited.study).get(f"/studies/s1/agreement/{query}")
    assert found.status_code == 400
    assert "none" in found.content.decode() or "robots" in found.content.decode()


def test_leaderboard_keeps_to_the_audit_that_is_asked_for(audited: Audited) -> None:
    client = client_of("r", audited.study)
    address = "/studies/s1/agreement/leaderboard/"
    for query in ("?audit=none", "?labels=robots"):
        assert client.get(address + query).status_code == 400
    name = audited.audit.name
    page = client.get(f"{address}?audit={name}&labels=simulated&score=ap").content.decode()
    assert f"/studies/s1/agreement/people/?audit={name}&amp;labels=simulated" in page
    assert f"{address}?audit={name}&amp;labels=simulated&amp;score=as" in page


def test_leaderboard_without_an_audit_has_none_to_ask_for(db: None) -> None:
    client = client_of("r", make_study("empty"))
    address = "/studies/empty/agreement/leaderboard/"
    assert client.get(address).status_code == 200
    assert client.get(f"{address}?audit=A").status_code == 400


# The most queries that each page may ask: session with user, study with role, audits and labels, then its own.
QUERIES = {
    "agreement/": 8,
    "agreement/people/": 6,
    "agreement/process/": 7,
    "agreement/study/": 10,
    "agreement/leaderboard/": 6,
    "agreement/items/?list=differ": 7,
    "agreement/responses/?score=as&x=50.0&y=50.0": 7,
    "agreement/files/all.json": 16,
}


@pytest.mark.parametrize(("address", "most"), QUERIES.items())
def test_a_page_costs_the_same_queries_whatever_the_number_of_labels(
    audited: Audited, address: str, most: int, django_assert_num_queries
) -> None:
    client = client_of("r", audited.study)
    for extra in range(2):
        with django_assert_num_queries(most):
            assert client.get(f"/studies/s1/{address}").status_code == 200
        for number in range(6):
            give_verdict(make_run(audited.study, f"more{extra}-{number}"), "C", "U")
        plan = Plan(tasks=9, responses_per_task=1, h2_tasks=9, link_trajectories=0, round_trajectories=0)
        audited.audit.delete()
        audited = replace(audited, audit=create_audit(audited.study, plan, extra, "A", None))
        for role in (LabelerRole.H1, LabelerRole.H2):
            simulate_labels(audited.audit, role, lambda item: "CIU"[item.group_id % 3], extra, 0)
        address = address.replace("x=50.0&y=50.0", _some_dot(client)) if "responses" in address else address


def _some_dot(client: Client) -> str:
    """A dot of the figure that stands for several responses, as its address asks for it."""
    page = client.get("/studies/s1/agreement/").content.decode()
    return re.search(r"responses/\?[^\"]*score=as&amp;(x=[^&]+&amp;y=[^\"]+)\"", page)[1].replace("&amp;", "&")
