"""One run: what was asked, what was answered, and what the judges of both stages say of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch
from django.http import Http404
from django.utils.safestring import SafeString

from lseval.models import AnswerGroup, Citation, Link, Page, Rubric, Run, Study, Verdict
from lseval.pipeline.stage1 import pages_by_key
from lseval.rendering import MARKDOWN_LIMIT, render_markdown, web_link
from lseval.site.quantities import WAITING, LabelCounts, counted
from lseval.site.selectors.judges import JudgeName
from lseval.site.selectors.rounds import RoundShown, rounds_of
from lseval.site.selectors.scores import ScoredRun, scored_run

SHORT_RESPONSE, SHORT_GROUP = 2_500, 400
"""Characters up to which a response, or a group's words, stand open; longer ones are opened by hand."""


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
        return "no snapshot" if self.page_id is None else self.outcome.replace("_", " ")


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
class RunShown:
    """Everything on the page."""

    run: Run
    rubric: Rubric | None
    scored: ScoredRun
    markers: list[tuple[str, str]]
    response: SafeString
    groups: list[GroupShown]
    unplaced_sources: list[SourceShown]
    rounds: list[RoundShown]

    @property
    def verdict_judges(self) -> list[JudgeName]:
        """Whose verdicts the page shows, once each."""
        return list(dict.fromkeys(group.judge for group in self.groups if group.judge))

    @property
    def names_judge(self) -> bool:
        """Whether each group says who judged it, because they were not all judged by the same one."""
        return len(self.verdict_judges) > 1

    @property
    def judgement_judges(self) -> list[JudgeName]:
        """Whose judgements the page shows, once each."""
        return list(dict.fromkeys(judgement.judge for found in self.rounds for judgement in found.judgements))

    @property
    def is_response_cut(self) -> bool:
        """Whether the page shows only the beginning of the response."""
        return len(self.run.final_answer) > MARKDOWN_LIMIT

    @property
    def is_response_open(self) -> bool:
        """Whether the response stands open: it is short, or there are no rounds below it."""
        return len(self.run.final_answer) <= SHORT_RESPONSE or not self.rounds

    @property
    def labels(self) -> LabelCounts:
        """The groups' labels."""
        return self.scored.labels

    @property
    def failures(self) -> list[RoundShown]:
        """The failure nodes, in order."""
        return [found for found in self.rounds if found.state == "failure"]

    @property
    def references(self) -> list[Any]:
        """The labels that came with the run, those first that are tied to a round."""
        return list(self.run.reference_labels.all())


def run_of(study: Study, run_id: int) -> RunShown:
    """A run of the study with all that belongs to it; its number of queries does not depend on its length.

    Raises Http404 where the study has no such run.
    """
    run = (
        Run.objects.filter(study=study, pk=run_id)
        .select_related("task", "model", "rubric")
        .prefetch_related("attempts", "reference_labels__round")
        .first()
    )
    if run is None:
        raise Http404("no such run")
    pages = pages_by_key(run)
    links = _links(run)
    loose = [_source(cited, pages) for cited in run.citations.filter(group=None)]
    groups = [_group(group, pages, links) for group in _groups(run)]
    rounds = rounds_of(run, links)
    return RunShown(
        run=run,
        rubric=getattr(run, "rubric", None),
        scored=_score(run, groups),
        markers=_markers(run),
        response=render_markdown(run.final_answer),
        groups=groups,
        unplaced_sources=loose,
        rounds=rounds,
    )


def _groups(run: Run) -> Iterable[AnswerGroup]:
    return run.answer_groups.select_related("verdict").prefetch_related(
        Prefetch("citations", queryset=Citation.objects.order_by("id"))
    )


def _links(run: Run) -> list[tuple[int, int]]:
    """The retained links as (round number, group number)."""
    return list(Link.objects.filter(run=run).values_list("round__number", "group__number"))


def _group(group: AnswerGroup, pages: Mapping[str, Page], links: list[tuple[int, int]]) -> GroupShown:
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
        linked_rounds=[round_number for round_number, number in links if number == group.number],
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


def _score(run: Run, groups: list[GroupShown]) -> ScoredRun:
    counts: dict[str, int] = defaultdict(int)
    for group in groups:
        counts[WAITING if group.label is None else group.label] += 1
    return scored_run(run, LabelCounts.of(counts))


def _markers(run: Run) -> list[tuple[str, str]]:
    """The run's markers as (tone, words); none where it went as it should."""
    attempts = len(run.attempts.all())
    found = []
    if not run.is_valid_final:
        found.append(("bad", "no valid final answer"))
    if run.is_premature:
        found.append(("caution", "answered before reading a page"))
    if run.is_premature is None:
        found.append(("muted", "trajectory not recorded"))
    if run.is_final_only:
        found.append(("caution", "final-only synthesis"))
    if attempts > 1:
        found.append(("muted", f"resumed, {counted(attempts, 'attempt')}"))
    return found
