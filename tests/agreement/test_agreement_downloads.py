"""What can be downloaded says what the pages say, and stays text."""

from __future__ import annotations

import csv
import html
import io
import json
import re

import pytest
from django.test import Client

from agreement.cli import main
from agreement.numbers import numbers
from lseval.models import EvaluatedModel, User
from tests.agreement.conftest import Audited
from tests.agreement.test_agreement_pages import client_of

HOSTILE = "m & <b>1</b> | [x](javascript:1) $\\input{a}$ *z*"


def get(audited: Audited, address: str) -> str:
    reader = User.objects.filter(username="r").first()
    client = Client() if reader else client_of("r", audited.study)
    if reader:
        client.force_login(reader)
    return client.get(f"/studies/s1/{address}").content.decode()


def test_json_download_is_the_whole_report(audited: Audited) -> None:
    found = json.loads(get(audited, "agreement/files/all.json?labels=simulated"))
    assert found["auto_h1"]["matrix"] == [[2, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert {"ceiling", "links", "rounds", "people", "whole_study", "leaderboard"} <= found.keys()


def test_csv_download_gives_the_same_numbers_on_the_command_line(
    audited: Audited, tmp_path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "groups.csv"
    path.write_text(get(audited, "agreement/groups.csv"))
    assert main([str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["h1_h2"]["matrix"] == [[3, 0, 0], [1, 1, 0], [0, 0, 1]]


def test_csv_cells_are_no_formulas(audited: Audited) -> None:
    audited.study.tasks.filter(key="t1").update(key="=HYPERLINK(1)")
    rows = list(csv.DictReader(io.StringIO(get(audited, "agreement/groups.csv"))))
    assert {row["task_id"] for row in rows} == {"'=HYPERLINK(1)", "t2", "t3"}


def test_every_estimate_is_a_line_with_its_interval(audited: Audited) -> None:
    rows = {row["path"]: row for row in csv.DictReader(io.StringIO(get(audited, "agreement/files/all.csv")))}
    kappa = rows["auto_h1/nominal/kappa"]
    assert float(kappa["point"]) == pytest.approx(10 / 22)
    assert float(kappa["low"]) <= 10 / 22 <= float(kappa["high"])
    assert kappa["resamples"] == "10000"
    pearson = rows["auto_h1/scores/as/pearson"]
    assert pearson["point"] == ""
    assert "constant" in pearson["undefined"]
    assert "leaderboard/as/models/m1/mean" in rows


def test_numbers_name_members_of_lists_by_what_they_are() -> None:
    report = {"pairs": [{"first": "a", "second": "b", "kappa": {"point": 1.0, "interval": [0.5, 1.0]}}]}
    [row] = numbers(report)
    assert (row["path"], row["point"], row["low"], row["high"]) == ("pairs/a – b/kappa", 1.0, 0.5, 1.0)


def leaves(value: object) -> list[float]:
    """Every number of a report, flags left out."""
    if isinstance(value, dict):
        return [number for entry in value.values() for number in leaves(entry)]
    if isinstance(value, list):
        return [number for entry in value for number in leaves(entry)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def test_every_number_of_the_json_is_in_the_csv(audited: Audited) -> None:
    report = json.loads(get(audited, "agreement/files/all.json"))
    rows = list(csv.DictReader(io.StringIO(get(audited, "agreement/files/all.csv"))))
    columns = ("point", "low", "high", "n", "k", "clusters", "level", "resamples", "degenerate", "seed")
    held = {float(row[column]) for row in rows for column in columns if row[column]}
    assert {float(number) for number in leaves(report)} <= held
    assert len({row["path"] for row in rows}) == len(rows)


def test_matrices_tests_and_analytic_intervals_are_lines_of_their_own(audited: Audited) -> None:
    rows = {row["path"]: row for row in csv.DictReader(io.StringIO(get(audited, "agreement/files/all.csv")))}
    # Automatic I, H1 C: the second group of t3.
    assert rows["auto_h1/matrix/I/C"]["point"] == "1"
    assert float(rows["auto_h1/symmetry/bowker/chi2"]["point"]) == 0
    analytic = rows["auto_h1/nominal/kappa/analytic/z_interval"]
    assert float(analytic["low"]) < 10 / 22 < float(analytic["high"])
    assert rows["rounds/matrix/error/skipped"]["point"] == "0"
    assert "0 / 0" in rows["rounds/recall/error"]["undefined"]
    assert "planner/plans/Link precision/plan" in rows


SECTION_TABLES = {
    "labels": ["Agreement of the labels", "Each label", "Tests of symmetry", "Analytic intervals", "human ceiling"],
    "people": ["Rater by rater", "Profiles", "Labels and time by kind of item", "Drift"],
    "process": ["Link precision", "Rounds: human in rows", "Recall and precision of the round labels"],
    "study": ["Whole study, AS", "Agreement over the study", "Labels estimated", "Mean human scores", "Plans"],
    "leaderboard": ["Leaderboard by AS", "Leaderboard by AP", "Leaderboard by Upper", "Paired differences of AP"],
}


@pytest.mark.parametrize(("section", "titles"), SECTION_TABLES.items())
def test_each_page_has_its_tables_and_the_whole_has_all(audited: Audited, section: str, titles: list[str]) -> None:
    for file_format, heading in (("md", "### "), ("tex", r"\caption{")):
        own, whole = (get(audited, f"agreement/files/{name}.{file_format}") for name in (section, "all"))
        for title in titles:
            assert any(title in line for line in own.splitlines() if line.startswith(heading))
            assert title in whole


@pytest.mark.parametrize("section", SECTION_TABLES)
def test_the_json_of_a_page_is_that_part_of_the_whole(audited: Audited, section: str) -> None:
    own, whole = (json.loads(get(audited, f"agreement/files/{name}.json")) for name in (section, "all"))
    assert own.items() <= {key: whole[key] for key in own}.items()
    assert len(own) > 1


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("files/all.json", "s1-a-simulated-agreement.json"),
        ("files/people.csv", "s1-a-simulated-people.csv"),
        ("files/leaderboard.tex", "s1-leaderboard.tex"),
        ("groups.csv", "s1-a-simulated-groups.csv"),
        ("figures/scores.svg", "s1-a-simulated-figure-scores.svg"),
        ("leaderboard/ap.pdf", "s1-leaderboard-ap.pdf"),
    ],
)
def test_a_file_has_a_name_that_says_what_it_is(audited: Audited, address: str, name: str) -> None:
    found = client_of("r", audited.study).get(f"/studies/s1/agreement/{address}")
    assert found["Content-Disposition"] == f'attachment; filename="{name}"'


def test_every_file_that_a_page_offers_is_there(audited: Audited) -> None:
    client = client_of("r", audited.study)
    for address in ("", "people/", "process/", "study/?share=0.1", "leaderboard/?score=ap"):
        page = client.get(f"/studies/s1/agreement/{address}").content.decode()
        block = page[page.index('id="files"') :]
        links = [html.unescape(link) for link in re.findall(r'<a class="button small" href="([^"]+)"', block)]
        assert len(links) >= 7
        # Figures are drawn from the same chart in every form; one form each will do here.
        for link in (link for link in links if ".pdf" not in link and ".png" not in link):
            assert client.get(link).status_code == 200, link


def test_plans_of_a_file_are_for_what_the_page_was_asked(audited: Audited) -> None:
    text = get(audited, "agreement/files/study.md?share=0.1&points=7")
    assert "Plans for intervals of ±0.1 (shares) and ±7 points (scores)" in text


def test_simulated_labels_are_marked_in_the_rows_and_on_the_command_line(
    audited: Audited, tmp_path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "groups.csv"
    path.write_text(get(audited, "agreement/groups.csv"))
    assert {row["label_source"] for row in csv.DictReader(path.open())} == {"simulated"}
    assert main([str(path)]) == 0
    assert "The labels are SIMULATED" in capsys.readouterr().out
    path.write_text(get(audited, "agreement/groups.csv?labels=people"))
    main([str(path)])
    assert "SIMULATED" not in capsys.readouterr().out


def test_markdown_has_the_tables_and_names_stay_text(audited: Audited) -> None:
    EvaluatedModel.objects.update(name=HOSTILE)
    text = get(audited, "agreement/files/all.md")
    assert "SIMULATED labels" in text
    assert "| C | 2 | 1 | 0 | 3 |" in text
    assert r"m \& \<b\>1\</b\> \| \[x\](javascript:1)" in text
    assert "Recall of Error: undefined, 0 / 0: people call no round an error." in text


def test_latex_has_the_tables_and_names_stay_text(audited: Audited) -> None:
    EvaluatedModel.objects.update(name=HOSTILE)
    text = get(audited, "agreement/files/all.tex")
    assert r"C & 2 & 1 & 0 & 3 \\" in text
    assert r"\$\textbackslash{}input\{a\}\$" in text
    assert r"\input{a}" not in text


@pytest.mark.parametrize(
    "figure",
    ["figures/scores", "figures/intervals", "figures/models", "figures/people", "figures/links", "leaderboard/as"],
)
@pytest.mark.parametrize(("name", "starts"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_figures_come_in_three_formats(audited: Audited, figure: str, name: str, starts: bytes) -> None:
    found = client_of("r", audited.study).get(f"/studies/s1/agreement/{figure}.{name}")
    assert found.content.startswith(starts)


@pytest.mark.parametrize(
    "address",
    [
        "figures/scores.exe",
        "figures/none.svg",
        "files/all.doc",
        "files/none.csv",
        "leaderboard/as.exe",
        "leaderboard/none.svg",
    ],
)
def test_a_file_of_another_kind_is_not_found(audited: Audited, address: str) -> None:
    assert client_of("r", audited.study).get(f"/studies/s1/agreement/{address}").status_code == 404


def test_figure_says_that_labels_are_simulated(audited: Audited) -> None:
    assert "H1 (simulated)" in get(audited, "agreement/figures/scores.svg?labels=simulated")
