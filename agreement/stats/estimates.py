"""An estimate put together from a point and its resamples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.stats.bootstrap import Resampling, bca_interval, percentile_interval
from agreement.stats.quantiles import student_quantile
from agreement.stats.undefined import Estimate, Undefined, Value

ONE_CLUSTER = {
    "task": Undefined("there is only one task; the spread between tasks cannot be seen"),
    "row": Undefined("there is only one response; the spread between responses cannot be seen"),
}
JACKKNIFE = "delete-one-task jackknife, Student's t"
METHODS = {"task": "percentile, task-cluster bootstrap", "row": "percentile, row bootstrap"}


def estimate(
    point: Value,
    resamples: NDArray[np.float64] | None,
    how: Resampling,
    n: int,
    clusters: int,
    left_out: NDArray[np.float64] | None = None,
) -> Estimate:
    """The point with its percentile interval and standard error; with `left_out`, the BCa interval too.

    `resamples` holds NaN where a resample is degenerate. No interval is given where the point is undefined, for
    fewer than two tasks, or where no resample has a value; each says why.
    """
    method = METHODS[how.unit]
    if isinstance(point, Undefined) or resamples is None or clusters < 2:
        refused = point if isinstance(point, Undefined) else ONE_CLUSTER[how.unit]
        return Estimate(point, refused, how.level, method, n, clusters, seed=how.seed)
    interval, degenerate = percentile_interval(resamples, how.level)
    defined = resamples[~np.isnan(resamples)]
    return Estimate(
        point=point,
        interval=interval,
        level=how.level,
        method=method,
        n=n,
        clusters=clusters,
        resamples=len(resamples),
        degenerate=degenerate,
        seed=how.seed,
        se=float(np.std(defined, ddof=1)) if len(defined) > 1 else None,
        bca=None if left_out is None else bca_interval(resamples, point, left_out, how.level),
    )


def with_remark(found: dict[str, Any], most: float) -> dict[str, Any]:
    """A JSON-able estimate of something from 0 to `most`, with a `remark` where its point or interval leaves that.

    The numbers stay as computed: the estimator is right on average, and holding it in would bias it.
    """
    kept = {key: value for key, value in found.items() if key != "remark"}
    point, interval = found["point"], found["interval"]
    if isinstance(point, dict):
        return kept
    slack = 1e-9 * most
    if not -slack <= point <= most + slack:
        side = f"above {most:g}" if point > most else "below 0"
        kept["remark"] = (
            f"the estimate lies {side}, where no value can; it is kept, since an estimator that is right on "
            "average may miss on that side and to hold it in would bias it"
        )
    elif isinstance(interval, list | tuple) and not -slack <= interval[0] <= interval[1] <= most + slack:
        kept["remark"] = f"the interval reaches beyond 0 to {most:g}, where no value can lie; its ends are kept"
    return kept


def jackknife_estimate(
    point: Value, left_out: NDArray[np.float64], n: int, level: float, method: str = JACKKNIFE
) -> Estimate:
    """The point with the interval of its delete-one-task jackknife, Student's with tasks - 1 degrees of freedom.

    `left_out` holds the statistic without each task in turn, NaN where it has no value then. With few tasks this
    keeps its level where a percentile interval of as many tasks is too short. Reference: Tukey (1958).
    """
    tasks = len(left_out)
    if isinstance(point, Undefined) or tasks < 2:
        refused = point if isinstance(point, Undefined) else ONE_CLUSTER["task"]
        return Estimate(point, refused, level, method, n, tasks)
    if np.isnan(left_out).any():
        why = Undefined("the statistic is undefined when some one task is left out")
        return Estimate(point, why, level, method, n, tasks)
    se = float(((tasks - 1) / tasks * ((left_out - left_out.mean()) ** 2).sum()) ** 0.5)
    if se <= 1e-12 * max(1.0, abs(point)):
        why = Undefined("leaving out one task never changes the statistic, so this interval would have no width")
        return Estimate(point, why, level, method, n, tasks, se=se)
    reach = student_quantile(level, tasks - 1) * se
    return Estimate(point, (point - reach, point + reach), level, method, n, tasks, se=se)
