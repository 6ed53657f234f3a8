"""Which of the ten error types a failed check amounts to, by rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from lseval.domain.evidence import CallUnderAudit, ClaimCheck, GroupUnderAudit
from lseval.domain.skipping import METADATA_CHARS, is_listing
from lseval.domain.taxonomy import ErrorType
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded.checking import SUPPORTED, Finding
from lseval.judging.embedded.conditions import FEATURE, PLACE, TIME, condition_kind
from lseval.judging.embedded.limits import limits
from lseval.judging.embedded.namesakes import has_name, sets_apart
from lseval.judging.embedded.passages import PageIndex, page_index
from lseval.judging.embedded.plain import plain_words
from lseval.judging.embedded.quantities import quantities
from lseval.judging.embedded.required import missing_fields
from lseval.judging.embedded.text import token_forms

TYPE_OF_CONDITION: Final = {
    PLACE: ErrorType.SCOPE_ERROR,
    TIME: ErrorType.TEMPORAL_ERROR,
    FEATURE: ErrorType.CONSTRAINT_VIOLATION,
}

_FAILED_PAGE: Final = re.compile(
    r"\b(?:404|403|429|502|503)\b|not found|access denied|forbidden|captcha|log ?in to|sign ?in to"
    r"|subscribe to|enable javascript|paywall|too many requests|页面不存在|无法访问|请登录",
    re.IGNORECASE,
)
_PLACE_BEFORE: Final = re.compile(
    r"\b(?:in|from|at|near|across|throughout|based in|located in)\s+(?:the\s+)?$|(?:位于|在)$", re.IGNORECASE
)
_SHARED_WITH_CONSTRAINT: Final = 2
_JOIN: Final = re.compile(r"\s+(?:and|or|&|\+)\s+|\s*[/;]\s*|[和与及]", re.IGNORECASE)
_FEWEST_FORMS_OF_A_NAME: Final = 2


def type_of_finding(finding: Finding, calls: Sequence[CallUnderAudit], rubric: RubricRecord) -> ErrorType:
    """The type of a claim that a round's observation fails to bear out.

    In this order: the observation is a failed page (source quality); it tells another date (temporal) or amount
    (constraint violation where a constraint counts the same thing, else source not supporting); the calls only
    listed places to look, or showed too little to read (insufficient evidence); the claim's title is not there
    (wrong entity); a place is not there (scope); otherwise the source does not support the claim.
    """
    if _is_failed_page(calls):
        return ErrorType.SOURCE_QUALITY_ERROR
    if finding.conflict:
        forms = finding.claim.forms | finding.claim.label
        return type_of_conflict(finding.conflict.kind, finding.conflict.told, forms, rubric)
    if not any(is_listing(call) is False and len(call.observation) > METADATA_CHARS for call in calls):
        return ErrorType.INSUFFICIENT_EVIDENCE
    if finding.claim.kind == "title":
        return ErrorType.WRONG_ENTITY
    if any(_is_place(finding.claim.value, name) for name in finding.missing_names):
        return ErrorType.SCOPE_ERROR
    return ErrorType.SOURCE_NOT_SUPPORTING


def type_of_group(
    group: GroupUnderAudit,
    others: Sequence[GroupUnderAudit],
    calls: Sequence[CallUnderAudit],
    rubric: RubricRecord,
) -> ErrorType:
    """The type of an incorrect group's fault, from Stage 1's checks of it and the other groups.

    In this order: another group has its title, or it joins two names (grouping); a required field is not supplied
    (missing field); a failed claim is, to the word, another group's supported one (mapping); the round's page
    failed (source quality); Stage 1's quotation tells another date (temporal) or amount (constraint violation or
    source not supporting); the first failed claim is the title (wrong entity); a condition of the rubric is broken
    (wrong entity where the quotation tells the page's subject from a namesake; else scope, temporal or constraint
    violation, by what it is on); the round only listed places to look (insufficient evidence); a failed claim names
    a place (scope); otherwise the source does not support it.
    """
    if any(is_same_name(other.title, group.title) for other in others if other.number != group.number):
        return ErrorType.GROUPING_ERROR
    if joins_two(group.title, [page_index("\n".join(call.observation for call in calls))]):
        return ErrorType.GROUPING_ERROR
    if missing_fields(rubric.required_fields, group.title, group.text, group.fields):
        return ErrorType.MISSING_REQUIRED_FIELD
    failed = [check for check in group.claims if check.status != SUPPORTED]
    borne_out_elsewhere = {
        _value(check.claim)
        for other in others
        if other.number != group.number
        for check in other.claims
        if check.status == SUPPORTED and ":" in check.claim
    }
    if any(":" in check.claim and _value(check.claim) in borne_out_elsewhere for check in failed):
        return ErrorType.MAPPING_ERROR
    if _is_failed_page(calls):
        return ErrorType.SOURCE_QUALITY_ERROR
    for check in failed:
        kind = _conflict_kind(check)
        if kind:
            told = check.quotation.text if check.quotation else ""
            return type_of_conflict(kind, told, frozenset(token_forms(check.claim)), rubric)
    if failed and is_same_name(failed[0].claim, group.title):
        return ErrorType.WRONG_ENTITY
    for check in failed:
        if kind := condition_kind(check.claim):
            return ErrorType.WRONG_ENTITY if _is_on_a_namesake(check, kind, group) else TYPE_OF_CONDITION[kind]
    if calls and all(is_listing(call) for call in calls):
        return ErrorType.INSUFFICIENT_EVIDENCE
    if any(_is_place_claim(check) for check in failed):
        return ErrorType.SCOPE_ERROR
    return ErrorType.SOURCE_NOT_SUPPORTING


def joins_two(title: str, indexes: Sequence[PageIndex]) -> bool:
    """Whether a title is two names joined, as the pages have it: one of them alone, and never the whole."""
    parts = [part for part in _JOIN.split(plain_words(title)) if part.strip()]
    if len(parts) < 2 or any(len(token_forms(part)) < _FEWEST_FORMS_OF_A_NAME for part in parts):
        return False
    return not any(has_name(title, index) for index in indexes) and any(
        has_name(part, index) for part in parts for index in indexes
    )


def type_of_conflict(kind: str, told: str, forms: frozenset[str], rubric: RubricRecord) -> ErrorType:
    """The type of a claim of these `forms` where the source tells another date or amount.

    Another date is a temporal error. Another amount is a constraint violation where a constraint counts the same
    thing and does not hold of the amount told; else the source does not support the claim.
    """
    if kind == "date":
        return ErrorType.TEMPORAL_ERROR
    is_broken = any(_breaks(told, constraint) for constraint in rubric.constraints if _is_on(forms, constraint))
    return ErrorType.CONSTRAINT_VIOLATION if is_broken else ErrorType.SOURCE_NOT_SUPPORTING


def _is_on(forms: frozenset[str], constraint: str) -> bool:
    return len(forms.intersection(token_forms(constraint))) >= _SHARED_WITH_CONSTRAINT


def _breaks(told: str, constraint: str) -> bool:
    return any(
        number.kind == limit.kind and not limit.allows(number.value_in(limit.unit))
        for limit in limits(constraint)
        for number in quantities(told).numbers
    )


def _conflict_kind(check: ClaimCheck) -> str:
    """`date` or `number` where Stage 1's quotation tells another one than a contradicted claim; else empty."""
    if check.status != "contradicted" or check.quotation is None:
        return ""
    claimed, told = quantities(check.claim), quantities(check.quotation.text)
    if told.dates and any(not any(date.is_told_by(other) for other in told.dates) for date in claimed.dates):
        return "date"
    if told.numbers and any(
        not any(number.is_told_by(other) for other in told.numbers) for number in claimed.numbers
    ):
        return "number"
    return ""


def _is_failed_page(calls: Sequence[CallUnderAudit]) -> bool:
    shown = [call.observation for call in calls if call.observation.strip()]
    return bool(shown) and all(len(text) <= METADATA_CHARS and _FAILED_PAGE.search(text) for text in shown)


def _is_place(text: str, name: str) -> bool:
    place = text.find(name)
    return place > 0 and bool(_PLACE_BEFORE.search(text[:place]))


def _is_place_claim(check: ClaimCheck) -> bool:
    label = check.claim.partition(":")[0].casefold() if ":" in check.claim else ""
    return any(
        word in label for word in ("location", "country", "city", "region", "place", "地点", "位置", "国家", "城市")
    )


def _is_on_a_namesake(check: ClaimCheck, kind: str, group: GroupUnderAudit) -> bool:
    if kind != PLACE or check.quotation is None:
        return False
    return sets_apart(group.title, page_index(check.quotation.text))


def is_same_name(left: str, right: str) -> bool:
    """Whether two titles have the same words, however they are written."""
    forms = token_forms(plain_words(left))
    return bool(forms) and forms == token_forms(plain_words(right))


def _value(claim: str) -> tuple[str, ...]:
    return tuple(token_forms(claim.partition(":")[2]))
