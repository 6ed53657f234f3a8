"""Names found in a text: of people, places, works and whatever else is written like one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from lseval.judging.embedded.quantities import MONTH_NAMES
from lseval.judging.embedded.text import normal_form, sentence_spans, token_forms

_CONNECTOR_WORDS: Final = "of de la le du des van von der den del di da do dos &"
_CONNECTORS: Final = frozenset(_CONNECTOR_WORDS.split())
_WORD: Final = re.compile(r"[^\W\d_][\w'’&-]*(?:\.(?=\w))?[\w'’&-]*|&")
_DAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_DAY_FORMS: Final = frozenset(normal_form(day) for day in _DAYS.split())
_CALENDAR: Final = frozenset(normal_form(word) for word in (MONTH_NAMES + " " + _DAYS).split())
_WIDE_RUN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]{3,}|[\u30a0-\u30ff]{2,}|[\uac00-\ud7af]{2,}")
_WIDE_BREAKS: Final = re.compile(
    "[的是在了和与及为有于等由对以也都并而这那其被将从到年月日个约]|以及|因此|其中|位于|成立|创办|创立|建立|发布|包括|占地"
)
_FEWEST_HAN: Final = 3
_MOST_WIDE: Final = 8
_QUOTED_NAME: Final = re.compile(r"[「『《“\"]([^」』》”\"\n]{2,60})[」』》”\"]")


@lru_cache(maxsize=4096)
def names(text: str) -> tuple[str, ...]:
    """The names in a text, in order and once each: capitalised spans, quoted titles, and runs of wide characters.

    A single capitalised word that begins a sentence is left out, since any word would be capitalised there; so are
    names of months and days.
    """
    found: dict[str, None] = {}
    for start, end in sentence_spans(text):
        for name in _capitalised(text[start:end]):
            found.setdefault(name)
    for match in _QUOTED_NAME.finditer(text):
        if token_forms(match[1]):
            found.setdefault(match[1])
    for match in _WIDE_RUN.finditer(text):
        for run in _WIDE_BREAKS.split(match.group()):
            if (_FEWEST_HAN if "\u3400" <= run[:1] <= "\u9fff" else 2) <= len(run) <= _MOST_WIDE:
                found.setdefault(run)
    return tuple(found)


def _capitalised(sentence: str) -> Iterator[str]:
    span: list[tuple[int, int]] = []
    pending: list[tuple[int, int]] = []
    for match in _WORD.finditer(sentence):
        word = match.group()
        is_near = bool(span) and not sentence[(pending or span)[-1][1] : match.start()].strip()
        if word[0].isupper() and (normal_form(word) or span):
            if span and not is_near:
                yield from _name(sentence, span)
                span = []
            elif span:
                span += pending
            span.append(match.span())
            pending = []
        elif is_near and len(pending) < 2 and word in _CONNECTORS:
            pending.append(match.span())
        else:
            yield from _name(sentence, span)
            span, pending = [], []
    yield from _name(sentence, span)


def _name(sentence: str, span: list[tuple[int, int]]) -> Iterator[str]:
    if not span:
        return
    name = sentence[span[0][0] : span[-1][1]].rstrip(".-'’&")
    forms = token_forms(name)
    is_first_word = len(span) == 1 and not sentence[: span[0][0]].strip("\"'“‘(*[ ")
    is_plain_word = name[1:].islower() or len(name) == 1
    if forms and not (is_first_word and is_plain_word) and not all(form in _CALENDAR for form in forms):
        yield name


def weekdays(text: str) -> tuple[str, ...]:
    """The days of the week named in a text, in order and once each."""
    found = (match.group() for match in _WORD.finditer(text) if match.group()[0].isupper())
    return tuple(dict.fromkeys(word for word in found if normal_form(word) in _DAY_FORMS))
