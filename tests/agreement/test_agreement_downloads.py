"""What can be downloaded says what the pages say, and stays text."""

from __future__ import annotations

import csv
import io
import json

import pytest

from agreement.cli import main
from agreement.tables import numbers
from lseval.models import EvaluatedModel
from tests.agreement.conftest import Audited
from tests.agreement.test_agreement_pages import client_of

HOSTILE = "m & <b>1</b> | [x](javascript:1) $\\input{a}$ *z*"


def get(audited: Audited, address: str) -> str:
    return client_of("r", audited.study).get(f"/studies/s1/{address}").content.decode()


def test_json_download_is_the_whole_report(audited: Audited) -> None:
    found = json.loads(get(audited, "agreement.json?labels=simulated"))
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
    rows = {row["path"]: row for row in csv.DictReader(io.StringIO(get(audited, "agreement/numbers.csv")))}
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


def test_markdown_has_the_tables_and_names_stay_text(audited: Audited) -> None:
    EvaluatedModel.objects.update(name=HOSTILE)
    text = get(audited, "agreement/tables.md")
    assert "SIMULATED labels" in text
    assert "| C | 2 | 1 | 0 | 3 |" in text
    assert r"m \& \<b\>1\</b\> \| \[x\](javascript:1)" in text
    assert "Recall of Error: undefined, 0 / 0: people call no round an error." in text


def test_latex_has_the_tables_and_names_stay_text(audited: Audited) -> None:
    EvaluatedModel.objects.update(name=HOSTILE)
    text = get(audited, "agreement/tables.tex")
    assert r"C & 2 & 1 & 0 & 3 \\" in text
    assert r"\$\textbackslash{}input\{a\}\$" in text
    assert r"\input{a}" not in text


@pytest.mark.parametrize("figure", ["figures/scores", "figures/intervals", "figures/models", "leaderboard/as"])
@pytest.mark.parametrize(("name", "starts"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_figures_come_in_three_formats(audited: Audited, figure: str, name: str, starts: bytes) -> None:
    found = client_of("r", audited.study).get(f"/studies/s1/agreement/{figure}.{name}")
    assert found.content.startswith(starts)


@pytest.mark.parametrize(
    "address",
    ["figures/scores.exe", "figures/none.svg", "tables.doc", "leaderboard/as.exe", "leaderboard/none.svg"],
)
def test_a_file_of_another_kind_is_not_found(audited: Audited, address: str) -> None:
    assert client_of("r", audited.study).get(f"/studies/s1/agreement/{address}").status_code == 404


def test_figure_says_that_labels_are_simulated(audited: Audited) -> None:
    assert "H1 (simulated)" in get(audited, "agreement/figures/scores.svg?labels=simulated")
