"""The embedded baseline for rubrics: what a question asks for, by its wording alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.text import sentence_spans

MOST_REQUIRED: Final = 100
"""A larger number in a request is no required count."""

MOST_CONSTRAINTS: Final = 12
_MOST_CHARS: Final = 20_000
_LONGEST_CONSTRAINT: Final = 200
_PLAIN_UNIT: Final = "thing asked for"

_NUMBER_WORDS: Final = "one two three four five six seven eight nine ten eleven twelve"
_WIDE_DIGITS: Final = "一二三四五六七八九十"
_COUNTS: Final = {word: count for count, word in enumerate(_NUMBER_WORDS.split(), start=1)} | {
    digit: count for count, digit in enumerate(_WIDE_DIGITS, start=1)
}
_COUNTS.update({"fifteen": 15, "twenty": 20, "a couple of": 2, "两": 2})
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{_NUMBER_WORDS.replace(' ', '|')}|fifteen|twenty|a couple of)"
_NO_MEASURE: Final = (
    r"(?![,.]\d|\s*(?:%|°|(?:percent|years?|months?|weeks?|days?|hours?|minutes?|seconds?|miles?|km|kilomet\w+|met(?:er|re)s?|feet"
    r"|ft|kg|kilograms?|pounds?|dollars?|euros?|usd|million|billion|thousand|hundred|times|degrees?|am|pm|or|to|and)\b))"
)
_THING: Final = r"(?:\s+(?P<thing>[^\W\d_][\w'’-]*(?:\s+[^\W\d_][\w'’-]*){0,3}))?"
_ASKS: Final = (
    r"(?:list|name|find|identify|give|provide|recommend|suggest|select|choose|pick|show|return|report|tell|get|locate"
    r"|mention|compare|propose|collect|cite|describe|rank|supply|output|need|want)"
)
_FILLERS: Final = (
    r"(?:\s+(?:me|us|out|up|to|at|least|exactly|any|all|the|a|list of|set of|names? of|different|distinct"
    r"|only|just|some|about|for)){0,6}"
)
_WIDE_COUNT: Final = rf"(?P<count>\d{{1,3}}|[两{_WIDE_DIGITS}])"
_REQUESTS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\btop[\s-]{_COUNT}\b{_NO_MEASURE}{_THING}",
        rf"\b{_ASKS}\b{_FILLERS}\s+{_COUNT}\b{_NO_MEASURE}{_THING}",
        rf"\b(?:which|what|who)(?:\s+(?:are|were|is))?(?:\s+the)?\s+{_COUNT}\b{_NO_MEASURE}{_THING}",
        r"(?:列出|列举|找出|找到|给出|推荐|举出|选出|提供|介绍|说出|写出|筛选出?|哪)"
        rf"(?:至少|最少|其中|我|你|任意|不同的?|以下)*{_WIDE_COUNT}\s*(?:个|家|种|位|名|所|部|本|款|项|条|座|篇|张|件|首|支|只|例|类|组)",
        rf"前{_WIDE_COUNT}(?:个|家|种|位|名|所|部|本|款|项|条|座|大|强|的)",
    )
)
_ENDINGS: Final = (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("s", ""))


@dataclass(frozen=True, slots=True)
class _Request:
    """How many of what is asked for, and where the question says so."""

    count: int = 1
    thing: str = _PLAIN_UNIT
    span: tuple[int, int] = (0, 0)


def derive_rubric(question: str) -> RubricRecord:
    """The rubric that a question's wording implies.

    The required count is the number of things asked for (*list five*, *top 10*, *which two*, 列出5个), 1 where none
    is told. Constraints are the question's limiting clauses as they stand. Required fields are the attributes asked
    for with each of several things (*with their founding year and location*; *for each, give …*). The same question
    always gives the same rubric; an empty one asks for one thing without constraint.
    """
    text = question[:_MOST_CHARS].replace("\x00", " ")
    request = _request(text)
    fields, spans = _required_fields(text, request.count)
    return RubricRecord(
        required_count=request.count,
        constraints=tuple(_constraints(text, (*spans, request.span))),
        grouping_rule=f"Each {request.thing} that the response names is one answer group, with all it says of it.",
        required_fields=fields,
    )


def _request(text: str) -> _Request:
    for pattern in _REQUESTS:
        for match in pattern.finditer(text):
            told = match["count"].casefold()
            count = int(told) if told.isdecimal() else _COUNTS[told]
            if 1 <= count <= MOST_REQUIRED:
                return _Request(count, _unit(match.groupdict().get("thing") or ""), match.span("count"))
    return _Request()


def _unit(thing: str) -> str:
    """The asked-for thing in the singular, if one of its first three words is a plural; else plain words for it."""
    words = thing.split()[:3]
    for place, word in enumerate(words):
        if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
            plural, singular = next(ending for ending in _ENDINGS if word.endswith(ending[0]))
            return " ".join((*words[:place], word.removesuffix(plural) + singular))
    return _PLAIN_UNIT


_FIELDS: Final = r"\s*(?P<fields>[^.;:?!()\n]{2,200})"
_FIELD_LEADS: Final = re.compile(
    r"(?:\b(?:for|of) each(?: one| of them| \w+)?,?\s*(?:please\s+)?(?:give|provide|include|state|list|report"
    r"|specify|indicate|note|mention|tell)(?: me| us)?(?: its| their| the)?\b"
    r"|\b(?:along|together) with (?:its|their)\b)" + _FIELDS,
    re.IGNORECASE,
)
_FIELD_LEADS_OF_SEVERAL: Final = re.compile(
    r"(?:\b(?:with|including|as well as|and|include|provide|give|state|specify|report) (?:its|their)\b"
    r"|(?:以及|并给出|并说明|并注明|包括|包含|注明|及|和|，)(?:其(?![中他次实])|它们的|他们的|各自的))"
    + _FIELDS.replace("\\n", "\\n。；？！"),
    re.IGNORECASE,
)
_FIELD_SPLIT: Final = re.compile(
    r"\s*(?:,\s*(?:and|or)\s+|,\s*|\s+and\s+|、|以及|和|及|，)\s*(?:(?:its|their|the|an?|his|her)\s+|其)?",
    re.IGNORECASE,
)
_FIELD_END: Final = re.compile(
    r"\s+(?:that|which|who|where|when|if|in order|so that|from|using|based on|according to|as of|for each|of each"
    r"|in a|as a|sorted|ordered)\b.*",
    re.IGNORECASE,
)
_FIELD_NAME: Final = re.compile(r"[^\W\d_][\w'’/-]*(?: [\w'’/-]+){0,4}")
_MOST_WIDE_FIELD: Final = 8
_LINK_FIELD: Final = re.compile(r"(?:\w+ )?(?:urls?|links?|sources?|citations?|references?)", re.IGNORECASE)


def _required_fields(text: str, required_count: int) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """The fields asked for, and where in the text that is; sources are citations and no field."""
    leads = list(_FIELD_LEADS.finditer(text))
    if required_count > 1:
        leads += _FIELD_LEADS_OF_SEVERAL.finditer(text)
    found: dict[str, None] = {}
    spans: list[tuple[int, int]] = []
    for match in leads:
        listed = _FIELD_END.sub("", match["fields"])
        spans.append((match.start(), match.start("fields") + len(listed)))
        for field in _FIELD_SPLIT.split(listed.strip()):
            name = field.strip()
            is_name = bool(_FIELD_NAME.fullmatch(name)) and (
                name.isascii() or len(name) <= _MOST_WIDE_FIELD or " " in name
            )
            if is_name and not _LINK_FIELD.fullmatch(name):
                found.setdefault(name)
    return tuple(found), spans


_OPENING: Final = re.compile(
    r"(?:in|as of|during|before|after|since|between|on|at|according to|from|by|within|under)\b[^,?!]{2,80}(?=,)",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"(?:,\s*|\s+)(?:and\s+)?(?=(?:that|who|whose|where|with|without|located in|based in|founded|established"
    r"|published|released|born|built|having|excluding|including|not including|along with|together with|as well as"
    r"|within|under|over|below|above|which (?!of\b))\b)"
    r"|,\s*(?:and\s+)?(?=(?:between|before|after|since|until|during|at least|at most|more than|fewer than|less than"
    r"|no more|as of|only)\b)"
    r"|\s+and\s+(?=(?:has|have|had|is|are|was|were|does|do|did)\b)|[，；]|;\s+",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(r"^(?:that|which|who|and)\s+", re.IGNORECASE)
_WIDE_LIMIT: Final = re.compile(r"必须|不超过|不少于|至少|位于|之前|之后|以上|以下|以内|期间")
_EDGES: Final = " ,?.!;:\"'。？！；，：\n\t"


def _constraints(text: str, told_otherwise: Sequence[tuple[int, int]]) -> Iterator[str]:
    """The limiting clauses of each sentence, first ones first; what is told as a count or as fields is left out."""
    found: dict[str, None] = {}
    for start, end in sentence_spans(text):
        for begin, stop, is_limit in _clauses(text, start, end):
            clause = _LEADING.sub("", text[begin:stop].strip(_EDGES))
            is_told = any(first < stop and begin < last for first, last in told_otherwise)
            is_wordy = len(clause.split()) > 1 or not clause.isascii()
            if is_wordy and not is_told and (is_limit or _WIDE_LIMIT.search(clause)):
                found.setdefault(clause[:_LONGEST_CONSTRAINT])
    yield from list(found)[:MOST_CONSTRAINTS]


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Start and end of each clause of a sentence, and whether its form alone makes it a limit.

    The first clause is the request itself, unless it is an opening phrase such as *in 2015*. A clause of one word
    stays with the one after it.
    """
    opening = _OPENING.match(text, start, end)
    if opening:
        yield opening.start(), opening.end(), True
        start = opening.end() + 1
    begin, is_first = start, True
    for match in _CLAUSE.finditer(text, start, end):
        is_wide = match.group()[0] in "，；"
        if (
            not is_first
            and len(_LEADING.sub("", text[begin : match.start()].strip(_EDGES)).split()) < 2
            and not is_wide
        ):
            continue
        if match.start() > begin and text[begin : match.start()].strip(_EDGES):
            yield begin, match.start(), not is_first
            is_first = is_wide
        begin = match.end()
    yield begin, end, not is_first
