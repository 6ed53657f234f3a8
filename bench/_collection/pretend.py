"""Search and pages that cost nothing, under the name of the sandbox: what is measured is collection itself."""

from __future__ import annotations

from lseval.domain.web import Fetch, FetchedPage, Search, SearchHit
from lseval.models import Study

TEXT = " ".join(
    f"Sentence {number}: the ferry of lake {number} opened in {1900 + number % 90}." for number in range(400)
)


def search_of(study: Study) -> Search:
    return lambda query, count: tuple(
        SearchHit(f"https://ferries.example/{number}", f"Ferry {number}", f"{query}: about ferry {number}. " * 3)
        for number in range(count)
    )


def fetch_of(study: Study) -> Fetch:
    return lambda url: FetchedPage(url, "ok", final_url=url, title="Ferries", text=TEXT, status=200)
