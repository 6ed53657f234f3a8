"""The outcome page: leaderboard, task by model matrix, and the list of runs, all for the same filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page as PageOfRows
from django.core.paginator import Paginator

from lseval.models import SecondVerdict, Study
from lseval.site.quantities import LabelCounts, heat_of
from lseval.site.selectors.judges import JudgeName, stage1_judges
from lseval.site.selectors.scores import SORTS, ModelRow, ScoredRun, model_rows, scored_runs, total_labels

TASKS_PER_PAGE = 50
RUNS_PER_PAGE = 50
VIEWS = ("matrix", "runs")


@dataclass(frozen=True, slots=True)
class OutcomeFilters:
    """What the page is asked for. An unknown sort or view becomes the first one; an unknown name finds nothing."""

    task: str = ""
    model: str = ""
    sort: str = "answer_score"
    view: str = "matrix"
    page: str = "1"

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> OutcomeFilters:
        """The named parameters of a query; others are ignored."""
        sort, view = asked.get("sort", ""), asked.get("view", "")
        return cls(
            task=asked.get("task", ""),
            model=asked.get("model", ""),
            sort=sort if sort in SORTS else "answer_score",
            view=view if view in VIEWS else "matrix",
            page=asked.get("page", "1"),
        )

    @property
    def is_narrowed(self) -> bool:
        """Whether only some of the runs are asked for."""
        return bool(self.task or self.model)


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A run's place in the matrix; `run` is None where the model has no run on the task."""

    run: ScoredRun | None

    @property
    def heat(self) -> int | None:
        """The step of the heat scale for AS; None for a run without a score."""
        if self.run is None or self.run.score is None:
            return None
        return heat_of(self.run.score.answer_score)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A task's line in the matrix: one cell per model, in the order of the columns."""

    task_id: int
    task_key: str
    question: str
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything on the page. `listed` is a page of matrix rows, or of runs each with its question.

    `questions` are those of the study's tasks, by key.
    """

    filters: OutcomeFilters
    questions: dict[str, str]
    model_names: list[str]
    rows: list[ModelRow]
    best: Mapping[str, Any]
    labels: LabelCounts
    run_count: int
    unscored_count: int
    judges: list[JudgeName]
    has_second_judge: bool
    columns: list[tuple[int, str]]
    listed: PageOfRows[Any]


def outcome_of(study: Study, filters: OutcomeFilters) -> Outcome:
    """The page's content; its number of queries does not depend on how many runs, tasks or models there are."""
    runs = scored_runs(study, task_key=filters.task, model_name=filters.model)
    rows = model_rows(runs, filters.sort)
    columns = [(row.model_id, row.name) for row in sorted(rows, key=lambda row: (row.family, row.name))]
    tasks = list(study.tasks.values_list("id", "key", "question"))
    if filters.view == "runs":
        listed: PageOfRows[Any] = Paginator(runs, RUNS_PER_PAGE).get_page(filters.page)
        questions = {task_id: question for task_id, _, question in tasks}
        listed.object_list = [(run, questions[run.task_id]) for run in listed.object_list]
    else:
        listed = _matrix(runs, tasks, [model_id for model_id, _ in columns], filters.page)
    return Outcome(
        filters=filters,
        questions={key: question for _, key, question in tasks},
        model_names=list(study.models.values_list("name", flat=True)),
        rows=rows,
        best=_best(rows),
        labels=total_labels(runs),
        run_count=len(runs),
        unscored_count=sum(run.score is None for run in runs),
        judges=stage1_judges(study),
        has_second_judge=SecondVerdict.objects.filter(group__run__study=study).exists(),
        columns=columns,
        listed=listed,
    )


def _best(rows: list[ModelRow]) -> dict[str, Any]:
    """The highest value of each score, by its name; None where no two models differ in it."""
    best: dict[str, Any] = {}
    for name in ("answer_score", "answer_precision", "upper_score"):
        values = {value for row in rows if (value := getattr(row, name).value) is not None}
        best[name] = max(values) if len(values) > 1 else None
    return best


def _matrix(
    runs: list[ScoredRun], tasks: list[tuple[int, str, str]], model_ids: list[int], page: str
) -> PageOfRows[Any]:
    found = {(run.task_id, run.model_id): run for run in runs}
    with_runs = {run.task_id for run in runs}
    listed: PageOfRows[Any] = Paginator([task for task in tasks if task[0] in with_runs], TASKS_PER_PAGE).get_page(
        page
    )
    listed.object_list = [
        MatrixRow(
            task_id, key, question, tuple(MatrixCell(found.get((task_id, model_id))) for model_id in model_ids)
        )
        for task_id, key, question in listed.object_list
    ]
    return listed
