"""Figures of the agreement page, drawn by Altair and rendered without a browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import altair as alt
import numpy as np
import vl_convert

from agreement.stats.compare import score_pairs
from agreement.stats.groups import GroupTable

Format = Literal["svg", "png", "pdf"]
CONTENT_TYPES: dict[Format, str] = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
_PANEL_TITLES = {"as": "Answer Score", "ap": "Answer Precision"}
_SIZE = 260
_INK, _RULE, _POINT = "#2b2f36", "#9aa1ab", "#1f5fa8"


class ScorePair(NamedTuple):
    """Two scores that `count` responses share."""

    x: float
    y: float
    count: int


class ScorePanel(NamedTuple):
    """One panel of the figure: the pairs of one score, on axes from 0 to `maximum`."""

    title: str
    pairs: Sequence[ScorePair]
    maximum: float


def score_panels(table: GroupTable) -> list[ScorePanel]:
    """The score pairs of automatic and H1, counted, as the panels of Figure 5."""
    pairs = score_pairs(table, "auto", "h1")
    panels = []
    for score, maximum in (("as", 100), ("ap", 1)):
        cells = pairs.cells[score]
        counts = np.bincount(cells.code, minlength=cells.n_cells)
        points = [
            ScorePair(float(cells.x[i]), float(cells.y[j]), int(count))
            for i, j, count in zip(cells.ix, cells.iy, counts, strict=True)
        ]
        panels.append(ScorePanel(_PANEL_TITLES[score], points, maximum))
    return panels


def score_scatter(panels: Sequence[ScorePanel], x_title: str, y_title: str) -> alt.HConcatChart:
    """Score pairs side by side (the paper's Figure 5): area by multiplicity, a dashed line for exact agreement."""
    most = max((pair.count for panel in panels for pair in panel.pairs), default=1)
    return alt.hconcat(*(_panel(panel, most, x_title, y_title) for panel in panels)).configure(
        font="sans-serif", background="white", view=alt.ViewConfig(stroke=_RULE)
    )


def _panel(panel: ScorePanel, most: int, x_title: str, y_title: str) -> alt.LayerChart:
    scale = alt.Scale(domain=[0, panel.maximum], nice=False, padding=14)
    axis = alt.Axis(tickCount=5, gridColor="#e6e8eb", labelColor=_INK, titleColor=_INK, titleFontWeight="normal")
    rows = [{"x": pair.x, "y": pair.y, "count": pair.count} for pair in panel.pairs]
    points = (
        alt.Chart(alt.Data(values=rows))
        .mark_circle(color=_POINT, opacity=0.65, stroke=_POINT)
        .encode(
            x=alt.X("x:Q", scale=scale, axis=axis, title=x_title),
            y=alt.Y("y:Q", scale=scale, axis=axis, title=y_title),
            size=alt.Size("count:Q", scale=alt.Scale(domain=[0, most], range=[0, 500]), legend=None),
        )
    )
    ends = [{"x": 0, "y": 0}, {"x": panel.maximum, "y": panel.maximum}]
    diagonal = alt.Chart(alt.Data(values=ends)).mark_line(strokeDash=[5, 4], color=_RULE).encode(x="x:Q", y="y:Q")
    return alt.layer(diagonal, points).properties(
        width=_SIZE, height=_SIZE, title=alt.TitleParams(panel.title, fontWeight="normal", color=_INK)
    )


def render(chart: alt.HConcatChart, file_format: Format) -> bytes:
    """The chart as an SVG, PNG (at twice the size) or PDF file."""
    specification = chart.to_json()
    if file_format == "svg":
        return vl_convert.vegalite_to_svg(specification).encode()
    if file_format == "png":
        return vl_convert.vegalite_to_png(specification, scale=2)
    return vl_convert.vegalite_to_pdf(specification)
