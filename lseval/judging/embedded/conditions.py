"""The question's conditions against a group's own values and its pages. Only what is plainly broken is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from lseval.judging.embedded.claims import Claim, is_number_form
from lseval.judging.embedded.limits import Limit, limits, rates
from lseval.judging.embedded.meeting import counted, is_own_row
from lseval.judging.embedded.names import names
from lseval.judging.embedded.namesakes import has_name, is_only_elsewhere
from lseval.judging.embedded.passages import PageIndex, Passage
from lseval.judging.embedded.quantities import Date, Number, quantities
from lseval.judging.embedded.surroundings import Told, surroundings
from lseval.judging.embedded.text import token_forms, tokens

PLACE: Final = "place"
TIME: Final = "time"
FEATURE: Final = "feature"

_TITLES: Final = {
    FEATURE: "condition: ",
    PLACE: "condition on the place: ",
    TIME: "condition on the time: ",
}

_NO: Final = r"\b(?:no|not|without|never|lacks?|lacking|neither|nor|\w+n['’]t)\b"
_NEGATION: Final = re.compile(
    rf"{_NO}(?!\s+(?:only|just|more|fewer|less|later|longer|be|to)\b)(?:\s+(?:a|an|the|any))?(?:\s+[\w-]+)?\s+$",
    re.IGNORECASE,
)
_IS_NEGATIVE: Final = re.compile(_NO, re.IGNORECASE)
_FEWEST_LETTERS: Final = 4

_PLAIN_WORDS: Final = frozenset(token_forms("year date value level size number"))

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Broken:
    """A condition that does not hold: what says so, of which kind it is, and where on which page, if on one.

    `kind` is `place`, `time` or `feature`. `page` is the place of the page among those given, -1 where the
    response's own words break the condition.
    """

    condition: str
    kind: str
    said: str
    page: int = -1
    passage: Passage | None = None

    @property
    def claim(self) -> str:
        """The condition as the claim of a check; `condition_kind` reads its kind from it."""
        return f"{_TITLES[self.kind]}{self.condition}"


def condition_kind(claim: str) -> str:
    """The kind of the broken condition that a check's claim tells; empty for a claim of the group itself."""
    return next((kind for kind, title in _TITLES.items() if claim.startswith(title)), "")


def broken_condition(
    conditions: Sequence[str], claims: Sequence[Claim], indexes: Sequence[PageIndex]
) -> Broken | None:
    """The first condition that the group breaks, or None. Silence of the pages breaks nothing.

    - *limit*: the response's own value for what a condition bounds is outside the bound (the value whose words are
      the condition's, or the only one of its kind); or it gives none, and every value that the pages give is.
    - *frequency*: as a limit, and the pages count whatever the response says.
    - *place*: the pages name the condition's place only as somewhere else.
    - *denied feature*: a word of a condition stands on the pages only after *no*, *not* or *without*.
    - *price*: a condition says that something is free, and the pages tell what it costs and never call it free.
    """
    subject = claims[0].forms if claims and claims[0].kind == "title" else frozenset[str]()
    common = _common(conditions)
    for condition in conditions:
        found = (
            _outside_limits(condition, claims, indexes, subject | common)
            or _elsewhere(condition, indexes)
            or _denied(condition, indexes, subject | common)
            or _has_price(condition, indexes)
        )
        if found:
            return found
    return None


def _common(conditions: Sequence[str]) -> frozenset[str]:
    """The forms that more than one condition has: they name the thing asked for, not what is asked of it."""
    held = [frozenset(token_forms(condition)) for condition in conditions]
    return frozenset(form for forms in held for form in forms if sum(form in other for other in held) > 1)


def _outside_limits(
    condition: str, claims: Sequence[Claim], indexes: Sequence[PageIndex], known: frozenset[str]
) -> Broken | None:
    for limit in limits(condition):
        topic = limit.topic - known or limit.topic
        kind = TIME if limit.kind == "year" else FEATURE
        every = list(_own(limit, claims))
        stated = [(claim, value) for claim, value in every if not _is_of_another(claim, topic)]
        others = {value for claim, value in every if _is_of_another(claim, topic)}
        own = _nearest([(len(topic & _words(claim)), claim.text, value) for claim, value in stated])
        own = own or _only_plain(limit, stated)
        if own and not any(limit.allows(value) for _, value in own):
            return Broken(condition, kind, own[0][0])
        if own and limit.kind != "rate":
            continue
        told = _nearest(
            [
                (len(topic & forms), (page, passage, said), value)
                for page, index in enumerate(indexes)
                for passage, forms, said, value in _told(limit, index, claims)
                if 2 * len(topic & forms) >= len(topic) and value not in others
            ]
        )
        if told and not any(limit.allows(value) for _, value in told):
            page, passage, said = told[0][0]
            return Broken(condition, kind, said, page, passage)
    return None


def _nearest(found: Sequence[tuple[int, _T, float]]) -> list[tuple[_T, float]]:
    """Those that share the most words with the condition, one at least."""
    most = max((shared for shared, _, _ in found), default=0)
    return [(source, value) for shared, source, value in found if shared == most] if most else []


def _only_plain(limit: Limit, stated: Sequence[tuple[Claim, float]]) -> list[tuple[str, float]]:
    """The one value of the bounded kind that the group states, where no words say that it is something else."""
    if len(stated) != 1 or not limit.kind:
        return []
    claim, value = stated[0]
    words = {form for form in claim.label or claim.forms if not is_number_form(form)} - claim.subject - _PLAIN_WORDS
    return [] if words else [(claim.text, value)]


def _is_of_another(claim: Claim, topic: frozenset[str]) -> bool:
    """Whether a field's name shares words with the topic and each has one of its own: another *area*, say."""
    label = claim.label - claim.subject - _PLAIN_WORDS
    return bool(label & topic and label - topic and topic - label)


def _words(claim: Claim) -> frozenset[str]:
    return claim.forms | claim.label


def _own(limit: Limit, claims: Sequence[Claim]) -> Iterator[tuple[Claim, float]]:
    for claim in claims:
        if limit.kind == "rate":
            yield from ((claim, rate) for rate, _, _ in rates(claim.value))
            continue
        dates = (*claim.quantities.dates, *quantities(claim.label_text).dates)
        if limit.kind == "year":
            yield from ((claim, float(date.year)) for date in claim.quantities.dates if date.year)
            continue
        years = {date.year for date in dates if date.year}
        if limit.year and years and limit.year not in years:
            continue
        for number in claim.quantities.numbers:
            if _is_of(limit, number, claim.value, bool(claim.label)):
                yield claim, number.value_in(limit.unit)


def _is_of(limit: Limit, number: Number, text: str, is_labelled: bool) -> bool:
    if limit.kind:
        return number.kind == limit.kind or (is_labelled and not number.kind)
    return not number.kind and (is_labelled or counted(text, number) in limit.topic)


def _told(
    limit: Limit, index: PageIndex, claims: Sequence[Claim]
) -> Iterator[tuple[Passage, frozenset[str], str, float]]:
    if limit.kind == "rate":
        for passage in index.passages:
            words = index.words(passage)
            for rate, start, end in rates(words):
                yield passage, passage.forms, words[start:end], rate
        return
    for told in surroundings(index).told:
        value = _value(limit, told)
        if value is not None and (not claims or is_own_row(claims[-1], told, index)):
            yield told.passage, told.forms, told.words, value


def _value(limit: Limit, told: Told) -> float | None:
    if isinstance(told.quantity, Date):
        return float(told.quantity.year) if limit.kind == "year" and told.quantity.year else None
    if limit.kind == "year" or not _is_of(limit, told.quantity, told.text, bool(told.label)):
        return None
    years = {date.year for date in told.around.dates}
    if limit.year and limit.year not in years:
        return None
    return told.quantity.value_in(limit.unit)


def _elsewhere(condition: str, indexes: Sequence[PageIndex]) -> Broken | None:
    for place in names(condition):
        found = [is_only_elsewhere(place, index) for index in indexes if has_name(place, index)]
        if not found or None in found:
            continue
        for page, index in enumerate(indexes):
            passage = is_only_elsewhere(place, index)
            if passage:
                return Broken(condition, PLACE, index.words(passage), page, passage)
    return None


def _denied(condition: str, indexes: Sequence[PageIndex], known: frozenset[str]) -> Broken | None:
    if _IS_NEGATIVE.search(condition) or any(sign.isdigit() for sign in condition):
        return None
    named = frozenset(token_forms(" ".join(names(condition))))
    for form in sorted(frozenset(token_forms(condition)) - named - known):
        if len(form) < _FEWEST_LETTERS or is_number_form(form):
            continue
        found = [
            (page, passage, bool(_NEGATION.search(index.words(passage)[:start])))
            for page, index in enumerate(indexes)
            for passage, start in _uses(form, index)
        ]
        if found and all(is_denied for _, _, is_denied in found):
            page, passage, _ = found[0]
            return Broken(condition, FEATURE, indexes[page].words(passage), page, passage)
    return None


_FREE: Final = re.compile(r"\b(?:free|gratis|no charge|without charge|costs? nothing)\b|免费", re.IGNORECASE)
_COSTS: Final = re.compile(
    r"\b(?:costs?|prices?|fees?|fares?|pays?|charges?|admission|tickets?|entry|entrance)\b", re.IGNORECASE
)
_MONEY: Final = re.compile(
    r"[$€£¥₹]\s?\d|\d\s?[$€£¥₹]|\b\d[\d.,]*\s(?:dollars?|euros?|pounds?|crowns?|krone[rn]?|kron[ao]r?|francs?|yen|yuan|rupees?"
    r"|florins?|pence|cents|[A-Z]{3}\b)",
)


def _has_price(condition: str, indexes: Sequence[PageIndex]) -> Broken | None:
    if not _FREE.search(condition):
        return None
    topic = frozenset(token_forms(_FREE.sub(" ", condition)))
    priced: list[tuple[int, Passage]] = []
    for page, index in enumerate(indexes):
        for passage in index.passages:
            words = index.words(passage)
            if not topic & passage.forms:
                continue
            if _FREE.search(words):
                return None
            if _COSTS.search(words) and _MONEY.search(words):
                priced.append((page, passage))
    if not priced:
        return None
    page, passage = priced[0]
    return Broken(condition, FEATURE, indexes[page].words(passage), page, passage)


def _uses(form: str, index: PageIndex) -> Iterator[tuple[Passage, int]]:
    for passage in index.passages:
        if form in passage.forms:
            for token in tokens(index.words(passage)):
                if token.form == form:
                    yield passage, token.start
