"""Which of the protocol's five tools a tool of another program corresponds to, told from its name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lseval.domain.trajectory import TOOLS

_SEARCH = (
    "search",
    "websearch",
    "search_web",
    "internet_search",
    "google_search",
    "bing_search",
    "brave_search",
    "brave_web_search",
    "duckduckgo_search",
    "duckduckgo_results_json",
    "tavily_search",
    "tavily_search_results_json",
    "exa_search",
    "serper_search",
    "serpapi",
    "searxng_search",
    "web_search_preview",
    "search_query",
    "local_knowledge_base_retrieval",
)
_OPEN = (
    "open",
    "open_url",
    "open_page",
    "goto",
    "navigate",
    "browser_navigate",
    "web_browser_go",
    "web_browser_click",
    "click",
    "visit_page",
)
_READ = (
    "visit",
    "visit_webpage",
    "fetch",
    "fetch_url",
    "fetch_page",
    "fetch_webpage",
    "fetch_content",
    "web_fetch",
    "webfetch",
    "get_page",
    "get_document",
    "read_document",
    "read_url",
    "read_webpage",
    "read_website",
    "read_website_content",
    "browse",
    "browse_page",
    "scrape",
    "scrape_url",
    "scrape_website",
    "firecrawl_scrape",
    "tavily_extract",
    "jina_reader",
    "scroll",
    "web_browser_scroll",
    "web_browser_back",
    "web_browser_forward",
    "web_browser_refresh",
)
_FIND = ("find", "find_on_page", "find_in_document", "page_find")
_EXTRACT = ("extract_content", "extract_information", "extract_page", "ask_page", "ask_about_webpage")

_KNOWN: Mapping[str, str] = {
    **dict.fromkeys(_SEARCH, "web_search"),
    **dict.fromkeys(_OPEN, "open_page"),
    **dict.fromkeys(_READ, "read_page"),
    **dict.fromkeys(_FIND, "find_in_page"),
    **dict.fromkeys(_EXTRACT, "extract"),
    **{name: name for name in TOOLS},
}
_NO_WORD = re.compile(r"[^a-z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAMESPACE = re.compile(r".*(?:\.|__|/|::)")


def protocol_name(name: str) -> str:
    """The protocol's tool that `name` corresponds to, else `name` as it is.

    Case, hyphens and what stands before the last `.`, `/`, `::` or `__` do not count: `Web-Search`, `webSearch` and
    `mcp__corpus__search` are `web_search`. A browser's typing, a terminal or a submission corresponds to none.
    """
    bare = _NAMESPACE.sub("", name[:200])
    words = _NO_WORD.sub("_", _HUMP.sub("_", bare).lower()).strip("_")
    return _KNOWN.get(words, name)
