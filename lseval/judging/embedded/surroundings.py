"""What a value on a page stands under: the column and the row of a table, the heading of a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, cast

from lseval.judging.embedded.passages import PageIndex, Passage
from lseval.judging.embedded.quantities import Date, Number, Quantities, quantities
from lseval.judging.embedded.text import clause_span, token_forms

_HEADING_REACH: Final = 12
_LONGEST_HEADING: Final = 60
_NO_HEADING: Final = re.compile(r"[.!?;,。！？；，]$|\d|\|")
_LONGEST_LISTED: Final = 60
_MOST_KEPT: Final = 1_000
_DIMENSIONS: Final = {
    "long": "length", "high": "height", "tall": "height", "wide": "width", "deep": "depth", "old": "age",
}  # fmt: skip
_DIMENSION: Final = re.compile(rf"[\s-]+({'|'.join(_DIMENSIONS)})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Told:
    """A number or a date on a page, and the words that say what it is.

    `label` is the text of its row's first cell and of its column's head, or of the heading above its line; empty
    where it stands in running words. `row` holds the forms of the row's first cell, where it stands in a table.
    """

    quantity: Number | Date
    passage: Passage
    text: str
    label: str = ""
    row: frozenset[str] = frozenset()
    column: tuple[int, int] = (-1, -1)
    """The number of the table's head passage and of the column; (-1, -1) outside tables."""

    @cached_property
    def forms(self) -> frozenset[str]:
        """The forms of the words about it: its row and column in a table, else its sentence and heading."""
        words = frozenset(token_forms(self.label))
        if self.column[0] >= 0:
            return words
        return words | self.passage.forms | {*token_forms(dimension_after(self.text, self.quantity.end))}

    @cached_property
    def clause_forms(self) -> frozenset[str]:
        """As `forms`, with the words of its clause instead of its whole sentence."""
        if self.column[0] >= 0:
            return self.forms
        start, end = clause_span(self.text, self.quantity.start, self.quantity.end)
        named = dimension_after(self.text, self.quantity.end)
        return frozenset(token_forms(f"{self.label} {named} {self.text[start:end]}"))

    @cached_property
    def around(self) -> Quantities:
        """The numbers and dates of its sentence or row, and of its label."""
        inside, over = quantities(self.text), quantities(self.label)
        return Quantities(inside.numbers + over.numbers, inside.dates + over.dates)

    @property
    def words(self) -> str:
        return self.text[self.quantity.start : self.quantity.end].strip()


class Surroundings:
    """Every number and date of a page with what it stands under. Built once for a page, then only read."""

    def __init__(self, index: PageIndex) -> None:
        self._index = index
        self._words = [index.words(passage) for passage in index.passages]
        self._telling: dict[Number | Date, tuple[Told, ...]] = {}

    @cached_property
    def told(self) -> tuple[Told, ...]:
        """Every number and date of the page, in order."""
        return tuple(self._all())

    def telling(self, value: Number | Date) -> tuple[Told, ...]:
        """Where the page says the same: numbers for a number; for a date those dates that have a year."""
        plain = replace(value, start=0, end=0)
        if plain not in self._telling:
            if len(self._telling) >= _MOST_KEPT:
                self._telling.clear()
            self._telling[plain] = tuple(told for told in self.told if _says(value, told.quantity))
        return self._telling[plain]

    @cached_property
    def rows(self) -> dict[int, list[frozenset[str]]]:
        """By the number of a table's head passage: the forms of each row's first cell."""
        found: dict[int, list[frozenset[str]]] = {}
        for number, head in enumerate(self._heads):
            if head >= 0 and head != number:
                found.setdefault(head, []).append(frozenset(token_forms(_cells(self._words[number])[0])))
        return found

    def _all(self) -> Iterator[Told]:
        for passage, words in zip(self._index.passages, self._words, strict=True):
            held = quantities(words)
            head = self._heads[passage.number]
            for quantity in held.values:
                if head == passage.number:
                    continue
                if head >= 0:
                    yield self._in_table(quantity, passage, words, head)
                else:
                    yield Told(quantity, passage, words, self._heading(passage.number))

    def _in_table(self, quantity: Number | Date, passage: Passage, words: str, head: int) -> Told:
        cells, heads = _cells(words), _cells(self._words[head])
        place = words.count("|", 0, quantity.start) - (1 if words.startswith("|") else 0)
        named = cells[0] if place > 0 else ""
        column = heads[place] if 0 <= place < len(heads) else ""
        row = frozenset(token_forms(cells[0]))
        return Told(quantity, passage, words, f"{named} {column}".strip(), row, (head, place))

    @cached_property
    def _heads(self) -> list[int]:
        """For each passage, the number of its table's head passage; -1 outside tables."""
        heads: list[int] = []
        for number, words in enumerate(self._words):
            if "|" not in words:
                heads.append(-1)
            else:
                heads.append(heads[-1] if heads and heads[-1] >= 0 else number)
        return heads

    def _heading(self, number: int) -> str:
        """The short line without a full stop above a list of short lines; empty for running words."""
        if len(self._words[number]) > _LONGEST_LISTED or self._words[number].endswith("."):
            return ""
        for above in range(number - 1, max(number - 1 - _HEADING_REACH, -1), -1):
            words = self._words[above]
            if len(words) > _LONGEST_HEADING:
                return ""
            if not _NO_HEADING.search(words):
                return words
        return ""


def _says(value: Number | Date, other: Number | Date) -> bool:
    if isinstance(value, Number):
        return isinstance(other, Number) and value.is_told_by(other)
    return isinstance(other, Date) and bool(other.year) and value.is_told_by(other)


def dimension_after(text: str, end: int) -> str:
    """The name of what a number measures, from the word after it: *length* for `412 metres long`; else empty."""
    match = _DIMENSION.match(text, end)
    return _DIMENSIONS[match[1].casefold()] if match else ""


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def surroundings(index: PageIndex) -> Surroundings:
    """The surroundings of a page, kept with its index for the next claims on it."""
    if "surroundings" not in index.kept:
        index.kept["surroundings"] = Surroundings(index)
    return cast(Surroundings, index.kept["surroundings"])
