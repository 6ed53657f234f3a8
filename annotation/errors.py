"""The errors of labeling that a page shows in its own way."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import LabelVersion
from lseval.errors import ConflictError


@dataclass(frozen=True, slots=True)
class OfferedLabel:
    """What a request wanted to store."""

    action: str
    label: str = ""
    error_type: str = ""
    comment: str = ""


class StaleLabelError(ConflictError):
    """The person's own label has changed since the page that sent this one was opened.

    `in_force` is what is stored, a version of the same person; `offered` is what was sent and not stored.
    """

    code = "stale_label"

    def __init__(self, in_force: LabelVersion, offered: OfferedLabel) -> None:
        super().__init__(
            "You have already decided this item in another window. Nothing was overwritten: compare both below, "
            "and save again if the new one is right."
        )
        self.in_force = in_force
        self.offered = offered


class PairChangedError(ConflictError):
    """One of the two labels before an adjudicator has changed since their page was opened."""

    code = "pair_changed"


class EvidenceChangedError(ConflictError):
    """What is shown beside an item is no longer what the page that sent the label showed."""

    code = "evidence_changed"
