"""Saving one imported run whole: task, model, trajectory, pages, rounds, rubric, answer groups and citations."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import DataError, IntegrityError, transaction
from django.utils.dateparse import parse_datetime

from lseval.domain.answers import CitationDraft, GroupedAnswer
from lseval.domain.grouping import group_answer
from lseval.domain.labels import PageOutcome
from lseval.domain.trajectory import PageRecord, RubricRecord, RunRecord, TurnRecord
from lseval.domain.urls import canonical_key
from lseval.errors import InputError
from lseval.judging.embedded import RUBRIC_NAME
from lseval.judging.embedded.rubric import derive_rubric
from lseval.models import (
    AnswerGroup,
    Citation,
    EvaluatedModel,
    Page,
    PageSource,
    ReferenceLabel,
    Round,
    Run,
    Study,
    Task,
)
from lseval.pipeline.limits import EARLIEST_YEAR, LATEST_YEAR, check_limits, stored_key
from lseval.pipeline.prepared import fetch_all
from lseval.pipeline.trajectory_rows import save_trajectory

CREATED, UNCHANGED, FURTHER = "created", "unchanged", "further"
GIVEN = "given with the task"
"""The origin of a rubric that came with its task."""

_READING_TOOLS = ("read_page", "find_in_page", "extract")
_DIGEST_EXCLUDES = ("warnings",)

_PLACE = """
SELECT t.id, t.question, m.id, r.id, r.source_digest
FROM (SELECT %(study)s::bigint AS id) s
LEFT JOIN lseval_task t ON t.study_id = s.id AND t.key = %(task)s
LEFT JOIN lseval_evaluatedmodel m ON m.study_id = s.id AND m.name = %(model)s
LEFT JOIN lseval_run r ON r.study_id = s.id AND r.task_id = t.id AND r.model_id = m.id
"""
_RUBRIC_AND_ATTEMPTS = """
WITH attempts AS (
    INSERT INTO lseval_attempt (run_id, number)
    SELECT %(run)s::bigint, number FROM generate_series(1, %(attempts)s::int) AS number)
INSERT INTO lseval_rubric (run_id, required_count, constraints, grouping_rule, required_fields, origin)
VALUES (%(run)s::bigint, %(required_count)s, %(constraints)s::jsonb, %(grouping_rule)s, %(required_fields)s::jsonb,
    %(origin)s)
RETURNING id
"""


@dataclass(frozen=True)
class ImportedRun:
    """What became of one record.

    `status` is created, unchanged (this run is there already), or further: another run of the model on the task is
    there, which was kept, since a study has one run of each.
    """

    status: str
    run_id: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    message: str = ""
    warnings: tuple[str, ...] = ()


class _Place(NamedTuple):
    """What the study has of a record's task, model and run so far; None where there is none."""

    task_id: int | None
    question: str | None
    model_id: int | None
    run_id: int | None
    source_digest: str | None


def import_run(study: Study, record: RunRecord, *, source_format: str, source_name: str = "") -> ImportedRun:
    """Save a run and all that follows from it, in one transaction, or nothing.

    A record that is already there is left alone, and so is a different run of the same model on the same task:
    a retained run is never overwritten.

    Raises:
        InputError: the record cannot be saved as it is; the message says which part.
    """
    check_limits(record)
    digest = record_digest(record)
    try:
        with transaction.atomic():
            place = _place_of(study, record)
            if place.run_id is None:
                return _save(study, place, record, digest, source_format, source_name)
    except DataError as error:
        raise InputError(f"the database cannot store this run: {str(error).splitlines()[0]}.") from error
    except IntegrityError:
        # Another import saved this run between our look and our write.
        place = _place_of(study, record)
        if place.run_id is None:
            raise
    if place.source_digest == digest:
        return ImportedRun(UNCHANGED, place.run_id)
    return ImportedRun(
        FURTHER,
        place.run_id,
        message=(
            f"{record.model_name} already has another run on task {record.task_key}, which was kept: a study has "
            "one run of a model on a task. To keep both, import this one into another study."
        ),
    )


def record_digest(record: RunRecord) -> str:
    """SHA-256 of the record's content, by which the same run is known again."""
    content = {key: value for key, value in _parts(record).items() if key not in _DIGEST_EXCLUDES}
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    return _parts(value) if is_dataclass(value) else str(value)


def _parts(record: Any) -> dict[str, Any]:
    """A dataclass's fields, not those of what is in them: what `asdict` copies besides is not needed to be read."""
    return {part.name: getattr(record, part.name) for part in fields(record)}


def _place_of(study: Study, record: RunRecord) -> _Place:
    names = {"study": study.pk, "task": record.task_key, "model": record.model_name}
    return _Place(*fetch_all(_PLACE, names)[0])


def _save(
    study: Study, place: _Place, record: RunRecord, digest: str, source_format: str, source_name: str
) -> ImportedRun:
    task_id = _task_id(study, place, record)
    model_id = place.model_id or _new_model(study, record).pk
    answer = group_answer(record.final_answer)
    warnings: list[str] = []
    run = Run.objects.create(
        study=study,
        task_id=task_id,
        model_id=model_id,
        final_answer=record.final_answer,
        grouping_method=answer.method,
        source_format=source_format,
        source_name=source_name[-500:],
        source_digest=digest,
        started_at=_moment(record.started_at, "started_at", warnings),
        input_tokens=record.usage.input_tokens,
        cached_tokens=record.usage.cached_tokens,
        output_tokens=record.usage.output_tokens,
        reasoning_tokens=record.usage.reasoning_tokens,
        is_valid_final=any(not cited.is_dangling for group in answer.groups for cited in group.citations),
        is_premature=_is_premature(record.turns),
        is_final_only=record.is_final_only,
        metadata=dict(record.metadata),
    )
    round_of_turn = save_trajectory(run.pk, record.turns)
    _save_references(run, record, round_of_turn, warnings)
    pages = _save_pages(run, record.pages, warnings)
    _save_rubric_and_attempts(run, record)
    citations = save_answer(run, answer)
    counts = {
        "rounds": len(set(round_of_turn)),
        "groups": len(answer.groups),
        "citations": citations,
        "dangling": len(answer.dangling),
        "pages": pages,
    }
    return ImportedRun(CREATED, run.pk, counts, warnings=tuple(warnings))


def _task_id(study: Study, place: _Place, record: RunRecord) -> int:
    """The record's task, made where the study has none under its key."""
    task_id, question = place.task_id, place.question
    if task_id is None or question is None:
        task, _ = Task.objects.get_or_create(
            study=study,
            key=record.task_key,
            defaults={
                "question": record.question,
                "topic": record.task_topic,
                "language": record.task_language,
                "gold_answer": record.gold_answer,
                "rubric": asdict(record.rubric) if record.rubric else None,
            },
        )
        task_id, question = task.pk, task.question
    if question.strip() != record.question.strip():
        raise InputError(
            f"Task {record.task_key} is already in the study with another question. Give this one a key of its own."
        )
    return task_id


def _new_model(study: Study, record: RunRecord) -> EvaluatedModel:
    model, _ = EvaluatedModel.objects.get_or_create(
        study=study, name=record.model_name, defaults={"family": record.model_family}
    )
    return model


def _save_references(run: Run, record: RunRecord, round_of_turn: Sequence[int], warnings: list[str]) -> None:
    by_step = {turn.source_step: round_of_turn[index] for index, turn in enumerate(record.turns)}
    for reference in record.references:
        if reference.step not in by_step:
            warnings.append(f"reference step {reference.step} is no turn of the run; kept without a round")
        ReferenceLabel.objects.create(
            run=run,
            round_id=by_step.get(reference.step),
            step=reference.step,
            agent=reference.agent[:200],
            error_type=reference.error_type[:200],
            reason=reference.reason,
            source=reference.source[:200],
        )


def _save_pages(run: Run, records: Iterable[PageRecord], warnings: list[str]) -> int:
    """Save the run's pages, one per canonical key: texts of the same page under two spellings are joined."""
    pages: dict[str, Page] = {}
    for record in records:
        try:
            key = stored_key(canonical_key(record.url))
        except InputError as error:
            warnings.append(f"page left out: {error}")
            continue
        known = pages.get(key)
        if known is None:
            pages[key] = Page(
                study_id=run.study_id,
                run=run,
                source=PageSource.RECORDED,
                url=record.url,
                canonical_key=key,
                title=record.title,
                text=record.text,
                outcome=record.outcome,
                retrieved_at=_moment(record.retrieved_at, "retrieved_at", warnings),
            )
        elif record.text and record.text not in known.text:
            known.text = f"{known.text}\n\n{record.text}" if known.text else record.text
            known.outcome = PageOutcome.OK
    for page in pages.values():
        page.text_digest = text_digest(page.text)
    Page.objects.bulk_create(pages.values())
    return len(pages)


def text_digest(text: str) -> str:
    """SHA-256 of a snapshot's text, shown beside it and stored with what was judged on it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _save_rubric_and_attempts(run: Run, record: RunRecord) -> None:
    given: RubricRecord | None = record.rubric
    rubric = given or derive_rubric(record.question)
    fetch_all(
        _RUBRIC_AND_ATTEMPTS,
        {
            "run": run.pk,
            "attempts": max(record.attempts, 1),
            "required_count": rubric.required_count,
            "constraints": json.dumps(rubric.constraints, ensure_ascii=False),
            "grouping_rule": rubric.grouping_rule,
            "required_fields": json.dumps(rubric.required_fields, ensure_ascii=False),
            "origin": GIVEN if given else RUBRIC_NAME,
        },
    )


def save_answer(run: Run, answer: GroupedAnswer) -> int:
    """Save the groups and citations of a response; returns how many citations there are with an address."""
    groups = AnswerGroup.objects.bulk_create(
        AnswerGroup(
            run=run,
            number=number + 1,
            title=group.title,
            text=group.text,
            fields=dict(group.fields),
            start=group.start,
            end=group.end,
        )
        for number, group in enumerate(answer.groups)
    )
    rows: list[Citation] = []
    tied: set[str] = set()
    for saved, group in zip(groups, answer.groups, strict=True):
        rows += _citations(run, saved, group.citations)
        tied |= {cited.marker for cited in group.citations if cited.is_dangling}
    rows += _citations(run, None, answer.sources)
    loose = [CitationDraft("", "", marker) for marker in answer.dangling if marker not in tied]
    rows += _citations(run, None, loose)
    Citation.objects.bulk_create(rows)
    return sum(1 for row in rows if row.url)


def _citations(run: Run, group: AnswerGroup | None, drafts: Iterable[CitationDraft]) -> list[Citation]:
    """One row per page and one per dangling marker, in the order of the text."""
    seen: dict[str, Citation] = {}
    for draft in drafts:
        key = stored_key(draft.canonical_key)
        seen.setdefault(
            key or f"dangling {draft.marker}",
            Citation(
                run=run,
                group=group,
                url=draft.url,
                canonical_key=key,
                marker=draft.marker,
                is_inline=draft.is_inline,
            ),
        )
    return list(seen.values())


def _is_premature(turns: Sequence[TurnRecord]) -> bool | None:
    """Whether no page text was read before the answer; None where the source holds no trajectory."""
    if not turns:
        return None
    return not any(
        call.name in _READING_TOOLS and not call.is_error and (call.observation or "").strip()
        for turn in turns
        for call in turn.tool_calls
    )


def _moment(text: str | None, name: str, warnings: list[str]) -> datetime | None:
    if not text:
        return None
    try:
        parsed = parse_datetime(text)
        moment = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC) if parsed else None
    except (ValueError, OverflowError):
        moment = None
    if moment is None or not EARLIEST_YEAR <= moment.year <= LATEST_YEAR:
        warnings.append(f"{name} {text[:40]!r} is no ISO date and time of our age; left empty")
        return None
    return moment


def counts_of(study: Study) -> dict[str, Any]:
    """How many rows a study has, by kind."""
    return {
        "tasks": study.tasks.count(),
        "models": study.models.count(),
        "runs": study.runs.count(),
        "rounds": Round.objects.filter(run__study=study).count(),
        "answer_groups": AnswerGroup.objects.filter(run__study=study).count(),
        "citations": Citation.objects.filter(run__study=study).exclude(url="").count(),
        "pages": study.pages.count(),
    }
