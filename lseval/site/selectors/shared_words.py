"""The words that a round and a group share, which show where the group's content may have come in."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

LEAST_LETTERS: Final = 4
COMMON: Final = frozenset(
    [
        "about",
        "after",
        "also",
        "because",
        "been",
        "before",
        "between",
        "both",
        "could",
        "does",
        "during",
        "each",
        "first",
        "from",
        "have",
        "here",
        "however",
        "into",
        "just",
        "like",
        "made",
        "make",
        "many",
        "more",
        "most",
        "much",
        "must",
        "only",
        "other",
        "over",
        "said",
        "same",
        "should",
        "since",
        "some",
        "such",
        "than",
        "that",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "under",
        "until",
        "used",
        "using",
        "very",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "will",
        "with",
        "within",
        "without",
        "would",
        "your",
        "http",
        "https",
        "html",
    ]
)
"""Words too frequent to tell anything."""

_WORD: Final = re.compile(r"\w+")
_ADDRESS: Final = re.compile(r"https?://[^\s)\]>|]+")


def telling_words(text: str) -> frozenset[str]:
    """The words of a text that may tell something: of four letters or more and not common, or with a digit.

    Those of addresses are left out: hosts and paths are much the same on all pages of a site.
    Text without blanks between its words, as Chinese has it, is compared in whole runs of signs.
    """
    return frozenset(
        word
        for found in _WORD.findall(_ADDRESS.sub(" ", text))
        if (word := found.casefold()) not in COMMON
        and (len(word) >= LEAST_LETTERS or any(sign.isdigit() for sign in word))
    )


def marked(text: str, words: Collection[str]) -> SafeString:
    """The text as HTML, with each of the given words in a `mark`."""
    pieces: list[str] = []
    after = 0
    for found in _WORD.finditer(text):
        if found[0].casefold() in words:
            pieces += [escape(text[after : found.start()]), "<mark>", escape(found[0]), "</mark>"]
            after = found.end()
    pieces.append(escape(text[after:]))
    return mark_safe("".join(pieces))  # noqa: S308 - every piece of the text is escaped above
