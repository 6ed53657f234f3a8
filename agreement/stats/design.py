"""Agreement and human scores of the whole study from an audited part of it, by the audit's inclusion probabilities.

Each audited item stands for 1 / probability of the study (Hajek's ratio form, so that the weights need not sum to
the study). Post-stratification then scales the weights so that each automatic label, which is known for every
group, has its study-wide total. The variance comes from leaving out one task at a time, weights and post-strata
computed anew, which holds whatever happens within a task; it ignores that the audited tasks are part of a finite
study, so it errs on the wide side. References: Sarndal, Swensson & Wretman (1992); Lohr (2021), chapter 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.estimates import jackknife_estimate
from agreement.stats.nominal import coefficients
from agreement.stats.proportions import effective_interval
from agreement.stats.tasks import task_indices
from agreement.stats.undefined import Estimate, Undefined, check_level, plain
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

    matrices = _left_out_matrices(rows, columns, weights, task, n_tasks, len(categories), totals)
    values = coefficients(matrices, ("observed", "kappa"))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = matrices.sum(axis=0) / matrices.sum(axis=(0, 1))

    def estimate(of_all_and_left_out: Floats, is_share: bool) -> dict[str, Any]:
        found: dict[str, Any] = plain(_estimate(of_all_and_left_out, len(audited), level, is_share))
        return found

    met = set(rows.tolist())
    return {
        "matrix": matrices[:, :, 0].tolist(),
        "n": len(audited),
        "tasks": n_tasks,
        "post_stratified": totals is not None,
        "unmet": [c for c, k in position.items() if totals is not None and totals[k] > 0 and k not in met],
        "observed": estimate(values["observed"], True),
        "kappa": estimate(values["kappa"], False),
        "human_share": {category: estimate(shares[k], True) for category, k in position.items()},
    }


def study_mean(audited: Sequence[AuditedScore], level: float = 0.95) -> Estimate:
    """The mean human score over the study's responses: the weighted mean of the audited ones."""
    check_level(level)
    weights = _weights([entry.probability for entry in audited])
    scores = np.array([entry.score for entry in audited], dtype=np.float64)
    task, n_tasks = task_indices([entry.task for entry in audited])
    sums = np.stack([np.bincount(task, weights=each, minlength=n_tasks) for each in (weights * scores, weights)])
    whole = sums.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.divide(*np.concatenate([whole, whole - sums], axis=1))
    return _estimate(values, len(audited), level)


def _left_out_matrices(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    weights: Floats,
    task: NDArray[np.int64],
    n_tasks: int,
    q: int,
    totals: Floats | None,
) -> Floats:
    """The weighted matrix of all, then without each task in turn (q by q by 1 + tasks), scaled to `totals`."""
    own, counts = np.zeros((q, q, n_tasks)), np.zeros((q, q, n_tasks))
    np.add.at(own, (rows, columns, task), weights)
    np.add.at(counts, (rows, columns, task), 1)
    whole, number = own.sum(axis=2, keepdims=True), counts.sum(axis=2, keepdims=True)
    # A cell that only one task has is empty without it, whatever rounding leaves of the difference.
    left_out = np.where(number > counts, whole - own, 0.0)
    cells = np.concatenate([whole, left_out], axis=2)
    if totals is None:
        return cells
    met = cells.sum(axis=1, keepdims=True)
    return cells * np.divide(totals[:, None, None], met, out=np.zeros_like(met), where=met > 0)


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


def _estimate(values: Floats, n: int, level: float, is_share: bool = False) -> Estimate:
    """A statistic of all rows (the first of `values`) with its delete-one-task jackknife (the others)."""
    point, left_out = (float(values[0]) if n else np.nan), values[1:]
    n_tasks = len(left_out)
    if np.isnan(point):
        reason = (
            _NO_ITEM if n == 0 else Undefined("both used one label only, and the same, so chance agreement is 1")
        )
        return Estimate(reason, reason, level, SHARE_METHOD if is_share else METHOD, n, n_tasks)
    found = jackknife_estimate(point, left_out, n, level, METHOD)
    if not is_share or not isinstance(found.se, float):
        return replace(found, method=SHARE_METHOD) if is_share else found
    interval = effective_interval(min(max(point, 0.0), 1.0), found.se**2, float(n), n_tasks, level)
    return replace(found, interval=interval, method=SHARE_METHOD)
