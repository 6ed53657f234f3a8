"""A model, a search engine and a web that do as they are told, for the tests of the loop."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lseval.agent.loop import run_agent
from lseval.agent.run import AgentRun
from lseval.domain.chat import CalledTool, ChatReply, ChatRequest, Endpoint, Usage
from lseval.domain.controls import Controls
from lseval.domain.web import FetchedPage, SearchHit

ENDPOINT = Endpoint("http://127.0.0.1:1/v1", "scripted")
TEXT = "Lake Aldis ferry opened in 1962.\nIt is 840 metres long.\n" + "Timetable row. " * 800
FERRY = "https://ferries.example/aldis"
ANSWER = f"1. Lake Aldis ferry: opened in 1962 {FERRY}"
QUESTION = "Which ferry opened in 1962?"

Script = Sequence[ChatReply | Exception]


def calls(*asked: tuple[str, Any], text: str = "", **changes: Any) -> ChatReply:
    """A reply with calls; arguments are a mapping, or text as the model wrote it."""
    made = tuple(
        CalledTool(f"id{number}", name, given if isinstance(given, str) else json.dumps(given))
        for number, (name, given) in enumerate(asked)
    )
    return ChatReply(text, made, **{"finish_reason": "tool_calls", "usage": Usage(100, 50, 10, None), **changes})


def says(text: str, **changes: Any) -> ChatReply:
    """A reply without calls."""
    return ChatReply(text, **{"usage": Usage(100, None, 10, None), **changes})


class Model:
    """Replies by a script, and keeps what it was asked. It fails the test when it is asked for more."""

    def __init__(self, script: Script) -> None:
        self._script = list(script)
        self.requests: list[ChatRequest] = []

    def __call__(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        assert self._script, "the loop asked for more replies than the script has"
        reply = self._script.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def last_told(self, asked: int = -1) -> str:
        """The last message of a request."""
        return self.requests[asked].messages[-1].content


class Web:
    """Pages by address, and how often each was fetched."""

    def __init__(self, pages: Mapping[str, FetchedPage] | None = None) -> None:
        self._pages = pages or {FERRY: FetchedPage(FERRY, "ok", FERRY, "Aldis", TEXT, content_type="text/html")}
        self.fetched: list[str] = []

    def __call__(self, url: str) -> FetchedPage:
        self.fetched.append(url)
        return self._pages.get(url, FetchedPage(url, "not_found", status=404))


def finds(*urls: str) -> Callable[[str, int], tuple[SearchHit, ...]]:
    """A search engine that finds the same for every query."""
    return lambda query, count: tuple(SearchHit(url, "Title", "snippet") for url in urls)


def run(
    model: Model,
    *,
    controls: Controls = Controls(),  # noqa: B008 - frozen
    search: Callable[[str, int], tuple[SearchHit, ...]] | None = None,
    web: Web | None = None,
    **options: Any,
) -> AgentRun:
    """The run of the scripted model on the question."""
    return run_agent(QUESTION, ENDPOINT, controls, model, search or finds(FERRY), web or Web(), **options)
