"""Brave Search: https://api-dashboard.search.brave.com/app/documentation/web-search"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from lseval.providers.search.engine import Engine, shortened, with_query


class Brave(Engine):
    """`GET /res/v1/web/search`, for queries of at most 400 characters and 50 words: longer ones are cut."""

    name: ClassVar[str] = "brave"
    address: ClassVar[str] = "https://api.search.brave.com"
    usual_key_env: ClassVar[str] = "BRAVE_API_KEY"

    def asks(self, query: str, count: int, key: str) -> tuple[str, str, Sequence[tuple[str, str]], bytes]:
        parameters = {"q": shortened(query, 400, 50), "count": str(count), "text_decorations": "false"}
        url = with_query(f"{self.base_url}/res/v1/web/search", **parameters, result_filter="web")
        return "GET", url, [("X-Subscription-Token", key)], b""

    def results_in(self, reply: Mapping[str, Any]) -> Any:
        web = reply.get("web")
        if web is None and reply.get("type") == "search":
            return []  # Brave leaves `web` out where it found nothing.
        return web.get("results") if isinstance(web, Mapping) else None

    def hit_in(self, result: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        published = result.get("page_age") or result.get("age")
        return result.get("url"), result.get("title"), result.get("description"), published
