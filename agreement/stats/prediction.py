"""Prediction-powered means: all automatic scores, corrected by the audited ones.

With y the human and f the automatic scores of n audited units, and f~ those of the N others, the estimate is
mean(y) + lambda (mean(f~) - mean(f)): unbiased for the mean human score whatever lambda, if the audited units
were drawn without regard to the scores. lambda = 0 is the audited units alone, lambda = 1 is PPI, and the tuned
lambda of PPI++ minimizes the variance, so that poor automatic scores cost nothing. References: Angelopoulos,
Bates, Fannjiang, Jordan & Zrnic (2023); Angelopoulos, Duchi & Zrnic (2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement.stats.quantiles import student_quantile
from agreement.stats.undefined import Estimate, Interval, Undefined, check_level
from lseval.errors import InputError

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Powered:
    """A prediction-powered estimate and the lambda it used."""

    estimate: Estimate
    tuning: float | None


def prediction_powered(
    human: ArrayLike,
    automatic: ArrayLike,
    automatic_rest: ArrayLike,
    tuning: float | None = None,
    sizes: ArrayLike | None = None,
    sizes_rest: ArrayLike | None = None,
    level: float = 0.95,
) -> Powered:
    """The mean of the human scores over audited and other units together, or the ratio to the mean of `sizes`.

    `human` and `automatic` are those of the n audited units, one independent unit (a task's run) each,
    `automatic_rest` those of the others. With `sizes`, known for every unit, the result is mean(human) /
    mean(sizes), such as unverifiable groups per group. `tuning` is lambda; None tunes it, within [0, 1]. The
    interval is Student's with n - 1 degrees of freedom; undefined for fewer than two audited units.
    """
    check_level(level)
    y, f, rest = (np.asarray(values, dtype=np.float64) for values in (human, automatic, automatic_rest))
    if len(y) != len(f):
        raise InputError("Human and automatic scores of the audited units are two equally long lists.")
    size = np.ones(len(y)) if sizes is None else np.asarray(sizes, dtype=np.float64)
    size_rest = np.ones(len(rest)) if sizes_rest is None else np.asarray(sizes_rest, dtype=np.float64)
    if len(size) != len(y) or len(size_rest) != len(rest):
        raise InputError("Every unit needs its size: one per audited and one per other unit.")
    n, others = len(y), len(rest)
    method = "prediction-powered, Student's t"
    if n == 0:
        return Powered(_refused("no unit was audited", level, method, n + others), None)
    mean_size = (size.sum() + size_rest.sum()) / (n + others)
    if mean_size == 0:
        return Powered(_refused("there is nothing to take a share of", level, method, n + others), None)
    weight = 0.0 if others == 0 else 1.0 if tuning is None else float(tuning)
    if tuning is None and others and n > 1:
        weight = _tuned(y, f, rest, size, size_rest, mean_size)
    point = _point(y, f, rest, weight) / mean_size
    interval, se = _interval(y, f, rest, size, size_rest, point, weight, mean_size, level)
    return Powered(Estimate(point, interval, level, method, n + others, n, se=se), weight)


def _refused(reason: str, level: float, method: str, units: int) -> Estimate:
    return Estimate(Undefined(reason), Undefined(reason), level, method, units, 0)


def _point(y: Floats, f: Floats, rest: Floats, weight: float) -> float:
    return float(y.mean() + (weight * (rest.mean() - f.mean()) if len(rest) else 0.0))


def _tuned(y: Floats, f: Floats, rest: Floats, size: Floats, size_rest: Floats, mean_size: float) -> float:
    """The lambda that minimizes the variance, with the ratio at its value for lambda = 1 plugged in."""
    n, others = len(y), len(rest)
    target = _point(y, f, rest, 1.0) / mean_size
    share, share_rest = n / (n + others), others / (n + others)
    gain = float(np.cov(y - target * share * size, f)[0, 1]) / n
    if others > 1:
        gain += float(np.cov(rest, target * share_rest * size_rest)[0, 1]) / others
    spread = float(np.concatenate([f, rest]).var(ddof=1)) * (1 / n + 1 / others)
    return min(max(gain / spread, 0.0), 1.0) if spread > 0 else 0.0


def _interval(
    y: Floats,
    f: Floats,
    rest: Floats,
    size: Floats,
    size_rest: Floats,
    point: float,
    weight: float,
    mean_size: float,
    level: float,
) -> tuple[Interval, float | None]:
    n, others = len(y), len(rest)
    if n < 2:
        return Undefined("only one unit was audited; at least two are needed"), None
    share, share_rest = n / (n + others), others / (n + others)
    variance = float((y - weight * f - point * share * size).var(ddof=1)) / n
    if others > 1:
        variance += float((weight * rest - point * share_rest * size_rest).var(ddof=1)) / others
    se = variance**0.5 / mean_size
    if se == 0:
        return Undefined("the audited units do not differ, so this interval would have no width"), se
    reach = student_quantile(level, n - 1) * se
    return (point - reach, point + reach), se
