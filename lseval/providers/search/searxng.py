"""SearXNG, a metasearch engine that people run themselves: https://docs.searxng.org/dev/search_api"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from lseval.providers.search.engine import Engine, with_query


class SearXNG(Engine):
    """`GET /search?format=json`. The instance must have `json` among `search.formats`, or it replies 403."""

    name: ClassVar[str] = "searxng"
    address: ClassVar[str] = ""

    def asks(self, query: str, count: int, key: str) -> tuple[str, str, Sequence[tuple[str, str]], bytes]:
        headers = [("Authorization", f"Bearer {key}")] if key else []
        return "GET", with_query(f"{self.base_url}/search", q=query, format="json"), headers, b""

    def results_in(self, reply: Mapping[str, Any]) -> Any:
        return reply.get("results")

    def hit_in(self, result: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        return result.get("url"), result.get("title"), result.get("content"), result.get("publishedDate")
