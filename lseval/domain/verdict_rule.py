"""Stage 1's rule: from what the cited pages say to each part of a group, to the group's label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from lseval.domain.evidence import ClaimCheck, EvidencePage
from lseval.domain.labels import GroupLabel

SUPPORTED: Final = "supported"
CONTRADICTED: Final = "contradicted"
NOT_FOUND: Final = "not_found"
STATUSES: Final = (SUPPORTED, CONTRADICTED, NOT_FOUND)

_OUTCOME_WORDS: Final = {"walled": "behind a wall", "unavailable": "not available", "ok": "empty"}
_LONGEST_SHOWN: Final = 90


def label_of(checks: Sequence[ClaimCheck]) -> tuple[GroupLabel, str]:
    """The label of a group with a readable cited page, and a sentence that says why.

    I where a check is contradicted, or not found; C where all are supported. A part that no cited page bears out is
    the response's fault, since the response chose what to cite.
    """
    by_status = {status: [check for check in checks if check.status == status] for status in STATUSES}
    if found := by_status[CONTRADICTED]:
        return GroupLabel.INCORRECT, f"A cited page contradicts “{_short(found[0].claim)}”{_note(found[0])}"
    if found := by_status[NOT_FOUND]:
        return GroupLabel.INCORRECT, f"No cited page bears out “{_short(found[0].claim)}”{_note(found[0])}"
    return GroupLabel.CORRECT, f"The cited pages bear out all {len(checks)} parts of the group."


def unreadable_reason(pages: Sequence[EvidencePage]) -> str:
    """Why a group none of whose cited pages is readable can be neither correct nor incorrect, in a sentence."""
    if not pages:
        return "The group cites no page."
    counts = Counter(_OUTCOME_WORDS.get(page.outcome, page.outcome.replace("_", " ")) for page in pages)
    if len(pages) == 1:
        return f"The cited page could not be read: {next(iter(counts))}."
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    return f"None of the {len(pages)} cited pages could be read: {told}."


def _note(check: ClaimCheck) -> str:
    return f": {check.note.rstrip('.')}." if check.note else "."


def _short(text: str) -> str:
    text = text.rstrip(" .。")
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1].rstrip() + "…"
