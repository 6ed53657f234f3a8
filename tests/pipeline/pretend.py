"""A provider of search and pages that needs no network: what LSEVAL_PROVIDERS may name in tests."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from typing import Any

from lseval.domain.web import Fetch, FetchedPage, Search, SearchHit
from lseval.models import EvaluatedModel, Study
from tests.providers.bad_llm import calls_tools, says
from tests.providers.loopback import Behaviour, SeenRequest

TEXT = "The Lake Aldis ferry opened in 1962. It is 840 metres long. " * 60
ANSWER = "1. Lake Aldis ferry: opened in 1962 (https://ferries.example/1)"


def search_of(study: Study) -> Search:
    def search(query: str, count: int) -> tuple[SearchHit, ...]:
        if (doomed := os.environ.get("LSEVAL_PRETEND_CRASH")) and doomed in query:
            signal.raise_signal(signal.SIGSEGV)  # in this thread, so that it is over before anything is kept
        return _hits(query)

    return search


def _hits(query: str) -> tuple[SearchHit, ...]:
    return tuple(
        SearchHit(f"https://ferries.example/{number}", f"{query} {number}", "about ferries") for number in (1, 2)
    )


def fetch_of(study: Study) -> Fetch:
    return lambda url: FetchedPage(url, "ok", final_url=url, title="Ferries", text=TEXT, status=200)


def turns_so_far(messages: Sequence[dict[str, Any]]) -> int:
    return sum(message["role"] == "assistant" for message in messages)


def turn_of(turn: int, turns: int, query: str = "ferries") -> Behaviour:
    """An agent's turn: a search and an opening first, then readings two at a time, then the answer."""
    if turn >= turns:
        return says(ANSWER)
    if turn == 0:
        return calls_tools(
            ("web_search", json.dumps({"query": query})),
            ("open_page", json.dumps({"url": "https://ferries.example/1"})),
            text="I search.",
        )
    read = json.dumps({"page_id": "p1", "offset": 100 * turn})
    find = json.dumps({"page_id": "p1", "pattern": f"ferry {turn}"})
    return calls_tools(("read_page", read), ("find_in_page", find), text=f"I read on, {turn}.")


def agent_of(turns: int) -> Any:
    """A script for a loopback LLM: an agent that takes so many turns before it answers, told by the chat alone."""

    def choose(request: SeenRequest) -> Behaviour:
        return turn_of(turns_so_far(request.json()["messages"]), turns)

    return choose


def make_collectable(base_url: str, *, tasks: int = 2, models: int = 1, slug: str = "s1", **settings: Any) -> Study:
    """A study whose models are at a loopback LLM and whose search and pages are this module's."""
    study = Study.objects.create(
        slug=slug,
        name=slug,
        settings={
            "search": {"provider": "sandbox"},
            "fetch": {"provider": "sandbox"},
            "providers": {"allow": [base_url.removesuffix("/v1")]},
            **settings,
        },
    )
    for number in range(tasks):
        study.tasks.create(key=f"t{number}", question=f"Which ferry number {number} opened first?")
    for number in range(models):
        EvaluatedModel.objects.create(
            study=study,
            name=f"m{number}",
            family="f",
            settings={
                "base_url": base_url,
                "model": f"m{number}",
                "price": {"input_usd_per_mtok": "1", "cached_usd_per_mtok": "0.1", "output_usd_per_mtok": "4"},
            },
        )
    return study
