"""What each label means by the codebook that is in force: one line a label, for the buttons."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from annotation.codebook import CODEBOOK_VERSION, QUESTIONS
from annotation.codebooks import codebook_text
from annotation.models import Audit

_HEADING: Final = re.compile(r"#{1,6}\s+(.*?)[\s#]*$")
_DEFINED: Final = re.compile(r"\s*[-*+]\s+\*\*(.{1,60}?)\*\*\s*(?:\([^()]{1,10}\))?\s*:\s*(.*)$")
_EXAMPLE: Final = re.compile(r"\s*[*_]{0,2}Example:.*$", re.DOTALL)
_MARKS: Final = re.compile(r"[*_`]{1,3}(?=\S)(.+?)(?<=\S)[*_`]{1,3}")
_LONGEST_MEANING: Final = 600
_TEXTS_KEPT: Final = 8


def meanings_in_force(audit: Audit, kind: str) -> Mapping[str, str]:
    """Label to what it means by the audit's codebook, for one kind of item.

    A label that it does not define is left out. The program's own words stand for version 1 only: a version that a
    lead has written may say otherwise. One query where the version is a lead's.
    """
    if audit.codebook_version == CODEBOOK_VERSION:
        return {choice.value: choice.meaning for choice in QUESTIONS[kind].choices}
    return meanings_in(codebook_text(audit.study_id, audit.codebook_version)).get(kind, {})


@lru_cache(maxsize=_TEXTS_KEPT)
def meanings_in(text: str) -> Mapping[str, Mapping[str, str]]:
    """Kind of item to label to meaning, as a codebook's Markdown defines them.

    A label is defined by a list entry that begins with its word in bold and a colon, under the heading of its kind
    of item, as in version 1. What follows in the entry is its meaning, without examples and marks.
    """
    found: dict[str, dict[str, str]] = {kind: {} for kind in QUESTIONS}
    titles = {_plain(question.title): kind for kind, question in QUESTIONS.items()}
    kind = label = ""
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            kind, label = titles.get(_plain(heading[1]), ""), ""
        elif not kind:
            continue
        elif entry := _DEFINED.match(line):
            words = {_plain(choice.word): choice.value for choice in QUESTIONS[kind].choices}
            label = words.get(_plain(entry[1]), "")
            if label:
                found[kind][label] = entry[2]
        elif label and line.strip() and line[:1].isspace():
            found[kind][label] += f" {line.strip()}"
        else:
            label = ""
    return {
        kind: {label: cleaned for label, said in of_kind.items() if (cleaned := _cleaned(said))}
        for kind, of_kind in found.items()
    }


def undescribed_in(text: str) -> list[tuple[str, str]]:
    """The labels that a codebook's Markdown does not define, as (title of the kind of item, word of the label)."""
    found = meanings_in(text)
    return [
        (question.title, choice.word)
        for kind, question in QUESTIONS.items()
        for choice in question.choices
        if choice.value not in found[kind]
    ]


def _cleaned(said: str) -> str:
    plain = " ".join(_MARKS.sub(r"\1", _EXAMPLE.sub("", said)).split())
    return plain if len(plain) <= _LONGEST_MEANING else f"{plain[:_LONGEST_MEANING].rsplit(' ', 1)[0]} …"


def _plain(words: str) -> str:
    """Words as they are compared: a dash is a dash, and capitals do not matter."""
    return re.sub(r"[\u2010-\u2015-]", "-", words).strip().casefold()
