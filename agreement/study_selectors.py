"""The whole study's automatic verdicts, run by run, and the chances with which an audit drew from them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from agreement.stats.scores import LABELS, response_scores
from annotation.draws import GroupChances, group_chances
from annotation.models import Audit
from lseval.models import AnswerGroup, Run, Study


@dataclass(frozen=True, slots=True)
class StudyRun:
    """A run with the automatic label of each of its groups in order; an empty one where there is no verdict."""

    id: int
    model: str
    task: str
    required: int | None
    automatic: tuple[str, ...]

    @property
    def is_scored(self) -> bool:
        """Whether there is a required count and every group has one of C, I, U."""
        return self.required is not None and all(label in LABELS for label in self.automatic)

    @property
    def scores(self) -> dict[str, float] | None:
        """AS, AP and Upper by the automatic labels; None for a run that has no score."""
        if self.required is None or not self.is_scored:
            return None
        found = response_scores(self.required, self.automatic)
        return dict(zip(("as", "ap", "upper"), map(float, found), strict=True))


def study_runs(study: Study) -> list[StudyRun]:
    """Every run of the study, in order of model and task. Two queries."""
    labels: dict[int, list[str]] = defaultdict(list)
    groups = AnswerGroup.objects.filter(run__study=study).order_by("run_id", "number")
    for run_id, label in groups.values_list("run_id", "verdict__label"):
        labels[run_id].append(label or "")
    runs: Any = (
        Run.objects.filter(study=study)
        .order_by("model__family", "model__name", "task_id")
        .values_list("id", "model__name", "task__key", "rubric__required_count")
    )
    return [StudyRun(pk, model, task, required, tuple(labels[pk])) for pk, model, task, required in runs]


def automatic_totals(runs: list[StudyRun]) -> dict[str, int]:
    """How many groups of the study have each automatic label; groups without one of C, I, U are left out."""
    counts = Counter(label for run in runs for label in run.automatic)
    return {label: counts[label] for label in LABELS}


def drawing_chances(audit: Audit) -> GroupChances:
    """How likely the audit was to hold each of its runs' answer groups, by all its draws together."""
    return group_chances(audit)
