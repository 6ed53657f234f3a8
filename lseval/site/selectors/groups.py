"""The answer groups of a run as its page shows them, a page of them at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.core.paginator import Page as PageOfRows
from django.core.paginator import Paginator
from django.db.models import Count, Prefetch
from django.utils.safestring import SafeString

from lseval.domain.page_words import outcome_words
from lseval.models import AnswerGroup, Citation, Page, Run, Verdict
from lseval.pipeline.stale_verdicts import preference
from lseval.rendering import render_markdown, web_link
from lseval.site.quantities import WAITING, LabelCounts
from lseval.site.selectors.judges import JudgeName

GROUPS_ON_A_PAGE: Final = 50
SHORT_GROUP: Final = 400
"""Characters up to which a group's words stand open; longer ones are opened by hand."""

MOST_SOURCES: Final = 200
"""Citations without a group that a page lists."""


@dataclass(frozen=True, slots=True)
class SourceShown:
    """A cited source with its snapshot, where there is one. `href` is empty where the URL must not be a link."""

    url: str
    href: str
    marker: str
    page_id: int | None
    outcome: str
    is_inline: bool

    @property
    def is_dangling(self) -> bool:
        """Whether the marker points at no listed source."""
        return not self.url

    @property
    def outcome_words(self) -> str:
        """How reading it ended, in words."""
        return "no snapshot" if self.page_id is None else outcome_words(self.outcome)


@dataclass(frozen=True, slots=True)
class ClaimShown:
    """A claim as Stage 1 checked it; the quotation stands on the page `page_id` from `start` to `end`."""

    claim: str
    status: str
    note: str
    quotation: str
    page_id: int | None
    start: int | None
    end: int | None

    @property
    def status_words(self) -> str:
        """The status in words."""
        return self.status.replace("_", " ")

    @property
    def tone(self) -> str:
        """How the status is marked."""
        return {"supported": "good", "contradicted": "bad"}.get(self.status, "caution")


@dataclass(frozen=True, slots=True)
class GroupShown:
    """An answer group with its verdict; `label` is None where there is no verdict yet."""

    id: int
    number: int
    title: str
    text: SafeString
    length: int
    fields: Mapping[str, str]
    label: str | None
    reason: str
    judge: JudgeName | None
    claims: list[ClaimShown]
    sources: list[SourceShown]
    linked_rounds: list[int]

    @property
    def is_short(self) -> bool:
        """Whether its words are few enough to stand open."""
        return self.length <= SHORT_GROUP

    @property
    def anchor(self) -> str:
        """The fragment that leads to it."""
        return f"g{self.number}"


@dataclass(frozen=True, slots=True)
class GroupsShown:
    """One page of a run's groups. `labels` counts those of all pages, `rows` is the page as pagination takes it."""

    groups: list[GroupShown]
    rows: PageOfRows[int]
    labels: LabelCounts

    def url_of(self, number: int) -> str:
        """Where a group stands: on this page, or on the one that has it. Groups are numbered from 1 on."""
        page = (number - 1) // GROUPS_ON_A_PAGE + 1
        return f"#g{number}" if page == self.rows.number else f"?page={page}#g{number}"


def groups_of(run: Run, page: str, linked: Mapping[int, list[int]]) -> GroupsShown:
    """The page of that number, or the nearest there is; `linked` has the rounds of each group's number.

    Four queries, however many groups there are.
    """
    counts: dict[str, int] = defaultdict(int)
    found = run.answer_groups.values_list("verdict__label").annotate(count=Count("id")).order_by()
    for label, count in found:
        counts[label or WAITING] += count
    labels = LabelCounts.of(counts)
    rows = Paginator(range(labels.total), GROUPS_ON_A_PAGE).get_page(page)
    first = rows.start_index() - 1 if labels.total else 0
    groups = list(
        run.answer_groups.select_related("verdict").prefetch_related(
            Prefetch("citations", queryset=Citation.objects.order_by("id"))
        )[first : first + GROUPS_ON_A_PAGE]
    )
    pages = snapshots_of(run, (cited.canonical_key for group in groups for cited in group.citations.all()))
    return GroupsShown([_group(group, pages, linked) for group in groups], rows, labels)


def group_of(run: Run, number: int) -> GroupShown | None:
    """One group of the run; None where it has none of that number."""
    group = run.answer_groups.select_related("verdict").prefetch_related("citations").filter(number=number).first()
    if group is None:
        return None
    linked = run.links.filter(group=group).order_by("round__number").values_list("round__number", flat=True)
    pages = snapshots_of(run, (cited.canonical_key for cited in group.citations.all()))
    return _group(group, pages, {number: list(dict.fromkeys(linked))})


def sources_of_none(run: Run) -> list[SourceShown]:
    """What the response cites without tying it to a group, the first `MOST_SOURCES`."""
    cited = list(run.citations.filter(group=None)[:MOST_SOURCES])
    pages = snapshots_of(run, (one.canonical_key for one in cited))
    return [_source(one, pages) for one in cited]


def snapshots_of(run: Run, keys: Iterable[str]) -> dict[str, Page]:
    """The snapshots that citations of those keys rest on, without their texts: as `pages_by_key` chooses them."""
    found = (
        Page.objects.filter(study_id=run.study_id, canonical_key__in=set(keys) - {""})
        .exclude(run__isnull=False, run__in=Run.objects.filter(study_id=run.study_id).exclude(pk=run.pk))
        .only("id", "study_id", "run_id", "canonical_key", "outcome", "text_digest")
        .order_by("id")
    )
    pages: dict[str, Page] = {}
    for page in found:
        known = pages.get(page.canonical_key)
        if known is None or preference(page) > preference(known):
            pages[page.canonical_key] = page
    return pages


def _group(group: AnswerGroup, pages: Mapping[str, Page], linked: Mapping[int, list[int]]) -> GroupShown:
    verdict: Verdict | None = getattr(group, "verdict", None)
    return GroupShown(
        id=group.pk,
        number=group.number,
        title=group.title,
        text=render_markdown(group.text, highest_heading=4),
        length=len(group.text),
        fields=group.fields,
        label=verdict.label if verdict else None,
        reason=verdict.reason if verdict else "No judge has been here yet.",
        judge=JudgeName(verdict.judge, verdict.judge_version) if verdict else None,
        claims=[_claim(claim) for claim in verdict.claims] if verdict else [],
        sources=[_source(cited, pages) for cited in group.citations.all()],
        linked_rounds=linked.get(group.number, []),
    )


def _source(cited: Citation, pages: Mapping[str, Page]) -> SourceShown:
    page = pages.get(cited.canonical_key) if cited.url else None
    return SourceShown(
        url=cited.url,
        href=web_link(cited.url),
        marker="" if cited.marker == cited.url else cited.marker,
        page_id=page.pk if page else None,
        outcome=page.outcome if page else "",
        is_inline=cited.is_inline,
    )


def _claim(claim: Mapping[str, Any]) -> ClaimShown:
    quotation = claim.get("quotation") or {}
    return ClaimShown(
        claim=claim.get("claim", ""),
        status=claim.get("status", ""),
        note=claim.get("note", ""),
        quotation=quotation.get("text", ""),
        page_id=quotation.get("page"),
        start=quotation.get("start"),
        end=quotation.get("end"),
    )
