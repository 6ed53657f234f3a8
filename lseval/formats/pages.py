"""Gathers what a run read of each page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from lseval.domain.labels import PageOutcome
from lseval.domain.trajectory import PageRecord


@dataclass(slots=True)
class _Page:
    url: str
    title: str = ""
    windows: dict[str, None] = field(default_factory=dict)
    outcome: str = ""
    retrieved_at: str | None = None


class PageCollector:
    """One page for each URL, in the order first read.

    URLs that differ only in their fragment are one page, under the URL met first. Windows are joined in the
    order read with a blank line between them; a window that stands in another one is not repeated. A page of which
    any reading succeeded is `ok`; else it has the last outcome and no text.
    """

    def __init__(self) -> None:
        self._pages: dict[str, _Page] = {}

    def add(
        self,
        url: str,
        text: str,
        *,
        title: str = "",
        outcome: str = PageOutcome.OK,
        retrieved_at: str | None = None,
    ) -> None:
        """Record one reading of `url`. An empty `url` is passed over; `text` counts only where `outcome` is ok."""
        url = url.strip()
        if not url:
            return
        page = self._pages.setdefault(url.partition("#")[0], _Page(url))
        page.title = page.title or title
        page.retrieved_at = page.retrieved_at or retrieved_at
        if outcome == PageOutcome.OK:
            page.outcome = PageOutcome.OK.value
            if text:
                page.windows.setdefault(text)
        elif page.outcome != PageOutcome.OK:
            page.outcome = str(outcome)

    def records(self) -> tuple[PageRecord, ...]:
        """The pages as records."""
        return tuple(
            PageRecord(
                url=page.url,
                text="\n\n".join(_not_within_another(page.windows)),
                title=page.title,
                outcome=page.outcome,
                retrieved_at=page.retrieved_at,
            )
            for page in self._pages.values()
        )


def _not_within_another(windows: Collection[str]) -> list[str]:
    """The windows, in order, without those that are part of a longer one."""
    return [text for text in windows if not any(len(text) < len(other) and text in other for other in windows)]


def outcome_of_text(text: str) -> str:
    """`ok` for text that holds something, `empty` for text that does not."""
    return PageOutcome.OK.value if text.strip() else PageOutcome.EMPTY.value
