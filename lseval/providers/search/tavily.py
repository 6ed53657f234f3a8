"""Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from lseval.providers.search.engine import Engine, shortened


class Tavily(Engine):
    """`POST /search` at the basic depth, for queries of at most 400 characters: longer ones are cut."""

    name: ClassVar[str] = "tavily"
    address: ClassVar[str] = "https://api.tavily.com"
    usual_key_env: ClassVar[str] = "TAVILY_API_KEY"
    # The plan's limit, and the limit set for paying as one goes.
    no_credit_statuses: ClassVar[frozenset[int]] = frozenset({432, 433})

    def asks(self, query: str, count: int, key: str) -> tuple[str, str, Sequence[tuple[str, str]], bytes]:
        headers = [("Authorization", f"Bearer {key}"), ("Content-Type", "application/json")]
        asked = {"query": shortened(query, 400), "max_results": count, "search_depth": "basic"}
        return "POST", f"{self.base_url}/search", headers, json.dumps(asked).encode()

    def results_in(self, reply: Mapping[str, Any]) -> Any:
        return reply.get("results")

    def hit_in(self, result: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        return result.get("url"), result.get("title"), result.get("content"), result.get("published_date")
