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
        return _type_of_conflict(finding.conflict.kind, finding.claim.forms, rubric)
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

    In this order: another group has its title (grouping); a required field is not supplied (missing field); a
    failed claim is, to the word, another group's supported one (mapping); the round's page failed (source quality);
    Stage 1's quotation tells another date (temporal) or amount (constraint violation or source not supporting); the
    first failed claim is the title (wrong entity); a condition of the rubric is broken (scope, temporal or
    constraint violation, by what it is on); a failed claim names a place (scope); the round only listed places to
    look (insufficient evidence); otherwise the source does not support it.
    """
    if any(_same(other.title, group.title) for other in others if other.number != group.number):
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
            return _type_of_conflict(kind, frozenset(token_forms(check.claim)), rubric)
    if failed and _same(failed[0].claim, group.title):
        return ErrorType.WRONG_ENTITY
    for check in failed:
        if kind := condition_kind(check.claim):
            return TYPE_OF_CONDITION[kind]
    if calls and all(is_listing(call) for call in calls):
        return ErrorType.INSUFFICIENT_EVIDENCE
    if any(_is_place_claim(check) for check in failed):
        return ErrorType.SCOPE_ERROR
    return ErrorType.SOURCE_NOT_SUPPORTING


def _type_of_conflict(kind: str, forms: frozenset[str], rubric: RubricRecord) -> ErrorType:
    if kind == "date":
        return ErrorType.TEMPORAL_ERROR
    counts_the_same = any(
        any(sign.isdigit() for sign in constraint)
        and len(forms.intersection(token_forms(constraint))) >= _SHARED_WITH_CONSTRAINT
        for constraint in rubric.constraints
    )
    return ErrorType.CONSTRAINT_VIOLATION if counts_the_same else ErrorType.SOURCE_NOT_SUPPORTING


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


def _same(left: str, right: str) -> bool:
    forms = token_forms(plain_words(left))
    return bool(forms) and forms == token_forms(plain_words(right))


def _value(claim: str) -> tuple[str, ...]:
    return tuple(token_forms(claim.partition(":")[2]))
