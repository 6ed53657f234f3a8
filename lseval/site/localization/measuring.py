"""Flags against reference steps, for each way of flagging: shares with intervals that take tasks as clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.stats.bootstrap import Resampling
from agreement.stats.estimates import estimate
from agreement.stats.tasks import task_indices
from agreement.stats.undefined import Estimate, Undefined
from lseval.domain.localization import WITHIN, Located

Term = Callable[[Located], Fraction]


def ratio_estimate(
    numerators: Sequence[Fraction],
    denominators: Sequence[Fraction],
    tasks: Sequence[object],
    how: Resampling,
    nothing: str,
) -> Estimate:
    """The ratio of two sums over runs, with the percentile interval of resampled tasks.

    Undefined for `nothing` where the denominators sum to 0. The point is exact, then rounded once.
    """
    task, n_tasks = task_indices(tasks)
    n = sum(1 for value in denominators if value)
    total = sum(denominators, Fraction(0))
    if not total:
        refused = Undefined(nothing)
        return Estimate(refused, refused, how.level, n=0, clusters=n_tasks, seed=how.seed)
    above, below = (_by_task(values, task, n_tasks) for values in (numerators, denominators))
    drawn = np.random.default_rng(how.seed).integers(0, n_tasks, size=(how.resamples, n_tasks))
    bottom = below[drawn].sum(axis=1)
    top = above[drawn].sum(axis=1)
    values = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
    point = float(sum(numerators, Fraction(0)) / total)
    return estimate(point, values, how, n, n_tasks)


def _by_task(values: Sequence[Fraction], task: NDArray[np.int64], n_tasks: int) -> NDArray[np.float64]:
    weights = np.array([float(value) for value in values], dtype=np.float64)
    return np.asarray(np.bincount(task, weights=weights, minlength=n_tasks), dtype=np.float64)


def measured(found: Sequence[Located], tasks: Sequence[object], how: Resampling) -> dict[str, Any]:
    """One way of flagging over all runs with a reference, in the order of `tasks`.

    `within` has, for each distance of `WITHIN`, the share of all runs whose named round is that near: a run in
    which nothing is flagged counts as missed. `precision` is the share of flagged rounds that hold a reference
    step, `recall` that of reference steps in a flagged round. `first_right` is the mean rank of the first right
    flag over the `ranked` runs that have one.
    """
    ones = [Fraction(1)] * len(found)

    def share(top: Term, bottom: Term | None, nothing: str) -> Estimate:
        below = [bottom(one) for one in found] if bottom else ones
        return ratio_estimate([top(one) for one in found], below, tasks, how, nothing)

    none = "no run has a reference step"
    return {
        "named": sum(one.is_named for one in found),
        "flagged": float(sum((one.flagged for one in found), Fraction(0))),
        "ranked": sum(one.rank is not None for one in found),
        "within": {
            most: share(lambda one, place=place: one.near[place], None, none)  # type: ignore[misc]
            for place, most in enumerate(WITHIN)
        },
        "precision": share(lambda one: one.right_flags, lambda one: one.flagged, "no round is flagged"),
        "recall": share(lambda one: one.found, lambda one: Fraction(one.references), none),
        "first_right": share(
            lambda one: one.rank or Fraction(0),
            lambda one: Fraction(one.rank is not None),
            "no flagged round holds a reference step",
        ),
    }
