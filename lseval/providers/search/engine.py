"""What all search engines have in common: one request, its errors, and results that are results."""

from __future__ import annotations

import html
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from lseval.domain.controls import MOST_SEARCH_RESULTS
from lseval.domain.storable_text import storable
from lseval.domain.urls import canonical_key
from lseval.domain.web import SearchHit
from lseval.errors import InputError
from lseval.providers.complaints import complaint_in, error_inside, error_of
from lseval.providers.errors import MalformedReplyError, RequestRefusedError
from lseval.providers.guard import endpoint_target
from lseval.providers.keys import key_from
from lseval.providers.transport import GuardedHttp

LONGEST_URL: Final = 2_000
LONGEST_TITLE: Final = 300
LONGEST_SNIPPET: Final = 1_000

_MOST_REPLY_BYTES = 8 * 2**20
_MARKUP = re.compile(r"</?[a-z][a-z0-9]{0,9}(?:\s[^<>]{0,300})?/?>", re.IGNORECASE)


ReadHit = Callable[[Mapping[str, Any]], tuple[Any, Any, Any, Any]]


class Engine(ABC):
    """A search engine, asked once a call, for any number of threads.

    A kind of engine states its `name`, its address (empty where everybody has an own one), the environment variable
    that its key is usually in, and what it asks and reads.
    """

    name: ClassVar[str]
    address: ClassVar[str]
    usual_key_env: ClassVar[str] = ""
    no_credit_statuses: ClassVar[frozenset[int]] = frozenset()

    def __init__(
        self,
        http: GuardedHttp,
        *,
        environ: Mapping[str, str],
        base_url: str = "",
        key_env: str = "",
        connect_s: float = 10.0,
        read_s: float = 20.0,
    ) -> None:
        self.base_url = (base_url or self.address).rstrip("/")
        if not self.base_url:
            raise RequestRefusedError(f"The search engine {self.name} needs a base_url in the study's file.")
        self._http = http
        self._environ = environ
        self._key_env = key_env or self.usual_key_env
        self._connect_s = connect_s
        self._read_s = read_s

    def __call__(self, query: str, count: int) -> tuple[SearchHit, ...]:
        """At most `count` results (and never more than 10) in the engine's order, each page once.

        Results without a usable http(s) address are left out; titles and snippets are plain text. No result is an
        empty tuple. Raises a `ProviderError`; a query with nothing in it is refused without asking.
        """
        count = max(1, min(count, MOST_SEARCH_RESULTS))
        asked = " ".join(storable(query).replace("\ufffd", " ").split())
        if not asked:
            raise RequestRefusedError("The search query is empty.")
        who = endpoint_target(self.base_url).origin
        key = key_from(self._environ, self._key_env, who)
        method, url, headers, body = self.asks(asked, count, key)
        reply = self._http.request(
            method,
            url,
            headers=[("Accept", "application/json"), *headers],
            body=body,
            timeout_s=self._connect_s + self._read_s,
            connect_s=self._connect_s,
            reply_s=self._read_s,
            most_bytes=_MOST_REPLY_BYTES,
        )
        if not 200 <= reply.status < 300:
            raise error_of(reply, who, key, no_credit_statuses=self.no_credit_statuses)
        try:
            value = json.loads(reply.body.decode("utf-8", "replace").removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            raise MalformedReplyError(f"{who} replied with something that is not JSON.") from error
        results = self.results_in(value) if isinstance(value, Mapping) else None
        if not isinstance(results, list):
            if isinstance(value, Mapping) and (value.get("error") or value.get("detail")):
                raise error_inside(complaint_in(value), reply.headers, who, key)
            raise MalformedReplyError(f"{who} replied without a list of results.")
        return hits_of(results, self.hit_in, count)

    @abstractmethod
    def asks(self, query: str, count: int, key: str) -> tuple[str, str, Sequence[tuple[str, str]], bytes]:
        """Method, address, headers and body of the request; `key` is empty where the engine needs none."""

    @abstractmethod
    def results_in(self, reply: Mapping[str, Any]) -> Any:
        """The list of results in the engine's reply; anything else where there is none."""

    @abstractmethod
    def hit_in(self, result: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Address, title, snippet and date of one result, as they stand in it."""


def hits_of(results: Sequence[Any], hit_in: ReadHit, count: int) -> tuple[SearchHit, ...]:
    """The first `count` usable results, each page (by its canonical key) once."""
    hits: dict[str, SearchHit] = {}
    for result in results:
        if len(hits) == count:
            break
        if not isinstance(result, Mapping):
            continue
        url, title, snippet, published = hit_in(result)
        if not isinstance(url, str) or len(url) > LONGEST_URL or storable(url) != url:
            continue
        url = url.strip()
        try:
            key = canonical_key(url)
        except InputError:
            continue
        hits.setdefault(
            key,
            SearchHit(
                url=url,
                title=plain(title, LONGEST_TITLE) or url,
                snippet=plain(snippet, LONGEST_SNIPPET),
                published=plain(published, 40),
            ),
        )
    return tuple(hits.values())


def plain(value: Any, longest: int) -> str:
    """A field as one line of plain text: without markup, with entities resolved; empty for what is no text."""
    if not isinstance(value, str):
        return ""
    text = html.unescape(_MARKUP.sub("", value[: longest * 10]))
    line = " ".join(storable(text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def with_query(url: str, **parameters: str) -> str:
    """The address with these parameters."""
    return f"{url}?{urlencode(parameters)}"


def shortened(query: str, most_chars: int, most_words: int = 10_000) -> str:
    """The beginning of the query that an engine with such bounds accepts, cut between words where it can be."""
    words = " ".join(query.split()[:most_words])
    if len(words) <= most_chars:
        return words
    return words[: most_chars + 1].rpartition(" ")[0] or words[:most_chars]
