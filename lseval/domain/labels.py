"""The closed vocabularies that label groups, rounds, nodes and links."""

from __future__ import annotations

from enum import StrEnum


class GroupLabel(StrEnum):
    """What Stage 1, or a person, says of an answer group."""

    CORRECT = "C"
    INCORRECT = "I"
    UNVERIFIABLE = "U"


UNJUDGED = "unjudged"
"""Stage 1 gave no label; the verdict carries the reason. Never counted as wrong."""


class RoundLabel(StrEnum):
    """What a Stage 2 judge, or a person, says of a round."""

    ERROR = "error"
    NON_ERROR = "non_error"
    SKIPPED = "skipped"


class LinkLabel(StrEnum):
    """What a person says of a round-group link."""

    CORRESPONDS = "corresponds"
    DOES_NOT = "does_not"
    CANNOT_TELL = "cannot_tell"


class SkipReason(StrEnum):
    """Why a round is set aside before any judge sees it."""

    NO_OBSERVATION = "no_observation"
    TOOL_ERROR = "tool_error"
    DUPLICATE = "duplicate"
    PLANNING_ONLY = "planning_only"
    LISTING_ONLY = "listing_only"


class PageOutcome(StrEnum):
    """How the attempt to read a page ended."""

    OK = "ok"
    EMPTY = "empty"
    NOT_FOUND = "not_found"
    WALLED = "walled"
    UNAVAILABLE = "unavailable"
    BLOCKED_ADDRESS = "blocked_address"
    NEEDS_JS = "needs_js"
    TOO_LARGE = "too_large"
    TRUNCATED = "truncated"
    UNDECODABLE = "undecodable"
    TIMEOUT = "timeout"
    TLS_ERROR = "tls_error"
    NO_CONTENT = "no_content"
    UNEXPECTED_STATUS = "unexpected_status"
    EXTRACT_FAILED = "extract_failed"
    PDF_FAILED = "pdf_failed"
    BAD_ADDRESS = "bad_address"
