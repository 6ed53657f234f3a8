"""Intervals of the models' scores by the task bootstrap, all models in one draw of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.bootstrap import Part, Resampling, percentile_interval, replicates
from agreement.stats.products import product
from agreement.stats.undefined import Undefined
from lseval.site.selectors.scores import ScoredRun

Floats: TypeAlias = NDArray[np.float64]
Ends: TypeAlias = tuple[float | None, float | None]

SCORES: Final = ("answer_score", "answer_precision", "upper_score")
MEASURES: Final = (*SCORES, "unverifiable")
_NONE: Final[Ends] = (None, None)


@dataclass(frozen=True, slots=True)
class ScoreIntervals:
    """The ends by (model id, measure), per cent for shares, and how they were drawn."""

    how: Resampling
    tasks: int
    ends: dict[tuple[int, str], Ends] = field(default_factory=dict)

    def of(self, model_id: int, measure: str) -> Ends:
        """The ends; None twice where there is no interval (one task, or no spread)."""
        return self.ends.get((model_id, measure), _NONE)

    @property
    def note(self) -> str:
        """What the brackets are, for below a table."""
        return (
            f"Brackets: {self.how.level:.0%} percentile intervals of {self.how.resamples:,} resamples of the "
            f"{self.tasks:,} tasks, seed {self.how.seed}."
        )


def score_intervals(runs: Sequence[ScoredRun], how: Resampling | None = None) -> ScoreIntervals:
    """Percentile intervals of AS, AP, Upper and UGR of every model. A run without a score takes no part."""
    how = how or Resampling()
    scored = [run for run in runs if run.score is not None]
    place_of = {task: place for place, task in enumerate(dict.fromkeys(run.task_id for run in scored))}
    found = ScoreIntervals(how, len(place_of))
    if len(place_of) < 2:
        return found
    models = list(dict.fromkeys(run.model_id for run in scored))
    sums, weights = _columns(scored, models, place_of)
    rows = [(model_id, measure) for measure in MEASURES for model_id in models]
    for row, ends in zip(rows, ratio_intervals(sums, weights, how), strict=True):
        found.ends[row] = ends
    return found


def ratio_intervals(sums: Floats, weights: Floats, how: Resampling) -> list[Ends]:
    """The percentile interval of each row's sum of `sums` over its sum of `weights`; columns are tasks.

    None twice for a row in which fewer than two tasks have a weight, or in which the resamples do not vary.
    """
    tasks = sums.shape[1]
    if tasks < 2:
        return [_NONE] * len(sums)

    def evaluate(times: Floats) -> dict[str, Floats]:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = product(sums, times) / product(weights, times)
        return {str(row): values for row, values in enumerate(ratios)}

    each = np.arange(tasks)
    drawn = replicates([Part("ratios", each, each, tasks, evaluate)], tasks, how)["ratios"]
    found: list[Ends] = []
    for row in range(len(sums)):
        interval, _ = percentile_interval(drawn[str(row)], how.level)
        has_one = not isinstance(interval, Undefined) and np.count_nonzero(weights[row]) > 1
        found.append(interval if has_one else _NONE)  # type: ignore[arg-type]
    return found


def _columns(scored: Sequence[ScoredRun], models: list[int], place_of: dict[int, int]) -> tuple[Floats, Floats]:
    """A row for each measure and model: what each task adds to the sum, and to what it is divided by."""
    shape = (len(MEASURES) * len(models), len(place_of))
    sums, weights = np.zeros(shape), np.zeros(shape)
    row_of = {model_id: row for row, model_id in enumerate(models)}
    for run in scored:
        score: Any = run.score
        row, task = row_of[run.model_id], place_of[run.task_id]
        values = (score.answer_score, score.answer_precision * 100, score.upper_score, score.unverifiable * 100)
        for number, value in enumerate(values):
            sums[number * len(models) + row, task] += float(value)
            weights[number * len(models) + row, task] += score.supplied if number == len(SCORES) else 1
    return sums, weights
