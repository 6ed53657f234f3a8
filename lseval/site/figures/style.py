"""How the figures look, and the rows that they are drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import altair as alt

from lseval.site.tables.table import Table

INK, RULE, GRID, PAPER = "#2b2f36", "#9aa1ab", "#e6e8eb", "#ffffff"
FIRST, SECOND, MUTED, PALE = "#1f5fa8", "#c46a2b", "#8b93a0", "#c9d4e3"
PALETTE: Final = (
    "#1f5fa8", "#c46a2b", "#3f7d4e", "#8a4f9e", "#b23a48", "#5f6b78", "#2a8c9a", "#a58b1c", "#7a9fd1", "#d9a58a",
)  # fmt: skip
"""Ten colours that differ in lightness as well as in hue; a figure's data stand beside it for who sees none."""
WIDTH: Final = 460

Record = dict[str, Any]


def records(table: Table, **wanted: str) -> list[Record]:
    """The table's rows as {column key: value}, those in which each wanted column has the wanted text."""
    rows = [{column.key: cell.value for column, cell in zip(table.columns, row, strict=True)} for row in table.rows]
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def axis(**more: Any) -> alt.Axis:
    """An axis in the figures' ink."""
    plain: dict[str, Any] = {
        "gridColor": GRID, "labelColor": INK, "titleColor": INK, "titleFontWeight": "normal", "labelLimit": 260,
    }  # fmt: skip
    return alt.Axis(**{**plain, **more})


def names_axis() -> alt.Axis:
    """An axis of names, without strokes."""
    return axis(grid=False, ticks=False, domain=False, labelPadding=8)


def legend(title: str | None = None, columns: int = 0) -> alt.Legend:
    """A legend above the figure."""
    return alt.Legend(
        title=title, orient="top", labelColor=INK, titleColor=INK, titleFontWeight="normal", labelLimit=220,
        columns=columns, symbolOpacity=1,
    )  # fmt: skip


def colours(names: Sequence[str]) -> alt.Scale:
    """A colour for each name, the same whenever the names are."""
    return alt.Scale(domain=list(names), range=[PALETTE[place % len(PALETTE)] for place in range(len(names))])


def panel_title(text: str) -> alt.TitleParams:
    """The heading of a panel."""
    return alt.TitleParams(text, anchor="start", fontWeight="normal", color=INK, fontSize=12)


def dressed(chart: Any) -> Any:
    """The whole figure with its font and ground."""
    return chart.configure(font="sans-serif", background=PAPER, view=alt.ViewConfig(stroke=None))


def bars(rows: Sequence[Mapping[str, Any]], name: str, value: str, title: str, colour: str = FIRST) -> Any:
    """Horizontal bars in the order of the rows, each with its number."""
    if not rows:
        return nothing()
    base = alt.Chart(alt.Data(values=[dict(row) for row in rows])).encode(
        y=alt.Y(f"{name}:N", sort=[row[name] for row in rows], title=None, axis=names_axis()),
        x=alt.X(
            f"{value}:Q",
            title=title,
            scale=alt.Scale(domain=[0, max(1, *(row[value] for row in rows))]),
            axis=axis(tickCount=5, format=",d"),
        ),
    )
    numbers = base.mark_text(align="left", dx=4, color=INK).encode(text=alt.Text(f"{value}:Q", format=",d"))
    return alt.layer(base.mark_bar(color=colour, height=13), numbers).properties(width=WIDTH, height=alt.Step(20))


def stacked(
    rows: Sequence[Mapping[str, Any]], name: str, part: str, value: str, title: str, parts: Sequence[str]
) -> Any:
    """Horizontal bars whose pieces are the parts, in the order in which the parts are given."""
    order = {words: place for place, words in enumerate(parts)}
    values = [{**row, "order": order[row[part]]} for row in rows if row[value] is not None]
    if not values:
        return nothing()
    names = list(dict.fromkeys(row[name] for row in rows))
    # Shares add up to 100 but for the last binary digit, which would put another 10 on the axis.
    scale = alt.Scale(domain=[0, 100], clamp=True) if value == "share" else alt.Scale()
    return (
        alt.Chart(alt.Data(values=values))
        .mark_bar(height=14, stroke=PAPER, strokeWidth=0.6)
        .encode(
            y=alt.Y(f"{name}:N", sort=names, title=None, axis=names_axis()),
            x=alt.X(f"{value}:Q", title=title, stack="zero", scale=scale, axis=axis(tickCount=5)),
            color=alt.Color(f"{part}:N", sort=list(parts), scale=colours(parts), legend=legend(columns=3)),
            order=alt.Order("order:Q"),
        )
        .properties(width=WIDTH, height=alt.Step(20))
    )


def nothing() -> Any:
    """A panel that says that there is nothing to draw: a chart without rows would have no height."""
    words = alt.Chart(alt.Data(values=[{"words": "There is nothing to draw yet."}]))
    return words.mark_text(color=INK, align="left", x=0).encode(text="words:N").properties(width=WIDTH, height=40)
