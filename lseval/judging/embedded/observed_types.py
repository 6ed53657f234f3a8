"""What an observation says of *how* an answer group went wrong, beyond which claim fails."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from lseval.domain.evidence import CallUnderAudit, GroupUnderAudit, RoundUnderAudit
from lseval.domain.skipping import is_listing
from lseval.domain.taxonomy import ErrorType
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.checking import SUPPORTED, best_finding, check_claim
from lseval.judging.embedded.claims import Claim, claims_of_group, is_number_form
from lseval.judging.embedded.conditions import PLACE, Broken, broken_condition
from lseval.judging.embedded.error_types import TYPE_OF_CONDITION, is_same_name, joins_two, type_of_conflict
from lseval.judging.embedded.meeting import NAMED, UNNAMED, is_own_row
from lseval.judging.embedded.namesakes import sets_apart
from lseval.judging.embedded.passages import PageIndex, page_index
from lseval.judging.embedded.quantities import Date, Number, Quantities, quantities
from lseval.judging.embedded.required import missing_fields
from lseval.judging.embedded.surroundings import Told, surroundings
from lseval.judging.embedded.text import token_forms

_HEAD_PASSAGES: Final = 4
_OFTEN: Final = 3

_OF_A_WHOLE: Final = re.compile(
    r"\b(?:together|altogether|in all|in total|on average|(?:all|each) of them|as a whole"
    r"|(?:nation|world|country|region)-?wide)\b|总计|合计|共计|平均",
    re.IGNORECASE,
)
_WHOLE_NAMES: Final = frozenset(token_forms("total totals totalling combined overall aggregate average"))
"""Words that make a value one of a whole where they name it, unless its field is called so: *total length*."""
_DISOWNS: Final = re.compile(
    r"\b(?:no|not|without|any|never|cannot|can't|don't|doesn't|nor)\b[^.!?\n]{0,40}"
    r"\b(?:guarantee[ds]?|warrant(?:y|ies|ed)?|vouch(?:ed|es)?|claim|verif(?:y|ied)|check(?:ed)?|responsib\w+|liab\w+)\b"
    r"[^.!?\n]{0,40}\b(?:right|correct\w*|accura\w+|true|complete\w*|reliab\w+|information|content|data|facts?)\b"
    r"|\b(?:auto(?:matically)?|machine|AI|user)[- ](?:generated|collected|written|translated|submitted)\b"
    r"|\b(?:generated|collected|compiled|written|translated) (?:automatically|by (?:a )?(?:machine|bot|AI))\b"
    r"|\bunverified (?:claims?|information|data|content|user)\b|\b(?:satir(?:e|ical)|parody)\b|机器(?:生成|翻译)",
    re.IGNORECASE,
)


def is_about(title: str, index: PageIndex) -> bool:
    """Whether a page is about the thing: its name stands among the first sentences, or in several."""
    named = [passage.number for passage in index.passages if _is_in(title, index, passage.number)]
    return bool(named) and (named[0] < _HEAD_PASSAGES or len(named) >= _OFTEN)


def type_by_form(
    group: GroupUnderAudit, others: Sequence[GroupUnderAudit], rubric: RubricRecord, indexes: Sequence[PageIndex]
) -> ErrorType | None:
    """The type where the group itself is badly formed; None for a group in good form.

    Grouping: another group has its title, or its title joins two names of which the pages never have the whole, and
    have one. Missing field: it does not supply a required field.
    """
    if any(is_same_name(other.title, group.title) for other in others if other.number != group.number):
        return ErrorType.GROUPING_ERROR
    if joins_two(group.title, indexes):
        return ErrorType.GROUPING_ERROR
    if missing_fields(rubric.required_fields, group.title, group.text, group.fields):
        return ErrorType.MISSING_REQUIRED_FIELD
    return None


def type_by_page(
    group: GroupUnderAudit,
    others: Sequence[GroupUnderAudit],
    claims: Sequence[Claim],
    broken: Broken | None,
    rubric: RubricRecord,
    index: PageIndex,
) -> ErrorType | None:
    """The type that a page shows for an incorrect group of these `claims`; None where it shows none.

    In this order, each by what the page itself says:

    - *wrong entity*: it tells its subject from another thing of the group's name, and the condition on the place is
      broken there;
    - *mapping*: it has a value of the group only under the names of other fields, or only in sentences on another
      group;
    - *scope*: it has a value only in sentences about a whole (*together*, *in total*, *on average*) that do not
      name the group;
    - *source quality*: it says itself that nobody vouches for it.
    """
    if broken and broken.kind == PLACE and sets_apart(group.title, index):
        return ErrorType.WRONG_ENTITY
    labels = {claim.label_text for claim in claims if claim.label_text} | set(rubric.required_fields)
    subject = frozenset(token_forms(group.title))
    given = quantities("\n".join(rubric.required_fields))
    told = {claim: places for claim in claims if (places := list(_told(claim, index, given)))}
    for claim, places in told.items():
        if all(_is_under_another(claim, place, labels, index) for place in places) or all(
            _is_on_another(subject, group.number, others, place) for place in places
        ):
            return ErrorType.MAPPING_ERROR
    for claim, places in told.items():
        if all(_is_of_a_whole(claim, place) and not subject <= place.passage.forms for place in places):
            return ErrorType.SCOPE_ERROR
    return ErrorType.SOURCE_QUALITY_ERROR if disowns_itself(index) else None


def type_of_told(
    told: Sequence[GroupUnderAudit],
    groups: Sequence[GroupUnderAudit],
    rubric: RubricRecord,
    calls: Sequence[CallUnderAudit],
    earlier: Sequence[RoundUnderAudit],
) -> ErrorType | None:
    """The type of incorrect groups that the agent's words tell of, by all that it has read until then.

    A group's form first, then what the latest page shows that names it. Where pages about it were read that show
    nothing else, another value on them is the type of that conflict, and silence means that the source does not
    support it. Where no page about it was read, insufficient evidence in a round that only lists places to look;
    None in a round that read something else.
    """
    texts = [content_of(calls), *(content_of(_answered(other.calls)) for other in reversed(earlier))]
    pages = [page_index(text) for text in texts if text.strip()]
    for group in told:
        named = [page for page in pages if _names(group.title, page)]
        listed = [page_index("\n".join(call.observation for call in calls))] if calls else []
        if kind := type_by_form(group, groups, rubric, [*pages, *listed]):
            return kind
        claims = claims_of_group(group.title, group.text, group.fields, number=group.number)
        for page in named:
            broken = broken_condition(rubric.constraints, claims, [page])
            if kind := type_by_page(group, groups, claims, broken, rubric, page):
                return kind
        about = [page for page in named if is_about(group.title, page)]
        if about:
            return _type_by_check(claims, about, rubric)
    return ErrorType.INSUFFICIENT_EVIDENCE if told and all(map(is_listing, calls)) else None


def _type_by_check(claims: Sequence[Claim], pages: Sequence[PageIndex], rubric: RubricRecord) -> ErrorType:
    for claim in claims:
        if claim.kind == "title" or not claim.has_facts:
            continue
        findings = [check_claim(claim, page) for page in pages]
        best = findings[best_finding(findings)]
        if best.status != SUPPORTED and best.conflict:
            return type_of_conflict(best.conflict.kind, best.conflict.told, claim.forms | claim.label, rubric)
    broken = broken_condition(rubric.constraints, claims, pages)
    return TYPE_OF_CONDITION[broken.kind] if broken else ErrorType.SOURCE_NOT_SUPPORTING


def untold_field(group: GroupUnderAudit, rubric: RubricRecord, index: PageIndex) -> str:
    """The first required field that the group lacks and the page tells; empty where there is none."""
    for name in missing_fields(rubric.required_fields, group.title, group.text, group.fields):
        forms = _name_forms(name)
        if forms and any(_share(forms, passage.forms, index) >= NAMED for passage in index.passages):
            return name
    return ""


def disowns_itself(index: PageIndex) -> bool:
    """Whether a page says of itself that it is unchecked, made by machine or users, or no earnest source."""
    return any(_DISOWNS.search(index.words(passage)) for passage in index.passages)


def content_of(calls: Sequence[CallUnderAudit]) -> str:
    """What the calls observed that is more than a list of places to look."""
    return "\n".join(call.observation for call in calls if not is_listing(call))


def _answered(calls: Sequence[CallUnderAudit]) -> list[CallUnderAudit]:
    return [call for call in calls if call.observation.strip() and not call.is_error]


def _names(title: str, index: PageIndex) -> bool:
    return any(_is_in(title, index, passage.number) for passage in index.passages)


def _is_in(title: str, index: PageIndex, number: int) -> bool:
    forms = frozenset(token_forms(title))
    return bool(forms) and forms <= index.passages[number].forms


def _told(claim: Claim, index: PageIndex, given: Quantities) -> Iterator[Told]:
    """Where the page has the claim's values, those left out that the rubric itself holds."""
    dates = (date for date in claim.quantities.dates if date.year)
    values: list[Number | Date] = [*claim.quantities.numbers, *dates]
    for value in values:
        if not any(_is_same(value, other) for other in given.values):
            yield from (told for told in surroundings(index).telling(value) if is_own_row(claim, told, index))


def _is_same(value: Number | Date, other: Number | Date) -> bool:
    if isinstance(value, Number):
        return isinstance(other, Number) and value.is_told_by(other)
    return isinstance(other, Date) and value.is_told_by(other)


def _is_under_another(claim: Claim, told: Told, labels: Collection[str], index: PageIndex) -> bool:
    """Whether the name beside a value is that of another field, and not that of its own."""
    own = _name_forms(claim.label_text) - claim.subject
    for label in sorted(labels) if own else ():
        other = _name_forms(label) - claim.subject
        told_apart, rest = other - own, own - other
        if not told_apart or not rest:
            continue
        beside = next((forms for forms in _beside(told) if forms & (told_apart | rest)), frozenset[str]())
        if _share(told_apart, beside, index) >= NAMED and _share(rest, beside, index) < UNNAMED:
            return True
    return False


def _beside(told: Told) -> Iterator[frozenset[str]]:
    """The forms of the words that may name a value, the likelier first: row and column, before it, after it.

    Before it means since the value before, and after it up to the next one.
    """
    yield frozenset(token_forms(told.label))
    if told.column[0] >= 0:
        return
    start, end = told.quantity.start, told.quantity.end
    spans = [(value.start, value.end) for value in quantities(told.text).values]
    yield frozenset(token_forms(told.text[max((stop for _, stop in spans if stop <= start), default=0) : start]))
    after = min((first for first, _ in spans if first >= end), default=len(told.text))
    yield frozenset(token_forms(told.text[end:after]))


def _is_of_a_whole(claim: Claim, told: Told) -> bool:
    if _OF_A_WHOLE.search(told.text):
        return True
    return any(forms & _WHOLE_NAMES - claim.label for forms in _beside(told))


def _is_on_another(subject: frozenset[str], number: int, others: Sequence[GroupUnderAudit], told: Told) -> bool:
    if subject <= told.passage.forms:
        return False
    return any(
        named and named <= told.passage.forms
        for other in others
        if other.number != number and (named := frozenset(token_forms(other.title)))
    )


def _name_forms(label: str) -> frozenset[str]:
    return frozenset(form for form in token_forms(label) if not is_number_form(form))


def _share(name: Collection[str], forms: Collection[str], index: PageIndex) -> float:
    total = sum(index.rarity(form) for form in sorted(name))
    return sum(index.rarity(form) for form in sorted(name) if form in forms) / total if total else 0.0
