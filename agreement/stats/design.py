"""Agreement and human scores of the whole study from an audited part of it, by the audit's inclusion probabilities.

Each audited item stands for 1 / probability of the study (Hajek's ratio form, so that the weights need not sum to
the study). Post-stratification then scales the weights so that each automatic label, which is known for every
group, has its study-wide total. The variance comes from leaving out one task at a time, weights and post-strata
computed anew, which holds whatever happens within a task; it ignores that the audited tasks are part of a finite
study, so it errs on the wide side. References: Sarndal, Swensson & Wretman (1992); Lohr (2021), chapter 9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from agreement.stats.nominal import coefficients
from agreement.stats.proportions import effective_interval
from agreement.stats.tasks import task_indices
from agreement.stats.undefined import Estimate, Interval, Undefined, check_level, plain
from lseval.errors import InputError

Floats: TypeAlias = NDArray[np.float64]

METHOD = "delete-one-task jackknife, Student's t"
SHARE_METHOD = "delete-one-task jackknife, Wilson at the effective size"
_NO_ITEM = Undefined("no audited item")


@dataclass(frozen=True, slots=True)
class AuditedGroup:
    """An answer group with both labels and the probability with which the audit's design would have drawn it."""

    task: str
    automatic: str
    human: str
    probability: float


@dataclass(frozen=True, slots=True)
class AuditedScore:
    """A human score of a response, and the probability with which the audit's design would have drawn it."""

    task: str
    score: float
    probability: float


def study_agreement(
    audited: Sequence[AuditedGroup],
    categories: Sequence[str],
    automatic_totals: Mapping[str, int] | None = None,
    level: float = 0.95,
) -> dict[str, Any]:
    """What agreement and people's labels would be over the whole study; JSON-able.

    `matrix` holds estimated study counts (automatic in rows), `observed`, `kappa` and `human_share.<label>` come
    with intervals. `automatic_totals` gives the study's count of each automatic label for post-stratification;
    None leaves the weights as drawn. A label that the study has and the audit never met is named in `unmet`, and
    the estimates are then of the rest. Raises `InputError` for a probability outside (0, 1], an undeclared label,
    or a total smaller than what was audited.
    """
    check_level(level)
    position = {category: index for index, category in enumerate(categories)}
    weights = _weights([group.probability for group in audited])
    rows, columns = (_codes([getattr(g, side) for g in audited], position) for side in ("automatic", "human"))
    task, n_tasks = task_indices([group.task for group in audited])
    totals = _totals(rows, categories, automatic_totals)

    def matrix_of(kept: NDArray[np.bool_]) -> Floats:
        q = len(categories)
        cells = np.zeros((q, q))
        np.add.at(cells, (rows[kept], columns[kept]), weights[kept])
        if totals is None:
            return cells
        met = cells.sum(axis=1)
        return cells * np.divide(totals, met, out=np.zeros_like(met), where=met > 0)[:, None]

    def statistic(name: str) -> Callable[[NDArray[np.bool_]], float]:
        return lambda kept: float(coefficients(matrix_of(kept)[:, :, None], (name,))[name][0])

    def share(k: int) -> Callable[[NDArray[np.bool_]], float]:
        return lambda kept: _ratio(matrix_of(kept)[:, k].sum(), matrix_of(kept).sum())

    whole = matrix_of(np.ones(len(audited), dtype=bool))
    met = set(rows.tolist())
    return {
        "matrix": whole.tolist(),
        "n": len(audited),
        "tasks": n_tasks,
        "post_stratified": totals is not None,
        "unmet": [c for c, k in position.items() if totals is not None and totals[k] > 0 and k not in met],
        "observed": plain(_estimate(statistic("observed"), task, n_tasks, level, is_share=True)),
        "kappa": plain(_estimate(statistic("kappa"), task, n_tasks, level)),
        "human_share": {
            category: plain(_estimate(share(k), task, n_tasks, level, is_share=True))
            for category, k in position.items()
        },
    }


def study_mean(audited: Sequence[AuditedScore], level: float = 0.95) -> Estimate:
    """The mean human score over the study's responses: the weighted mean of the audited ones."""
    check_level(level)
    weights = _weights([entry.probability for entry in audited])
    scores = np.array([entry.score for entry in audited], dtype=np.float64)
    task, n_tasks = task_indices([entry.task for entry in audited])
    return _estimate(
        lambda kept: _ratio(float((weights * scores)[kept].sum()), float(weights[kept].sum())), task, n_tasks, level
    )


def _weights(probabilities: Sequence[float]) -> Floats:
    values = np.array(probabilities, dtype=np.float64)
    if not ((values > 0) & (values <= 1)).all():
        raise InputError("An inclusion probability lies above 0 and at most at 1; the audit's frame stores them.")
    return 1 / values


def _codes(labels: Sequence[str], position: Mapping[str, int]) -> NDArray[np.int64]:
    unknown = sorted(set(labels) - set(position))
    if unknown:
        raise InputError(f"The label {unknown[0]!r} is none of {', '.join(position)}.")
    return np.array([position[label] for label in labels], dtype=np.int64)


def _totals(
    rows: NDArray[np.int64], categories: Sequence[str], automatic_totals: Mapping[str, int] | None
) -> Floats | None:
    if automatic_totals is None:
        return None
    totals = np.array([automatic_totals.get(category, 0) for category in categories], dtype=np.float64)
    if (totals < np.bincount(rows, minlength=len(categories))).any():
        raise InputError("The study has fewer groups of some automatic label than were audited; check the totals.")
    return totals


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator > 0 else np.nan


def _estimate(
    statistic: Callable[[NDArray[np.bool_]], float],
    task: NDArray[np.int64],
    n_tasks: int,
    level: float,
    is_share: bool = False,
) -> Estimate:
    """A statistic of the rows kept, with its delete-one-task jackknife variance."""
    n = len(task)
    method = SHARE_METHOD if is_share else METHOD
    point = statistic(np.ones(n, dtype=bool)) if n else np.nan
    if np.isnan(point):
        reason = (
            _NO_ITEM if n == 0 else Undefined("both used one label only, and the same, so chance agreement is 1")
        )
        return Estimate(reason, reason, level, method, n, n_tasks)
    left_out = np.array([statistic(task != index) for index in range(n_tasks)]) if n_tasks > 1 else np.array([])
    if n_tasks < 2 or np.isnan(left_out).any():
        why = (
            "there is only one task" if n_tasks < 2 else "the statistic is undefined when some one task is left out"
        )
        return Estimate(point, Undefined(why), level, method, n, n_tasks)
    variance = float((n_tasks - 1) / n_tasks * ((left_out - left_out.mean()) ** 2).sum())
    interval: Interval
    if is_share:
        interval = effective_interval(min(max(point, 0.0), 1.0), variance, float(n), n_tasks, level)
    elif variance == 0:
        interval = Undefined("the audited tasks do not differ, so this interval would have no width")
    else:
        reach = float(t.ppf((1 + level) / 2, n_tasks - 1)) * variance**0.5
        interval = (point - reach, point + reach)
    return Estimate(point, interval, level, method, n, n_tasks, se=variance**0.5)
