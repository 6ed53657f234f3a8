"""The five tools: what each call returns to the model, and how it is kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lseval.agent.errors import ToolError
from lseval.agent.pages import OpenedPage, PageCache
from lseval.agent.schemas import (
    ExtractArguments,
    FindInPageArguments,
    OpenPageArguments,
    ReadPageArguments,
    WebSearchArguments,
    read_arguments,
    require,
)
from lseval.agent.stagnation import Stagnation
from lseval.agent.texts import clean, one_line
from lseval.agent.wording import Wording
from lseval.domain.chat import CalledTool
from lseval.domain.controls import Controls
from lseval.domain.trajectory import ToolCallRecord
from lseval.domain.web import Fetch, Search, SearchHit
from lseval.providers.errors import MalformedReplyError, RequestRefusedError, TimedOutError

MOST_MATCHES_SHOWN = 10
MOST_FAILED_SEARCHES = 3
"""So many searches that fail before one has succeeded are taken for a search engine that does not work."""

_SEARCH_PROBLEMS: Mapping[str, str] = {
    TimedOutError.code: "the search engine did not answer in time.",
    RequestRefusedError.code: "the search engine does not take this query.",
    MalformedReplyError.code: "the search engine's reply could not be read.",
}
_CONTEXT_CHARS = 120
_TITLE_CHARS = 200
_URL_CHARS = 2_000
_TYPE_CHARS = 60
_DETAIL_CHARS = 120
_SNIPPET_CHARS = 500
_PUBLISHED_CHARS = 40


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A call as it is kept, and its arguments as JSON text that is safe to send back to a provider."""

    record: ToolCallRecord
    echo: str


class Toolbox:
    """The tools of one run, with its page cache and its watch over fruitless searches.

    `call` raises nothing of its own: what the model did wrong is an error observation. Provider errors that are no
    answer to this very call (a spent budget, a refused key, a pause) pass through.
    """

    def __init__(self, search: Search, fetch: Fetch, controls: Controls, words: Wording) -> None:
        self.pages = PageCache(fetch)
        self.stagnation = Stagnation(controls.stagnation_warn, controls.stagnation_cut)
        self._search = search
        self._controls = controls
        self._words = words
        self._has_searched = False
        self._failed_searches = 0
        self._tools: Mapping[str, Callable[[Any], str]] = {
            "web_search": self._web_search,
            "open_page": self._open_page,
            "read_page": self._read_page,
            "find_in_page": self._find_in_page,
            "extract": self._extract,
        }

    def call(self, asked: CalledTool, *, refusal: str = "") -> ToolResult:
        """Carry out one call; with `refusal`, only record that it was refused for that reason."""
        name = clean(asked.name).strip()
        arguments = read_arguments(name, asked.arguments)
        try:
            if refusal:
                raise ToolError(refusal)
            values = require(arguments)
            observation, is_error = self._tools[name](values), False
        except ToolError as error:
            observation, is_error = f"Error: {error}", True
        record = ToolCallRecord(name, name, arguments.kept, observation, is_error)
        return ToolResult(record, arguments.echo)

    def _web_search(self, asked: WebSearchArguments) -> str:
        if self.stagnation.is_cut:
            raise ToolError("web_search is no longer available in this run.")
        most = min(asked.count or self._controls.search_results, self._controls.search_results)
        try:
            hits = self._search(asked.query, most)[:most]
        except (TimedOutError, RequestRefusedError, MalformedReplyError) as error:
            self._failed_searches += 1
            if not self._has_searched and self._failed_searches >= MOST_FAILED_SEARCHES:
                raise  # not this query's fault: a run without a search engine would be no run
            raise ToolError(_SEARCH_PROBLEMS.get(error.code, "the search failed.")) from error
        self._has_searched = True
        notice = self.stagnation.after_search(asked.query, [hit.url for hit in hits])
        lines = [_hit(number, hit) for number, hit in enumerate(hits, start=1)]
        told = "\n".join(lines) if lines else "No results."
        if notice is None:
            return told
        name = "search_taken" if self.stagnation.is_cut else "repeats"
        return f"{told}\n\n{self._words.notice(name, count=notice)}"

    def _open_page(self, asked: OpenPageArguments) -> str:
        opened = self.pages.open(asked.url)
        page = opened.page
        kind = page.sniffed_type or page.content_type
        lines = [
            f"page_id: {opened.page_id}",
            f"title: {one_line(clean(page.title), _TITLE_CHARS) or '(none)'}",
            f"url: {_address(opened.address)}",
            f"type: {one_line(clean(kind), _TYPE_CHARS) or 'unknown'}",
            f"length: {len(opened.text)} characters",
            f"outcome: {page.outcome}",
        ]
        if page.detail:
            lines.append(f"detail: {one_line(clean(page.detail), _DETAIL_CHARS)}")
        return "\n".join(lines)

    def _read_page(self, asked: ReadPageArguments) -> str:
        opened = self.pages.readable(asked.page_id)
        length = len(opened.text)
        if asked.offset >= length:
            raise ToolError(
                f"offset {asked.offset} is beyond the end: page {opened.page_id} has {length} characters."
            )
        chars = min(asked.chars or self._controls.read_chars, self._controls.read_chars_cap)
        end = min(asked.offset + chars, length)
        left = f"{length - end} left" if end < length else "the end"
        place = f"characters {asked.offset} to {end} of {length} ({left})"
        return f"{_head(opened)}, {place}\n\n{opened.text[asked.offset : end]}"

    def _find_in_page(self, asked: FindInPageArguments) -> str:
        opened = self.pages.readable(asked.page_id)
        found = _matches(asked.pattern, opened)
        quoted = f'"{one_line(asked.pattern, _TITLE_CHARS)}"'
        if not found:
            return f"{_head(opened)}: {quoted} is not there."
        shown = found[:MOST_MATCHES_SHOWN]
        times = "once" if len(found) == 1 else f"{len(found)} times"
        rest = f"; the first {len(shown)} are shown" if len(found) > len(shown) else ""
        places = [f"at {start}: {_around(opened.text, start, end)}" for start, end in shown]
        return "\n".join((f"{_head(opened)}: {quoted} is there {times}{rest}", *places))

    def _extract(self, asked: ExtractArguments) -> str:
        opened = self.pages.readable(asked.page_id)
        lines = [_head(opened)]
        for name in asked.fields:
            passages = opened.passages.nearest(name)
            lines.append(f"{one_line(name, _TITLE_CHARS)}:" + ("" if passages else " nothing found"))
            lines += [f"  at {passage.start}: {one_line(passage.text, len(passage.text))}" for passage in passages]
        return "\n".join(lines)


def _matches(pattern: str, opened: OpenedPage) -> list[tuple[int, int]]:
    """Where the pattern stands in the page, in whatever case, as starts and ends that do not overlap."""
    if not (pattern and pattern.isascii() and opened.text.isascii()):
        found = re.finditer(re.escape(pattern), opened.text, re.IGNORECASE)
        return [(match.start(), match.end()) for match in found]
    # The same for ASCII, without a pattern to compile at each call.
    places: list[tuple[int, int]] = []
    wanted, end = pattern.lower(), 0
    while (start := opened.lower_text.find(wanted, end)) >= 0:
        end = start + len(wanted)
        places.append((start, end))
    return places


def _hit(number: int, hit: SearchHit) -> str:
    lines = [f"{number}. {one_line(clean(hit.title), _TITLE_CHARS) or '(no title)'}", f"   {_address(hit.url)}"]
    if hit.published:
        lines.append(f"   published: {one_line(clean(hit.published), _PUBLISHED_CHARS)}")
    if hit.snippet.strip():
        lines.append(f"   {one_line(clean(hit.snippet), _SNIPPET_CHARS)}")
    return "\n".join(lines)


def _address(url: str) -> str:
    """An address in one piece. A very long one is cut and marked so: no model would write it out again."""
    plain = "".join(clean(url).split())
    return plain if len(plain) <= _URL_CHARS else f"{plain[:_URL_CHARS]}…"


def _head(opened: OpenedPage) -> str:
    return f"Page {opened.page_id} {_address(opened.address)}"


def _around(text: str, start: int, end: int) -> str:
    """The match with some text on either side, on one line."""
    end = min(end, start + _SNIPPET_CHARS)
    first, last = max(0, start - _CONTEXT_CHARS), min(len(text), end + _CONTEXT_CHARS)
    shown = " ".join(text[first:last].split())
    return f"{'…' if first else ''}{shown}{'…' if last < len(text) else ''}"
