"""The part of a report on labels: the matrix and everything that is computed from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats import classes, nominal, symmetry
from agreement.stats.bootstrap import Part
from agreement.stats.draws import Draw
from agreement.stats.nominal_errors import kappa_null_error, standard_error, wald_interval, weighted_kappa_error
from agreement.stats.proportions import cluster_interval_of, proportion_interval
from agreement.stats.undefined import Estimate, Undefined, Value, plain

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

PART = "labels"
SHARE_METHOD = "cluster-robust Wilson interval; the share is the same in nearly every resample"


def label_part(code: Ints, unit: Ints, categories: Sequence[str], name: str = PART) -> Part:
    """Label pairs (coded first * q + second) as a part of a bootstrap, with every statistic of the block."""
    q = len(categories)

    def evaluate(counts: Floats) -> dict[str, Floats]:
        matrices = counts.reshape(q, q, -1)
        results = nominal.coefficients(matrices, nominal.COEFFICIENTS + nominal.WEIGHTED)
        results |= classes.class_summaries(matrices)
        for measure, values in classes.class_measures(matrices).items():
            results |= {f"{measure}.{category}": values[k] for k, category in enumerate(categories)}
        return results

    return Part(name, code, unit, q * q, evaluate)


def label_block(part: Part, categories: Sequence[str], draw: Draw) -> dict[str, Any]:
    """The matrix and its coefficients, JSON-able: each as a bare number, and under `nominal` with its intervals."""
    q = len(categories)
    matrix = np.bincount(part.code, minlength=q * q).reshape(q, q)
    n, clusters = int(matrix.sum()), len(np.unique(part.task))
    level = draw.how.level
    coefficients = {name: nominal.coefficient(name, matrix) for name in nominal.COEFFICIENTS + nominal.WEIGHTED}
    summary, scores = classes.class_summary(matrix), classes.class_scores(matrix, categories)
    details = {
        name: plain(draw.estimate(part.name, name, point, n, clusters))
        for name, point in (coefficients | summary).items()
    }
    details["observed"] = plain(share_estimate("observed", coefficients["observed"], part, categories, draw))
    for name, point in coefficients.items():
        details[name]["analytic"] = plain(_analytic(name, point, matrix, level))
    details["kappa"]["analytic"]["null_se"] = plain(kappa_null_error(matrix))
    details["observed"]["analytic"] |= plain(_proportions(part, q, level))
    return {
        "matrix": matrix.tolist(),
        **plain(coefficients | summary),
        "nominal": details,
        "classes": plain(scores),
        "class_intervals": {
            category: {
                name: plain(share_estimate(f"{name}.{category}", scores[category][name], part, categories, draw))
                for name in classes.MEASURES
            }
            for category in categories
        },
        "symmetry": plain(
            {
                "bowker": symmetry.bowker(matrix),
                "stuart_maxwell": symmetry.stuart_maxwell(matrix),
                "bhapkar": symmetry.bhapkar(matrix),
            }
        ),
    }


def share_estimate(name: str, point: Value, part: Part, categories: Sequence[str], draw: Draw) -> Estimate:
    """`observed`, or a category's `precision`, `recall` or `f1` (as `f1.C`), with its interval.

    A share of 0 or 1 is the same in every resample; its interval is then the cluster-robust one of the share, which
    has width. F1 is no share of items and has none.
    """
    q = len(categories)
    first, second = np.divmod(part.code, q)
    kept = np.ones(len(part.code), dtype=bool)
    measure, _, category = name.partition(".")
    if measure in classes.MEASURES:
        k = list(categories).index(category)
        kept = {"precision": first == k, "recall": second == k, "f1": (first == k) | (second == k)}[measure]
    task = part.task[kept]
    found = draw.estimate(part.name, name, point, int(kept.sum()), len(np.unique(task)))
    if measure == "f1" or isinstance(point, Undefined) or not isinstance(found.interval, Undefined):
        return found
    interval = cluster_interval_of((first == second)[kept], task, draw.how.level)
    if isinstance(interval, Undefined):
        return found
    return replace(found, interval=interval, method=SHARE_METHOD, resamples=0, degenerate=0, seed=None)


def _analytic(name: str, point: Value, matrix: Ints, level: float) -> dict[str, Any]:
    """The large-sample standard error and intervals, which take the items for independent."""
    if name in nominal.WEIGHTED:
        error = weighted_kappa_error(matrix, nominal.agreement_weights(len(matrix), name.removesuffix("_kappa")))
    else:
        error = standard_error(name, matrix)
    n = float(matrix.sum())
    return {
        "se": error,
        "z_interval": wald_interval(point, error, n, level, "z"),
        "t_interval": wald_interval(point, error, n, level, "t"),
    }


def _proportions(part: Part, q: int, level: float) -> dict[str, Any]:
    """The intervals of the share of agreement: for independent items, and robust to clusters."""
    agree = part.code // q == part.code % q
    k, n = int(agree.sum()), len(agree)
    return {
        "agreeing": k,
        "wilson": proportion_interval(k, n, "wilson", level),
        "clopper_pearson": proportion_interval(k, n, "clopper_pearson", level),
        "cluster_robust": cluster_interval_of(agree, part.task, level),
    }
