"""Stage 1: each answer group against the pages that the response cites for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Final, Literal

from django.db import transaction
from django.db.models import Q

from lseval.domain.evidence import ClaimCheck, EvidencePage
from lseval.domain.labels import PageOutcome
from lseval.domain.storable_text import storable
from lseval.domain.trajectory import RubricRecord
from lseval.judging.replies import Unusable
from lseval.models import AnswerGroup, Page, Rubric, Run, SecondVerdict, Study, Verdict
from lseval.models.outcome import VERDICT_LABELS
from lseval.pipeline.cited_pages import fetch_for_run
from lseval.pipeline.forget import forget_process
from lseval.pipeline.hooks import UNATTENDED, Hooks
from lseval.pipeline.judges import Known, known_replies, stage1_name, verifier
from lseval.pipeline.parallel import on_runs
from lseval.pipeline.preparing import prepare_run
from lseval.pipeline.stale_verdicts import groups_with_other_evidence, preference

_CONTENT: Final = ("label", "reason", "code", "claims", "flags", "pages", "judge", "judge_version", "repeat")


def runs_to_verify(study: Study, *, again: bool = False) -> list[int]:
    """The ids of the runs with a group that waits for the judge in use; of all runs with `again`.

    A group waits that has no verdict of this judge and version, or one that only says that the judge could not be
    reached, or one on other snapshots than its cited pages have now, as where a page was fetched later; and one of
    which the second judge of the study has no such opinion. People's labels stay as they are: each keeps the digest
    of the evidence that the person saw.
    """
    groups = AnswerGroup.objects.filter(run__study=study)
    if not again:
        changed = groups_with_other_evidence(study, "verdict")
        if stage1_name(study, "stage1_second") is not None:
            changed += groups_with_other_evidence(study, "second_verdict")
        judged = _is_judged(study, "stage1", "verdict") & _is_judged(study, "stage1_second", "second_verdict")
        groups = groups.exclude(judged & ~Q(pk__in=changed))
    return list(groups.order_by("run_id").values_list("run_id", flat=True).distinct())


def _is_judged(study: Study, role: Literal["stage1", "stage1_second"], relation: str) -> Q:
    name = stage1_name(study, role)
    if name is None:
        return ~Q(pk__in=[])
    judged = Q(**{f"{relation}__judge": name.name, f"{relation}__judge_version": name.version})
    return judged & ~Q(**{f"{relation}__code": Unusable.UNREACHABLE})


def verify_runs(
    run_ids: Sequence[int], advance: Callable[[], None] = lambda: None, *, processes: int | None = None
) -> Counter[str]:
    """Judge every group of the runs, a transaction a run; returns how many verdicts of each label were given."""
    return on_runs(verify_run, run_ids, advance, processes=processes)


def verify_run(run_id: int, hooks: Hooks = UNATTENDED) -> Counter[str]:
    """Judge every group of one run, replacing the verdicts that it has; returns how many there are of each label.

    What the ledger holds is not asked again, so that doing it twice is free and gives the same; verdicts that come
    out as they were are left as they are, with what rests on them.
    """
    run = Run.objects.select_related("study", "task", "rubric").get(pk=run_id)
    prepare_run(run, hooks)
    fetch_for_run(run, hooks.before_call)  # after it, since another grouping may cite other pages
    pages = pages_by_key(run)
    groups = list(run.answer_groups.select_related("verdict", "second_verdict").prefetch_related("citations"))
    known = known_replies(run, "stage1", "stage1_second")
    verdicts = [_verified(run, group, pages, hooks, known=known) for group in groups]
    second = [
        opinion
        for group in groups
        if (opinion := _verified(run, group, pages, hooks, kind=SecondVerdict, known=known)) is not None
    ]
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run_id)  # another evaluation of this run waits for us
        _replace(Verdict, run, verdicts)
        _replace(SecondVerdict, run, second)
    return Counter(verdict.label for verdict in verdicts if verdict)


def verify_again(group: AnswerGroup, hooks: Hooks = UNATTENDED) -> Verdict:
    """Have one group judged once more: a model is asked anew, and both replies stay in the ledger.

    What Stage 2 said of the run is forgotten where the verdict changes.
    """
    run = Run.objects.select_related("study", "task", "rubric").get(pk=group.run_id)
    verdict = _verified(run, group, pages_by_key(run), hooks, more=1)
    assert verdict is not None
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run.pk)
        before = Verdict.objects.filter(group=group).first()
        Verdict.objects.filter(group=group).delete()
        verdict.save()
        if before is None or _said(before) != _said(verdict):
            forget_process(run)
    return verdict


def _verified(
    run: Run,
    group: AnswerGroup,
    pages: dict[str, Page],
    hooks: Hooks,
    *,
    kind: type[Verdict] | type[SecondVerdict] = Verdict,
    more: int = 0,
    known: Known | None = None,
) -> Any:
    """The opinion of the judge of that kind on a group, not saved; None where the study has no such judge."""
    before = getattr(group, "verdict" if kind is Verdict else "second_verdict", None)
    repeat = (before.repeat if before else 0) + more
    role: Literal["stage1", "stage1_second"] = "stage1" if kind is Verdict else "stage1_second"
    judge = verifier(run, group.number, hooks, role=role, repeat=repeat, known=known)
    if judge is None:
        return None
    cited = cited_pages(group, pages)
    draft = judge.verify(
        run.task.question,
        rubric_record(run.rubric),
        group.title,
        group.text,
        group.fields,
        [evidence_page(page, url) for url, page in cited],
    )
    return kind(
        group=group,
        label=draft.label,
        reason=storable(draft.reason),
        code=draft.code[:30],
        claims=[_claim(check) for check in draft.claims],
        flags=list(draft.flags),
        pages=[{"id": page.pk, "digest": page.text_digest} for _, page in cited if page is not None],
        judge=judge.name.name,
        judge_version=judge.name.version,
        repeat=repeat,
    )


def _replace(kind: type[Verdict] | type[SecondVerdict], run: Run, opinions: list[Any]) -> None:
    """Save the opinions in place of those that the run has, unless they are the same."""
    manager: Any = kind._default_manager
    before = {opinion.group_id: _content(opinion) for opinion in manager.filter(group__run=run)}
    if before == {opinion.group_id: _content(opinion) for opinion in opinions}:
        return
    manager.filter(group__run=run).delete()
    manager.bulk_create(opinions)
    if kind is Verdict:
        # What Stage 2 said rests on the verdicts that were here before: the run waits for it again.
        forget_process(run)


def _content(opinion: Any) -> dict[str, Any]:
    return {name: getattr(opinion, name) for name in _CONTENT}


def _said(opinion: Any) -> dict[str, Any]:
    """What Stage 2 may rest on: all but how often the judge was asked."""
    return {name: value for name, value in _content(opinion).items() if name != "repeat"}


def pages_by_key(run: Run) -> dict[str, Page]:
    """The snapshots that a run's citations may rest on: those recorded in the run before those of the study."""
    keys = run.citations.exclude(url="").values("canonical_key")
    found = Page.objects.filter(study_id=run.study_id, canonical_key__in=keys).exclude(
        run__isnull=False, run__in=Run.objects.filter(study_id=run.study_id).exclude(pk=run.pk)
    )
    pages: dict[str, Page] = {}
    for page in found.order_by("id"):
        known = pages.get(page.canonical_key)
        if known is None or preference(page) > preference(known):
            pages[page.canonical_key] = page
    return pages


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


def _claim(check: ClaimCheck) -> dict[str, Any]:
    claim = asdict(check)
    claim["claim"], claim["note"] = storable(check.claim), storable(check.note)
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
