"""Search engines, one a file, and how to get one by the name that a study's settings give it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from lseval.providers.errors import RequestRefusedError
from lseval.providers.search.brave import Brave
from lseval.providers.search.engine import Engine
from lseval.providers.search.searxng import SearXNG
from lseval.providers.search.serper import Serper
from lseval.providers.search.tavily import Tavily
from lseval.providers.transport import GuardedHttp

ENGINES: Final[Mapping[str, type[Engine]]] = {engine.name: engine for engine in (SearXNG, Brave, Serper, Tavily)}
"""The engines by the names that settings use."""


def search_engine(
    name: str,
    *,
    http: GuardedHttp,
    environ: Mapping[str, str] = os.environ,
    base_url: str = "",
    key_env: str = "",
    connect_s: float = 10.0,
    read_s: float = 20.0,
) -> Engine:
    """The engine of that name: a `lseval.domain.web.Search`.

    `base_url` and `key_env` are empty where the engine's own will do. Raises RequestRefusedError for a name that
    is no engine's, and for an engine that has no address of its own and is given none.
    """
    kind = ENGINES.get(name)
    if kind is None:
        raise RequestRefusedError(f"There is no search engine {name!r}; there are {', '.join(sorted(ENGINES))}.")
    return kind(http, environ=environ, base_url=base_url, key_env=key_env, connect_s=connect_s, read_s=read_s)
