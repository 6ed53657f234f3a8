"""Fetching what responses cite and no run has read, so that Stage 1 has something to judge by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from django.db import connection
from django.db.models import Exists, OuterRef

from lseval.domain.labels import PageOutcome
from lseval.domain.web import Fetch, FetchedPage
from lseval.models import Citation, Page, Phase, Run, Study
from lseval.pipeline.providers_of import fetch_of, raw_fetch_of
from lseval.pipeline.snapshots import fetch_again
from lseval.pipeline.study_settings import fetch_settings_of

THREADS = 8
_PASSING = (PageOutcome.UNAVAILABLE, PageOutcome.TIMEOUT)


def fetches_citations(study: Study) -> bool:
    """Whether Stage 1 fetches cited pages that no run has read: as the setting `fetch.citations` says.

    Where it says nothing, they are fetched for a study that collects its own runs, and never for imported ones.
    """
    given = fetch_settings_of(study).citations
    return bool(study.settings.get("search")) if given is None else given


def fetch_for_run(run: Run, before_each: Callable[[], None] = lambda: None) -> None:
    """Make the snapshots that a run's verdicts lack, where Stage 1 of its study fetches what is cited.

    `before_each` is called before each page, and may raise to end it.
    """
    if not fetches_citations(run.study):
        return
    if urls := cited_without_snapshot(run.study, run):
        fetch = fetch_of(run.study, Phase.STAGE_1)
        for url in urls:
            before_each()
            fetch(url)


def cited_without_snapshot(study: Study, run: Run | None = None) -> list[str]:
    """The cited addresses, of the study or of one run, of which no snapshot could serve their runs; one a page."""
    same_key = {"study_id": study.pk, "canonical_key": OuterRef("canonical_key")}
    of_study = Page.objects.filter(run=None, **same_key)
    of_run = Page.objects.filter(run=OuterRef("run_id"), outcome=PageOutcome.OK, **same_key)
    cited = Citation.objects.filter(run__study=study).exclude(url="").exclude(Exists(of_study) | Exists(of_run))
    if run is not None:
        cited = cited.filter(run=run)
    return _one_of_each(cited.order_by("id").values_list("canonical_key", "url"))


def cited_in_vain(study: Study) -> list[str]:
    """The cited addresses whose snapshot says that the page could not be had at the time."""
    failed = Page.objects.filter(
        study=study, run=None, canonical_key=OuterRef("canonical_key"), outcome__in=_PASSING
    )
    cited = Citation.objects.filter(run__study=study).exclude(url="").filter(Exists(failed))
    return _one_of_each(cited.order_by("id").values_list("canonical_key", "url"))


def _again(study: Study, fetch: Fetch, url: str) -> FetchedPage:
    return fetch_again(study, url, fetch)


def _one_of_each(rows: Iterable[tuple[str, str]]) -> list[str]:
    found: dict[str, str] = {}
    for key, url in rows:
        found.setdefault(key, url)
    return list(found.values())


def fetch_citations(
    study: Study,
    urls: list[str],
    advance: Callable[[], None] = lambda: None,
    *,
    again: bool = False,
    threads: int = THREADS,
) -> Counter[str]:
    """Make the snapshots of these addresses; with `again`, replace those that are there. Counts the outcomes."""
    fetch: Fetch = partial(_again, study, raw_fetch_of(study)) if again else fetch_of(study, Phase.STAGE_1)
    counted: Counter[str] = Counter()

    def one(url: str) -> str:
        try:
            return fetch(url).outcome
        finally:
            if threads > 1:
                connection.close()  # each thread has its own, which nobody else would close

    if threads == 1:
        for url in urls:
            counted[one(url)] += 1
            advance()
        return counted
    with ThreadPoolExecutor(threads, thread_name_prefix="fetch") as pool:
        for outcome in pool.map(one, urls):
            counted[outcome] += 1
            advance()
    return counted
