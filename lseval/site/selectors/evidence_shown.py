"""The cited pages of one answer group: how reading each ended, and the words on it that a verdict rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from lseval.domain.labels import PageOutcome
from lseval.domain.page_words import FLAG_WORDS, outcome_words
from lseval.models import Page
from lseval.providers.extract.suspicions import INSTRUCTIONS, gives_orders
from lseval.site.selectors.groups import ClaimShown, SourceShown

CONTEXT: Final = 300
"""Characters shown on either side of a quotation."""

OPENING: Final = 900
"""Characters shown of a readable page that nothing is quoted from."""

_LOOKED_AT: Final = 500_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a page's text; a quoted one is marked and has the numbers of the claims that rest on it."""

    text: str
    claims: tuple[int, ...] = ()

    @property
    def is_quoted(self) -> bool:
        return bool(self.claims)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Pieces of a page in a row; `starts_inside` and `ends_inside` say whether text was left out around them."""

    pieces: list[Piece]
    starts_inside: bool
    ends_inside: bool


@dataclass(frozen=True, slots=True)
class EvidenceShown:
    """A cited page beside the group. `outcome` is how reading it ended, `none` where there is no snapshot."""

    source: SourceShown
    title: str
    outcome: str
    excerpts: list[Excerpt]
    remarks: list[str]
    gives_orders: bool
    length: int

    @property
    def outcome_words(self) -> str:
        return outcome_words(self.outcome) if self.outcome else "no snapshot"

    @property
    def is_evidence(self) -> bool:
        """Whether a verdict may rest on it: it was read and has text."""
        return self.outcome == PageOutcome.OK and self.length > 0

    @property
    def tone(self) -> str:
        return "good" if self.is_evidence else "caution"

    @property
    def instructions_remark(self) -> str:
        return FLAG_WORDS[INSTRUCTIONS]


def evidence_shown(sources: Sequence[SourceShown], claims: Sequence[ClaimShown]) -> list[EvidenceShown]:
    """The pages in the order in which they are cited, each once; one query."""
    pages = Page.objects.in_bulk([source.page_id for source in sources if source.page_id is not None])
    shown = []
    for source in sources:
        page = pages.pop(source.page_id, None) if source.page_id is not None else None
        if source.is_dangling or (page is None and source.page_id is not None):
            continue
        shown.append(_shown(source, page, claims))
    return shown


def _shown(source: SourceShown, page: Page | None, claims: Sequence[ClaimShown]) -> EvidenceShown:
    if page is None:
        return EvidenceShown(source, "", "", [], [], False, 0)
    spans = [
        (claim.start, claim.end, number)
        for number, claim in enumerate(claims, 1)
        if claim.page_id == page.pk and claim.start is not None and claim.end is not None
    ]
    flags = [str(flag) for flag in page.flags]
    # A page recorded in a run was never looked at by the fetcher, so its words are looked at now.
    speaks = INSTRUCTIONS in flags or gives_orders(page.text[:_LOOKED_AT])
    return EvidenceShown(
        source=source,
        title=page.title,
        outcome=page.outcome,
        excerpts=excerpts_around(page.text, spans),
        remarks=[FLAG_WORDS.get(flag, flag.replace("_", " ")) for flag in flags if flag != INSTRUCTIONS],
        gives_orders=speaks,
        length=len(page.text.strip()),
    )


def excerpts_around(text: str, spans: Sequence[tuple[int, int, int]]) -> list[Excerpt]:
    """The text around quotations, given as (start, end, claim's number); its opening where nothing is quoted.

    Windows that meet are one excerpt; where quotations overlap, the words that they share are marked for both.
    """
    held = [(start, end, number) for start, end, number in spans if 0 <= start < end <= len(text)]
    if not held:
        opening = text[:OPENING]
        return [Excerpt([Piece(opening)], False, len(text) > OPENING)] if opening.strip() else []
    windows: list[list[int]] = []
    for start, end, _ in sorted(held):
        first, last = max(0, start - CONTEXT), min(len(text), end + CONTEXT)
        if windows and first <= windows[-1][1]:
            windows[-1][1] = max(windows[-1][1], last)
        else:
            windows.append([first, last])
    return [Excerpt(_pieces(text, first, last, held), first > 0, last < len(text)) for first, last in windows]


def _pieces(text: str, first: int, last: int, held: Sequence[tuple[int, int, int]]) -> list[Piece]:
    inside = [span for span in held if span[0] < last and span[1] > first]
    cuts = sorted({first, last, *(cut for start, end, _ in inside for cut in (start, end) if first < cut < last)})
    return [
        Piece(text[start:end], tuple(number for left, right, number in inside if left <= start and end <= right))
        for start, end in pairwise(cuts)
    ]
