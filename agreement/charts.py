"""Figures of the agreement pages, drawn by Altair and rendered without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import altair as alt
import numpy as np
import vl_convert
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from agreement.stats.compare import score_pairs
from agreement.stats.groups import GroupTable

Format = Literal["svg", "png", "pdf"]
Chart: TypeAlias = alt.LayerChart | dict[str, Any]
"""As Altair builds it, or a Vega-Lite specification."""
CONTENT_TYPES: dict[Format, str] = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
_PANEL_TITLES = {"as": "Answer Score", "ap": "Answer Precision"}
_MAXIMA = {"as": 100.0, "ap": 1.0}
_SIZE = 300
_DOT_AREA = 620
_HIT_AREA = 460
"""Square pixels of what can be pressed around a dot: a circle of 24 px."""
_INK, _RULE, _GRID, _POINT, _SECOND = "#2b2f36", "#9aa1ab", "#e6e8eb", "#1f5fa8", "#a8521f"


class ScorePair(NamedTuple):
    """Two scores and the responses (their ids) that share them."""

    x: float
    y: float
    responses: tuple[str, ...]


class ScorePanel(NamedTuple):
    """One panel of the figure: the pairs of one score, on axes from 0 to `maximum`."""

    score: str
    title: str
    pairs: Sequence[ScorePair]
    maximum: float


class DrawnInterval(NamedTuple):
    """A line of an interval figure; `point` is None where undefined, both ends where there is none."""

    term: str
    series: str
    point: float | None
    low: float | None
    high: float | None


Address: TypeAlias = Callable[[ScorePanel, ScorePair], str]


def score_panels(table: GroupTable) -> list[ScorePanel]:
    """The score pairs of automatic and H1, with their responses, as the panels of Figure 5."""
    pairs = score_pairs(table, "auto", "h1")
    names = np.array([response for _, response in table.ids], dtype=object)[pairs.responses]
    panels = []
    for score, maximum in _MAXIMA.items():
        cells = pairs.cells[score]
        points = [
            ScorePair(float(cells.x[i]), float(cells.y[j]), tuple(names[cells.code == cell]))
            for cell, (i, j) in enumerate(zip(cells.ix, cells.iy, strict=True))
        ]
        panels.append(ScorePanel(score, _PANEL_TITLES[score], points, maximum))
    return panels


def pair_text(panel: ScorePanel, pair: ScorePair) -> str:
    """A dot in words."""
    count = len(pair.responses)
    digits = 1 if panel.maximum > 1 else 3
    return (
        f"{panel.title}: automatic {pair.x:.{digits}f}, H1 {pair.y:.{digits}f}, "
        f"{count} response{'' if count == 1 else 's'}"
    )


def score_scatter(
    panels: Sequence[ScorePanel], x_title: str, y_title: str, address: Address | None = None
) -> dict[str, Any]:
    """Score pairs side by side (the paper's Figure 5): area by multiplicity, a dashed line for exact agreement.

    A Vega-Lite specification. With `address` every dot is a link to what it gives; it must be a whole address with
    its scheme.
    """
    shapes = tuple((panel.score, panel.title, panel.maximum) for panel in panels)
    specification: dict[str, Any] = json.loads(_scatter(shapes, x_title, y_title, address is not None))
    most = max((len(pair.responses) for panel in panels for pair in panel.pairs), default=1)
    specification["datasets"] = {panel.score: _dots(panel, most, address) for panel in panels}
    return specification


def _dots(panel: ScorePanel, most: int, address: Address | None) -> list[dict[str, Any]]:
    """The dots of a panel, large ones first, so that a small one on top of them can be pressed."""
    return [
        {
            "x": pair.x,
            "y": pair.y,
            "area": (area := _DOT_AREA * len(pair.responses) / most),
            "pressed": max(area, _HIT_AREA),
            "text": pair_text(panel, pair),
            **({"url": address(panel, pair)} if address else {}),
        }
        for pair in sorted(panel.pairs, key=lambda pair: -len(pair.responses))
    ]


@lru_cache(maxsize=16)
def _scatter(shapes: tuple[tuple[str, str, float], ...], x_title: str, y_title: str, linked: bool) -> str:
    """The figure as JSON but for its dots, built once: Altair takes longer than all the statistics."""
    charts = (_panel(*shape, x_title, y_title, linked) for shape in shapes)
    made: str = _dressed(alt.hconcat(*charts, spacing=36)).to_json()
    return made


def _panel(
    name: str, title: str, maximum: float, x_title: str, y_title: str, linked: bool
) -> alt.LayerChart | alt.FacetChart:
    scale = alt.Scale(domain=[0, maximum], nice=False, padding=14)
    axis = _axis(5)
    base = alt.Chart(alt.NamedData(name)).encode(
        x=alt.X("x:Q", scale=scale, axis=axis, title=x_title),
        y=alt.Y("y:Q", scale=scale, axis=axis, title=y_title),
    )

    def sized(field: str) -> alt.Size:
        return alt.Size(field, scale=None, legend=None)

    points = base.mark_circle(color=_POINT, opacity=0.7, aria=not linked).encode(
        size=sized("area:Q"), description="text:N"
    )
    diagonal = (
        alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": maximum, "y": maximum}]))
        .mark_line(strokeDash=[5, 4], color=_RULE, aria=False)
        .encode(x="x:Q", y="y:Q")
    )
    layers = [diagonal, points]
    if linked:
        pressed = base.mark_circle(color=_POINT, opacity=0)
        layers.append(pressed.encode(size=sized("pressed:Q"), href="url:N", description="text:N"))
    heading = alt.TitleParams(title, fontWeight="normal", color=_INK)
    return alt.layer(*layers).properties(width=_SIZE, height=_SIZE, title=heading)


def interval_chart(lines: Sequence[DrawnInterval], title: str, low: float, high: float) -> alt.LayerChart:
    """Estimates with their intervals, a row a term, the series side by side, on an axis from `low` to `high`."""
    terms = list(dict.fromkeys(line.term for line in lines))
    series = list(dict.fromkeys(line.series for line in lines))
    rows = [line._asdict() for line in lines if line.point is not None]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y(
            "term:N",
            sort=terms,
            title=None,
            axis=alt.Axis(grid=False, labelColor=_INK, labelLimit=260, labelPadding=10, ticks=False, domain=False),
        ),
        yOffset=alt.YOffset("series:N", sort=series),
        color=alt.Color(
            "series:N",
            sort=series,
            scale=alt.Scale(domain=series, range=[_POINT, _SECOND, _INK, _RULE][: len(series)]),
            legend=alt.Legend(title=None, orient="top", labelColor=_INK, symbolType="stroke")
            if series[1:]
            else None,
        ),
    )
    scale = alt.Scale(domain=[low, high], nice=False, clamp=True)
    x = alt.X("point:Q", scale=scale, axis=_axis(6), title=title)
    # What lies off the axis is drawn at its edge, as an arrow.
    off = [
        base.transform_filter(_beyond(side, edge))
        .mark_point(shape=f"triangle-{side}", filled=True, size=70, opacity=1)
        .encode(x=alt.datum(edge, type="quantitative", scale=scale))
        for side, edge in (("left", low), ("right", high))
        if any(_is_beyond(line, side, edge) for line in lines)
    ]
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    points = (
        base.transform_filter(f"datum.point >= {low} && datum.point <= {high}")
        .mark_point(filled=True, size=42, opacity=1)
        .encode(x=x, shape=alt.Shape("series:N", legend=None))
    )
    return _dressed(alt.layer(bars, points, *off).properties(width=460, height=alt.Step(15 if series[1:] else 20)))


def _beyond(side: str, edge: float) -> str:
    if side == "left":
        return f"datum.point < {edge} || (isValid(datum.low) && datum.low < {edge})"
    return f"datum.point > {edge} || (isValid(datum.high) && datum.high > {edge})"


def _is_beyond(line: DrawnInterval, side: str, edge: float) -> bool:
    if line.point is None:
        return False
    if side == "left":
        return line.point < edge or (line.low is not None and line.low < edge)
    return line.point > edge or (line.high is not None and line.high > edge)


def _axis(ticks: int) -> alt.Axis:
    return alt.Axis(tickCount=ticks, gridColor=_GRID, labelColor=_INK, titleColor=_INK, titleFontWeight="normal")


def _dressed(chart: Any) -> Any:
    return chart.configure(font="sans-serif", background="white", view=alt.ViewConfig(stroke=_RULE))


def render(chart: Chart, file_format: Format) -> bytes:
    """The chart as an SVG, PNG (at twice the size) or PDF file."""
    # Altair has checked every part as it was built; to check the whole again would double the time.
    specification = json.dumps(chart) if isinstance(chart, dict) else chart.to_json(validate=False)
    if file_format == "svg":
        return vl_convert.vegalite_to_svg(specification).encode()
    if file_format == "png":
        return vl_convert.vegalite_to_png(specification, scale=2)
    return vl_convert.vegalite_to_pdf(specification)


def warm_up() -> None:
    """Start the renderer and draw the agreement page's figure without a dot: the first drawing takes a second."""
    panels = [ScorePanel(score, _PANEL_TITLES[score], (), maximum) for score, maximum in _MAXIMA.items()]
    render(score_scatter(panels, "Automatic", "H1", lambda *_: ""), "svg")


def inline_svg(chart: Chart, label: str, origin: str) -> SafeString:
    """The chart as an element of a page, named `label`; links that begin with `origin` become the site's own."""
    svg = render(chart, "svg").decode()
    svg = svg.replace(f'xlink:href="{escape(origin)}/', 'xlink:href="/')
    named = svg.replace("<svg ", f'<svg role="group" aria-label="{escape(label)}" ', 1)
    return mark_safe(named)  # noqa: S308 - drawn by us from numbers; its words are escaped by the renderer
