"""A response's words without its markup."""

from __future__ import annotations

import re
from typing import Final

_MOST_CHARS: Final = 50_000

_LINK: Final = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:[ \t]\"[^\"\n]*\")?\)")
_URL: Final = re.compile(r"<?(?:https?://|www\.)(?:[^\s<>()\]】）」]|\([^\s<>()]{0,200}\))+>?")
_MARKER: Final = re.compile(
    r"\[\^?\d{1,3}(?:\s*[,;，、–-]\s*\^?\d{1,3})*\]|【\d{1,3}[^【】\n]{0,40}】"
    r"|(?<=[^\d\s])(?<!\b[mM])(?<!\b[kc]m)[⁰¹²³⁴⁵⁶⁷⁸⁹]+(?=[\s.,;]|$)|<sup>.{0,40}?</sup>|</?cite[^>]{0,80}>"
)
_BARE_MARKER: Final = re.compile(r"\s*\^?\d{0,3}\s*|(?i:sources?|links?|来源)")
_SOURCE_TAIL: Final = re.compile(
    r"[(\[（]?(?<![A-Za-z])(?:sources?|references?|citations?|urls?|links?|来源|參考|参考|出处)"
    r"[ \t]{0,3}[:：][)\]） \t,;|.]*$",
    re.IGNORECASE | re.MULTILINE,
)
_MARKUP: Final = re.compile(
    r"[*`~]{1,3}(?=\S)|(?<=\S)[*`~]{1,3}|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)"
    r"|^[ \t]*(?:#{1,6}|>+|[-+*•·]|\(?\d{1,3}[.)、](?!\d))[ \t]+|\\(?=[*_\[\]])",
    re.MULTILINE,
)
_ORDINAL: Final = re.compile(
    r"^([ \t]*(?:[-+*•·][ \t]+)?(?:#{1,6}[ \t]+)?(?:\*\*|__)?)"
    r"(?:\(?\d{1,3}[.)](?!\d)(?=[\s*_])|（\d{1,3}）|\d{1,3}[、．](?!\d)|[①-⑳]|\d\ufe0f?\u20e3|#\d{1,3}[.):：]?(?=[\s*_]))"
    r"(\*\*|__)?[ \t]*",
    re.MULTILINE,
)
"""The number of an item, a heading or a bold line, with the signs round it."""

_EMPTY_BRACKETS: Final = re.compile(r"\([ ,;]*\)|\[[ ,;]*\]|（[ ，；、]*）|【[ ]*】")
_RULE: Final = re.compile(r"^[ \t|:=_-]+$", re.MULTILINE)


def plain_words(text: str) -> str:
    """A text without URLs, citation markers, markdown signs and the numbers of items and headings.

    A link leaves its label, a table its cells. Control characters become spaces. Line ends stay.
    """
    clean = "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text[:_MOST_CHARS])
    clean = _LINK.sub(lambda link: "" if _BARE_MARKER.fullmatch(link[1]) else link[1], clean)
    clean = _MARKER.sub("", _URL.sub("", _ORDINAL.sub(r"\1\2", clean)))
    clean = _EMPTY_BRACKETS.sub("", _SOURCE_TAIL.sub("", clean))
    clean = _RULE.sub("", _MARKUP.sub("", clean)).replace("|", "\n")
    lines = (re.sub(r"\s+", " ", line).strip(" ,;") for line in clean.split("\n"))
    return "\n".join(line for line in lines if line)
