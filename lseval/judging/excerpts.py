"""The parts of long pages that a judge is shown: the best passages of the whole page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lseval.judging.embedded.passages import PageIndex, page_index
from lseval.judging.embedded.text import token_forms

GAP: Final = "\n[...]\n"
_PASSAGES_A_CLAIM: Final = 6
_REACH: Final = 2


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is shown of a text; `is_cut` says that something was left out."""

    text: str
    is_cut: bool


def excerpts(texts: Sequence[str], claims: Sequence[str], room: int) -> list[Excerpt]:
    """An excerpt of each text, `room` characters in all at most, in the order of the texts.

    Short texts are shown whole, and what they leave is shared by the others. Of a longer one, the passages that
    hold the most of the claims' rare words are taken from its whole length, with their neighbours; then, as far as
    its share goes, its beginning, which says what the page is.
    """
    shares = _shares([len(text) for text in texts], room)
    return [
        Excerpt(text, False) if len(text) <= share else _cut(page_index(text), claims, share)
        for text, share in zip(texts, shares, strict=True)
    ]


def _shares(lengths: Sequence[int], room: int) -> list[int]:
    """Room for each text: equal, but what a short one does not need goes to the longer ones."""
    shares = [0] * len(lengths)
    left = room
    order = sorted(range(len(lengths)), key=lambda place: lengths[place])
    for done, place in enumerate(order):
        shares[place] = min(lengths[place], left // (len(order) - done))
        left -= shares[place]
    return shares


def _cut(index: PageIndex, claims: Sequence[str], room: int) -> Excerpt:
    chosen: set[int] = set()
    used = 0
    for number in _ranked(index, claims):
        passage = index.passages[number]
        length = passage.end - passage.start + len(GAP)
        if number not in chosen and used + length <= room:
            chosen.add(number)
            used += length
    parts: list[str] = []
    before = None
    for number in sorted(chosen):
        passage = index.passages[number]
        if before is not None:
            parts.append(index.text[before.end : passage.start] if number == before.number + 1 else GAP)
        parts.append(index.words(passage))
        before = passage
    return Excerpt("".join(parts)[:room] or index.text[:room], True)


def _ranked(index: PageIndex, claims: Sequence[str]) -> list[int]:
    """Numbers of passages, the most telling first: each claim's best with neighbours, then the beginning."""
    best = [index.best(set(token_forms(claim)), most=_PASSAGES_A_CLAIM) for claim in claims]
    ranked: list[int] = []
    for place in range(_PASSAGES_A_CLAIM):
        for passages in best:
            if place < len(passages):
                ranked += [passage.number for passage in index.around([passages[place]], _REACH)]
    return list(dict.fromkeys([*ranked, *range(len(index.passages))]))
