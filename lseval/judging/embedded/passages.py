"""A page cut into passages, and those of them that come nearest to a claim."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from lseval.judging.embedded.caching import kept_by_text
from lseval.judging.embedded.text import ascii_words, form_set, normal_form, sentence_spans

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
    """A text's passages with what is needed to find those about a claim. Built once, then only read.

    `passages` are those of the text, where the caller has them already.
    """

    def __init__(self, text: str, passages: Sequence[Passage] | None = None) -> None:
        self.text = text
        self.is_truncated = len(text) > MOST_CHARS
        self.passages = _passages(text[:MOST_CHARS]) if passages is None else passages
        self.kept: dict[str, object] = {}  # what others work out from the text, to live as long as the index
        self._numbers_by_form: dict[str, list[int]] = defaultdict(list)
        for passage in self.passages:
            for form in passage.forms:
                self._numbers_by_form[form].append(passage.number)
        self._rarities: dict[int, float] = {}

    def __contains__(self, form: str) -> bool:
        return form in self._numbers_by_form

    def rarity(self, form: str) -> float:
        """How much a token tells: 1 where the text does not have it, falling towards 0.2 the more passages do."""
        return self._rarity_of(len(self._numbers_by_form.get(form, ())))

    def _rarity_of(self, found: int) -> float:
        rarity = self._rarities.get(found)
        if rarity is None:
            rarity = max(0.2, 1.0 - math.log1p(max(found - 1, 0)) / math.log1p(len(self.passages) + 1))
            self._rarities[found] = rarity
        return rarity

    def _held(self, forms: Collection[str]) -> list[tuple[str, float, list[int]]]:
        """The forms that the text has, in order: each with its rarity and the passages that hold it, by number."""
        numbers = self._numbers_by_form
        return [
            (form, self._rarity_of(len(numbers[form])), numbers[form]) for form in sorted(forms) if form in numbers
        ]

    def shares(self, forms: Collection[str]) -> dict[int, float]:
        """For each passage that holds any of the forms, by its number: the rarity of those that it holds."""
        return _sums(self._held(forms))

    def best(self, forms: Collection[str], *, most: int = 4, context: Collection[str] = ()) -> list[Passage]:
        """Up to `most` passages that together hold the most of the forms' rarity, the best one first.

        Each later passage is chosen for what the earlier ones lack, with a small bonus next to one already chosen.
        Forms of `context` only break ties. Empty where no passage holds any of the forms.
        """
        held = self._held(forms)
        weights = {form: weight for form, weight, _ in held}
        gains = _sums(held)
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


def _sums(held: Iterable[tuple[str, float, list[int]]]) -> dict[int, float]:
    sums: dict[int, float] = defaultdict(float)
    for _, weight, numbers in held:
        for number in numbers:
            sums[number] += weight
    return sums


def _passages(text: str) -> list[Passage]:
    return [
        Passage(number, start, end, form_set(text[start:end]))
        for number, (start, end) in enumerate(sentence_spans(text))
    ]


class PageWords:
    """A text's passages with their words as they stand there, which is less work than a `PageIndex`.

    For who asks what a text has of some words, once or a few times.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        body = text[:MOST_CHARS]
        self._spans = list(sentence_spans(body))
        pieces = [body[start:end] for start, end in self._spans]
        self._words = [ascii_words(piece) if piece.isascii() else set() for piece in pieces]
        self._other_forms = {n: form_set(piece) for n, piece in enumerate(pieces) if not piece.isascii()}
        self._forms = {word: normal_form(word) for word in set().union(*self._words)}

    def index(self, forms: Collection[str]) -> PageIndex:
        """The text's index as far as it holds any of the forms."""
        sought = frozenset(forms)
        wanted = {word: form for word, form in self._forms.items() if form in sought}
        words = frozenset(wanted)
        held = [frozenset([wanted[word] for word in found & words]) for found in self._words]
        for number, found in self._other_forms.items():
            held[number] = found & sought
        spans = enumerate(zip(self._spans, held, strict=True))
        return PageIndex(self.text, [Passage(number, *span, found) for number, (span, found) in spans])


@kept_by_text(lambda words: len(words.text) + 1)
def page_words(text: str) -> PageWords:
    """The words of a text, kept for the next groups that cite it."""
    return PageWords(text)


@kept_by_text(lambda index: len(index.text) + 1)
def page_index(text: str) -> PageIndex:
    """The index of a text, kept for the next groups and rounds that rest on it."""
    return PageIndex(text)
