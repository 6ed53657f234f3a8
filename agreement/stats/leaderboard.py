"""Models against each other on the same tasks: paired differences, Holm's correction, and intervals of ranks.

References: Hall & Wilson (1991) for the centred bootstrap test; Holm (1979); Goldstein & Spiegelhalter (1996) and
Mogstad, Romano, Shaikh & Wilhelm (2024) for ranks.
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
from agreement.stats.undefined import Estimate, Undefined, Value, plain

Floats: TypeAlias = NDArray[np.float64]

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
    """The models by mean score, with rank intervals, and every pair's difference; JSON-able.

    `scores[model][task]` is the run's score, None or absent where it has none, which is counted and never taken for
    0. A model's mean is over its scored tasks; `pairs` compare over the tasks that both have. One draw of all tasks
    serves everything. Each model has `rank` (ties share the better one), `rank_interval` (percentiles of its rank
    in the resamples) and `rank_by_tests`: 1 plus the models that are better by the Holm-corrected tests, to the
    number of models less those that are worse, which hold for all models at once.
    """
    how = how or Resampling()
    models = list(scores)
    tasks = list(dict.fromkeys(task for own in scores.values() for task in own))
    cells = [[_number(scores[model].get(task)) for task in tasks] for model in models]
    values = np.array(cells, dtype=np.float64).reshape(len(models), len(tasks))
    sign = 1 if higher_is_better else -1
    draw = Draw.of([_part(values)], len(tasks), how)
    means = _means(values, np.ones((len(tasks), 1)))[:, 0]
    pairs = _pairs(values, draw)
    entries = []
    for k, model in enumerate(models):
        scored = int((~np.isnan(values[k])).sum())
        point: Value = _NO_SCORE if np.isnan(means[k]) else float(means[k])
        entries.append(
            {
                "model": model,
                "tasks": scored,
                "unscored": len(tasks) - scored,
                "mean": plain(draw.estimate(_BOARD, f"mean.{k}", point, scored, scored)),
                **plain(_ranks(k, sign * means, draw, pairs, sign)),
            }
        )
    order = sorted(range(len(models)), key=lambda k: (np.isnan(means[k]), -sign * means[k]))
    return {
        "models": [entries[k] for k in order],
        "pairs": [
            {
                "first": models[pair.first],
                "second": models[pair.second],
                "difference": plain(pair.estimate),
                "p": plain(pair.p),
                "p_holm": plain(pair.p_holm),
            }
            for pair in pairs
        ],
        "tasks": len(tasks),
        "level": how.level,
        "seed": how.seed,
    }


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


def _pairs(values: Floats, draw: Draw) -> list[_Pair]:
    compared = []
    for a, b in combinations(range(len(values)), 2):
        difference = values[a] - values[b]
        there = difference[~np.isnan(difference)]
        n = len(there)
        point: Value = float(there.mean()) if n else Undefined("no task on which both have a score")
        estimate = draw.estimate(_BOARD, f"pair.{a}.{b}", point, n, n)
        compared.append((a, b, estimate, _p_value(estimate, f"pair.{a}.{b}", draw)))
    adjusted = holm([p for *_, p in compared])
    return [_Pair(*entry, p_holm) for entry, p_holm in zip(compared, adjusted, strict=True)]


def _p_value(estimate: Estimate, name: str, draw: Draw) -> Value:
    """The share of resamples that stray from the difference as far as it does from 0, the sample counted too."""
    if isinstance(estimate.point, Undefined):
        return estimate.point
    if isinstance(estimate.interval, Undefined):
        return estimate.interval
    assert draw.resampled is not None
    drawn = draw.resampled[_BOARD][name]
    defined = drawn[~np.isnan(drawn)]
    extreme = int((np.abs(defined - estimate.point) >= abs(estimate.point) - _TIE).sum())
    return (1 + extreme) / (1 + len(defined))


def holm(p_values: Sequence[Value]) -> list[Value]:
    """Holm's adjusted p-values, good for all comparisons at once; an undefined one is no comparison and stays."""
    numbers = {k: p for k, p in enumerate(p_values) if not isinstance(p, Undefined)}
    adjusted = list(p_values)
    floor = 0.0
    for place, k in enumerate(sorted(numbers, key=lambda k: numbers[k])):
        floor = max(floor, min(1.0, (len(numbers) - place) * numbers[k]))
        adjusted[k] = floor
    return adjusted


def _ranks(k: int, means: Floats, draw: Draw, pairs: Sequence[_Pair], sign: int) -> dict[str, Any]:
    """A model's rank by its mean (larger is better here), by percentiles of the resamples, and by the tests."""
    if np.isnan(means[k]):
        return {"rank": _NO_SCORE, "rank_interval": _NO_SCORE, "rank_by_tests": _NO_SCORE}
    interval: Undefined | list[int] = Undefined("there is only one task")
    if draw.resampled is not None:
        drawn = sign * np.stack([draw.resampled[_BOARD][f"mean.{m}"] for m in range(len(means))])
        ranks = 1 + (drawn > drawn[k] + _TIE).sum(axis=0)[~np.isnan(drawn[k])]
        tail = (1 - draw.how.level) / 2
        # A rank is a whole number: take quantiles that some resample has, on the outer side.
        interval = [
            int(np.quantile(ranks, tail, method="lower")),
            int(np.quantile(ranks, 1 - tail, method="higher")),
        ]
    own = [pair for pair in pairs if k in (pair.first, pair.second)]
    winners = [winner for pair in own if (winner := pair.better(draw.how.level, sign)) is not None]
    worse = winners.count(k)
    return {
        "rank": 1 + int((means > means[k] + _TIE).sum()),
        "rank_interval": interval,
        "rank_by_tests": [1 + len(winners) - worse, int((~np.isnan(means)).sum()) - worse],
    }
