"""One snapshot as people read it: its facts, and its text around a quotation."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef
from django.http import Http404

from lseval.domain.page_words import FLAG_WORDS, outcome_words
from lseval.domain.urls import archived_original
from lseval.models import Citation, Page, PageContent, Run, Study
from lseval.providers.extract.suspicions import INSTRUCTIONS, gives_orders
from lseval.rendering import web_link
from lseval.site.quantities import counted

TEXT_LIMIT = 500_000
"""Characters of a snapshot that its page shows, counted from the start or around the quotation."""

CITED_BY_LIMIT = 20

_DECODER_WORDS = {
    "bom": "its byte order mark",
    "header": "its server",
    "meta": "the page itself",
    "guess": "its bytes",
}


@dataclass(frozen=True, slots=True)
class PageShown:
    """A snapshot: `before`, `quoted` and `after` are its text in order, `quoted` empty where none is asked for.

    `original` is the address that an archive's copy is a copy of; `has_layout` says whether the bytes are
    kept, and are markup.
    `cited_by` are the answer groups that cite it, as (run, group number), the first `CITED_BY_LIMIT` of them.
    """

    page: Page
    href: str
    before: str
    quoted: str
    after: str
    length: int
    is_cut: bool
    is_quotation_missing: bool
    cited_by: list[tuple[Run, int]]
    flags: list[str]
    original: str
    has_layout: bool

    @property
    def size_words(self) -> str:
        """How long the whole text is."""
        return counted(self.length, "character")

    @property
    def outcome_words(self) -> str:
        """How reading it ended."""
        return outcome_words(self.page.outcome)

    @property
    def has_flag_for_judges(self) -> bool:
        """Whether the page speaks to whoever judges it."""
        return INSTRUCTIONS in self.flags

    @property
    def remarks(self) -> list[str]:
        """What else is to be known of the snapshot, a sentence each."""
        return [FLAG_WORDS.get(flag, flag.replace("_", " ")) for flag in self.flags if flag != INSTRUCTIONS]

    @property
    def instructions_remark(self) -> str:
        """What a page that speaks to its judge is shown with."""
        return FLAG_WORDS[INSTRUCTIONS]

    @property
    def decoder_words(self) -> str:
        """How the encoding was known."""
        return _DECODER_WORDS.get(self.page.decoder_source, self.page.decoder_source)

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The server's headers by name."""
        return sorted((str(name), str(value)) for name, value in self.page.headers.items())

    @property
    def is_readable(self) -> bool:
        """Whether there is text to show."""
        return bool(self.page.text.strip())


def page_of(study: Study, page_id: int, start: str = "", end: str = "") -> PageShown:
    """A snapshot of the study; `start` and `end` are character offsets of a quotation, as given in the address.

    Offsets that name no part of the text are reported and nothing is marked. Raises Http404 where the study has no
    such page.
    """
    page = (
        Page.objects.filter(study=study, pk=page_id)
        .select_related("run__task", "run__model")
        .annotate(has_bytes=Exists(PageContent.objects.filter(page=OuterRef("pk"))))
        .first()
    )
    if page is None:
        raise Http404("no such page")
    span = _span(start, end, len(page.text))
    first, last = _window(span, len(page.text))
    quoted = span or (first, first)
    return PageShown(
        page=page,
        href=web_link(page.url),
        before=page.text[first : quoted[0]],
        quoted=page.text[quoted[0] : quoted[1]],
        after=page.text[quoted[1] : last],
        length=len(page.text),
        is_cut=last - first < len(page.text),
        is_quotation_missing=bool(start or end) and span is None,
        cited_by=_cited_by(page),
        flags=_flags(page),
        original=archived_original(page.url) or "",
        has_layout=page.has_bytes and page.sniffed_type == "text/html",
    )


def _flags(page: Page) -> list[str]:
    """The snapshot's flags. A page recorded in a run was never looked at by us, so its words are looked at now."""
    flags = [str(flag) for flag in page.flags]
    if INSTRUCTIONS not in flags and gives_orders(page.text[:TEXT_LIMIT]):
        flags.append(INSTRUCTIONS)
    return flags


def _span(start: str, end: str, length: int) -> tuple[int, int] | None:
    if not (_is_offset(start) and _is_offset(end)):
        return None
    first, last = int(start), int(end)
    return (first, last) if 0 <= first < last <= length else None


def _is_offset(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12


def _window(span: tuple[int, int] | None, length: int) -> tuple[int, int]:
    """The part of the text to show: all of it, or `TEXT_LIMIT` characters and the whole quotation."""
    if length <= TEXT_LIMIT:
        return 0, length
    if span is None:
        return 0, TEXT_LIMIT
    first = max(0, min(span[0] - TEXT_LIMIT // 2, length - TEXT_LIMIT))
    return first, max(span[1], min(length, first + TEXT_LIMIT))


def _cited_by(page: Page) -> list[tuple[Run, int]]:
    cited = Citation.objects.filter(
        run__study_id=page.study_id, canonical_key=page.canonical_key, group__isnull=False
    ).exclude(url="")
    if page.run_id is not None:
        cited = cited.filter(run_id=page.run_id)
    rows = cited.select_related("run__task", "run__model", "group").order_by("run_id", "group__number")
    return [(row.run, row.group.number) for row in rows[:CITED_BY_LIMIT] if row.group is not None]
