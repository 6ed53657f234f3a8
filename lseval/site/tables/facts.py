"""Everything that the tables and figures of a study are made of, each part read once and only if it is needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final

from django.db import connection

from agreement import selectors as agreement_selectors
from agreement.reporting import choose_from, labels_report, process_parts
from agreement.selectors import SIMULATED
from agreement.stats.bootstrap import Resampling
from agreement.stats.groups import GroupRow
from annotation.models import Audit
from lseval.domain.controls import Controls
from lseval.models import Study
from lseval.pipeline.costs import Costs, costs_of
from lseval.pipeline.import_runs import counts_of
from lseval.pipeline.study_settings import controls_of
from lseval.site.selectors.process import Process, process_of
from lseval.site.selectors.report import Markers, markers_of
from lseval.site.selectors.scores import ModelRow, ScoredRun, model_rows, scored_runs
from lseval.site.tables.activity import Activity, Associations, activity_of, associations_of
from lseval.site.tables.intervals import ScoreIntervals, score_intervals
from lseval.site.tables.rubrics import RubricStability, rubric_stability_of

_CONTROLS_SQL: Final = """
SELECT count(*), count(*) FILTER (WHERE metadata ? 'controls'),
       count(*) FILTER (WHERE metadata -> 'controls' = %s::jsonb)
FROM lseval_run WHERE study_id = %s
"""


@dataclass(frozen=True, slots=True)
class ControlCoverage:
    """The study's controls, and of its `runs` how many keep their own, and how many keep the same."""

    controls: Controls
    runs: int
    stating: int
    same: int


@dataclass(frozen=True, slots=True)
class People:
    """What the newest audit's labels say. `labels` as `labels_report`, `process` as `process_parts`."""

    audit: Audit
    source: str
    rows: list[GroupRow]
    labels: Mapping[str, Any]
    process: Mapping[str, Any]

    @property
    def is_simulated(self) -> bool:
        """Whether no person gave the labels."""
        return self.source == SIMULATED

    @property
    def second(self) -> str:
        """H1 as figures name it."""
        return "H1 (simulated)" if self.is_simulated else "H1"


class StudyFacts:
    """The facts of a study as they stand when each is first asked for.

    Read all of them within one transaction where they must belong together (`manage.py report` does). A test may
    set any of them to counts of its own.
    """

    def __init__(self, study: Study, how: Resampling | None = None) -> None:
        self.study = study
        self.how = how or Resampling()

    @cached_property
    def counts(self) -> dict[str, int]:
        """Rows by kind. Seven queries."""
        return counts_of(self.study)

    @cached_property
    def runs(self) -> list[ScoredRun]:
        """Every run with its score. Two queries."""
        return scored_runs(self.study)

    @cached_property
    def models(self) -> list[ModelRow]:
        """The models that have runs, best Answer Score first."""
        return model_rows(self.runs)

    @cached_property
    def models_by_family(self) -> list[ModelRow]:
        """The same, families together in the order of their best models; a model without family stands alone."""
        first: dict[str, int] = {}
        for place, row in enumerate(self.models):
            first.setdefault(row.family or f"\x00{row.name}", place)
        return sorted(self.models, key=lambda row: first[row.family or f"\x00{row.name}"])

    @cached_property
    def intervals(self) -> ScoreIntervals:
        """Of the models' scores."""
        return score_intervals(self.runs, self.how)

    @cached_property
    def activity(self) -> Mapping[int, Activity]:
        """What the models did. Five queries."""
        return activity_of(self.study)

    @cached_property
    def process(self) -> Process:
        """Stage 2 in counts."""
        return process_of(self.study)

    @cached_property
    def associations(self) -> Associations:
        """Types with and without links, and earliest associations. Two queries."""
        return associations_of(self.study)

    @cached_property
    def markers(self) -> Markers:
        """Execution markers. Two queries."""
        return markers_of(self.study)

    @cached_property
    def rubrics(self) -> RubricStability:
        """How far a task's rubrics agree. One query."""
        return rubric_stability_of(self.study)

    @cached_property
    def controls(self) -> ControlCoverage:
        """Under which rules the runs were made. One query."""
        controls = controls_of(self.study)
        with connection.cursor() as cursor:
            cursor.execute(_CONTROLS_SQL, [json.dumps(asdict(controls)), self.study.pk])
            return ControlCoverage(controls, *cursor.fetchone())

    @cached_property
    def costs(self) -> Costs:
        """What calls came to. Three queries."""
        return costs_of(self.study)

    @cached_property
    def people(self) -> People | None:
        """What the newest audit says, on people's labels if it has any; None where nobody has labeled anything."""
        found = agreement_selectors.audits_with_labels(self.study)
        if not any(sum(counts.values()) for _, counts in found):
            return None
        audit, source = choose_from(found, self.study)
        rows = agreement_selectors.group_rows(audit, source)
        return People(
            audit, source, rows, labels_report(audit, source, rows, self.how), process_parts(audit, source)
        )
