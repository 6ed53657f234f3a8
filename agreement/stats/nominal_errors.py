"""Standard errors and analytic intervals of the agreement coefficients.

One delta method serves all: with p the cell proportions and g the derivative of the coefficient by each, the
variance is (sum p g**2 - (sum p g)**2) / n. For kappa this is the formula of Fleiss, Cohen & Everitt (1969), for
pi, AC1 and Brennan-Prediger those of Gwet (2008, 2014). It holds for independent items; items of one task are not,
which is why reports print the task-cluster bootstrap beside it.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from agreement.stats.nominal import (
    Floats,
    Weights,
    as_matrix,
    coefficient,
    expected_agreement,
    resolve_weights,
    why_undefined,
)
from agreement.stats.quantiles import normal_quantile, student_quantile
from agreement.stats.undefined import Interval, Undefined, Value, check_level


def standard_error(name: str, matrix: ArrayLike) -> Value:
    """The large-sample standard error of one of `nominal.COEFFICIENTS`; alpha takes that of pi (Gwet 2014)."""
    counts = as_matrix(matrix)
    point = coefficient("pi" if name == "alpha" else name, counts)
    if isinstance(point, Undefined):
        return point
    n = counts.sum()
    p = counts / n
    observed = np.eye(len(p))
    chance, chance_gradient = _chance(name, p)
    gradient = (observed * (1 - chance) - (1 - np.trace(p)) * chance_gradient) / (1 - chance) ** 2
    return _delta(p, gradient, n)


def _chance(name: str, p: Floats) -> tuple[float, Floats]:
    """A coefficient's chance agreement, and its derivative by each cell's proportion."""
    q = len(p)
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    if name == "observed":
        return 0.0, np.zeros_like(p)
    chance = float(expected_agreement(name, rows[:, None], columns[:, None], np.ones(1))[0])
    pooled = (rows + columns) / 2
    if name == "kappa":
        return chance, columns[:, None] + rows[None, :]
    if name in ("pi", "alpha"):
        return chance, pooled[:, None] + pooled[None, :]
    if name == "ac1":
        return chance, (1 - pooled[:, None] - pooled[None, :]) / (q - 1)
    return chance, np.zeros_like(p)


def _delta(p: Floats, gradient: Floats, n: float) -> float:
    variance = (float((p * gradient**2).sum()) - float((p * gradient).sum()) ** 2) / n
    return math.sqrt(max(variance, 0.0))


def weighted_kappa_error(matrix: ArrayLike, weights: Weights = "linear") -> Value:
    """The standard error of weighted kappa (Fleiss, Cohen & Everitt 1969)."""
    counts = as_matrix(matrix)
    w = resolve_weights(len(counts), weights)
    n = counts.sum()
    if n == 0:
        return why_undefined(counts)
    p = counts / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    chance = float((w * np.outer(rows, columns)).sum())
    if chance >= 1:
        return Undefined("the two marginals leave no room for a weighted disagreement")
    chance_gradient = (w @ columns)[:, None] + (rows @ w)[None, :]
    gradient = (w * (1 - chance) - (1 - float((w * p).sum())) * chance_gradient) / (1 - chance) ** 2
    return _delta(p, gradient, n)


def kappa_null_error(matrix: ArrayLike) -> Value:
    """The standard error of kappa for independent raters; kappa over it is the z of the test that they are."""
    counts = as_matrix(matrix)
    point = coefficient("kappa", counts)
    if isinstance(point, Undefined):
        return point
    n = counts.sum()
    rows, columns = counts.sum(axis=1) / n, counts.sum(axis=0) / n
    chance = float((rows * columns).sum())
    spread = chance + chance**2 - float((rows * columns * (rows + columns)).sum())
    return math.sqrt(max(spread, 0.0) / n) / (1 - chance)


def kappa_simple_error(matrix: ArrayLike) -> Value:
    """Cohen's first standard error (1960), which takes the chance agreement as known; some packages print it."""
    counts = as_matrix(matrix)
    point = coefficient("kappa", counts)
    if isinstance(point, Undefined):
        return point
    n = counts.sum()
    observed = np.trace(counts) / n
    chance = float((counts.sum(axis=1) * counts.sum(axis=0)).sum()) / n**2
    return math.sqrt(observed * (1 - observed) / n) / (1 - chance)


def wald_interval(
    point: Value, error: Value, n: float, level: float = 0.95, quantile: Literal["z", "t"] = "z"
) -> Interval:
    """`point` plus and minus the normal quantile, or Student's with n - 1 degrees of freedom, times `error`.

    Undefined where either is, and where the error is zero: an interval without width would claim certainty.
    """
    check_level(level)
    if isinstance(point, Undefined):
        return point
    if isinstance(error, Undefined):
        return error
    if error == 0:
        return Undefined("the standard error is zero, so this interval would have no width")
    if quantile == "t" and n < 2:
        return Undefined("Student's interval needs at least two items")
    reach = (normal_quantile(level) if quantile == "z" else student_quantile(level, n - 1)) * error
    return (point - reach, point + reach)
