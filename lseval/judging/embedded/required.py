"""Which required fields an answer group leaves out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lseval.judging.embedded.claims import Claim, claims_of_group
from lseval.judging.embedded.meeting import counted
from lseval.judging.embedded.plain import plain_words
from lseval.judging.embedded.quantities import Number, Quantities, quantities
from lseval.judging.embedded.surroundings import dimension_after
from lseval.judging.embedded.text import token_forms

_IS_DATE: Final = re.compile(r"\b(?:years?|dates?|when|day|month)\b|年|日期|时间", re.IGNORECASE)
_IS_LENGTH: Final = re.compile(
    r"\b(?:length|height|width|depth|span|altitude|elevation|distance|diameter|aperture|radius|thickness)\b|高度|长度|海拔",
    re.IGNORECASE,
)
_IS_NUMBER: Final = re.compile(
    r"\b(?:number|designation|code|count|price|cost|amount|size|population|revenue|score|rating|area|total|percent\w*|rank\w*|age|quantity|weight"
    r"|budget|funding|salary|fee|fare|maximum|minimum|limit|threshold|level|capacity|speed)\b|数量|价格|人口|金额|面积",
    re.IGNORECASE,
)
_IS_LINK: Final = re.compile(
    r"\b(?:urls?|links?|sources?|citations?|references?|websites?)\b|链接|来源|网址", re.IGNORECASE
)
_IS_PLACE: Final = re.compile(
    r"\b(?:locations?|address(?:es)?|cit(?:y|ies)|towns?|countr(?:y|ies)|regions?|places?|headquarters|where)\b"
    r"|地点|地址|位置|城市|国家",
    re.IGNORECASE,
)
_TELLS_PLACE: Final = re.compile(r"\b(?:in|at|near|of|from)\s+(?:the\s+)?[^\W\d_a-z]|位于|在")
_IS_NAME: Final = re.compile(r"\b(?:names?|titles?|who)\b|名称|姓名|名字|标题", re.IGNORECASE)
_IS_DESIGNATION: Final = re.compile(r"\b(?:number|designation|code)\b(?!\s+of\b)|编号", re.IGNORECASE)
_VOID: Final = re.compile(
    r"[\s–—−.…?/*-]*|(?:n/?a|unknown|tbd|tba|(?:not|no) (?:\w+ )?(?:found|available|known|given|stated|listed"
    r"|specified|disclosed|reported|data|information)|未知|暂无|不详)\.?",
    re.IGNORECASE,
)
"""What stands in the place of a value that is not supplied."""

_HEAD: Final = re.compile(r"\s+(?:of|in|for|at|on|by|per|from|to)\s+", re.IGNORECASE)
_BARE_HEADS: Final = frozenset(token_forms("number amount count total year date month day time value name"))
_SYNONYMS: Final = tuple(
    frozenset(token_forms(words))
    for words in (
        "altitude elevation height",
        "length long distance",
        "price cost fee fare admission ticket",
        "population inhabitants residents",
        "limit maximum ceiling threshold",
    )
)


def missing_fields(
    required: Sequence[str], title: str, text: str, fields: Mapping[str, str], given: str = ""
) -> tuple[str, ...]:
    """The required fields that the group does not supply, in the rubric's order.

    Lenient on purpose, since rubrics and responses word a field differently. A field counts as supplied where the
    chief word of its name (*span* of *main span*, *visitors* of *number of visitors*) is among the group's field
    names or words, or where the group holds a value of its kind: a date for *founding year*, a length for *height*,
    an amount for *price*, *in* and a name or another field on places for *location*. A value does not count where
    the group names it as something else, nor one that `given`, the question, already holds. Nor does a chief word
    that another required field has, one that the group names whole. Names and sources are never missing here: a
    group has a title, and its sources are citations. A field whose kind is not known by its name counts as supplied
    unless the group names fields and this is none of them. A field with a dash or *not found* for its value is not
    supplied.
    """
    if not required:
        return ()
    void = [frozenset(token_forms(name)) for name, value in fields.items() if _VOID.fullmatch(plain_words(value))]
    fields = {name: value for name, value in fields.items() if not _VOID.fullmatch(plain_words(value))}
    named = {name: value for name, value in fields.items() if not _is_title(name, title)}
    words = plain_words("\n".join((title, text, *fields.keys(), *fields.values())))
    group = _Group(words, named, claims_of_group(title, text, fields), quantities(given), required)
    return tuple(name for name in required if _is_void(name, void) or not _is_supplied(name, group))


def _is_void(name: str, void: Sequence[frozenset[str]]) -> bool:
    own = frozenset(token_forms(name))
    return bool(own) and any(own <= other for other in void)


@dataclass(frozen=True, slots=True)
class _Group:
    words: str
    fields: Mapping[str, str]
    claims: Sequence[Claim]
    given: Quantities
    required: Sequence[str]

    def has_date(self) -> bool:
        told = quantities(self.words).dates
        return any(not any(date.is_told_by(other) for other in self.given.dates) for date in told)

    def has_number(self, name: str, kind: str | None) -> bool:
        """Whether it holds a number of the kind (None for any) that it does not name as something else."""
        return any(
            self._may_be(claim, number, name)
            for claim in self.claims
            if claim.kind != "title" or _IS_DESIGNATION.search(name)
            for number in claim.quantities.numbers
            if kind is None or number.kind == kind or not (number.kind or counted(claim.value, number))
        )

    def _may_be(self, claim: Claim, number: Number, name: str) -> bool:
        if any(number.is_told_by(other) and other.unit == number.unit for other in self.given.numbers):
            return False
        label = claim.label_text or dimension_after(claim.value, number.end)
        if label and self.is_another(label, name):
            return False
        return not label or _are_alike(label, name) or not self._is_name(label)

    def is_another(self, label: str, name: str) -> bool:
        """Whether a label has all words of another required field, and not all of this one's."""
        forms = frozenset(token_forms(label))
        wanted = (frozenset(token_forms(other)) for other in self.required if other != name)
        return not frozenset(token_forms(name)) <= forms and any(other and other <= forms for other in wanted)

    def _is_name(self, label: str) -> bool:
        """Whether a label names another required field, or a dimension of its own."""
        forms = frozenset(token_forms(label))
        return bool(_IS_LENGTH.search(label)) or any(_head(other) & forms for other in self.required)


def _are_alike(label: str, name: str) -> bool:
    mine, theirs = frozenset(token_forms(label)), frozenset(token_forms(name))
    return any(mine & alike and theirs & alike for alike in (theirs, *_SYNONYMS))


def _is_supplied(name: str, group: _Group) -> bool:
    own = frozenset(token_forms(name))
    held = frozenset(token_forms(group.words))
    if not own or _IS_LINK.search(name) or _IS_NAME.search(name):
        return True
    if _head(name) & held and (own <= held or not _shares_head(name, group)):
        return True
    if _IS_DATE.search(name):
        return group.has_date()
    if _IS_LENGTH.search(name):
        return group.has_number(name, "length")
    if _IS_NUMBER.search(name):
        return group.has_number(name, None)
    if own & held and not _shares_head(name, group):
        return True
    if _IS_PLACE.search(name):
        return bool(_TELLS_PLACE.search(group.words)) or any(_IS_PLACE.search(other) for other in group.fields)
    return len(group.fields) == 0


def _shares_head(name: str, group: _Group) -> bool:
    """Whether another required field has the same chief word, so that the word does not tell which is supplied.

    It counts only where the group names that other field whole.
    """
    held = frozenset(token_forms(group.words))
    return any(
        _head(name) & _head(other) and frozenset(token_forms(other)) <= held
        for other in group.required
        if other != name
    )


def _head(name: str) -> frozenset[str]:
    """The chief word's form: the last before *of* or *in*, or the last after it where that one says nothing."""
    for part in _HEAD.split(name):
        forms = [form for form in token_forms(part) if form not in _BARE_HEADS]
        if forms and token_forms(part)[-1] == forms[-1]:
            return frozenset(forms[-1:])
    return frozenset()


def _is_title(name: str, title: str) -> bool:
    forms = frozenset(token_forms(plain_words(name)))
    return bool(forms) and forms <= frozenset(token_forms(plain_words(title)))
