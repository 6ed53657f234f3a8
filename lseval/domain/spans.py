"""Spans of a text: pairs of a first offset and the offset after the last."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

Span = tuple[int, int]


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same parts of the text as spans in order that neither overlap nor touch."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def holds(spans: Sequence[Span], offset: int) -> bool:
    """Whether the offset lies in one of the spans, which are in order and do not overlap."""
    index = bisect_right(spans, offset, key=lambda span: span[0]) - 1
    return index >= 0 and offset < spans[index][1]


def blanked(source: str, spans: Iterable[Span]) -> str:
    """`source` with a space for every character of the spans, which are in order and do not overlap."""
    parts = []
    position = 0
    for start, end in spans:
        parts += [source[position:start], " " * (end - start)]
        position = end
    return "".join([*parts, source[position:]])
