"""Snapshots: each page is fetched once a study, and everything rests on what came then."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from dataclasses import asdict, replace
from functools import lru_cache
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.utils import timezone

from lseval.domain.labels import PageOutcome
from lseval.domain.storable_text import storable
from lseval.domain.urls import canonical_key
from lseval.domain.web import Fetch, FetchedPage, Hop
from lseval.errors import InputError
from lseval.models import CallKind, Page, PageContent, PageSource, Phase, Study
from lseval.pipeline.ledger_rows import RequestRow, canonical, sha256
from lseval.pipeline.ledger_store import Cell, Entry, record
from lseval.pipeline.limits import stored_key
from lseval.pipeline.prepared import fetch_all
from lseval.pipeline.study_settings import allow_of, fetch_settings_of
from lseval.providers.addresses import Allowed
from lseval.providers.fetch import WebFetch
from lseval.providers.saved_pages import SavedPages

NO_REPLY: Final = frozenset(
    {
        PageOutcome.UNAVAILABLE,
        PageOutcome.TIMEOUT,
        PageOutcome.TLS_ERROR,
        PageOutcome.BLOCKED_ADDRESS,
        PageOutcome.BAD_ADDRESS,
    }
)
"""Outcomes of a fetch that brought no page: an error in the ledger, and what another try may mend."""

_LOCKS: Final = tuple(Lock() for _ in range(1024))
_MOST_CACHED_CHARS: Final = 20_000_000
_Version = tuple[int, str, str]

# Asked at every opening of a page, since another process may have replaced the snapshot.
_VERSIONS: Final = """
SELECT id, text_digest, outcome, retrieved_at FROM lseval_page
WHERE study_id = %s AND run_id IS NULL AND canonical_key = %s ORDER BY source
"""

_REPLIES: Final = """
SELECT count(*) FROM lseval_call WHERE study_id = %s AND phase = %s AND digest = %s AND error_code = ''
"""


class _Cache:
    """The pages last used in this process, by what tells one version of a snapshot from the next."""

    def __init__(self, most_chars: int) -> None:
        self._most = most_chars
        self._chars = 0
        self._pages: OrderedDict[_Version, FetchedPage] = OrderedDict()
        self._lock = Lock()

    def get(self, version: _Version) -> FetchedPage | None:
        with self._lock:
            found = self._pages.get(version)
            if found is not None:
                self._pages.move_to_end(version)
            return found

    def put(self, version: _Version, page: FetchedPage) -> None:
        with self._lock:
            if version in self._pages or len(page.text) > self._most:
                return
            self._pages[version] = page
            self._chars += len(page.text)
            while self._chars > self._most:
                _, dropped = self._pages.popitem(last=False)
                self._chars -= len(dropped.text)


_CACHE: Final = _Cache(_MOST_CACHED_CHARS)


def fetcher_of(study: Study) -> Fetch:
    """What brings the study's pages: the guarded fetcher of the web, or its folder of saved pages.

    Raises:
        InputError: the setting names another provider, or a folder that cannot be read.
    """
    given = fetch_settings_of(study)
    if given.provider == "web":
        return _web(allow_of(study))
    if given.provider == "folder":
        return SavedPages.of(given.folder)
    raise InputError(f"Study {study.slug} takes its pages from {given.provider!r}, which is not fetched here.")


@lru_cache(maxsize=32)
def _web(allow: tuple[str, ...]) -> WebFetch:
    return WebFetch(Allowed.of(allow))


def fetch_for(study: Study, fetch: Fetch, *, phase: Phase = Phase.COLLECTION) -> Fetch:
    """A fetch that brings the study's snapshot of a page, and has `fetch` make it where there is none.

    One snapshot serves all spellings of an address (`canonical_key`), all runs and both stages, whatever its
    outcome; it is replaced only by `fetch_again`. Every try is a row of the ledger. What comes back is what
    was stored, without the bytes, so that the first caller and all later ones get the same.
    """

    def get(url: str) -> FetchedPage:
        try:
            key = stored_key(canonical_key(url))
        except InputError as error:
            return FetchedPage(url, PageOutcome.BAD_ADDRESS, detail=str(error))
        found = _known(study.pk, key)
        if found is None:
            with _LOCKS[hash((study.pk, key)) % len(_LOCKS)]:  # one fetch a page in this process
                found = _known(study.pk, key) or _make(study, key, url, fetch, phase)
        return replace(found, url=url)

    return get


def fetch_again(study: Study, url: str, fetch: Fetch, *, phase: Phase = Phase.STAGE_1) -> FetchedPage:
    """Fetch a page anew and put what comes in the place of its snapshot, unless that was read and this is not.

    For a person who asks for it: whatever was judged on the old snapshot was judged on that.

    Raises:
        InputError: the address is none.
    """
    key = stored_key(canonical_key(url))
    page = _ask(study, key, url, fetch, phase)
    with transaction.atomic():
        source = _source_of(fetch)
        same = Page.objects.filter(study=study, run=None, source=source, canonical_key=key)
        old = same.select_for_update().first()
        if old is None or old.outcome != PageOutcome.OK or page.outcome == PageOutcome.OK:
            row = _row(study, key, page, source)
            if old is None:
                row.save()
            else:
                row.pk = old.pk
                row.save(force_update=True)
            PageContent.objects.update_or_create(page=row, defaults={"body": page.content})
    found = _known(study.pk, key)
    assert found is not None
    return found


def save_page(study: Study, page: FetchedPage, source: PageSource) -> bool:
    """Store a page as the study's snapshot; False where the study has one from that source, which is kept.

    Raises:
        InputError: the page's address is none.
    """
    return _insert(_row(study, stored_key(canonical_key(page.url)), page, source), page.content)


def _make(study: Study, key: str, url: str, fetch: Fetch, phase: Phase) -> FetchedPage:
    page = _ask(study, key, url, fetch, phase)
    row = _row(study, key, page, _source_of(fetch))
    if _insert(row, page.content):
        return _stored(row)
    # Another process was first, and its snapshot stands: everybody rests on the same one.
    found = _known(study.pk, key)
    assert found is not None
    return found


def _ask(study: Study, key: str, url: str, fetch: Fetch, phase: Phase) -> FetchedPage:
    """Fetch the page, and write in the ledger what came of it."""
    row = RequestRow(sha256(canonical(["fetch", key])), canonical({"url": storable(url)}), ())
    ((replies,),) = fetch_all(_REPLIES, [study.pk, phase.value, row.digest])
    began = time.monotonic()
    page = fetch(url)
    latency_s = time.monotonic() - began
    is_error = page.outcome in NO_REPLY
    told = {
        "outcome": page.outcome,
        "status": page.status,
        "final_url": page.final_url,
        "bytes": len(page.content),
        "content_digest": _digest(page.content) if page.content else "",
    }
    entry = Entry(
        kind=CallKind.FETCH,
        repeat=replies,
        provider=_host(page.final_url or url),
        reply="" if is_error else canonical(told),
        error_code=str(page.outcome) if is_error else "",
        error_message=page.detail if is_error else "",
        latency_s=latency_s,
    )
    record(Cell(study.pk, phase.value), row, entry)
    return page


def _known(study_id: int, key: str) -> FetchedPage | None:
    """The study's snapshot under a key: one that was read before one that was not, fetched before saved."""
    versions = fetch_all(_VERSIONS, [study_id, key])
    if not versions:
        return None
    pk, digest, outcome, at = min(versions, key=lambda version: version[2] != PageOutcome.OK)
    version = (pk, digest, f"{outcome} {at}")
    return _CACHE.get(version) or _stored(Page.objects.get(pk=pk))


def _stored(row: Page) -> FetchedPage:
    page = fetched_page(row)
    _CACHE.put((row.pk, row.text_digest, f"{row.outcome} {row.retrieved_at}"), page)
    return page


def fetched_page(page: Page) -> FetchedPage:
    """A snapshot as it was fetched, without its bytes."""
    return FetchedPage(
        url=page.url,
        outcome=page.outcome,
        final_url=page.final_url,
        title=page.title,
        text=page.text,
        status=page.status or 0,
        detail=page.detail,
        hops=tuple(Hop(**hop) for hop in page.hops),
        headers=dict(page.headers),
        content_type=page.content_type,
        sniffed_type=page.sniffed_type,
        decoder=page.decoder,
        decoder_source=page.decoder_source,
        flags=tuple(page.flags),
    )


def _row(study: Study, key: str, page: FetchedPage, source: PageSource) -> Page:
    text = storable(page.text)
    return Page(
        study=study,
        source=source,
        url=storable(page.url),
        canonical_key=key,
        title=storable(page.title),
        text=text,
        text_digest=_digest(text.encode()),
        outcome=page.outcome,
        detail=storable(page.detail),
        final_url=storable(page.final_url),
        status=page.status or None,
        hops=_storable_json([asdict(hop) for hop in page.hops]),
        headers=_storable_json(dict(page.headers)),
        content_type=storable(page.content_type),
        sniffed_type=page.sniffed_type[:100],
        content_digest=_digest(page.content) if page.content else "",
        decoder=page.decoder[:40],
        decoder_source=page.decoder_source[:20],
        flags=list(page.flags),
        retrieved_at=timezone.now(),
    )


def _insert(row: Page, content: bytes) -> bool:
    """Save a snapshot with its bytes; False where there is one already."""
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            PageContent.objects.create(page=row, body=content)
    except IntegrityError:
        return False
    return True


def _storable_json(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(str(name)): _storable_json(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_storable_json(inner) for inner in value]
    return value


def _source_of(fetch: Fetch) -> PageSource:
    return PageSource.SAVED if isinstance(fetch, SavedPages) else PageSource.FETCHED


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _host(url: str) -> str:
    try:
        return storable(urlsplit(url).hostname or "")
    except ValueError:
        return ""
