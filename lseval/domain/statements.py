"""Telling words that state something from words that only plan, ask or direct."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CODE_BLOCK = re.compile(r"```[^\n`]*\n\s*\S")
_URL = re.compile(r"https?://\S+|www\.\S+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)*]*\s+|(?<=[。！？；])|\n+")
_LEADING_MARKS = re.compile(
    r"^(?:[\s>#*_\-•·|]+|\(?\d{1,2}[.)、](?!\d)\s*|(?:step|phase|part)\s+\d+\s*[:.)\-–]*\s*|第[一二三四五六七八九十\d]+步[:：]?\s*"
    r"|(?:first|second|third|then|next|now|finally|okay|ok|sure|alright|so|also|therefore|thus|hence|and|but)\b[,:]?\s+"
    r"|(?:首先|其次|然后|接下来|接着|最后|现在|好的)[,，]?\s*)+",
    re.IGNORECASE,
)
_INTENTION = re.compile(
    r"^(?:let(?:'s|’s| me| us)\b"
    r"|(?:i|we)(?:'ll|’ll|'d|’d| will| shall| should| need| must| can now| plan| want| am going| are going"
    r"| have to| would)\b"
    r"|(?:i|we)(?:'m|’m|'re|’re) going to\b"
    r"|(?:to|in order to) \w+|once (?:i|we|you|that|this|the)\b|after (?:that|this|which)\b|if\b|please\b"
    r"|(?:here|this|below|the following|my|our) (?:is|are)?\s*(?:my|our|the|a)?\s*(?:updated |new )?plans?\b"
    r"|(?:could|can|would|should) (?:you|we|i)\b|you (?:are|should|will|can|need|must)\b"
    r"|(?:next )?speaker\b|terminate\b|我(?:们)?(?:将|要|会|来|需要|应该|先|想)|让我(?:们)?|需要|请|为了|如果)",
    re.IGNORECASE,
)
_DIRECTIVE = re.compile(
    r"^(?:search|look|find|open|read|visit|check|verify|confirm|identify|gather|collect|use|navigate|go|click|scroll"
    r"|extract|get|fetch|list|determine|calculate|compute|analy[sz]e|compare|review|provide|ensure|make|try|run|execute"
    r"|locate|retrieve|summari[sz]e|continue|start|begin|examine|explore|consider|write|load|note|enter|ask|cross-check"
    r"|access|filter|select|count|proceed|report|return|define|create|implement|validate|apply|test|browse|query|fix"
    r"|搜索|查找|查看|打开|阅读|确认|核实|检查|寻找)\b(?!:)",
    re.IGNORECASE,
)
_ASSERTS = re.compile(
    r"\b(?:is|are|was|were|am|be|been|has|have|had|does|did|do|isn't|wasn't|aren't|it's|it’s|that's|there's|found|shows?|says?"
    r"|states?|lists?|gives?|means?|won|born|located|contains?|includes?|indicates?|mentions?|suggests?|equals?|held|sold|made"
    r"|became|began|wrote|seems?|appears?|matche?s?|belongs?|remains?|supports?|opens?|costs?|lies|runs|stands|took|came|went"
    r"|published|\w{3,}ed)\b|[=≈:：]\s*\S|是|为|有|在|于|达|成立|发布|位于|表明|显示|说|称|获|被",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<=[\w,;:'\"“(*\[] )[\"“‘'(*\[]*[A-ZÀ-ÖØ-ÞА-Я][\w'’.-]+|\b\w*[a-z][A-Z]\w*|\b[A-Z]{2,}\b")
_QUOTED = re.compile(r"[\"“”「『《][^\"“”」』》]{2,}[\"“”」』》]")
_CONCLUSION = re.compile(
    r"\b(?:therefore|thus|hence|so|conclude|concluded|conclusion|result|results|answer|verified|confirmed|satisfied|correct"
    r"|incorrect|no|not|none|both|neither|only)\b|结果|答案|因此|确认|没有|未",
    re.IGNORECASE,
)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FEWEST_WIDE = 6
_FEWEST_WORDS = 2


def sentences(text: str) -> Iterator[str]:
    """The sentences and lines of a text in order, without leading list marks; blank ones are left out."""
    for piece in _SENTENCE_END.split(text):
        plain = _LEADING_MARKS.sub("", piece).strip()
        if plain:
            yield plain


def is_statement(sentence: str) -> bool:
    """Whether a sentence states something that could be true or false.

    It does when it is no question, intention or directive, has a word that asserts (a form of *be* or *have*, a
    verb in the past, *shows*, *says*, or a colon or equals sign before a value), and holds something to check: a
    number, a name inside the sentence, quoted words, or a word of conclusion such as *confirmed*, *none* or *not*.
    """
    plain = _URL.sub(" ", sentence).strip()
    if plain.endswith(("?", "？", "...", "…")) or _INTENTION.match(plain) or _DIRECTIVE.match(plain):
        return False
    if not _ASSERTS.search(plain):
        return False
    if len(_WIDE.findall(plain)) >= _FEWEST_WIDE:
        return True
    if len(plain.split()) < _FEWEST_WORDS:
        return False
    return any(pattern.search(plain) for pattern in (_NUMBER, _NAME, _QUOTED, _CONCLUSION))


def statements(text: str) -> Iterator[str]:
    """The sentences of a text that state something; see `is_statement`."""
    return (sentence for sentence in sentences(text) if is_statement(sentence))


def makes_claim(text: str) -> bool:
    """Whether a text carries claim content: at least one statement, or a fenced block of code.

    Code counts because an agent that answers with a program claims that the program does what was asked.
    """
    return bool(_CODE_BLOCK.search(text)) or next(statements(text), None) is not None
