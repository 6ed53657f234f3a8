"""Reports on groups and pairs, and the command that prints them."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agreement.cli import main
from agreement.stats.bootstrap import Part, Resampling, replicates
from agreement.stats.cells import ALL_STATISTICS
from agreement.stats.documents import Outside, Table, as_markdown, latex_text
from agreement.stats.formulas import FORMULAS, PAGES, cited_by
from agreement.stats.groups import GroupRow, RowError
from agreement.stats.render import COEFFICIENT_NAMES, number, p_text, render
from agreement.stats.report import groups_report, pairs_report
from lseval.errors import InputError
from tests.shared import shared_path

HEADER = "task_id,response_id,group_id,required,auto,h1,h2"
FEW = Resampling(200)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def no_constant(text: str) -> Any:
    raise AssertionError(f"{text} is not JSON")


def oracle_scores(name: str) -> dict[str, Any]:
    return json.loads((shared_path("acceptance/agreement") / name).read_text())


def test_command_reproduces_both_matrices_and_all_scores(capsys: pytest.CaptureFixture[str]) -> None:
    path = shared_path("acceptance/agreement/groups_946.csv")
    code, out, err = run(capsys, str(path), "--json")
    assert (code, err) == (0, "")
    report = json.loads(out, parse_constant=no_constant)
    assert report["auto_h1"]["matrix"] == [[475, 21, 2], [22, 373, 1], [1, 5, 46]]
    assert report["h1_h2"]["matrix"] == [[103, 5, 1], [6, 51, 0], [0, 0, 6]]
    a8 = json.loads(shared_path("acceptance/agreement/oracle_a8.json").read_text())
    for block, theirs, file in (
        ("auto_h1", "auto_H1", "pairs_200_oracle.json"),
        ("h1_h2", "H1_H2", "pairs_40_oracle.json"),
    ):
        said = report[block]
        for ours, name in (
            ("observed", "observed_agreement"),
            ("kappa", "cohen_kappa"),
            ("alpha", "krippendorff_alpha_nominal"),
            ("ac1", "gwet_ac1"),
        ):
            assert said[ours] == pytest.approx(a8[theirs][name]["value"], abs=1e-9)
            low, high = said["nominal"][ours]["interval"]
            assert low < said[ours] < high
        for key, expected in oracle_scores(file).items():
            if key != "_meta":
                score, statistic = key.split(".")
                found = said["scores"][score][statistic]
                assert found["point"] == pytest.approx(expected["point"], abs=1e-12)
                ends = zip(
                    found["interval"],
                    expected["ci95_percentile_task_cluster"],
                    expected["mc_se_of_endpoints"],
                    strict=True,
                )
                assert all(abs(ours - theirs) <= 4 * error + 1e-12 for ours, theirs, error in ends)
                assert (found["resamples"], found["degenerate"], found["level"]) == (10_000, 0, 0.95)
        assert said["scores"]["as"]["kendall"] == said["scores"]["as"]["kendall_b"]
    assert (report["auto_h1"]["score_pairs"]["responses"], report["auto_h1"]["score_pairs"]["tasks"]) == (200, 100)
    assert (report["h1_h2"]["score_pairs"]["responses"], report["h1_h2"]["score_pairs"]["tasks"]) == (40, 20)


def test_pairs_command_takes_any_two_columns(capsys: pytest.CaptureFixture[str]) -> None:
    path = shared_path("acceptance/agreement/pairs_200.csv")
    arguments = (
        "--x",
        "auto_as",
        "--y",
        "h1_as",
        "--cluster",
        "task_id",
        "--json",
        "--resamples",
        "20000",
        "--bca",
    )
    code, out, _ = run(capsys, str(path), *arguments)
    assert code == 0
    report, expected = json.loads(out), oracle_scores("pairs_200_oracle.json")
    for name in ("pearson", "spearman", "kendall_b", "mae", "bias"):
        assert report[name]["point"] == pytest.approx(expected[f"as.{name}"]["point"], abs=1e-12)
        assert report[name]["interval"] == pytest.approx(
            expected[f"as.{name}"]["ci95_percentile_task_cluster"], abs=1e-12
        )
        assert report[name]["bca"][0] < report[name]["point"] < report[name]["bca"][1]


def rows() -> list[GroupRow]:
    """Two tasks, three responses: one half labelled by H1, one complete, one without groups."""
    return [
        GroupRow("t1", "a", "1", 2, "C", "C", ""),
        GroupRow("t1", "a", "2", 2, "I", "", ""),
        GroupRow("t2", "b", "1", 3, "C", "I", "I"),
        GroupRow("t2", "b", "2", 3, "unjudged", "U", "C"),
        GroupRow("t2", "c", "", 3),
        GroupRow("t2", "d", "1", None, "C", "C", "C"),
        GroupRow("t3", "e", "1", 1, "C", "C", None),
    ]


def test_rows_and_responses_left_out_are_counted_with_the_reason() -> None:
    report = groups_report(rows(), FEW)
    auto_h1, h1_h2 = report["auto_h1"], report["h1_h2"]
    assert (report["groups"], report["responses"], report["tasks"]) == (6, 5, 3)
    assert auto_h1["n"] == 4
    assert {entry["reason"]: entry["count"] for entry in auto_h1["left_out"]} == {
        "without an automatic label": 1,
        "without an H1 label": 1,
        "of these, the automatic verdict is unjudged": 1,
    }
    assert auto_h1["score_pairs"]["responses"] == 1
    assert {entry["reason"]: entry["count"] for entry in auto_h1["score_pairs"]["left_out"]} == {
        "it supplied no answer group, so there is nothing to label": 1,
        "some of its groups lack an automatic label": 1,
        "some of its groups lack an H1 label": 1,
        "its required count is unknown": 1,
    }
    assert {entry["reason"]: entry["count"] for entry in h1_h2["score_pairs"]["left_out"]} == {
        "it supplied no answer group, so there is nothing to label": 1,
        "some of its groups lack an H1 label": 1,
        "none of its groups has an H2 label": 1,
        "its required count is unknown": 1,
    }
    # b by H1 is I, U and by H2 I, C, with k = 3: AS 0 against 100/3, Upper 100/3 against 100/3.
    assert h1_h2["scores"]["as"]["bias"]["point"] == pytest.approx(-100 / 3)
    assert h1_h2["scores"]["upper"]["mae"]["point"] == 0


def numbers_in(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for entry in value.values() for number in numbers_in(entry)]
    if isinstance(value, list):
        return [number for entry in value for number in numbers_in(entry)]
    return [value] if isinstance(value, float) else []


@pytest.mark.parametrize("count", range(8))
def test_no_report_however_small_holds_a_nan(count: int) -> None:
    report = groups_report(rows()[:count], FEW, bca=True)
    assert all(math.isfinite(value) for value in numbers_in(report))
    json.dumps(report, allow_nan=False)
    for form in ("text", "markdown", "latex"):
        assert not re.search(r"\bnan\b", render(report, form).lower())


def test_empty_report_is_undefined_everywhere() -> None:
    report = groups_report([], FEW)
    assert report["auto_h1"]["kappa"] == {"undefined": "no item has a label from both"}
    assert report["auto_h1"]["scores"]["ap"]["mae"]["point"] == {"undefined": "there is no pair of scores"}
    assert pairs_report([], [], [], FEW)["pearson"]["interval"] == {"undefined": "there is no pair of scores"}


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (GroupRow("t1", "a", "1", 2, "C", "C", ""), "appears twice"),
        (GroupRow("t1", "a", "9", 3, "C", "C", ""), "two required counts, 2 and 3"),
        (GroupRow("t1", "z", "9", 0, "C", "C", ""), "required count"),
        (GroupRow("t1", "z", "9", 2, "X", "C", ""), "automatic label 'X'"),
        (GroupRow("t1", "z", "9", 2, "C", "unjudged", ""), "H1 label 'unjudged'"),
        (GroupRow("t1", "z", "", 2, "C", "", ""), "no group_id"),
    ],
)
def test_row_that_cannot_be_used_is_named(bad: GroupRow, problem: str) -> None:
    with pytest.raises(RowError, match=problem) as caught:
        groups_report([*rows(), bad], FEW)
    assert caught.value.row == len(rows())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,b\n1,2\n", "not a groups file"),
        ("task_id,response_id,group_id,required,auto,h1\n", "no column 'h2'"),
        (f"{HEADER},h2\n", "'h2' more than once"),
        (f"{HEADER}\nt,r,g,2,C,C,\nt,r,h,2,Q,C,\n", "Line 3: the automatic label 'Q'"),
        (f"{HEADER}\nt,r,g,2,C,C,\n\nt,r,g,2,C,C,\n", "Line 4: the answer group 'g'"),
        (f"{HEADER}\nt,r,g,two,C,C,\n", "Line 2: required is 'two'"),
        (f"{HEADER}\n,r,g,2,C,C,\n", "Line 2: task_id is empty"),
        (f"{HEADER}\nt,r,g,2,C\n", "Line 2: 5 cells under 7 columns"),
        (f"{HEADER}\nt,r,{'g' * 140_000},2,C,C,\n", "Line 2 or after: cannot be read as CSV (field larger"),
        (f'{HEADER}\nt,r,"g,2,C,C,\n', "cannot be read as CSV"),
    ],
)
def test_unusable_file_gives_exit_code_2_and_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, message: str
) -> None:
    path = tmp_path / "file.csv"
    path.write_text(content, encoding="utf-8")
    code, out, err = run(capsys, str(path))
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--x", "a", "--y", "b"), "give --cluster too"),
        (("--x", "a", "--y", "z", "--cluster", "t"), "no column 'z'; its columns are 't', 'a', 'b'"),
        (("--x", "a", "--y", "b", "--cluster", "t"), "Line 3: b is 'two'"),
        (("--x", "a", "--y", "a", "--cluster", "b", "--level", "95"), "confidence level"),
        (("--x", "a", "--y", "a", "--rows", "--resamples", "0"), "At least one resample"),
        (("--x", "a", "--y", "a", "--rows", "--resamples", "10000000000"), "At most 200,000 resamples"),
    ],
)
def test_unusable_pairs_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "file.csv"
    path.write_text("t,a,b\n1,1,1\n1,2,two\n", encoding="utf-8")
    code, out, err = run(capsys, str(path), *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_missing_file_and_wrong_encoding_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "No such file" in run(capsys, str(tmp_path / "none.csv"))[2]
    path = tmp_path / "latin.csv"
    path.write_bytes(f"{HEADER}\nt,r,é,2,C,C,\n".encode("latin-1"))
    assert "not UTF-8" in run(capsys, str(path))[2]


def test_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(b"\xef\xbb\xbf" + f"{HEADER}\nt,r,g,2,C,C,I\nu,s,g,2,I,I,I\n".replace("\n", "\r\n").encode())
    code, out, _ = run(capsys, str(path), "--json")
    assert code == 0
    assert json.loads(out)["auto_h1"]["observed"] == 1.0


def test_rows_option_needs_no_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file.csv"
    path.write_text("a,b\n1/3,0\n0.3333333333333333,1\n1,2\n", encoding="utf-8")
    code, out, _ = run(capsys, str(path), "--x", "a", "--y", "b", "--rows", "--json")
    report = json.loads(out)
    assert code == 0
    assert report["pearson"]["method"] == "percentile, row bootstrap"
    # The first two a tie: 2 concordant pairs, 2 untied in a, 3 in b.
    assert report["kendall_b"]["point"] == pytest.approx(2 / math.sqrt(6))


def test_markdown_is_a_table_of_equal_rows() -> None:
    text = render(groups_report(rows(), FEW), "markdown")
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == 8
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1
    assert "undefined" in text


def test_latex_escapes_and_closes_what_it_opens() -> None:
    text = render(groups_report(rows(), FEW), "latex")
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 8
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 8
    assert latex_text("50% of A_1 & {B} \\ ~") == r"50\% of A\_1 \& \{B\} \textbackslash{} \textasciitilde{}"


def test_command_runs_without_django() -> None:
    program = (
        "import sys, agreement.cli; print([m for m in ('django', 'celery', 'rest_framework') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_printed_statistic_has_its_formula() -> None:
    assert {*ALL_STATISTICS, *COEFFICIENT_NAMES, *("bowker", "stuart_maxwell", "bhapkar")} <= set(FORMULAS)


def test_every_formula_is_on_a_page_and_its_sources_are_known_in_full() -> None:
    assert {name for names in PAGES.values() for name in names} == set(FORMULAS) - {"bca"}
    for page in PAGES:
        assert all(re.search(r"\(\d{4}\)\. .+\.$", source) for source in cited_by(page))


def test_more_draws_than_can_be_waited_for_are_refused() -> None:
    code = np.zeros(100_000, dtype=np.int64)
    part = Part("p", code, np.arange(100_000), 1, lambda counts: {"n": counts[0]})
    with pytest.raises(InputError, match="fewer resamples"):
        replicates([part], 100_000, Resampling(200_000))


@pytest.mark.parametrize(
    ("p", "text"), [(0.0312, "0.0312"), (0.00004, "4.0e-05"), (1.0, "1.0000"), ({"undefined": "x"}, "undefined")]
)
def test_tiny_p_values_are_in_scientific_notation(p: object, text: str) -> None:
    assert p_text(p) == text


def test_names_from_outside_stay_text_in_markdown() -> None:
    line = as_markdown(Table("t", ["a"], [[Outside("<b>|[x](y)\n*z*")], ["[0, 1]"]])).splitlines()[4:]
    assert line == [r"| \<b\>\|\[x\](y) \*z\* |", "| [0, 1] |"]


def test_minus_zero_is_printed_as_zero() -> None:
    assert (number(-0.00001), number(-0.0), number(-0.5)) == ("0.0000", "0.0000", "-0.5000")


def test_table_cells_of_ap_errors_are_percentage_points() -> None:
    # AP .5 against 1, 1 against 1: MAE 25 percentage points, while the JSON says .25.
    built = [
        GroupRow("t", "a", "1", 2, "C", "C", ""),
        GroupRow("t", "a", "2", 2, "I", "C", ""),
        GroupRow("u", "b", "1", 2, "C", "C", ""),
    ]
    report = groups_report(built, FEW)
    assert report["auto_h1"]["scores"]["ap"]["mae"]["point"] == 0.25
    line = next(line for line in render(report, "markdown").splitlines() if line.startswith("| MAE"))
    assert line.split(" | ")[2].startswith("25.0000 [")
