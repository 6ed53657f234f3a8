"""A figure's three forms, laid out once."""

from __future__ import annotations

from typing import Any

import vl_convert

from agreement.charts import CONTENT_TYPES, Format, render

__all__ = ["CONTENT_TYPES", "Format", "figure_files"]

_PNG_SCALE = 2


def figure_files(chart: Any) -> dict[Format, bytes]:
    """The chart as SVG, PNG (at twice the size) and PDF. The layout is most of the work, and all share it."""
    svg = render(chart, "svg")
    text = svg.decode()
    return {
        "svg": svg,
        "png": vl_convert.svg_to_png(text, scale=_PNG_SCALE),
        "pdf": vl_convert.svg_to_pdf(text),
    }
