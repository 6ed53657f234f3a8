"""The agreement page and its downloads, as the people who may see them and those who may not."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.test import Client

from agreement.cli import main
from lseval.models import Role, Study
from tests.agreement.conftest import Audited
from tests.factories import make_study, make_user

ADDRESSES = ["agreement/", "agreement.json", "agreement/groups.csv", "agreement/scores.svg"]


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


def test_page_without_an_audit_says_what_to_do(db: None) -> None:
    page = client_of("r", make_study()).get("/studies/s1/agreement/")
    assert page.status_code == 200
    assert "No audit has been drawn yet" in page.content.decode()


def test_page_without_labels_says_so(audited: Audited) -> None:
    page = client_of("r", audited.study).get("/studies/s1/agreement/?labels=people").content.decode()
    assert "No labels yet" in page


@pytest.mark.parametrize("address", ADDRESSES)
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


def test_json_download_is_the_report(audited: Audited) -> None:
    found = client_of("r", audited.study).get("/studies/s1/agreement.json?labels=simulated").json()
    assert found["auto_h1"]["matrix"] == [[2, 1, 0], [1, 1, 0], [0, 0, 1]]


def test_csv_download_gives_the_same_numbers_on_the_command_line(
    audited: Audited, tmp_path, capsys: pytest.CaptureFixture[str]
) -> None:
    client = client_of("r", audited.study)
    path = tmp_path / "groups.csv"
    path.write_bytes(client.get("/studies/s1/agreement/groups.csv").content)
    assert main([str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["h1_h2"]["matrix"] == [[3, 0, 0], [1, 1, 0], [0, 0, 1]]


def test_csv_cells_are_no_formulas(audited: Audited) -> None:
    audited.study.tasks.filter(key="t1").update(key="=HYPERLINK(1)")
    body = client_of("r", audited.study).get("/studies/s1/agreement/groups.csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(body)))
    assert {row["task_id"] for row in rows} == {"'=HYPERLINK(1)", "t2", "t3"}


@pytest.mark.parametrize(("name", "starts"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_figure_comes_in_three_formats(audited: Audited, name: str, starts: bytes) -> None:
    found = client_of("r", audited.study).get(f"/studies/s1/agreement/scores.{name}")
    assert found.content.startswith(starts)


def test_figure_in_another_format_is_not_found(audited: Audited) -> None:
    assert client_of("r", audited.study).get("/studies/s1/agreement/scores.exe").status_code == 404


def test_page_costs_the_same_queries_whatever_the_number_of_labels(
    audited: Audited, django_assert_max_num_queries
) -> None:
    client = client_of("r", audited.study)
    with django_assert_max_num_queries(20):
        client.get("/studies/s1/agreement/?labels=simulated")
