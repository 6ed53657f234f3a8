"""Searching the made-up web: BM25 over title and text, with the same order for the same query always."""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import Final

import bm25s
import numpy as np

from lseval.domain.web import SearchHit
from lseval.sandbox.kinds import YEAR_NOW, YEAR_OLD
from lseval.sandbox.pages import DEAD, MOVED, NEWS, PagePlace, document_of, places_by_url
from lseval.sandbox.world import World

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it logs every index that it builds

_WORD: Final = re.compile(r"\w+")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n")
_SNIPPET_CHARS: Final = 180
_TITLE_WEIGHT: Final = 2


class Index:
    """A search index over every page of a world that an engine would know."""

    def __init__(self, world: World) -> None:
        self._places: list[PagePlace] = [
            place for place in places_by_url(world).values() if place.page not in (DEAD, MOVED)
        ]
        self._words: dict[str, int] = {}
        corpus = [self._numbered(place) for place in self._places]
        self._model = bm25s.BM25()
        self._model.index(bm25s.tokenization.Tokenized(corpus, dict(self._words)), show_progress=False)

    def search(self, query: str, most: int) -> tuple[SearchHit, ...]:
        """The best pages first, at most that many, equally good ones by address; none without a known word."""
        words = [word for word in tokens(query) if word in self._words]
        if not words or most < 1:
            return ()
        scores = self._model.get_scores(words)
        wanted = min(most, int(np.count_nonzero(scores)))
        if not wanted:
            return ()
        # All that score as much as the last one wanted, so that ties are broken here and not by chance.
        least = np.partition(scores, -wanted)[-wanted]
        found = sorted(np.flatnonzero(scores >= least), key=lambda place: (-scores[place], self._places[place].url))
        sought = frozenset(words)
        return tuple(_hit(self._places[place], sought) for place in found[:wanted])

    def _numbered(self, place: PagePlace) -> list[int]:
        document = document_of(place)
        words = tokens(document.title) * _TITLE_WEIGHT + tokens(document.text)
        return [self._words.setdefault(word, len(self._words)) for word in words]


@lru_cache(maxsize=2)
def index_of(world: World) -> Index:
    """The index of a world, made once."""
    return Index(world)


def tokens(text: str) -> list[str]:
    """The words of a text as they are compared."""
    return _WORD.findall(text.casefold())


def _hit(place: PagePlace, sought: frozenset[str]) -> SearchHit:
    document = document_of(place)
    published = f"{YEAR_OLD + 1}-03-12" if place.page == NEWS else f"{YEAR_NOW}-05-02"
    return SearchHit(place.url, document.title, _snippet(document.text, sought), published)


@lru_cache(maxsize=4_096)  # the same pages are found again and again
def _sentences(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple((sentence, frozenset(tokens(sentence))) for sentence in _SENTENCE.split(text))


def _snippet(text: str, sought: frozenset[str]) -> str:
    """The sentence with the most of the words sought, cut to a snippet's length."""
    told, _ = max(_sentences(text), key=lambda sentence: len(sought & sentence[1]))  # the first of equals
    return told if len(told) <= _SNIPPET_CHARS else told[: _SNIPPET_CHARS - 1].rstrip() + "…"
