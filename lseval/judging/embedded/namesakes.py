"""Mentions of a name that set it apart, or put it elsewhere: the page is about something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from lseval.judging.embedded.passages import PageIndex, Passage
from lseval.judging.embedded.text import tokens

_SET_APART: Final = re.compile(
    r"\bconfus(?:ed?|ing|ion)\b|\bmistaken? for\b|\bmix(?:ed)? up\b"
    r"|\bno (?:tie|relation|connection|link)s? (?:to|with)\b|\bnothing (?:to do|in common) with\b|\bunrelated to\b"
    r"|\bunlike\b|\b(?:different|distinct) from\b|\bdiffers? from\b|\bnot (?:the same as|the)\b"
    r"|\bnamesakes?\b|\b(?:same|similar) name\b|\b(?:another|the other)\b|混淆",
    re.IGNORECASE,
)
_WITH_WHICH: Final = re.compile(r"\bwith which\b", re.IGNORECASE)
_SPAN: Final = (
    r"\b(?:\d[\d.,]*|an?|half an?|some|several|two|three|four|five|six|ten)\s+"
    r"(?:km|kilomet(?:re|er)s?|miles?|hours?|minutes?|days?)\b"
)
_AWAY_BEFORE: Final = re.compile(
    rf"(?:{_SPAN}(?:(?!\bin\b)[^.;]){{0,30}}\b(?:from|outside|beyond|of)"
    r"|\b(?:far from|outside|beyond|not in|n't in|away from))"
    r"\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_AWAY_AFTER: Final = re.compile(
    rf"^[^.;]{{0,30}}{_SPAN}\s+(?:away|off|to the (?:north|south|east|west)|(?:north|south|east|west)\b)",
    re.IGNORECASE,
)


def is_only_set_apart(name: str, index: PageIndex) -> bool:
    """Whether the page names it, and only to tell it from the page's own subject.

    So it is where every sentence that has the name's words in a row says before them that something is confused
    with it, is unlike it, or has no tie to it. A name with a bracket, a comma or a dash in it counts as named by
    what stands before, where the page never has it in full.
    """
    mentions: list[tuple[Passage, int, int]] = []
    for form in _short_forms(name):
        mentions = mentions or list(_mentions(form, index))
    return bool(mentions) and all(_is_set_apart(index, passage, start) for passage, start, _ in mentions)


_NAME_END: Final = re.compile(r"\s*(?:[(（:：,;]|\s[–—-]\s)")


def _short_forms(name: str) -> list[str]:
    """The name, then what stands before its first bracket, comma, colon or dash."""
    return list(dict.fromkeys((name, _NAME_END.split(name)[0])))


def is_only_elsewhere(place: str, index: PageIndex) -> Passage | None:
    """The first sentence with the place's name where the page has it only as somewhere else; else None.

    Somewhere else is what is set apart, what lies a distance or a time of travel away, and what something is
    outside of.
    """
    mentions = list(_mentions(place, index))
    if not mentions or not all(
        _is_set_apart(index, passage, start) or _is_away(index.words(passage), start, end)
        for passage, start, end in mentions
    ):
        return None
    return mentions[0][0]


def sets_apart(name: str, index: PageIndex) -> bool:
    """Whether the page tells something of that name from its own subject, whatever else it says of the name."""
    return any(_is_set_apart(index, passage, start) for passage, start, _ in _mentions(name, index))


def has_name(name: str, index: PageIndex) -> bool:
    """Whether the page has the name's words in a row."""
    return next(_mentions(name, index), None) is not None


def _mentions(name: str, index: PageIndex) -> Iterator[tuple[Passage, int, int]]:
    """Each passage with the name's tokens in a row, and where in its words they begin and end."""
    wanted = [token.form for token in tokens(name)]
    if not wanted:
        return
    for passage in index.passages:
        if not passage.forms.issuperset(wanted):
            continue
        found = list(tokens(index.words(passage)))
        for place in _places_of(wanted, [token.form for token in found]):
            yield passage, found[place].start, found[place + len(wanted) - 1].end


def _places_of(wanted: Sequence[str], forms: Sequence[str]) -> Iterator[int]:
    for place in range(len(forms) - len(wanted) + 1):
        if forms[place] == wanted[0] and list(forms[place : place + len(wanted)]) == list(wanted):
            yield place


def _is_set_apart(index: PageIndex, passage: Passage, start: int) -> bool:
    words = index.words(passage)
    match = _SET_APART.search(words)
    return match is not None and (match.start() < start or bool(_WITH_WHICH.search(words)))


def _is_away(words: str, start: int, end: int) -> bool:
    return bool(_AWAY_BEFORE.search(words[:start]) or _AWAY_AFTER.match(words[end:]))
