"""The passages of a page that are nearest to a few words: by words alone, the same every time."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass

LONGEST_PASSAGE = 400
MOST_INDEXED_CHARS = 2_000_000
_LEAST_SHARE = 0.5
_BOUNDARY = re.compile(r"\n+|(?<=[.!?])\s+|(?<=[。！？；])")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_SHORTEST_STEM = 4
_LITTLE_WORDS = frozenset(
    (
        "a",
        "an",
        "and",
        "at",
        "by",
        "for",
        "from",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "the",
        "to",
        "was",
        "what",
        "with",
    )
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A line or sentence of the text, with the offset of its first character."""

    start: int
    text: str


class PassageIndex:
    """The lines and sentences of a text with their words."""

    def __init__(self, text: str) -> None:
        self._passages: list[Passage] = []
        self._words: list[frozenset[str]] = []
        start = 0
        text = text[:MOST_INDEXED_CHARS]
        for found in _BOUNDARY.finditer(text):
            self._add(text, start, found.start())
            start = found.end()
        self._add(text, start, len(text))
        self._spread = Counter(word for words in self._words for word in words)

    def nearest(self, name: str, most: int = 2) -> tuple[Passage, ...]:
        """The passages that have the greatest share of the name's words, rare words counting more.

        Words that stand nowhere on the page count for nothing; at least half of the weight of the others must be in
        a passage, else nothing comes back. Of equals the earlier is first.
        """
        wanted = sorted(word for word in _words_of(name) - _LITTLE_WORDS if self._spread[word])
        if not wanted:
            return ()
        weights = {word: math.log(1 + len(self._passages) / (1 + self._spread[word])) for word in wanted}
        total = sum(weights.values())
        scored = [
            (sum(weight for word, weight in weights.items() if word in words), -index)
            for index, words in enumerate(self._words)
        ]
        best = sorted(scored, reverse=True)[:most]
        return tuple(self._passages[-index] for score, index in best if score >= _LEAST_SHARE * total)

    def _add(self, text: str, start: int, end: int) -> None:
        piece = text[start:end]
        plain = piece.strip()
        if plain:
            self._passages.append(Passage(start + piece.index(plain), plain[:LONGEST_PASSAGE]))
            self._words.append(_words_of(plain))


def _words_of(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text.casefold()))


def _stem(word: str) -> str:
    """The word without a plural's or a verb's ending, so that *opened* and *opening* meet."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word
