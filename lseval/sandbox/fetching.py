"""Fetching from the made-up web: no network, the same outcomes as the guarded fetcher has."""

from __future__ import annotations

from typing import Final

from lseval.domain.labels import PageOutcome
from lseval.domain.web import Fetch, FetchedPage, Hop
from lseval.providers.extract.routing import extract
from lseval.providers.fetch import READABLE, outcome_of_status
from lseval.sandbox.web import Web, WebResponse

_MOST_HOPS: Final = 5
_ADDRESS: Final = "192.0.2.1"
"""Reserved for documentation, as all of the made-up web's hosts are."""


def fetcher(web: Web) -> Fetch:
    """Fetches pages of the web, follows its redirects, and reads what comes by the program's own extraction."""

    def fetch(url: str) -> FetchedPage:
        hops: list[Hop] = []
        address = url
        for _ in range(_MOST_HOPS):
            response = web.respond(address)
            hops.append(Hop(address, _ADDRESS, response.status))
            target = response.headers.get("location")
            if target is None:
                return _page(url, address, response, tuple(hops))
            address = target
        return FetchedPage(
            url, PageOutcome.UNEXPECTED_STATUS, address, detail="too many redirects", hops=tuple(hops)
        )

    return fetch


def _page(url: str, final_url: str, response: WebResponse, hops: tuple[Hop, ...]) -> FetchedPage:
    content_type = response.headers.get("content-type", "")
    if response.status not in READABLE:
        outcome, detail = outcome_of_status(response.status)
        return FetchedPage(
            url, outcome, final_url, status=response.status, detail=detail, hops=hops,
            headers=dict(response.headers), content=response.content, content_type=content_type,
        )  # fmt: skip
    found = extract(response.content, content_type, final_url)
    return FetchedPage(
        url,
        found.outcome,
        final_url,
        title=found.title,
        text=found.text,
        status=response.status,
        detail=found.detail,
        hops=hops,
        headers=dict(response.headers),
        content=response.content,
        content_type=content_type,
        sniffed_type=found.sniffed_type,
        decoder=found.decoder,
        decoder_source=found.decoder_source,
        flags=found.flags,
        published=found.published,
    )
