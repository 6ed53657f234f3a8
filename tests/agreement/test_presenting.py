"""Numbers in the shapes that the templates take."""

from __future__ import annotations

import json

import pytest
from django.template.loader import render_to_string

from agreement.charts import (
    DrawnInterval,
    ScorePair,
    ScorePanel,
    inline_svg,
    interval_chart,
    render,
    score_panels,
    score_scatter,
)
from agreement.csvfile import group_rows, read_csv
from agreement.presenting.computed import leaderboard_panel
from agreement.presenting.intervals import (
    Axis,
    axis_around_zero,
    axis_from_zero,
    axis_within,
    bounds_text,
    coefficient_axis,
    interval_view,
    number,
)
from agreement.presenting.labels import heatmap, p_text
from agreement.presenting.leaderboard import difference_square
from agreement.presenting.main import main_page
from agreement.reporting import ceiling_report
from agreement.stats.bootstrap import Resampling
from agreement.stats.groups import GroupRow, group_table
from agreement.stats.leaderboard import leaderboard
from agreement.stats.report import groups_report
from tests.shared import shared_path


def estimate(point: float, low: float, high: float) -> dict:
    return {"point": point, "interval": (low, high)}


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "0.500"), (-0.5, "\N{MINUS SIGN}0.500"), (-0.0001, "0.000"), (12.34567, "12.346")]
)
def test_numbers_have_a_real_minus_and_no_minus_zero(value: float, text: str) -> None:
    assert number(value) == text


def test_an_interval_lies_where_its_axis_says() -> None:
    view = interval_view(estimate(0.9, 0.8, 1.0), Axis(0.6, 1))
    # 0.9 is three quarters of the way from 0.6 to 1, 0.8 half of it.
    assert (view["low_at"], view["point_at"], view["high_at"]) == (50.0, 75.0, 100.0)


def test_a_value_off_the_axis_is_held_on_it() -> None:
    assert interval_view(estimate(-1, -2, 3), Axis(0, 1))["low_at"] == 0


def test_what_lies_off_the_axis_is_marked_on_its_side_and_keeps_its_number() -> None:
    view = interval_view(estimate(105.2, 80, 130) | {"remark": "above 100"}, Axis(0, 100, 1))
    assert (view["point"], view["point_at"], view["point_off"]) == ("105.2", 100.0, "high")
    assert (view["low_off"], view["high_off"], view["remark"]) == ("", "high", "above 100")
    drawn = render_to_string("components/_interval.html", {"interval": view})
    assert drawn.count("interval-off") == 1
    assert "interval-point" not in drawn
    within = render_to_string(
        "components/_interval.html", {"interval": interval_view(estimate(50, 0, 100), Axis(0, 100))}
    )
    assert "interval-off" not in within
    assert "interval-point" in within


@pytest.mark.parametrize(("point", "low", "high", "arrows"), [(50, 40, 60, 0), (105, 90, 120, 1), (50, -5, 130, 2)])
def test_a_figure_draws_an_arrow_where_an_interval_leaves_its_axis(point, low, high, arrows) -> None:
    chart = interval_chart([DrawnInterval("m", "naive", point, low, high)], "AS", 0, 100)
    assert json.dumps(chart.to_dict()).count("triangle-") == arrows
    assert render(chart, "svg").startswith(b"<svg")


def test_every_page_says_how_it_was_computed_with_sources_in_full() -> None:
    board = leaderboard({"a": {"t": 1.0, "u": 2.0}, "b": {"t": None, "u": 3.0}}, Resampling(50))
    panel = leaderboard_panel(board)
    assert panel["left_out"] == [
        {"of": "b", "unit": "tasks", "reason": "no run, an unjudged group, or no required count", "count": 1}
    ]
    assert {row["term"]: row["counts"] for row in panel["used"]} == {"a": [2, 2], "b": [1, 2]}
    assert any("50 resamples of whole tasks (seed 12345)" in note for note in panel["notes"])
    assert any(source.startswith("Holm, S. (1979).") for source in panel["references"])
    assert {"p, Holm", "Rank interval"} <= {formula.name for formula in panel["formulas"]}


def test_undefined_points_and_intervals_keep_their_reasons() -> None:
    assert interval_view({"point": {"undefined": "no item"}, "interval": {"undefined": "x"}}) == {
        "undefined_reason": "no item"
    }
    view = interval_view({"point": 1.0, "interval": {"undefined": "one task"}})
    assert view["no_interval"] == "one task"
    assert "low" not in view
    assert bounds_text({"undefined": "one task"}) == "–"


def test_axes_hold_every_end() -> None:
    assert coefficient_axis([estimate(0.9, 0.73, 0.95)]).low == pytest.approx(0.6)
    assert coefficient_axis([estimate(0.99, 0.98, 1.0)]).low == pytest.approx(0.8)
    assert coefficient_axis([estimate(0.1, -0.2, 0.4)]).low == -1
    assert coefficient_axis([{"point": {"undefined": ""}, "interval": {"undefined": ""}}]).low == 0
    assert axis_from_zero([estimate(4, 3, 6.2)]).high == 10
    assert axis_from_zero([estimate(1, 0.5, 2.0)]).high == 2
    around = axis_around_zero([estimate(-1, -4.1, 0.5)])
    assert (around.low, around.high, around.reference) == (-5, 5, 0)
    assert axis_within([estimate(0.42, 0.31, 0.55)], 0, 100, 1, 100).text == "30 to 60"


def test_heatmap_darkens_with_the_count_and_links_only_what_holds_something() -> None:
    view = heatmap([[9, 0], [3, 6]], ["C", "I"], "T", "A", "B", address=lambda *cell: "/".join(cell))
    cells = [cell for row in view["rows"] for cell in row["cells"]]
    assert [cell["heat"] for cell in cells] == [9, 0, 3, 6]
    assert [cell["url"] for cell in cells] == ["C/C", "", "I/C", "I/I"]
    assert [cell["share"] for cell in cells] == ["50.0%", "0.0%", "16.7%", "33.3%"]
    assert (view["column_totals"], view["total"]) == ([12, 6], 18)


def test_an_empty_matrix_is_no_error() -> None:
    assert heatmap([[0, 0], [0, 0]], ["C", "I"], "T", "A", "B")["rows"][0]["cells"][0]["share"] == ""


@pytest.mark.parametrize(
    ("p", "text"), [(0.0004, "p < 0.001"), (0.03, "p = 0.030"), ({"undefined": ""}, "p undefined")]
)
def test_p_values_read_as_in_a_paper(p: object, text: str) -> None:
    assert p_text(p) == text


def test_differences_are_antisymmetric_and_marked_by_the_corrected_p() -> None:
    board = {
        "models": [{"model": "a"}, {"model": "b"}],
        "pairs": [{"first": "b", "second": "a", "difference": {"point": -4.0}, "p_holm": 0.01}],
    }
    first, second = difference_square(board, 1)
    assert first["cells"][0] is None
    assert (first["cells"][1]["text"], first["cells"][1]["told"]) == ("+4.0", True)
    assert second["cells"][0]["text"] == "\N{MINUS SIGN}4.0"


def test_figure_gives_each_dot_its_area_and_its_own_address() -> None:
    panel = ScorePanel("as", "Answer Score", [ScorePair(0, 0, ("1", "2")), ScorePair(50, 100, ("3",))], 100)
    chart = score_scatter([panel], "x", "y", lambda _, pair: f"http://h/r?n={len(pair.responses)}&a=1")
    svg = inline_svg(chart, 'A "figure"', "http://h")
    assert 'aria-label="A &quot;figure&quot;"' in svg
    assert svg.count('<a xlink:href="/r?n=1&amp;a=1">') == 1
    assert svg.count('<a xlink:href="/r?n=2&amp;a=1">') == 1
    assert "http://h/" not in svg
    assert "style=" not in svg
    assert "<script" not in svg


def test_dots_hold_all_responses_once() -> None:
    rows = [GroupRow(f"t{n}", f"r{n}", "g1", 1, "C", "C" if n else "I") for n in range(4)]
    for panel in score_panels(group_table(rows)):
        assert {(pair.x, pair.y): pair.responses for pair in panel.pairs} == {
            (panel.maximum, panel.maximum): ("r1", "r2", "r3"),
            (panel.maximum, 0): ("r0",),
        }


def test_page_shows_the_papers_table_a8() -> None:
    oracle = json.loads(shared_path("acceptance/agreement/oracle_a8.json").read_text())
    rows = group_rows(read_csv(shared_path("acceptance/agreement/groups_946.csv")))
    how = Resampling(200)
    report = {**groups_report(rows, how), "ceiling": ceiling_report(rows, how)}
    page = main_page(report, lambda *cell: "?" + ",".join(cell))
    shown = [[[cell["count"] for cell in row["cells"]] for row in matrix["rows"]] for matrix in page["matrices"]]
    assert shown == [[[475, 21, 2], [22, 373, 1], [1, 5, 46]], [[103, 5, 1], [6, 51, 0], [0, 0, 6]]]
    sides = [
        oracle["auto_H1"]["observed_agreement"],
        oracle["auto_H1"]["cohen_kappa"],
        oracle["H1_H2"]["cohen_kappa"],
    ]
    assert [stat["value"] for stat in page["headline"][:3]] == [f"{side['value']:.3f}" for side in sides]
    assert page["headline"][0]["note"] == "894 of 946 groups"
    assert page["ceiling"]["n"] == 172
