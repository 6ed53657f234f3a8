"""What the pages of a run and of a round say of their keys, and the words that their scripts leave aside."""

from __future__ import annotations

from typing import Final

from lseval.site.selectors.shared_words import COMMON

RUN_SHORTCUTS: Final = [
    {"key": "j", "does": "Next round"},
    {"key": "k", "does": "Round before"},
    {"key": "n", "does": "Next flagged round"},
    {"key": "g", "does": "Next answer group, with the rounds that led to it; after the last, none"},
    {"key": "o", "does": "The round on a page of its own"},
    {"key": "?", "does": "This list"},
]
ROUND_SHORTCUTS: Final = [
    {"key": "j", "does": "Next round"},
    {"key": "k", "does": "Round before"},
    {"key": "n", "does": "Next flagged round"},
    {"key": "u", "does": "Up to the whole run"},
    {"key": "?", "does": "This list"},
]
RUN_CONTEXT: Final = {"shortcuts": RUN_SHORTCUTS, "common_words": " ".join(sorted(COMMON))}
