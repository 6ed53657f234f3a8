"""Intervals of a proportion k / n, for independent items and for items in clusters.

References: Wilson (1927); Clopper & Pearson (1934); Brown, Cai & DasGupta (2001); for clusters Cochran (1977),
section 3.12, Korn & Graubard (1998), Dean & Pagano (2015).
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta

from agreement.stats.quantiles import normal_quantile, student_quantile
from agreement.stats.undefined import Interval, Undefined, check_level
from lseval.errors import InputError

ProportionMethod: TypeAlias = Literal[
    "wilson", "wilson_corrected", "clopper_pearson", "wald", "agresti_coull", "jeffreys"
]


def proportion_interval(k: float, n: float, method: ProportionMethod = "wilson", level: float = 0.95) -> Interval:
    """The interval of k successes in n independent trials; undefined for n = 0 and for a Wald interval at 0 or 1.

    Wilson and Clopper-Pearson have width at 0 and 1 too. `wilson_corrected` has the continuity correction.
    """
    check_level(level)
    if not 0 <= k <= n:
        raise InputError(f"A proportion needs 0 <= k <= n; got k = {k}, n = {n}.")
    if n == 0:
        return Undefined("there is nothing to count")
    z = normal_quantile(level)
    if method == "wilson":
        return _wilson(k, n, z)
    if method == "wilson_corrected":
        return _wilson_corrected(k, n, z)
    if method == "clopper_pearson":
        return _beta_interval(k, n - k + 1, k + 1, n - k, level)
    if method == "jeffreys":
        low, high = _beta_interval(k + 0.5, n - k + 0.5, k + 0.5, n - k + 0.5, level)
        # The ends reach 0 and 1 as in Brown, Cai & DasGupta, so that the point lies in its interval.
        return (0.0 if k == 0 else low, 1.0 if k == n else high)
    if method == "agresti_coull":
        return _clipped(*_wald((k + z * z / 2) / (n + z * z), n + z * z, z))
    if method == "wald":
        if k in (0, n):
            return Undefined("the Wald interval of a proportion of 0 or 1 has no width")
        return _clipped(*_wald(k / n, n, z))
    raise InputError(f"There is no interval {method!r} for a proportion.")


def _wilson(k: float, n: float, quantile: float) -> tuple[float, float]:
    p, z2 = k / n, quantile * quantile
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    reach = quantile / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    # The ends at 0 and 1 are exact; the arithmetic leaves a residue there.
    return (0.0 if k == 0 else max(centre - reach, 0.0), 1.0 if k == n else min(centre + reach, 1.0))


def _wilson_corrected(k: float, n: float, z: float) -> tuple[float, float]:
    """Newcombe (1998), method 4."""
    p, z2 = k / n, z * z
    denominator = 2 * (n + z2)
    low = (2 * n * p + z2 - 1 - z * math.sqrt(max(z2 - 2 - 1 / n + 4 * p * (n * (1 - p) + 1), 0.0))) / denominator
    high = (2 * n * p + z2 + 1 + z * math.sqrt(max(z2 + 2 - 1 / n + 4 * p * (n * (1 - p) - 1), 0.0))) / denominator
    return (0.0 if k == 0 else max(low, 0.0), 1.0 if k == n else min(high, 1.0))


def _beta_interval(a_low: float, b_low: float, a_high: float, b_high: float, level: float) -> tuple[float, float]:
    low = float(beta.ppf((1 - level) / 2, a_low, b_low)) if a_low > 0 else 0.0
    high = float(beta.ppf((1 + level) / 2, a_high, b_high)) if b_high > 0 else 1.0
    return low, high


def _wald(p: float, n: float, z: float) -> tuple[float, float]:
    reach = z * math.sqrt(p * (1 - p) / n)
    return p - reach, p + reach


def _clipped(low: float, high: float) -> tuple[float, float]:
    return max(low, 0.0), min(high, 1.0)


def cluster_variance(successes: ArrayLike, trials: ArrayLike) -> float | Undefined:
    """The variance of the ratio sum(successes) / sum(trials) over m >= 2 independent clusters.

    Linearized: m / (m - 1) times the sum of (k_i - p n_i)**2, over the squared number of trials.
    """
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    if k.shape != n.shape or k.ndim != 1 or (n < 0).any():
        raise InputError("Successes and trials are two equally long lists of counts of 0 or more, one per cluster.")
    k, n = k[n > 0], n[n > 0]
    if len(n) == 0:
        return Undefined("there is nothing to count")
    if len(n) == 1:
        return Undefined("there is only one cluster; at least two are needed")
    residual = k - n * (k.sum() / n.sum())
    return float(len(n) / (len(n) - 1) * (residual**2).sum() / n.sum() ** 2)


def cluster_interval(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> Interval:
    """Wilson's interval at the effective sample size, with Student's quantile on the clusters less one.

    `successes` and `trials` are per cluster. The effective size p (1 - p) / variance is held between the number of
    clusters and the number of trials; at 0 and 1, where the variance says nothing, it is the number of clusters, as
    if the items of one were all alike. So the interval has width at 0 and 1 too. Undefined for one cluster.
    """
    check_level(level)
    variance = cluster_variance(successes, trials)
    if isinstance(variance, Undefined):
        return variance
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    return effective_interval(float(k.sum() / n.sum()), variance, float(n.sum()), int((n > 0).sum()), level)


def cluster_interval_of(hits: ArrayLike, task: NDArray[np.int64], level: float = 0.95) -> Interval:
    """`cluster_interval` from one entry per item: whether it is a success, and the index of its cluster."""
    successes = np.asarray(hits, dtype=np.float64)
    n_tasks = int(task.max(initial=-1)) + 1
    return cluster_interval(
        np.bincount(task, weights=successes, minlength=n_tasks), np.bincount(task, minlength=n_tasks), level
    )


def effective_interval(p: float, variance: float, total: float, clusters: int, level: float) -> tuple[float, float]:
    """`cluster_interval` from a share, its variance over `clusters` >= 2, and the number of trials behind it."""
    within = p * (1 - p)
    if within == 0:
        effective = float(clusters)
    elif variance * total <= within:
        effective = total
    else:
        effective = within / variance
    quantile = student_quantile(level, clusters - 1)
    return _wilson(p * effective, effective, quantile)
