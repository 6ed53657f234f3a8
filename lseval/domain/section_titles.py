"""What the titles and lead-ins in an answer say about the part that they open.

A title is recognized as a whole, never by a word inside it: "Sources" opens a list of sources, "Sources of
funding" does not.
"""

from __future__ import annotations

import re

from lseval.domain import answer_words as words

_LONGEST_INLINE = 4000
"""Characters of a piece of inline Markdown that are looked at; a title or lead-in is far shorter."""

_ORDINAL = re.compile(
    r"\d{1,3}(?:\.\d{1,3})*[.、．)）:：]?\s+|\d{1,3}(?:\.\d{1,3})*[.、．)）]\s*|[一二三四五六七八九十]{1,3}[、.．)）]\s*"
    r"|[（(][一二三四五六七八九十\d]{1,3}[)）]\s*|第[一二三四五六七八九十\d]{1,3}[章节部分][、:：.\s]*"
    r"|[IVX]{1,5}[.、)]\s+|[①-⑳]\s*|\d\ufe0f?\u20e3\s*|[A-Z][.)]\s+"
)
_MARKUP = re.compile(r"\*{1,3}|__|`|~~|<[^<>\n]{1,80}>|\\(?=[!-/:-@\[-`{-~])")
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,1000}(?:\([^()\s]{0,200}\)[^()\s]{0,500})?(?:\s\"[^\"\n]{0,200}\")?\)"
)
_EMPHASIS = re.compile(r"(?<![\w_])_([^_\n]{1,200})_(?![\w_])")
_MARKER = re.compile(
    r"\\?\[\^?[\d,;\s–-]{1,40}\^?\\?\](?:\(#[^()\s]{0,80}\))?|【\d[\d,，、†:\-–\sL]{0,40}[^】\n]{0,40}】|［[\d,，、]{1,40}］"
)
_EMPTY_BRACKETS = re.compile(r"[ \t]?(?:\([\s,;]{0,40}\)|（[\s,，;；、]{0,40}）)")
_EDGE = " \t\n#*_>|:：-–—.。,，;；·•~"
_REMARK = re.compile(r"\s*[(（][^()（）]{0,80}[)）]\s*$")
_PICTOGRAPHS = re.compile(r"^\W+")

_REFERENCE = re.compile(
    rf"(?:{words.REFERENCE_QUALIFIER}\s+){{0,2}}{words.REFERENCE_NOUN}"
    rf"(?:\s*(?:and|&|/|,)\s*(?:{words.REFERENCE_NOUN}|links?|notes?|urls?))?"
    r"(?:\s+(?:list|cited|used|consulted|and links|section|urls?|links?))?"
    rf"|{words.REFERENCE_HAN_QUALIFIER}{{0,3}}的?{words.REFERENCE_HAN}(?:列表|目录|清单|一覧|[及与]?链接)?"
    rf"(?:(?:以及|[与和及、/])(?:主要|权威|原始|数据|参考)?{words.REFERENCE_HAN_SECOND})?",
    re.IGNORECASE,
)
_FRAME = re.compile(
    rf"{words.FRAME}(?:\s*(?:and|&|/)\s*{words.FRAME_SECOND})?"
    rf"|{words.FRAME_HAN}(?:[与和及、/]{words.FRAME_HAN_SECOND})?",
    re.IGNORECASE,
)
_FRAME_WITH_TOPIC = re.compile(rf"{words.FRAME_BEFORE_TOPIC}\s*[:：]", re.IGNORECASE)
_SUPPORT = re.compile(
    rf"(?:(?:^|[\s(]){words.SUPPORT}[^\n:：]{{0,30}}|{words.SUPPORT_HAN}[^\n:：]{{0,8}})$", re.IGNORECASE
)
_PLURAL = re.compile(r"\b(?:are|the (?:following|top))\b", re.IGNORECASE)
_ENUMERATES = re.compile(rf"\b{words.ENUMERATES}\b|{words.ENUMERATES_HAN}", re.IGNORECASE)
_SINGULAR = re.compile(r"\b(?:is|was|as|be)\s*[:：]?\s*$", re.IGNORECASE)
_STATES = re.compile(r"\*\*|__|\b(?:is|was|answer)\b|是|为|答案", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.。!?！？]\s*")


def plain(markup: str) -> str:
    """The words of a piece of inline Markdown: no emphasis, link targets, citation markers or HTML tags."""
    text = without_markers(_LINK.sub(r"\1", markup[:_LONGEST_INLINE]))
    return " ".join(_EMPHASIS.sub(r"\1", text).split())


def without_markers(markup: str) -> str:
    """A piece of inline Markdown without citation markers and emphasis; links and line breaks stay."""
    return _MARKUP.sub("", _EMPTY_BRACKETS.sub("", _MARKER.sub("", markup))).strip()


def clean_title(markup: str) -> str:
    """A heading's words without its own ordinal, hash signs and closing colon."""
    text = plain(markup).strip(_EDGE)
    ordinal = _ORDINAL.match(text)
    return (text[ordinal.end() :].strip(_EDGE) or text) if ordinal else text


def is_reference_title(markup: str) -> bool:
    """Whether these words, as a whole, announce a list of sources."""
    return _REFERENCE.fullmatch(_without_remark(clean_title(markup))) is not None


def announces_sources(markup: str) -> bool:
    """Whether a paragraph begins as `Sources:` or `**Source**: ...` does."""
    head, colon, _ = markup.partition("\n")[0][:200].replace("：", ":").partition(":")
    return bool(colon) and is_reference_title(head)


def is_frame_title(markup: str) -> bool:
    """Whether these words, as a whole, open a part that frames the answer: introduction, conclusion, notes."""
    title = _without_remark(clean_title(markup))
    return bool(_FRAME.fullmatch(title) or _FRAME_WITH_TOPIC.match(title))


def is_support_lead(markup: str) -> bool:
    """Whether a lead-in announces evidence, reasoning or notes rather than answer units."""
    last = _SENTENCE_END.split(plain(markup).strip(_EDGE))[-1][-120:]
    return bool(_SUPPORT.search(last)) and not _PLURAL.search(last)


def announces_list(markup: str) -> bool:
    """Whether a lead-in says that several things follow."""
    end = plain(markup)[-300:].rstrip()
    if _SINGULAR.search(end):
        return False
    return end.endswith((":", "：")) or bool(_ENUMERATES.search(end))


def states_answer(markup: str) -> bool:
    """Whether a lead-in already gives an answer, so that what follows may only support it."""
    return bool(_STATES.search(markup))


def _without_remark(title: str) -> str:
    """The title without a remark in brackets at its end and without a pictograph before it."""
    return _PICTOGRAPHS.sub("", _REMARK.sub("", title)).strip(_EDGE) or title
