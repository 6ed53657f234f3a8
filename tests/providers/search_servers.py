"""Search engines on loopback that reply in the forms of SearXNG, Brave, Serper and Tavily."""

from __future__ import annotations

from typing import Any

from lseval.providers.search import search_engine
from lseval.providers.search.engine import Engine
from tests.providers.clients import ENVIRON, http_for
from tests.providers.loopback import Behaviour, LoopbackServer, Script

FIELDS = {
    "searxng": ("url", "title", "content", "publishedDate"),
    "brave": ("url", "title", "description", "page_age"),
    "serper": ("link", "title", "snippet", "date"),
    "tavily": ("url", "title", "content", "published_date"),
}


def result_of(
    name: str, url: Any, title: Any = "A title", snippet: Any = "A snippet", published: Any = None
) -> dict:
    """One result in an engine's own words."""
    return dict(zip(FIELDS[name], (url, title, snippet, published), strict=True))


def reply_of(name: str, *results: Any) -> dict[str, Any]:
    """A whole reply in an engine's own form."""
    listed = list(results)
    return {
        "searxng": {"query": "q", "number_of_results": 0, "results": listed, "unresponsive_engines": []},
        "brave": {"type": "search", "web": {"type": "search", "results": listed}},
        "serper": {"searchParameters": {"q": "q"}, "organic": listed, "credits": 1},
        "tavily": {"query": "q", "answer": None, "results": listed, "response_time": 0.1},
    }[name]


def finds(name: str, *results: Any) -> Behaviour:
    return lambda exchange: exchange.send_json(200, reply_of(name, *results))


class SearchServer(LoopbackServer):
    """A server for one engine; `engine()` asks it."""

    def __init__(self, name: str, script: Script = ()) -> None:
        super().__init__(script, default=finds(name))
        self.name = name

    def engine(self, **options: Any) -> Engine:
        options = {"environ": ENVIRON, "base_url": self.origin, "key_env": "SOME_KEY", **options}
        return search_engine(self.name, http=http_for(self), **options)
