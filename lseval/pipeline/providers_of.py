"""From a study's settings to the providers that it names.

Kinds of provider that the pipeline does not know itself are modules named in the setting LSEVAL_PROVIDERS; each has
`chat_of(study, model)`, `search_of(study)` and `fetch_of(study)`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib import import_module
from types import ModuleType

from django.conf import settings

from lseval.domain.chat import Chat
from lseval.domain.web import Fetch, Search
from lseval.errors import InputError
from lseval.models import EvaluatedModel, Phase, Study
from lseval.pipeline.study_settings import (
    allow_of,
    controls_of,
    fetch_settings_of,
    model_settings_of,
    search_settings_of,
)
from lseval.providers.addresses import Allowed
from lseval.providers.llm import OpenAIChat
from lseval.providers.search import search_engine
from lseval.providers.transport import GuardedHttp


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """A study's search engine: how to ask it, its name in the ledger, its address, and what a call costs."""

    ask: Search
    name: str
    base_url: str
    price_usd: Decimal | None


def chat_of(model: EvaluatedModel) -> Chat:
    """How an evaluated model is asked; one attempt a call."""
    provider = model_settings_of(model).provider
    if provider == "openai":
        return openai_chat(allow_of(model.study))
    found: Chat = _module(provider).chat_of(model.study, model)
    return found


def search_of(study: Study) -> SearchEngine:
    """The study's search engine; one attempt a call."""
    given = search_settings_of(study)
    if given.provider in settings.LSEVAL_PROVIDERS:
        return SearchEngine(_module(given.provider).search_of(study), given.provider, "", given.price_usd_per_call)
    controls = controls_of(study)
    engine = search_engine(
        given.provider,
        http=_http(allow_of(study)),
        environ=os.environ,
        base_url=given.base_url or "",
        key_env=given.key_env,
        connect_s=controls.search_connect_s,
        read_s=controls.search_read_s,
    )
    return SearchEngine(engine, given.provider, engine.base_url, given.price_usd_per_call)


def fetch_of(study: Study, phase: Phase) -> Fetch:
    """How the study's pages are had: the snapshot that there is, or a new one."""
    from lseval.pipeline.snapshots import fetch_for  # brings the fetcher along, which not everybody needs

    return fetch_for(study, raw_fetch_of(study), phase=phase)


def raw_fetch_of(study: Study) -> Fetch:
    """What brings pages from where the study has them, each time anew; `fetch_of` keeps what it brings."""
    from lseval.pipeline.snapshots import fetcher_of

    provider = fetch_settings_of(study).provider
    if provider in settings.LSEVAL_PROVIDERS:
        found: Fetch = _module(provider).fetch_of(study)
        return found
    return fetcher_of(study)


@lru_cache(maxsize=32)
def openai_chat(allow: tuple[str, ...]) -> OpenAIChat:
    """Chats with OpenAI-compatible endpoints, whose connections all threads of this process share."""
    return OpenAIChat(http=_http(allow), environ=os.environ)


@lru_cache(maxsize=32)
def _http(allow: tuple[str, ...]) -> GuardedHttp:
    return GuardedHttp(Allowed.of(allow))


def _module(provider: str) -> ModuleType:
    path = settings.LSEVAL_PROVIDERS.get(provider)
    if path is None:
        raise InputError(f"There is no provider {provider!r} in this installation (setting LSEVAL_PROVIDERS).")
    return import_module(path)
