"""Serper, Google's results: https://serper.dev"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from lseval.providers.search.engine import Engine


class Serper(Engine):
    """`POST /search`; the organic results, without answer boxes and knowledge panels."""

    name: ClassVar[str] = "serper"
    address: ClassVar[str] = "https://google.serper.dev"
    usual_key_env: ClassVar[str] = "SERPER_API_KEY"

    def asks(self, query: str, count: int, key: str) -> tuple[str, str, Sequence[tuple[str, str]], bytes]:
        headers = [("X-API-KEY", key), ("Content-Type", "application/json")]
        return "POST", f"{self.base_url}/search", headers, json.dumps({"q": query, "num": count}).encode()

    def results_in(self, reply: Mapping[str, Any]) -> Any:
        if "organic" not in reply and isinstance(reply.get("searchParameters"), Mapping):
            return []  # Serper leaves `organic` out where it found nothing.
        return reply.get("organic")

    def hit_in(self, result: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        return result.get("link"), result.get("title"), result.get("snippet"), result.get("date")
