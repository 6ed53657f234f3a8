"""What the judges of both stages are given, and what they give back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class EvidencePage:
    """A cited page as a judge sees it. `key` identifies the snapshot; `outcome` is a `PageOutcome`."""

    key: str
    url: str
    text: str
    outcome: str = "ok"

    @property
    def is_readable(self) -> bool:
        return self.outcome == "ok" and bool(self.text.strip())


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words found in a snapshot: `text == page.text[start:end]`."""

    page_key: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """One claim of a group against the pages. `status` is supported, contradicted or not_found."""

    claim: str
    status: str
    quotation: Quotation | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class VerdictDraft:
    """Stage 1's opinion: `label` is a `GroupLabel` value or `unjudged`; `reason` says why in a sentence.

    `code` names the reason of an unjudged group (`judging.replies.Unusable`); `flags` tell how the opinion was come
    by: a reply repaired, a page cut, a quotation dropped.
    """

    label: str
    reason: str
    claims: tuple[ClaimCheck, ...] = ()
    code: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupUnderAudit:
    """An answer group with Stage 1's result, as the Stage 2 judges see it."""

    number: int
    title: str
    text: str
    label: str
    claims: tuple[ClaimCheck, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallUnderAudit:
    """A tool call of the round under audit."""

    name: str
    arguments: Mapping[str, object]
    observation: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class RoundUnderAudit:
    """A round as the Stage 2 judges see it: its number, its words and its calls."""

    number: int
    text: str
    calls: tuple[CallUnderAudit, ...]


@dataclass(frozen=True, slots=True)
class JudgementDraft:
    """One judge's opinion of one round.

    `verdict` is a `RoundLabel` value; `error_type` is one of the ten types or empty; `groups` are the numbers
    of the answer groups that the judge ties to the round. `code` names the reason of a round left unjudged, and
    `flags` tell how the opinion was come by, as in `VerdictDraft`.
    """

    verdict: str
    error_type: str = ""
    groups: tuple[int, ...] = ()
    explanation: str = ""
    code: str = ""
    flags: tuple[str, ...] = ()
