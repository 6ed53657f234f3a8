"""Which words of a page or a round are marked for a labeler: by the words of the answer group, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from lseval.judging.embedded.passages import PageWords, page_words
from lseval.judging.embedded.text import token_forms, tokens

Span = tuple[int, int]

PASSAGES_MARKED: Final = 6
LONGEST_SHOWN: Final = 200_000
"""Characters of a snapshot that a page shows. What is longer is cut, and the page says so."""
_SHORTEST_WORD: Final = 3
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_LEAST_SHARE: Final = 1 / 3
_URL: Final = re.compile(r"https?://[^\s<>)\]]+")


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text as HTML with its marks, how many there are, and whether it was cut at `LONGEST_SHOWN`."""

    html: SafeString
    marks: int
    is_cut: bool = False


def group_forms(title: str, text: str, fields: Mapping[str, object]) -> frozenset[str]:
    """The comparable forms of a group's words: its title, its text and its fields, without addresses."""
    words = "\n".join([title, text, *(f"{name} {value}" for name, value in fields.items())])
    return frozenset(token_forms(_URL.sub(" ", words)))


def nearest_passages(text: str, forms: Collection[str], most: int = PASSAGES_MARKED) -> list[Span]:
    """Where the passages stand that share most with the group, in the order of the text; at most `most`.

    Only the part of the text that a page shows is looked at.

    First those that together hold the most of the group's words, then those that each hold at least a third as much
    as the best one, so that a second mention of the same fact is marked too.
    """
    index = words_shown(text).index(forms)
    together = index.best(forms, most=most)
    shares = index.shares(forms)
    least = _LEAST_SHARE * max(shares.values(), default=0.0)
    alone = sorted(shares, key=lambda number: (-shares[number], number))
    chosen = {passage.number for passage in together}
    chosen.update(number for number in alone[:most] if least <= shares[number])
    ranked = sorted(chosen, key=lambda number: (-shares[number], number))[:most]
    return sorted((index.passages[number].start, index.passages[number].end) for number in ranked)


def words_shown(text: str) -> PageWords:
    """The words of the part of a text that a page shows; kept for the next groups that cite the same page."""
    return page_words(text[:LONGEST_SHOWN])


def word_forms(*texts: str) -> frozenset[str]:
    """The comparable forms of the words and numbers of some texts, for `shared_words`."""
    return frozenset(form for text in texts for form, _, _ in _words_and_numbers(text))


def shared_words(text: str, forms: Collection[str]) -> list[Span]:
    """Where words and numbers of the text stand that are among the forms, neighbours joined, in order.

    Left out are very short words, and numbers of one digit, which most often count lines or sources.
    """
    spans: list[Span] = []
    for form, start, end in _words_and_numbers(text):
        if form not in forms:
            continue
        if spans and not text[spans[-1][1] : start].strip():
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        else:
            spans.append((start, end))
    return spans


def _words_and_numbers(text: str) -> Iterator[tuple[str, int, int]]:
    """Form, start and end of each word and of each number taken whole: 305,000 is one, and is not 000."""
    found = [
        (match.group().replace(",", ""), *match.span())
        for match in _NUMBER.finditer(text)
        if len(match.group()) > 1
    ]
    for token in tokens(text):
        is_short = token.form.isascii() and token.form.isalpha() and len(token.form) < _SHORTEST_WORD
        if not is_short and not token.form.isdecimal():
            found.append((token.form, token.start, token.end))
    yield from sorted(found, key=lambda word: word[1:])


def marked(text: str, spans: Iterable[Span], *, anchor: str = "") -> MarkedText:
    """The text with its spans in `<mark>`, everything escaped.

    `spans` are ascending and do not overlap. With an `anchor` the marks carry the ids `<anchor>1`, `<anchor>2`, ...
    """
    shown = text[:LONGEST_SHOWN]
    within = [(start, min(end, len(shown))) for start, end in spans if start < len(shown)]
    return MarkedText(_with_marks(shown, within, anchor), len(within), len(shown) < len(text))


def _with_marks(text: str, spans: Sequence[Span], anchor: str) -> SafeString:
    pieces: list[str] = []
    reached = 0
    for number, (start, end) in enumerate(spans, 1):
        identity = f' id="{escape(anchor)}{number}"' if anchor else ""
        pieces += [escape(text[reached:start]), f"<mark{identity}>", escape(text[start:end]), "</mark>"]
        reached = end
    pieces.append(escape(text[reached:]))
    return mark_safe("".join(pieces))  # noqa: S308 - every piece of the text has been escaped
