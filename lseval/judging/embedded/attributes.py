"""Lists of attributes taken apart, such as `operator: X; length: 412 m; opened in 1927`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lseval.judging.embedded.quantities import quantities
from lseval.judging.embedded.text import token_forms

MOST_WORDS: Final = 10
"""A stretch of more words than this is running text, and so is the whole that holds it."""

FEWEST_VALUES: Final = 2
"""A list of attributes holds at least this many pieces with a number, a date or a name before a colon."""

LONGEST_LABEL: Final = 4
"""More words than this before a colon are a piece of their own, unless a value follows and nothing else."""

_SPLIT: Final = re.compile(r"\s*[;；，]\s*|\s*,\s+")
_BRACKET: Final = re.compile(r"\([^()]{0,200}\)|（[^（）]{0,200}）")
_LABELLED: Final = re.compile(r"^([^\W\d][^:：\n]{0,40}?)\s*[:：]\s*(?=\S)")


@dataclass(frozen=True, slots=True)
class Attribute:
    """One piece of a list: its words, and the name before its colon where it has one."""

    value: str
    label: str = ""


def attributes(text: str) -> list[Attribute]:
    """The pieces of a list of attributes, in order; empty where the text is no such list.

    It is one when semicolons and commas (outside brackets and dates) cut it into pieces of at most `MOST_WORDS`
    words, of which at least `FEWEST_VALUES` hold a number, a date or a name before a colon. In a piece such as
    *length 412 m* the words before the value are its label.
    """
    pieces = [piece for piece in _pieces(text.strip(" .。")) if token_forms(piece)]
    if len(pieces) < FEWEST_VALUES or any(len(piece.split()) > MOST_WORDS for piece in pieces):
        return []
    found = [attribute for piece in pieces for attribute in labelled(piece)]
    return found if sum(map(_has_value, found)) >= FEWEST_VALUES else []


def labelled(piece: str) -> Iterator[Attribute]:
    """A piece with its label: the words before a colon, or before the value that ends the piece."""
    match = _LABELLED.match(piece)
    if match:
        rest = piece[match.end() :]
        if len(match[1].split()) <= LONGEST_LABEL or _is_value(rest):
            yield Attribute(rest, match[1])
        else:
            yield Attribute(match[1])
            yield from labelled(rest)
        return
    held = quantities(piece)
    values = held.values
    before = piece[: values[0].start].strip() if len(values) == 1 and values[0].end == len(piece) else ""
    if before and before.isascii() and len(before.split()) <= LONGEST_LABEL and token_forms(before):
        yield Attribute(piece[values[0].start :], before)
    else:
        yield Attribute(piece)


def _pieces(text: str) -> Iterator[str]:
    shut = [match.span() for match in _BRACKET.finditer(text)]
    shut += [(date.start, date.end) for date in quantities(text).dates]
    start = 0
    for match in _SPLIT.finditer(text):
        if not any(first < match.start() < last for first, last in shut):
            yield text[start : match.start()].strip()
            start = match.end()
    yield text[start:].strip()


def _is_value(text: str) -> bool:
    values = quantities(text).values
    return len(values) == 1 and not text[: values[0].start].strip() and not text[values[0].end :].strip()


def _has_value(attribute: Attribute) -> bool:
    held = quantities(attribute.value)
    return bool(attribute.label or held.numbers or held.dates)
