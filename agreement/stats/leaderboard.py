"""Models against each other on the same tasks: paired differences, Holm's correction, and the ranks that follow.

The test of a pair is Student's on its task differences, since a bootstrap of few tasks tells models apart too
readily; `docs/simulations/levels.py` shows how often each errs. References: Student (1908); Holm (1979); Mogstad,
Romano, Shaikh & Wilhelm (2024) for ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.bootstrap import Part, Resampling
from agreement.stats.draws import Draw
from agreement.stats.products import product
from agreement.stats.quantiles import student_p, student_quantile
from agreement.stats.undefined import Estimate, Interval, Undefined, Value, plain

Floats: TypeAlias = NDArray[np.float64]

METHOD = "Student's t on task means"
PAIR_METHOD = "Student's t on task differences"
_BOARD = "board"
_NO_SCORE = Undefined("no run has a score")
_TIE = 1e-9
"""Means closer than this are a tie: it is far below any difference of scores, and above the rounding of a sum."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A compared pair of models (by index): the estimate of first less second, and its p-values."""

    first: int
    second: int
    estimate: Estimate
    p: Value
    p_holm: Value

    def better(self, level: float, sign: int) -> int | None:
        """The model that is better by the corrected test, if either is."""
        if isinstance(self.p_holm, Undefined) or isinstance(self.estimate.point, Undefined):
            return None
        if self.p_holm >= 1 - level:
            return None
        return self.first if sign * self.estimate.point > 0 else self.second


def leaderboard(
    scores: Mapping[str, Mapping[str, float | None]],
    how: Resampling | None = None,
    higher_is_better: bool = True,
) -> dict[str, Any]:
    """The models by mean score, every pair's difference with its test, and rank intervals; JSON-able.

    `scores[model][task]` is the run's score, None or absent where it has none, which is counted and never taken for
    0. A model's mean is over its scored tasks; `pairs` compare over the tasks that both have. Intervals and
    p-values are Student's with tasks - 1 degrees of freedom; `bootstrap` beside each is the percentile interval of
    the paired task bootstrap, one draw for everything. Each model has `rank` (ties share the better one) and
    `rank_interval`: from 1 plus the models that are better by the Holm-corrected tests to the number of models less
    those that are worse, which holds for all models at once.
    """
    how = how or Resampling()
    models = list(scores)
    tasks = list(dict.fromkeys(task for own in scores.values() for task in own))
    cells = [[_number(scores[model].get(task)) for task in tasks] for model in models]
    values = np.array(cells, dtype=np.float64).reshape(len(models), len(tasks))
    sign = 1 if higher_is_better else -1
    draw = Draw.of([_part(values)], len(tasks), how)
    means = _means(values, np.ones((len(tasks), 1)))[:, 0]
    pairs = _pairs(values, how)
    entries = []
    for k, model in enumerate(models):
        scored = int((~np.isnan(values[k])).sum())
        point: Value = _NO_SCORE if np.isnan(means[k]) else float(means[k])
        entries.append(
            {
                "model": model,
                "tasks": scored,
                "unscored": len(tasks) - scored,
                "mean": _entry(_student(values[k][~np.isnan(values[k])], point, METHOD, how), f"mean.{k}", draw),
                **plain(_ranks(k, sign * means, how.level, pairs, sign)),
            }
        )
    order = sorted(range(len(models)), key=lambda k: (np.isnan(means[k]), -sign * means[k]))
    return {
        "models": [entries[k] for k in order],
        "pairs": [
            {
                "first": models[pair.first],
                "second": models[pair.second],
                "difference": _entry(pair.estimate, f"pair.{pair.first}.{pair.second}", draw),
                "p": plain(pair.p),
                "p_holm": plain(pair.p_holm),
            }
            for pair in pairs
        ],
        "tasks": len(tasks),
        "level": how.level,
        "resamples": how.resamples,
        "seed": how.seed,
    }


def _entry(estimate: Estimate, name: str, draw: Draw) -> dict[str, Any]:
    """The estimate with the bootstrap's interval beside its own."""
    drawn = draw.estimate(_BOARD, name, estimate.point, estimate.n, estimate.n)
    return {**plain(estimate), "bootstrap": plain(drawn.interval), "bootstrap_degenerate": drawn.degenerate}


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _part(values: Floats) -> Part:
    """All means and paired differences as a part of a bootstrap in which every task is its own cell."""
    n_models, n_tasks = values.shape
    couples = list(combinations(range(n_models), 2))
    differences = np.array([values[a] - values[b] for a, b in couples]).reshape(len(couples), n_tasks)

    def evaluate(times: Floats) -> dict[str, Floats]:
        means, between = _means(values, times), _means(differences, times)
        results = {f"mean.{k}": row for k, row in enumerate(means)}
        return results | {f"pair.{a}.{b}": row for (a, b), row in zip(couples, between, strict=True)}

    each = np.arange(n_tasks)
    return Part(_BOARD, each, each, n_tasks, evaluate)


def _means(values: Floats, times: Floats) -> Floats:
    """Each row's mean over its defined columns, each taken `times` (columns by resamples); NaN for none."""
    there = ~np.isnan(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        return product(np.where(there, values, 0.0), times) / product(there.astype(np.float64), times)


def _pairs(values: Floats, how: Resampling) -> list[_Pair]:
    compared = []
    for a, b in combinations(range(len(values)), 2):
        difference = values[a] - values[b]
        there = difference[~np.isnan(difference)]
        point: Value = float(there.mean()) if len(there) else Undefined("no task on which both have a score")
        compared.append((a, b, _student(there, point, PAIR_METHOD, how), paired_p(there)))
    adjusted = holm([p for *_, p in compared])
    return [_Pair(*entry, p_holm) for entry, p_holm in zip(compared, adjusted, strict=True)]


def _student(values: Floats, point: Value, method: str, how: Resampling) -> Estimate:
    """The mean of one value per task with Student's interval; none for one task or values that do not differ."""
    n = len(values)
    if isinstance(point, Undefined):
        return Estimate(point, point, how.level, method, n, n)
    if n < 2:
        return Estimate(point, Undefined("there is only one task"), how.level, method, n, n)
    se = float(values.std(ddof=1)) / n**0.5
    interval: Interval = Undefined("the tasks do not differ, so this interval would have no width")
    if _varies(values):
        reach = student_quantile(how.level, n - 1) * se
        interval = (point - reach, point + reach)
    return Estimate(point, interval, how.level, method, n, n, se=se)


def _varies(values: Floats) -> bool:
    return bool(np.ptp(values) > _TIE) if len(values) else False


def paired_p(differences: Floats) -> Value:
    """The two-sided p-value of no difference, from one difference per task.

    Student's with tasks - 1 degrees of freedom. Where the differences are all the same number its statistic does
    not exist; then it is that of the exact sign-flip test, 2 / 2**n, and 1 where that number is 0.
    """
    n = len(differences)
    if n < 2:
        return Undefined("there is only one task" if n else "no task on which both have a score")
    mean = float(differences.mean())
    if not _varies(differences):
        return 1.0 if abs(mean) <= _TIE else 2.0 ** (1 - n)
    return student_p(mean / (float(differences.std(ddof=1)) / n**0.5), n - 1)


def holm(p_values: Sequence[Value]) -> list[Value]:
    """Holm's adjusted p-values, good for all comparisons at once; an undefined one is no comparison and stays."""
    numbers = {k: p for k, p in enumerate(p_values) if not isinstance(p, Undefined)}
    adjusted = list(p_values)
    floor = 0.0
    for place, k in enumerate(sorted(numbers, key=lambda k: numbers[k])):
        floor = max(floor, min(1.0, (len(numbers) - place) * numbers[k]))
        adjusted[k] = floor
    return adjusted


def _ranks(k: int, means: Floats, level: float, pairs: Sequence[_Pair], sign: int) -> dict[str, Any]:
    """A model's rank by its mean (larger is better here), and the ranks that the corrected tests leave open."""
    if np.isnan(means[k]):
        return {"rank": _NO_SCORE, "rank_interval": _NO_SCORE}
    own = [pair for pair in pairs if k in (pair.first, pair.second)]
    winners = [winner for pair in own if (winner := pair.better(level, sign)) is not None]
    worse = winners.count(k)
    return {
        "rank": 1 + int((means > means[k] + _TIE).sum()),
        "rank_interval": [1 + len(winners) - worse, int((~np.isnan(means)).sum()) - worse],
    }
