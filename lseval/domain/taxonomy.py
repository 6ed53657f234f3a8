"""The ten error types of a failure node, and how a judge's words are mapped to them.

The types and their borders follow LongSearchEval, Table A5, told in our own words. The table's digest spells out
the first six; the borders of the other four are drawn from what those six leave to them.
"""

from __future__ import annotations

import unicodedata
from enum import StrEnum
from typing import Final

UNASSIGNED: Final = "unassigned"
"""Stands for the type of a failure node that no listed name maps to. Such nodes count, but not by type."""

_LONGEST_NAME = 80


class ErrorType(StrEnum):
    """What went wrong in a flagged round. The value is the code kept in the database."""

    display_name: str
    definition: str
    nearest_boundary: str

    def __new__(cls, code: str, title: str, definition: str, nearest_boundary: str) -> ErrorType:
        member = str.__new__(cls, code)
        member._value_ = code
        member.display_name = title
        member.definition = definition
        member.nearest_boundary = nearest_boundary
        return member

    WRONG_ENTITY = (
        "wrong_entity",
        "Wrong entity",
        "The round takes up another person, organisation, product, version or place than the one meant, or runs "
        "two of them together.",
        "The right one that fails a condition is a constraint violation.",
    )
    CONSTRAINT_VIOLATION = (
        "constraint_violation",
        "Constraint violation",
        "A candidate is kept although it fails a stated hard condition: a feature, a threshold, a status or an "
        "eligibility rule.",
        "A condition on dates is a temporal error; one on places or populations is a scope error.",
    )
    MISSING_REQUIRED_FIELD = (
        "missing_required_field",
        "Missing required field",
        "A recognisable answer unit lacks an attribute or a source that the question requires.",
        "A value that is there but under the wrong field is a mapping error; a badly formed unit is a grouping "
        "error.",
    )
    INSUFFICIENT_EVIDENCE = (
        "insufficient_evidence",
        "Insufficient evidence",
        "What the round observed is too thin to establish the claim: a title, metadata or a passage that stops "
        "short of the detail.",
        "Content that can be assessed and does not bear the claim out is a source that does not support it.",
    )
    SOURCE_NOT_SUPPORTING = (
        "source_not_supporting",
        "Source not supporting",
        "The content was there to be read, and it is off the point, leaves the claim out, gives another value or "
        "says otherwise.",
        "This is about support for the claim; an unfit kind of source is a source quality error.",
    )
    SOURCE_QUALITY_ERROR = (
        "source_quality_error",
        "Source quality error",
        "The source itself is invalid, cannot be reached, is unfit, or is ruled out by a demand for an official or "
        "primary one.",
        "A fit source that fails to bear the claim out is a source that does not support it.",
    )
    TEMPORAL_ERROR = (
        "temporal_error",
        "Temporal error",
        "A date, a year or a period is wrong, out of date, or outside the time that the question sets.",
        "A condition on anything but time is a constraint violation or a scope error.",
    )
    SCOPE_ERROR = (
        "scope_error",
        "Scope error",
        "The content is about another region, population or extent than the one that the question sets.",
        "A different thing altogether is a wrong entity; a limit of time is a temporal error.",
    )
    MAPPING_ERROR = (
        "mapping_error",
        "Mapping error",
        "A value that was found is put under the wrong field or given to the wrong answer unit.",
        "A field with no value at all is a missing required field.",
    )
    GROUPING_ERROR = (
        "grouping_error",
        "Grouping error",
        "Answer units are wrongly formed: several in one, one split up, or the same one twice.",
        "A well-formed unit that lacks an attribute is a missing required field.",
    )


_SYNONYMS: Final[dict[ErrorType, tuple[str, ...]]] = {
    ErrorType.WRONG_ENTITY: ("incorrect entity", "entity error", "entity mismatch", "entity confusion", "实体错误"),
    ErrorType.CONSTRAINT_VIOLATION: (
        "constraint violated", "violated constraint", "violates constraint", "constraint error",
        "hard constraint violation", "违反约束",
    ),
    ErrorType.MISSING_REQUIRED_FIELD: (
        "missing field", "missing required fields", "missing attribute", "incomplete field", "缺少必填字段",
    ),
    ErrorType.INSUFFICIENT_EVIDENCE: (
        "lack of evidence", "inadequate evidence", "incomplete evidence", "evidence insufficient", "证据不足",
    ),
    ErrorType.SOURCE_NOT_SUPPORTING: (
        "source does not support", "source does not support claim", "unsupported by source", "unsupported claim",
        "source not supporting claim", "来源不支持",
    ),
    ErrorType.SOURCE_QUALITY_ERROR: (
        "source quality", "poor source quality", "low quality source", "invalid source", "unsuitable source",
        "inaccessible source", "来源质量错误",
    ),
    ErrorType.TEMPORAL_ERROR: (
        "temporal", "temporal mismatch", "time error", "date error", "wrong date", "时间错误",
    ),
    ErrorType.SCOPE_ERROR: ("scope", "scope mismatch", "wrong scope", "geographic scope error", "范围错误"),
    ErrorType.MAPPING_ERROR: ("mapping", "field mapping error", "value mapping error", "wrong field", "映射错误"),
    ErrorType.GROUPING_ERROR: ("grouping", "group error", "wrong grouping", "incorrect grouping", "分组错误"),
}  # fmt: skip


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(sign if sign.isalnum() else " " for sign in folded).split())


_BY_NAME: Final[dict[str, ErrorType]] = {
    _plain(name): error_type
    for error_type in ErrorType
    for name in (error_type.value, error_type.display_name, *_SYNONYMS[error_type])
}


def map_type(text: str) -> ErrorType | None:
    """The error type that a judge's words name, or None where no listed name fits.

    Case, width, punctuation and the kind of separator do not matter; nothing else is guessed, so that a sentence
    which merely mentions a type, or two types at once, maps to None.
    """
    if len(text) > _LONGEST_NAME:
        return None
    return _BY_NAME.get(_plain(text))
