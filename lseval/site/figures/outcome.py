"""Figure 4: Answer Score against Answer Precision, and Figure A2: how stable the rubrics are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, Literal

import altair as alt

from lseval.site.figures import style
from lseval.site.figures.style import records
from lseval.site.selectors.scores import ModelRow
from lseval.site.tables import cells
from lseval.site.tables.intervals import ScoreIntervals
from lseval.site.tables.rubrics import RubricStability
from lseval.site.tables.table import Column, Table

_NO_FAMILY: Final = "(no family)"
_SHAPES: Final = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "cross",
    "triangle-right",
    "triangle-left",
)


def data_4(models: Sequence[ModelRow], intervals: ScoreIntervals) -> Table:
    """Each model's two scores with their intervals."""
    rows = [
        [
            cells.name(model.name),
            cells.name(model.family or _NO_FAMILY),
            cells.average(model.answer_score, *intervals.of(model.model_id, "answer_score")),
            cells.average(model.answer_precision, *intervals.of(model.model_id, "answer_precision")),
            cells.whole(model.scored),
        ]
        for model in models
    ]
    columns = (
        Column("model", "Model", align="left"),
        Column("family", "Family", align="left"),
        Column("answer_score", "AS"),
        Column("answer_precision", "AP", "%"),
        Column("scored_runs", "Scored runs"),
    )
    caption = (
        f"Answer Score versus Answer Precision for {len(models):,} models. Colors, shapes and lines are families."
    )
    return Table("figure-4", "", caption, columns, rows, [intervals.note])


_WIDTH_4, _HEIGHT_4 = style.WIDTH + 80, 400
_MARK, _LETTER, _LINE = 5.0, 5.4, 10.0
"""Half a mark, the width of a letter and the height of a line, in pixels."""
_SIDES: Final[dict[str, tuple[Literal["left", "center", "right"], int, int]]] = {
    "right": ("left", 7, 0),
    "above": ("center", 0, -11),
    "below": ("center", 0, 12),
    "left": ("right", -7, 0),
}
"""Where a name may stand beside its mark: how it is aligned, and by how many pixels it is moved."""
_Box = tuple[float, float, float, float]


def draw_4(table: Table) -> Any:
    """A mark a model, named, joined within a family."""
    rows = [
        row for row in records(table) if row["answer_score"] is not None and row["answer_precision"] is not None
    ]
    if not rows:
        return style.dressed(style.nothing())
    families = list(dict.fromkeys(row["family"] for row in rows))
    numbers = [row[key] for row in rows for key in ("answer_score", "answer_precision")]
    low, high = 5 * math.floor(max(0.0, min(numbers) - 5) / 5), 5 * math.ceil(min(100.0, max(numbers) + 5) / 5)
    spots = [
        (
            _WIDTH_4 * (row["answer_score"] - low) / (high - low),
            _HEIGHT_4 * (high - row["answer_precision"]) / (high - low),
        )
        for row in rows
    ]
    sides = sides_of(spots, [row["model"] for row in rows])
    rows = [{**row, "side": side} for row, side in zip(rows, sides, strict=True)]
    scale = alt.Scale(domain=[low, high])
    legend = style.legend(columns=4)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("answer_score:Q", title="Answer Score", scale=scale, axis=style.axis(tickCount=6)),
        y=alt.Y("answer_precision:Q", title="Answer Precision (%)", scale=scale, axis=style.axis(tickCount=6)),
        color=alt.Color("family:N", sort=families, scale=style.colours(families), legend=legend),
    )
    shapes = alt.Scale(domain=families, range=[_SHAPES[place % len(_SHAPES)] for place in range(len(families))])
    lines = base.mark_line(strokeWidth=1.2, opacity=0.6).encode(detail="family:N", order="answer_score:Q")
    marks = base.mark_point(filled=True, size=70, opacity=1).encode(
        shape=alt.Shape("family:N", sort=families, scale=shapes, legend=legend)
    )
    words = [
        base.transform_filter(alt.datum.side == side)
        .mark_text(align=align, dx=dx, dy=dy, fontSize=9.5)
        .encode(text="model:N", color=alt.value(style.INK))
        for side, (align, dx, dy) in _SIDES.items()
        if side in sides
    ]
    return style.dressed(alt.layer(lines, marks, *words).properties(width=_WIDTH_4, height=_HEIGHT_4))


def sides_of(spots: Sequence[tuple[float, float]], names: Sequence[str]) -> list[str]:
    """On which side of its mark each name stands, so that it covers as few marks and other names as it can.

    `spots` are the marks in pixels from the upper left corner.
    """
    taken: list[_Box] = [(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in spots]
    found = []
    for place, ((x, y), name) in enumerate(zip(spots, names, strict=True)):
        others = [box for number, box in enumerate(taken) if number != place]
        boxes = {side: _box(x, y, name, side) for side in _SIDES}
        best = min(boxes, key=lambda side: sum(_meet(boxes[side], box) for box in others) + (boxes[side][0] < 0))
        taken.append(boxes[best])
        found.append(best)
    return found


def _box(x: float, y: float, name: str, side: str) -> _Box:
    align, dx, dy = _SIDES[side]
    width = _LETTER * len(name)
    left = x + dx - {"left": 0.0, "center": width / 2, "right": width}[align]
    return left, y + dy - _LINE / 2, left + width, y + dy + _LINE / 2


def _meet(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


_PANELS: Final = (
    ("a", "required_count", "modal"),
    ("b", "required_count", "distinct"),
    ("c", "constraints", "modal"),
    ("d", "constraints", "distinct"),
)
_TITLES: Final = {
    "a": "(a) Required count: rubrics with the mode",
    "b": "(b) Required count: distinct values",
    "c": "(c) Hard constraints: rubrics with the mode",
    "d": "(d) Hard constraints: distinct values",
}


def data_a2(stability: RubricStability) -> Table:
    """How many tasks have which frequency of their unique mode, and which number of distinct values."""
    rows = []
    for panel, key, what in _PANELS:
        found = stability.fields[key]
        values = found.unique_modes if what == "modal" else list(found.distinct)
        rows += [
            [cells.text(panel), cells.text(key), cells.text(what), cells.whole(value), cells.whole(tasks)]
            for value, tasks in sorted(Counter(values).items())
        ]
    columns = (
        Column("panel", "Panel", align="left"),
        Column("field", "Field", align="left"),
        Column("what", "What is counted", align="left"),
        Column("value", "Value"),
        Column("tasks", "Tasks"),
    )
    required, constraints = stability.fields["required_count"], stability.fields["constraints"]
    caption = (
        f"Field-level rubric stability across up to {stability.most:,} saved runs per task ({stability.tasks:,} "
        "tasks; "
        f"{stability.rubrics:,} rubrics). (a) and (c) show the frequency of the unique modal count, without "
        f"{required.tied_tasks:,} and {constraints.tied_tasks:,} tasks with tied modes; (b) and (d) the number of "
        "distinct values of all tasks."
    )
    return Table("figure-a2", "", caption, columns, rows)


def draw_a2(table: Table) -> Any:
    """Four histograms."""
    panels = {}
    for panel, _, what in _PANELS:
        found = records(table, panel=panel)
        values = [row["value"] for row in found] or [0]
        every = list(range(min(values), max(values) + 1))  # a value that no task has leaves a gap
        panels[panel] = (
            alt.Chart(alt.Data(values=found))
            .mark_bar(color=style.FIRST if what == "modal" else style.SECOND, size=12)
            .encode(
                x=alt.X(
                    "value:O",
                    title="Rubrics with the modal value" if what == "modal" else "Distinct values per task",
                    scale=alt.Scale(domain=every),
                    axis=style.axis(labelAngle=0),
                ),
                y=alt.Y("tasks:Q", title="Tasks", axis=style.axis(tickCount=5)),
            )
            .properties(width=250, height=130, title=style.panel_title(_TITLES[panel]))
        )
    rows = alt.vconcat(
        alt.hconcat(panels["a"], panels["b"], spacing=30),
        alt.hconcat(panels["c"], panels["d"], spacing=30),
        spacing=24,
    )
    return style.dressed(rows)
