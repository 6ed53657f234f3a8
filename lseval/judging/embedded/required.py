"""Which required fields an answer group leaves out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from lseval.judging.embedded.plain import plain_words
from lseval.judging.embedded.quantities import quantities
from lseval.judging.embedded.text import token_forms

_IS_DATE: Final = re.compile(r"\b(?:years?|dates?|when|day|month)\b|年|日期|时间", re.IGNORECASE)
_IS_NUMBER: Final = re.compile(
    r"\b(?:number|count|price|cost|amount|size|population|revenue|score|rating|length|height|area|total|percent\w*|rank\w*|age"
    r"|quantity|distance|weight|budget|funding|salary)\b|数量|价格|人口|金额|面积|高度",
    re.IGNORECASE,
)
_IS_LINK: Final = re.compile(
    r"\b(?:urls?|links?|sources?|citations?|references?|websites?)\b|链接|来源|网址", re.IGNORECASE
)
_IS_PLACE: Final = re.compile(
    r"\b(?:locations?|address(?:es)?|cit(?:y|ies)|countr(?:y|ies)|regions?|places?|headquarters|where)\b|地点|地址|位置|城市|国家",
    re.IGNORECASE,
)
_TELLS_PLACE: Final = re.compile(r"\b(?:in|at|near|of|from)\s+(?:the\s+)?[^\W\d_a-z]|位于|在")
_IS_NAME: Final = re.compile(r"\b(?:names?|titles?|who)\b|名称|姓名|名字|标题", re.IGNORECASE)


def missing_fields(required: Sequence[str], title: str, text: str, fields: Mapping[str, str]) -> tuple[str, ...]:
    """The required fields that the group does not supply, in the rubric's order.

    Lenient on purpose, since rubrics and responses word a field differently: a field counts as supplied where a
    word of its name is among the group's field names or words, or where the group holds a value of its kind (a
    date for *founding year*, an amount for *price*, *in* and a name or another field on places for *location*).
    Names and sources are never missing here: a group has a title, and its sources are citations. A field whose kind
    is not known by its name counts as supplied unless the group names fields and this is none of them.
    """
    if not required:
        return ()
    words = plain_words("\n".join((title, text, *fields.keys(), *fields.values())))
    return tuple(name for name in required if not _is_supplied(name, words, fields))


def _is_supplied(name: str, words: str, fields: Mapping[str, str]) -> bool:
    own = frozenset(token_forms(name))
    if not own or own.intersection(token_forms(words)) or _IS_LINK.search(name) or _IS_NAME.search(name):
        return True
    if _IS_DATE.search(name):
        return bool(quantities(words).dates)
    if _IS_NUMBER.search(name):
        return bool(quantities(words).numbers)
    if _IS_PLACE.search(name):
        return bool(_TELLS_PLACE.search(words)) or any(_IS_PLACE.search(other) for other in fields)
    return len(fields) == 0
