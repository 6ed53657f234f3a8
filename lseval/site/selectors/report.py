"""All numbers of a study in one place, for the page to print and for the two downloads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from agreement.reporting import study_report
from annotation.models import LabelerRole, Slot, SlotStatus
from lseval.models import Run, Study
from lseval.pipeline.import_runs import counts_of
from lseval.site.quantities import LabelCounts, Share
from lseval.site.selectors.judges import JudgeName, stage1_judges
from lseval.site.selectors.process import Process, process_of
from lseval.site.selectors.scores import ModelRow, ScoredRun, model_rows, scored_runs, total_labels

FORMAT_VERSION = 1
"""Raised whenever a field of the JSON report changes its meaning or goes away."""


@dataclass(frozen=True, slots=True)
class Markers:
    """How many runs carry each marker; they overlap. `premature` is of the runs with a recorded trajectory."""

    invalid_final: Share
    final_only: Share
    premature: Share
    resumed: Share

    @property
    def lines(self) -> list[tuple[str, Share]]:
        """Each marker in words with its share."""
        return [
            ("No valid final answer", self.invalid_final),
            ("Final-only synthesis", self.final_only),
            ("Answered before reading a page", self.premature),
            ("Resumed", self.resumed),
        ]

    def as_dict(self) -> dict[str, Any]:
        """JSON-able numbers."""
        return {
            "invalid_final": self.invalid_final.as_dict(),
            "final_only_synthesis": self.final_only.as_dict(),
            "premature": self.premature.as_dict(),
            "resumed": self.resumed.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Labeling:
    """What people, and apart from them simulated labelers, have labeled."""

    audits: int
    by_role: list[tuple[str, int]]
    simulated_by_role: list[tuple[str, int]]

    @property
    def labels(self) -> int:
        """People's labels."""
        return sum(count for _, count in self.by_role)

    @property
    def simulated(self) -> int:
        """Simulated labels."""
        return sum(count for _, count in self.simulated_by_role)

    def as_dict(self) -> dict[str, Any]:
        """JSON-able counts."""
        return {
            "audits": self.audits,
            "labels": dict(self.by_role),
            "simulated_labels": dict(self.simulated_by_role),
        }


@dataclass(frozen=True, slots=True)
class StudyReport:
    """The numbers of a study as of `made_at`."""

    study: Study
    made_at: datetime
    counts: dict[str, int]
    labels: LabelCounts
    models: list[ModelRow]
    runs: list[ScoredRun]
    judges: list[JudgeName]
    markers: Markers
    process: Process
    labeling: Labeling
    agreement: dict[str, Any] | None

    @property
    def scored_runs(self) -> int:
        """Runs with a score."""
        return sum(run.score is not None for run in self.runs)

    @property
    def unscored_runs(self) -> int:
        """Runs without one."""
        return len(self.runs) - self.scored_runs

    @property
    def empty_runs(self) -> int:
        """Runs whose response supplied no group, which score 0."""
        return sum(run.state == "empty" for run in self.runs)

    def as_dict(self) -> dict[str, Any]:
        """The JSON report. A share runs from 0 to 1, a score states its unit; undefined is null with a reason."""
        return {
            "format": "longsearcheval-report",
            "format_version": FORMAT_VERSION,
            "study": {"slug": self.study.slug, "name": self.study.name, "is_demo": self.study.is_demo},
            "made_at": self.made_at.isoformat(),
            "counts": self.counts,
            "outcome": {
                "groups": self.labels.as_dict(),
                "scored_runs": self.scored_runs,
                "unscored_runs": self.unscored_runs,
                "empty_runs": self.empty_runs,
                "judges": [judge.as_dict() for judge in self.judges],
                "models": [model.as_dict() for model in self.models],
                "runs": [_run(run) for run in self.runs],
            },
            "markers": self.markers.as_dict(),
            "process": self.process.as_dict(),
            "labeling": self.labeling.as_dict(),
            "agreement": self.agreement,
        }


def _run(run: ScoredRun) -> dict[str, Any]:
    score = run.score
    return {
        "id": run.id,
        "task": run.task_key,
        "model": run.model_name,
        "required_count": run.required_count,
        "groups": run.labels.as_dict(),
        "answer_score": None if score is None else float(score.answer_score),
        "answer_precision": None if score is None else float(score.answer_precision),
        "upper_score": None if score is None else float(score.upper_score),
        **({"reason": run.explanation} if score is None else {}),
    }


def report_of(study: Study) -> StudyReport:
    """The report of a study as it stands; its number of queries does not depend on its size."""
    runs = scored_runs(study)
    return StudyReport(
        study=study,
        made_at=timezone.now(),
        counts=counts_of(study),
        labels=total_labels(runs),
        models=model_rows(runs),
        runs=runs,
        judges=stage1_judges(study),
        markers=markers_of(study),
        process=process_of(study),
        labeling=labeling_of(study),
        agreement=study_report(study),
    )


def markers_of(study: Study) -> Markers:
    """How many runs of a study carry each marker. Two queries."""
    runs = Run.objects.filter(study=study)
    found = runs.aggregate(
        every=Count("id"),
        invalid=Count("id", filter=Q(is_valid_final=False)),
        final_only=Count("id", filter=Q(is_final_only=True)),
        premature=Count("id", filter=Q(is_premature=True)),
        recorded=Count("id", filter=Q(is_premature__isnull=False)),
    )
    resumed = runs.annotate(tries=Count("attempts")).filter(tries__gt=1).count()
    every = found["every"]
    return Markers(
        invalid_final=Share(found["invalid"], every, "there are no runs"),
        final_only=Share(found["final_only"], every, "there are no runs"),
        premature=Share(found["premature"], found["recorded"], "no run has a recorded trajectory"),
        resumed=Share(resumed, every, "there are no runs"),
    )


def labeling_of(study: Study) -> Labeling:
    """How many labels people, and simulated labelers, have given, by role. Two queries."""
    counts = {
        (role, is_simulated): count
        for role, is_simulated, count in Slot.objects.filter(queue__audit__study=study, status=SlotStatus.LABELED)
        .values_list("queue__role", "queue__is_simulated")
        .annotate(count=Count("id"))
        .order_by()
    }
    return Labeling(
        audits=study.audits.count(),
        by_role=[(role, counts.get((role, False), 0)) for role in LabelerRole.values],
        simulated_by_role=[(role, counts.get((role, True), 0)) for role in LabelerRole.values],
    )
