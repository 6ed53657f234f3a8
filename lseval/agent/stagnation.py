"""Watching for searches that lead nowhere."""

from __future__ import annotations

from collections.abc import Sequence

from lseval.domain.urls import canonical_key
from lseval.errors import InputError


class Stagnation:
    """Counts searches in a row that repeat an earlier query or find no page that is new to the run.

    At `warn` in a row the model is told, and told again with every further one; at `cut` searching is over for the
    run. A search that fails counts for nothing.
    """

    def __init__(self, warn: int, cut: int) -> None:
        self._warn = warn
        self._cut = cut
        self._queries: set[str] = set()
        self._keys: set[str] = set()
        self.in_a_row = 0
        self.is_cut = False

    def after_search(self, query: str, urls: Sequence[str]) -> int | None:
        """Take in a search; how many in a row led nowhere where the model is to be told, else None."""
        plain = " ".join(query.casefold().split())
        keys = {_key(url) for url in urls}
        is_fruitless = plain in self._queries or keys <= self._keys
        self._queries.add(plain)
        self._keys |= keys
        self.in_a_row = self.in_a_row + 1 if is_fruitless else 0
        if self.in_a_row >= self._cut:
            self.is_cut = True
        return self.in_a_row if is_fruitless and (self.is_cut or self.in_a_row >= self._warn) else None


def _key(url: str) -> str:
    try:
        return canonical_key(url)
    except InputError:
        return url
