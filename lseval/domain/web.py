"""Search results and pages as they come from the outside world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One search result, in the engine's order."""

    url: str
    title: str
    snippet: str = ""
    published: str = ""


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a fetch: the address asked, the address dialled, the status that came back (0 for none)."""

    url: str
    address: str = ""
    status: int = 0


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page as it was fetched, whatever came of it.

    `outcome` is a `lseval.domain.labels.PageOutcome` value; `detail` says more in a few words. `text` is what a
    reader would see, empty unless something readable came. `decoder` and `decoder_source` name the character
    encoding and how it was known (bom, header, meta, guess). `content` keeps the bytes as they came,
    decompressed; `content_type` is what the server called them and `sniffed_type` what they are. `flags` lists
    suspicions such as truncated, mislabelled_encoding, instructions_in_page.
    """

    url: str
    outcome: str
    final_url: str = ""
    title: str = ""
    text: str = ""
    status: int = 0
    detail: str = ""
    hops: tuple[Hop, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    content_type: str = ""
    sniffed_type: str = ""
    decoder: str = ""
    decoder_source: str = ""
    flags: tuple[str, ...] = ()
    published: str = ""


Search = Callable[[str, int], tuple[SearchHit, ...]]
"""Searches the web for a query and at most that many results. Raises `lseval.providers.errors.ProviderError`."""

Fetch = Callable[[str], FetchedPage]
"""Fetches a page. Never raises for what the web does: whatever came of it is the outcome."""
