"""The scores of a study's runs and models, from the verdicts in force."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from django.db.models import Count

from lseval.domain.scoring import RunScore, score_model, score_run
from lseval.models import AnswerGroup, Run, Study
from lseval.site.quantities import DASH, WAITING, Average, LabelCounts, Share, counted, fixed


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run with its groups' labels and, where every group has one of C, I, U, its score."""

    id: int
    task_id: int
    task_key: str
    model_id: int
    model_name: str
    model_family: str
    labels: LabelCounts
    required_count: int | None
    score: RunScore | None
    is_valid_final: bool
    is_premature: bool | None

    @property
    def answer_score_text(self) -> str:
        """AS to one decimal, or a dash."""
        return DASH if self.score is None else fixed(self.score.answer_score, 1)

    @property
    def state(self) -> str:
        """`scored`, `empty` (scored 0: no group was supplied) or `unscored`."""
        if self.score is None:
            return "unscored"
        return "scored" if self.score.supplied else "empty"

    @property
    def explanation(self) -> str:
        """Why the score is what it is, in words."""
        if self.score is None:
            return self._why_unscored()
        if not self.score.supplied:
            return "The response supplied no answer group, which scores 0."
        return f"{counted(self.score.correct, 'correct group')}, {self.score.required_count} required."

    def _why_unscored(self) -> str:
        if self.required_count is None:
            return "Not scored: the run has no rubric."
        if self.labels.waiting:
            return f"Not scored: {counted(self.labels.waiting, 'group')} without a verdict yet."
        return f"Not scored: {counted(self.labels.unjudged, 'group')} that the judge gave no label."


def scored_runs(study: Study, *, task_key: str = "", model_name: str = "") -> list[ScoredRun]:
    """The study's runs in order of task and model, of one task or one model where named. Two queries."""
    runs = Run.objects.filter(study=study)
    if task_key:
        runs = runs.filter(task__key=task_key)
    if model_name:
        runs = runs.filter(model__name=model_name)
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    groups = AnswerGroup.objects.filter(run__in=runs).values_list("run_id", "verdict__label")
    for run_id, label, count in groups.annotate(count=Count("id")).order_by():
        counts[run_id][label or WAITING] = count
    rows: Any = runs.order_by("task_id", "model__family", "model__name").values_list(
        "pk",
        "task_id",
        "task__key",
        "model_id",
        "model__name",
        "model__family",
        "rubric__required_count",
        "is_valid_final",
        "is_premature",
    )
    return [
        _scored(pk, task, key, model, name, family, LabelCounts.of(counts[pk]), *rest)
        for pk, task, key, model, name, family, *rest in rows
    ]


def scored_run(run: Run, labels: LabelCounts) -> ScoredRun:
    """One run, with its task, model and rubric at hand, and its score."""
    rubric = getattr(run, "rubric", None)
    return _scored(
        run.pk,
        run.task_id,
        run.task.key,
        run.model_id,
        run.model.name,
        run.model.family,
        labels,
        rubric.required_count if rubric else None,
        run.is_valid_final,
        run.is_premature,
    )


def _scored(
    run_id: int,
    task_id: int,
    task_key: str,
    model_id: int,
    model_name: str,
    model_family: str,
    labels: LabelCounts,
    required: int | None,
    is_valid_final: bool,
    is_premature: bool | None,
) -> ScoredRun:
    return ScoredRun(
        id=run_id,
        task_id=task_id,
        task_key=task_key,
        model_id=model_id,
        model_name=model_name,
        model_family=model_family,
        labels=labels,
        required_count=required,
        score=None if required is None else score_run(required, labels.labels),
        is_valid_final=is_valid_final,
        is_premature=is_premature,
    )


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model's line in the leaderboard."""

    model_id: int
    name: str
    family: str
    runs: int
    scored: int
    unscored: int
    empty: int
    labels: LabelCounts
    answer_score: Average
    answer_precision: Average
    upper_score: Average
    unverifiable: Share
    valid_final: Share
    premature: Share

    def as_dict(self) -> dict[str, Any]:
        """JSON-able fields."""
        return {
            "model": self.name,
            "family": self.family,
            "runs": self.runs,
            "scored_runs": self.scored,
            "unscored_runs": self.unscored,
            "empty_runs": self.empty,
            "groups": self.labels.as_dict(),
            "answer_score": self.answer_score.as_dict(),
            "answer_precision": self.answer_precision.as_dict(),
            "upper_score": self.upper_score.as_dict(),
            "unverifiable_group_rate": self.unverifiable.as_dict(),
            "valid_final": self.valid_final.as_dict(),
            "premature": self.premature.as_dict(),
        }


SORTS = ("model", "answer_score", "answer_precision", "upper_score", "unverifiable")
"""What a leaderboard may be ordered by."""


def model_rows(runs: Iterable[ScoredRun], sort: str = "answer_score") -> list[ModelRow]:
    """One row per model that has runs. Undefined numbers come last, whatever the order.

    Scores descend, the unverifiable rate ascends, and ties are ordered by name.
    """
    by_model: dict[int, list[ScoredRun]] = defaultdict(list)
    for run in runs:
        by_model[run.model_id].append(run)
    rows = sorted((_model_row(found) for found in by_model.values()), key=lambda row: (row.family, row.name))
    if sort == "model":
        return rows
    return sorted(rows, key=lambda row: _sort_key(row, sort))


def _sort_key(row: ModelRow, sort: str) -> tuple[bool, Fraction]:
    if sort == "unverifiable":
        share = row.unverifiable
        return (not share.of, Fraction(share.count, share.of) if share.of else Fraction(0))
    value = getattr(row, sort).value
    return (value is None, -value if value is not None else Fraction(0))


def _model_row(runs: list[ScoredRun]) -> ModelRow:
    scores = score_model(run.score for run in runs)
    scored = [run.score for run in runs if run.score is not None]
    known = [run.is_premature for run in runs if run.is_premature is not None]
    first = runs[0]
    return ModelRow(
        model_id=first.model_id,
        name=first.model_name,
        family=first.model_family,
        runs=len(runs),
        scored=scores.scored_runs,
        unscored=scores.unscored_runs,
        empty=scores.empty_runs,
        labels=total_labels(runs),
        answer_score=Average.of(scores.answer_score),
        answer_precision=Average.of(scores.answer_precision, is_share=True),
        upper_score=Average.of(scores.upper_score),
        unverifiable=Share(
            sum(score.unverifiable for score in scored),
            sum(score.supplied for score in scored),
            "no scored run supplied a group",
        ),
        valid_final=Share(sum(run.is_valid_final for run in runs), len(runs)),
        premature=Share(sum(known), len(known), "no run has a recorded trajectory"),
    )


def total_labels(runs: Iterable[ScoredRun]) -> LabelCounts:
    """The labels of all groups of the runs."""
    every = [run.labels for run in runs]
    return LabelCounts(
        sum(labels.correct for labels in every),
        sum(labels.incorrect for labels in every),
        sum(labels.unverifiable for labels in every),
        sum(labels.unjudged for labels in every),
        sum(labels.waiting for labels in every),
    )
