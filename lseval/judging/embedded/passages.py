"""A page cut into passages, and those of them that come nearest to a claim."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from lseval.judging.embedded.caching import kept_by_text
from lseval.judging.embedded.text import form_set, sentence_spans

MOST_CHARS: Final = 1_000_000
"""No more of a page than this is indexed."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or line of a text: `text[start:end]`, its place among the others, and its tokens' forms."""

    number: int
    start: int
    end: int
    forms: frozenset[str]


class PageIndex:
    """A text's passages with what is needed to find those about a claim. Built once, then only read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_truncated = len(text) > MOST_CHARS
        self.passages: list[Passage] = []
        self.kept: dict[str, object] = {}  # what others work out from the text, to live as long as the index
        self._numbers_by_form: dict[str, list[int]] = defaultdict(list)
        body = text[:MOST_CHARS]
        for number, (start, end) in enumerate(sentence_spans(body)):
            forms = form_set(body[start:end])
            self.passages.append(Passage(number, start, end, forms))
            for form in forms:
                self._numbers_by_form[form].append(number)

    def __contains__(self, form: str) -> bool:
        return form in self._numbers_by_form

    def rarity(self, form: str) -> float:
        """How much a token tells: 1 where the text does not have it, falling towards 0.2 the more passages do."""
        found = len(self._numbers_by_form.get(form, ()))
        most = math.log1p(len(self.passages) + 1)
        return max(0.2, 1.0 - math.log1p(max(found - 1, 0)) / most)

    def shares(self, forms: Collection[str]) -> dict[int, float]:
        """For each passage that holds any of the forms, by its number: the rarity of those that it holds."""
        held: dict[int, float] = defaultdict(float)
        for form in sorted(forms):
            if form in self:
                weight = self.rarity(form)
                for number in self._numbers_by_form[form]:
                    held[number] += weight
        return held

    def best(self, forms: Collection[str], *, most: int = 4, context: Collection[str] = ()) -> list[Passage]:
        """Up to `most` passages that together hold the most of the forms' rarity, the best one first.

        Each later passage is chosen for what the earlier ones lack, with a small bonus next to one already chosen.
        Forms of `context` only break ties. Empty where no passage holds any of the forms.
        """
        weights = {form: self.rarity(form) for form in sorted(forms) if form in self}
        gains = self.shares(forms)
        if not gains:
            return []
        for form in sorted(context):
            for number in self._numbers_by_form.get(form, ()):
                if number in gains:
                    gains[number] += 0.05 * self.rarity(form)
        chosen: list[Passage] = []
        missing = set(weights)
        while gains and missing and len(chosen) < most:
            number = max(gains, key=lambda candidate: (gains[candidate], -candidate))
            if gains[number] <= 0.1:
                break
            passage = self.passages[number]
            chosen.append(passage)
            del gains[number]
            for form in sorted(missing & passage.forms):
                for other in self._numbers_by_form[form]:
                    if other in gains:
                        gains[other] -= weights[form]
            missing -= passage.forms
            for neighbour in (number - 1, number + 1):
                if neighbour in gains:
                    gains[neighbour] += 0.1
        return chosen

    def coverage(self, forms: Collection[str], passages: Iterable[Passage]) -> float:
        """The share of the forms' rarity that the passages hold together, from 0 to 1; 0 for no form."""
        held = frozenset().union(*(passage.forms for passage in passages))
        total = covered = 0.0
        for form in sorted(forms):
            weight = self.rarity(form)
            total += weight
            covered += weight if form in held else 0.0
        return covered / total if total else 0.0

    def words(self, passage: Passage) -> str:
        return self.text[passage.start : passage.end]

    def around(self, passages: Sequence[Passage], reach: int = 1) -> list[Passage]:
        """The passages with `reach` neighbours on either side, in the order of the text."""
        wanted = {
            number
            for passage in passages
            for number in range(passage.number - reach, passage.number + reach + 1)
            if 0 <= number < len(self.passages)
        }
        return [self.passages[number] for number in sorted(wanted)]


@kept_by_text(lambda index: len(index.text) + 1)
def page_index(text: str) -> PageIndex:
    """The index of a text, kept for the next groups and rounds that rest on it."""
    return PageIndex(text)
