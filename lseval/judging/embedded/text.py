"""Words of any script as comparable tokens, and sentences with their offsets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lseval.judging.embedded.units import unit_form

_WIDE: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts written without spaces: Japanese kana and Han characters. Hangul separates its words."""

_TOKEN: Final = re.compile(rf"[{_WIDE}]+|(?:(?![{_WIDE}])[^\W_])+(?:['’.](?:(?![{_WIDE}])[^\W_])+)*")
_ASCII_TOKEN: Final = re.compile(r"[A-Za-z0-9]+(?:['.][A-Za-z0-9]+)*")
"""What `_TOKEN` finds in a text of ASCII alone, several times as quickly."""
_LONGEST_WORD: Final = 60
_NO_WORD: Final = frozenset([""])
_WIDE_RUN: Final = re.compile(rf"[{_WIDE}]+")

_STOPWORDS: Final = """
a an the of in on at to for from by with as and or but nor so if than then that this these those it its it's
is are was were be been being am has have had do does did will would can could shall should may might must not
no he she his her him they them their we our us you your i my me who whom whose which what when where why how
there here also very more most such some any each all both into onto over under about after before between
during through out up down off again further just only own same too s t one's him himself herself itself
themselves while because until against per via etc
的 了 是 在 和 与 及 或 为 有 于 等 这 那 其 也 都 而 并 被 把 从 到 对 以 之
der die das und ist ein eine von zu mit le la les des du un une et est el los las y en del que
"""
STOPWORDS: Final = frozenset(_STOPWORDS.split())


@dataclass(frozen=True, slots=True)
class Token:
    """A word, or two neighbouring characters of a script without spaces, with its place in the text.

    `form` is what is compared: width, case, accents and common English endings do not matter.
    """

    form: str
    start: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text in order, stopwords left out. A lone wide character is a token of its own."""
    for match in (_ASCII_TOKEN if text.isascii() else _TOKEN).finditer(text):
        start, end = match.span()
        if not _WIDE_RUN.match(text, start):
            form = normal_form(match.group()[:_LONGEST_WORD])
            if form:
                yield Token(form, start, end)
        elif end - start == 1:
            if text[start] not in STOPWORDS:
                yield Token(text[start], start, end)
        else:
            for place in range(start, end - 1):
                yield Token(text[place : place + 2], place, place + 2)


def token_forms(text: str) -> list[str]:
    """The forms of a text's tokens in order, stopwords left out."""
    if not text.isascii():
        return [token.form for token in tokens(text)]
    # The same, without a token to make for each word.
    return [form for word in _ASCII_TOKEN.findall(text) if (form := normal_form(word[:_LONGEST_WORD]))]


def form_set(text: str) -> frozenset[str]:
    """The forms of a text's tokens, each once: quicker than `tokens`, for what is read only for its words."""
    if not text.isascii():
        return frozenset(token.form for token in tokens(text))
    return frozenset(map(normal_form, ascii_words(text))) - _NO_WORD


def ascii_words(text: str) -> set[str]:
    """The words of an ASCII text as they stand there, each once; `normal_form` makes the tokens' forms of them."""
    words = set(_ASCII_TOKEN.findall(text))
    if max(map(len, words), default=0) > _LONGEST_WORD:
        words = {word[:_LONGEST_WORD] for word in words}
    return words


@lru_cache(maxsize=100_000)
def normal_form(word: str) -> str:
    """The form by which a spaced word is compared; empty for a stopword."""
    plain = unicodedata.normalize("NFKD", word).casefold().replace("’", "'")
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    if plain in STOPWORDS:
        return ""
    if unit := unit_form(plain):
        return unit
    plain = plain.removesuffix("'s").replace(".", "").replace("'", "")
    return _without_ending(plain) if plain.isascii() and plain.isalpha() else plain


def _without_ending(word: str) -> str:
    """A word without a common English ending. Crude on purpose: it need only send like words to like forms."""
    for ending, least in (
        ("ational", 5),
        ("ations", 4),
        ("ation", 4),
        ("ings", 4),
        ("ing", 4),
        ("ied", 3),
        ("ies", 3),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word[: -len(ending)] + ("i" if ending in ("ied", "ies") else "")
    for ending in ("ers", "er", "ed", "es", "ly", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") else word


_BREAK: Final = re.compile(r"\n+|[.!?…]+[\"'”’)\]]*(?=\s)|[。！？；]+[”’」』）]*")
_BREAK_BEGINS: Final = re.compile(r"[\n.!?…。！？；]")
_MARKS: Final = re.compile(r"[.!?…]+")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|no|vol|fig|jr|sr|inc|ltd|co|corp|vs|etc|approx|est|dept|gen|col|lt|sgt|rev|hon|pres"
    r"|gov|sen|rep|op|cit|al|ed|eds|pp|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|u\.s|u\.k|e\.g|i\.e|a\.m|p\.m)|\b[A-Za-z])$",
    re.IGNORECASE,
)
_MEASURED: Final = re.compile(r"\d[\s\u00a0\u202f-]?[mgt]$")
_GOES_ON: Final = re.compile(r"\.\s+[a-z\d]")
LONGEST_SENTENCE: Final = 500
"""A longer stretch without a sentence end is cut, at a space where there is one."""


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence or line, without surrounding white space; blank ones are left out.

    The spans are ascending and do not overlap, each at most `LONGEST_SENTENCE` characters.
    """
    start = 0
    for match in _breaks(text):
        mark = match.group()[0]
        if mark == "." and _is_abbreviation(text, max(start, match.start() - 8), match.start()):
            continue
        yield from _cut(text, start, match.start() if mark == "\n" else match.end())
        start = match.end()
    yield from _cut(text, start, len(text))


def _breaks(text: str) -> Iterator[re.Match[str]]:
    """What `_BREAK.finditer` gives, several times as quickly: only where one of its signs stands it is tried."""
    place = 0
    while begins := _BREAK_BEGINS.search(text, place):
        found = _BREAK.match(text, begins.start())
        if found:
            yield found
        # What keeps one full stop of several from ending a sentence keeps the others too.
        place = (found or _MARKS.match(text, begins.start()) or begins).end()


def _is_abbreviation(text: str, start: int, stop: int) -> bool:
    """Whether the full stop at `stop` is an abbreviation's; after `84 m` it is none where a sentence begins."""
    if not _ABBREVIATION.search(text, start, stop):
        return False
    return not _MEASURED.search(text, start, stop) or bool(_GOES_ON.match(text, stop))


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST_SENTENCE:
        stop = start + LONGEST_SENTENCE
        space = text.rfind(" ", start + LONGEST_SENTENCE // 2, stop)
        stop = space if space > 0 else stop
        yield start, stop
        start = stop
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end


_CLAUSE_END: Final = re.compile(
    r"[,;:](?=\s)|[()–—]|[，；]|\s(?=(?:and|but|while|which|who|with|when|after|before|at an?)\s)", re.IGNORECASE
)


def clause_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Start and end of the clause of `text` that holds `text[start:end]`; a mark inside that stretch ends none."""
    begin, stop = 0, len(text)
    for match in _CLAUSE_END.finditer(text):
        if match.end() <= start:
            begin = match.end()
        elif match.start() >= end:
            stop = match.start()
            break
    return begin, stop
