"""The pages that a run has opened, each under an identifier that stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from lseval.agent.errors import ToolError
from lseval.agent.passages import PassageIndex
from lseval.agent.texts import clean
from lseval.domain.urls import canonical_key
from lseval.domain.web import Fetch, FetchedPage
from lseval.errors import InputError


@dataclass(frozen=True)
class OpenedPage:
    """A page with its identifier in the run. `text` is clean; `key` is its address's canonical key."""

    page_id: str
    key: str
    page: FetchedPage

    @cached_property
    def text(self) -> str:
        return clean(self.page.text)

    @cached_property
    def lower_text(self) -> str:
        return self.text.lower()

    @cached_property
    def passages(self) -> PassageIndex:
        return PassageIndex(self.text)

    @property
    def address(self) -> str:
        return self.page.final_url or self.page.url


class PageCache:
    """Opens each page once a run, however its address is spelled, and knows it again by its identifier."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._by_key: dict[str, OpenedPage] = {}
        self._by_id: dict[str, OpenedPage] = {}

    def open(self, url: str) -> OpenedPage:
        """The page at the address, which is fetched when it is new.

        Raises:
            ToolError: that is no address of a web page.
        """
        url = clean(url).strip()
        try:
            key = canonical_key(url)
        except InputError as error:
            raise ToolError(str(error)) from error
        known = self._by_key.get(key)
        if known is None:
            known = OpenedPage(f"p{len(self._by_id) + 1}", key, self._fetch(url))
            self._by_key[key] = self._by_id[known.page_id] = known
        return known

    def readable(self, page_id: str) -> OpenedPage:
        """An opened page that has text.

        Raises:
            ToolError: nothing was opened under that identifier, or the page has no readable text.
        """
        known = self._by_id.get(page_id.strip())
        if known is None:
            opened = f"opened are p1 to p{len(self._by_id)}" if self._by_id else "no page has been opened yet"
            raise ToolError(f"there is no page {page_id[:60]!r}: {opened}. Open pages with open_page.")
        if not known.text.strip():
            raise ToolError(f"page {known.page_id} has no readable text (outcome {known.page.outcome}).")
        return known

    def opened(self, keep: Callable[[OpenedPage], bool] = lambda page: True) -> tuple[OpenedPage, ...]:
        """The opened pages in the order of their identifiers."""
        return tuple(page for page in self._by_id.values() if keep(page))
