"""Stage 1: each answer group against the pages that the response cites for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction

from lseval.domain.evidence import ClaimCheck, EvidencePage, VerdictDraft
from lseval.domain.labels import PageOutcome
from lseval.domain.trajectory import RubricRecord
from lseval.judging.embedded import STAGE1_NAME, VERSION
from lseval.judging.embedded.stage1 import verify_group
from lseval.models import AnswerGroup, Page, Rubric, Run, Study, Verdict
from lseval.models.outcome import VERDICT_LABELS
from lseval.pipeline.forget import forget_process
from lseval.pipeline.parallel import on_runs


def runs_to_verify(study: Study, *, again: bool = False) -> list[int]:
    """The ids of the runs with a group that the judge in use has not judged yet; of all runs with `again`."""
    groups = AnswerGroup.objects.filter(run__study=study)
    if not again:
        groups = groups.exclude(verdict__judge=STAGE1_NAME, verdict__judge_version=VERSION)
    return list(groups.order_by("run_id").values_list("run_id", flat=True).distinct())


def verify_runs(
    run_ids: Sequence[int], advance: Callable[[], None] = lambda: None, *, processes: int | None = None
) -> Counter[str]:
    """Judge every group of the runs, a transaction a run; returns how many verdicts of each label were given."""
    return on_runs(verify_run, run_ids, advance, processes=processes)


def verify_run(run_id: int) -> Counter[str]:
    """Judge every group of one run anew, replacing the verdicts that it has."""
    run = Run.objects.select_related("task", "rubric").get(pk=run_id)
    pages = pages_by_key(run)
    rubric = rubric_record(run.rubric)
    verdicts = []
    for group in run.answer_groups.prefetch_related("citations"):
        cited = cited_pages(group, pages)
        draft = verify_group(
            run.task.question,
            rubric,
            group.title,
            group.text,
            group.fields,
            [evidence_page(page, url) for url, page in cited],
        )
        verdicts.append(_verdict(group, draft, [page for _, page in cited if page is not None]))
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run_id)  # another evaluation of this run waits for us
        Verdict.objects.filter(group__run=run).delete()
        Verdict.objects.bulk_create(verdicts)
        # What Stage 2 said rests on the verdicts that were here before: the run waits for it again.
        forget_process(run)
    return Counter(verdict.label for verdict in verdicts)


def pages_by_key(run: Run) -> dict[str, Page]:
    """The snapshots that a run's citations may rest on: those recorded in the run before those of the study."""
    keys = run.citations.exclude(url="").values("canonical_key")
    found = Page.objects.filter(study_id=run.study_id, canonical_key__in=keys).exclude(
        run__isnull=False, run__in=Run.objects.filter(study_id=run.study_id).exclude(pk=run.pk)
    )
    pages: dict[str, Page] = {}
    for page in found.order_by("id"):
        known = pages.get(page.canonical_key)
        if known is None or _preference(page) > _preference(known):
            pages[page.canonical_key] = page
    return pages


def _preference(page: Page) -> tuple[bool, bool]:
    return (page.outcome == PageOutcome.OK and bool(page.text.strip()), page.run_id is not None)


def cited_pages(group: AnswerGroup, pages: dict[str, Page]) -> list[tuple[str, Page | None]]:
    """The group's cited URLs in order, each with its snapshot, or None where there is no snapshot of it."""
    return [(cited.url, pages.get(cited.canonical_key)) for cited in group.citations.all() if cited.url]


def evidence_page(page: Page | None, url: str) -> EvidencePage:
    """A snapshot as a judge is given it; a cited URL without one is unavailable."""
    if page is None:
        return EvidencePage("", url, "", PageOutcome.UNAVAILABLE)
    return EvidencePage(str(page.pk), page.url, page.text, page.outcome)


def rubric_record(rubric: Rubric) -> RubricRecord:
    """The rubric as the domain knows it."""
    return RubricRecord(
        rubric.required_count, tuple(rubric.constraints), rubric.grouping_rule, tuple(rubric.required_fields)
    )


def _verdict(group: AnswerGroup, draft: VerdictDraft, pages: list[Page]) -> Verdict:
    return Verdict(
        group=group,
        label=draft.label,
        reason=draft.reason,
        claims=[_claim(check) for check in draft.claims],
        pages=[{"id": page.pk, "digest": page.text_digest} for page in pages],
        judge=STAGE1_NAME,
        judge_version=VERSION,
    )


def _claim(check: ClaimCheck) -> dict[str, Any]:
    claim = asdict(check)
    if check.quotation is not None:
        claim["quotation"] = {
            "page": int(check.quotation.page_key),
            "text": check.quotation.text,
            "start": check.quotation.start,
            "end": check.quotation.end,
        }
    return claim


def verdict_counts(study: Study) -> dict[str, int]:
    """How many groups of the study have each label; `waiting` counts those without a verdict."""
    labels = AnswerGroup.objects.filter(run__study=study).values_list("verdict__label", flat=True)
    counts = Counter(label or "waiting" for label in labels)
    return {label: counts[label] for label in (*VERDICT_LABELS, "waiting")}
