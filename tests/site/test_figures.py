"""How the figures are drawn: what a reader has to see is there."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from agreement.charts import render
from lseval.site.figures import outcome, style
from lseval.site.tables import cells
from lseval.site.tables.table import Column, Table

FAMILIES = 8


def _table() -> Table:
    """Sixteen models of eight families, as many as the paper has."""
    names = ("model", "family", "answer_score", "answer_precision", "scored_runs")
    rows = [
        [
            cells.name(f"Model {number}"),
            cells.name(f"Family {number // 2}"),
            cells.decimal(20 + 3 * number, 2),
            cells.decimal(20 + (7 * number) % 50, 2),
            cells.whole(100),
        ]
        for number in range(2 * FAMILIES)
    ]
    return Table("figure-4", "", "", [Column(name, name) for name in names], rows)


def test_every_family_of_figure_4_has_marks_with_an_area() -> None:
    drawn = render(outcome.draw_4(_table()), "svg").decode()
    for colour in style.PALETTE[:FAMILIES]:
        filled = re.findall(rf'<path [^>]*d="([^"]*)" fill="{colour}"', drawn)
        assert len(filled) == 3, colour  # two models, and the legend
        assert all(set(outline) & set("AZ") for outline in filled), colour  # an arc, or a way back to its start


def test_every_model_of_figure_4_is_named_once() -> None:
    drawn = render(outcome.draw_4(_table()), "svg").decode()
    for number in range(2 * FAMILIES):
        assert len(re.findall(rf">Model {number}</text>", drawn)) == 1


def test_names_stand_apart_where_marks_are_close() -> None:
    """The second mark is right of the first, so the first's name goes elsewhere; with room it is on the right."""
    spots = [(100.0, 100.0), (120.0, 100.0), (300.0, 300.0)]
    names = ["GPT-6-Luna-Pro", "GPT-6.1-Sol", "GPT-5.4"]
    sides = outcome.sides_of(spots, names)
    assert sides[0] != "right"
    assert sides[1:] == ["right", "right"]
    boxes = [outcome._box(*spot, name, side) for spot, name, side in zip(spots, names, sides, strict=True)]
    assert not any(outcome._meet(one, other) for one, other in combinations(boxes, 2))


def test_models_that_all_score_alike_are_drawn() -> None:
    table = _table()
    for score in (0, 100):
        rows = [[*row[:2], cells.whole(score), cells.whole(score), row[4]] for row in table.rows]
        drawn = render(outcome.draw_4(Table("figure-4", "", "", table.columns, rows)), "svg")
        assert b"NaN" not in drawn
        assert drawn.count(b">Model ") == 2 * FAMILIES


def _labels(drawn: str) -> list[str]:
    return re.findall(r">([^<>]+)</text>", drawn)


def test_axis_of_shares_ends_at_100() -> None:
    rows = [{"model": "m", "type": str(part), "share": 100 * part / 252} for part in (33, 69, 78, 19, 40, 13)]
    assert sum(row["share"] for row in rows) > 100  # by the last binary digit
    kinds = [row["type"] for row in rows]
    drawn = render(style.stacked(rows, "model", "type", "share", "Share (%)", kinds), "svg").decode()
    (place,) = re.findall(r'translate\(([\d.]+),[\d.]+\)"[^>]*>100</text>', drawn)
    assert float(place) == pytest.approx(style.WIDTH, abs=1)


def test_values_that_no_task_has_leave_a_gap_in_figure_a2() -> None:
    names = ("panel", "field", "what", "value", "tasks")
    rows = [
        [*map(cells.text, (panel, "f", "modal")), cells.whole(value), cells.whole(3)]
        for panel in "abcd"
        for value in (31, 34)
    ]
    drawn = render(outcome.draw_a2(Table("figure-a2", "", "", [Column(name, name) for name in names], rows)), "svg")
    labels = _labels(drawn.decode())
    assert [labels.count(str(value)) for value in (31, 32, 33, 34)] == [4, 4, 4, 4]
