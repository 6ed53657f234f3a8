"""Text made to be slow: what four times as much of it costs. A scan that goes back over what it read takes 16.

Each piece is repeated until the text is long. `growth` is the processor time of four times the text over that of
the text: the worst of the pieces is named.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from annotation.marking import group_forms, marked, nearest_passages
from lseval.domain.grouping import group_answer
from lseval.domain.links import find_links
from lseval.judging.embedded.rubric import derive_rubric
from lseval.rendering import render_markdown

PIECES = (
    "[",
    "](",
    "](http://a",
    "[t](http://a",
    "**[",
    "<a",
    "`[",
    "|---",
    "1. ",
    "- ",
    "漢字",
    "Aa of ",
    "A: b\n",
)
SIZE = 25_000
TIMES = 4
GROWTH_BAR = 8.0


def _marked(text: str) -> object:
    return marked(text, nearest_passages(text, group_forms(text[:100], text[:1_000], {})))


_READERS: dict[str, Callable[[str], object]] = {
    "links": find_links,
    "grouping": group_answer,
    "markdown": render_markdown,
    "marking": _marked,
    "rubric": derive_rubric,
}


def run() -> Iterator[dict[str, Any]]:
    """For each reader of text: its time on the slowest piece, and the worst growth."""
    for name, read in _READERS.items():
        growths = {piece: _growth(read, piece) for piece in PIECES}
        worst = max(growths, key=lambda piece: growths[piece][0])
        yield {
            "name": f"hostile_text.{name}",
            "characters": SIZE,
            "growth": round(growths[worst][0], 2),
            "of": worst,
            "slowest_s": round(max(seconds for _, seconds in growths.values()), 3),
            "bar": GROWTH_BAR,
            "ok": growths[worst][0] <= GROWTH_BAR,
        }


def _growth(read: Callable[[str], object], piece: str) -> tuple[float, float]:
    """(time of `TIMES` as much text over time of the text, time of the latter), each the best of three."""
    once, more = (_seconds(read, (piece * (size // len(piece) + 1))[:size]) for size in (SIZE, TIMES * SIZE))
    return more / once, once


def _seconds(read: Callable[[str], object], text: str) -> float:
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        read(text)
        best = min(best, time.process_time() - began)
    return max(best, 1e-6)
