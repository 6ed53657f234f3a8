"""An estimate put together from a point and its resamples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agreement.stats.bootstrap import Resampling, bca_interval, percentile_interval
from agreement.stats.undefined import Estimate, Undefined, Value

ONE_CLUSTER = {
    "task": Undefined("there is only one task; the spread between tasks cannot be seen"),
    "row": Undefined("there is only one response; the spread between responses cannot be seen"),
}
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
