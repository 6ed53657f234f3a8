"""How fast the task-cluster bootstrap is, beside a plain loop over scipy and beside `scipy.stats.bootstrap`.

Ours is timed in full. The two baselines are timed on fewer resamples, whose time grows linearly with their number,
and extrapolated; each entry says from how many.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from agreement.stats.bootstrap import Part, Resampling, percentile_interval, replicates
from agreement.stats.cells import STATISTICS, recode
from agreement.stats.scores import SCORES, pair_part, score_arrays

Floats: TypeAlias = NDArray[np.float64]
Scores: TypeAlias = dict[str, tuple[Floats, Floats]]

RESAMPLES = 10_000
PER_TASK = 2


def made_up_scores(n_responses: int, seed: int = 1) -> Scores:
    """Automatic and human scores of made-up responses, two per task, with 1 to 10 groups required and supplied."""
    rng = np.random.default_rng(seed)
    required = np.repeat(rng.integers(1, 11, n_responses // PER_TASK), PER_TASK)
    supplied = rng.integers(1, 11, n_responses)
    correct = rng.binomial(supplied, rng.beta(1, 1, n_responses))
    unverifiable = rng.binomial(supplied - correct, 0.15)
    human = np.clip(correct - rng.binomial(correct, 0.05) + rng.binomial(supplied - correct, 0.05), 0, supplied)
    first = score_arrays(required, correct, unverifiable, supplied)
    second = score_arrays(required, human, np.minimum(unverifiable, supplied - human), supplied)
    return {score: (first[score], second[score]) for score in SCORES}


def ours(scores: Scores, threads: int | None = None) -> dict[str, dict[str, Any]]:
    """Every interval, from raw scores: recoding, drawing, five statistics on three scores, quantiles."""
    n = len(scores["as"][0])
    task = np.arange(n) // PER_TASK
    parts: list[Part] = [pair_part(name, recode(x, y), task, STATISTICS) for name, (x, y) in scores.items()]
    drawn = replicates(parts, n // PER_TASK, Resampling(RESAMPLES, threads=threads))
    return {
        score: {name: percentile_interval(values, 0.95) for name, values in found.items()}
        for score, found in drawn.items()
    }


def five(x: Floats, y: Floats) -> list[float]:
    """The five statistics of one resample by scipy and numpy."""
    return [
        stats.pearsonr(x, y).statistic,
        stats.spearmanr(x, y).statistic,
        stats.kendalltau(x, y).statistic,
        float(np.abs(x - y).mean()),
        float((x - y).mean()),
    ]


def plain_loop(scores: Scores, resamples: int) -> None:
    """What one would write first: draw tasks, index the rows, call scipy."""
    rng = np.random.default_rng(1)
    n_tasks = len(scores["as"][0]) // PER_TASK
    for _ in range(resamples):
        drawn = rng.integers(0, n_tasks, n_tasks)
        rows = (drawn[:, None] * PER_TASK + np.arange(PER_TASK)).ravel()
        for x, y in scores.values():
            five(x[rows], y[rows])


def rows_of(drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of the drawn tasks, along the last axis."""
    return (drawn[..., None] * PER_TASK + np.arange(PER_TASK)).reshape(*drawn.shape[:-1], -1)


PLAIN = (lambda x, y: stats.spearmanr(x, y).statistic, lambda x, y: stats.kendalltau(x, y).statistic)
ALONG_AXIS = (
    lambda x, y: stats.pearsonr(x, y, axis=-1).statistic,
    lambda x, y: np.abs(x - y).mean(axis=-1),
    lambda x, y: (x - y).mean(axis=-1),
)


def scipy_bootstrap(scores: Scores, resamples: int) -> None:
    """`scipy.stats.bootstrap` over tasks as its documentation shows it: one call per score and statistic.

    Vectorized where the statistic is one expression with an axis; Spearman's and Kendall's are plain functions.
    """
    for x, y in scores.values():
        for statistics_, vectorized in ((ALONG_AXIS, True), (PLAIN, False)):
            for statistic in statistics_:
                _bootstrap(
                    lambda drawn, f=statistic, x=x, y=y, axis=-1: f(x[rows_of(drawn)], y[rows_of(drawn)]),
                    len(x) // PER_TASK,
                    resamples,
                    vectorized,
                )


def scipy_bootstrap_by_hand(scores: Scores, resamples: int) -> None:
    """`scipy.stats.bootstrap` over tasks, written for speed: one call, ranks by row, scipy's own loop for tau-b."""

    def statistic(drawn: NDArray[np.int64], axis: int) -> Floats:
        results = []
        for first, second in scores.values():
            x, y = first[rows_of(drawn)], second[rows_of(drawn)]
            results += [along(x, y) for along in ALONG_AXIS]
            results.append(
                stats.pearsonr(stats.rankdata(x, axis=-1), stats.rankdata(y, axis=-1), axis=-1).statistic
            )
            results.append(stats.kendalltau(x, y, axis=-1).statistic)
        return np.stack(results)

    _bootstrap(statistic, len(scores["as"][0]) // PER_TASK, resamples, True)


def _bootstrap(statistic: Callable[..., Any], n_tasks: int, resamples: int, vectorized: bool) -> None:
    stats.bootstrap(
        (np.arange(n_tasks),),
        statistic,
        n_resamples=resamples,
        vectorized=vectorized,
        axis=-1,
        method="percentile",
        rng=np.random.default_rng(1),
    )


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """The median wall-clock time of `repeats` runs."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def extrapolated(baseline: Callable[[Scores, int], None], scores: Scores, measured: int) -> float:
    """The seconds that the baseline would take for all resamples, from the time that `measured` of them take."""
    return seconds(lambda: baseline(scores, measured)) * RESAMPLES / measured


def entry(name: str, value: float, baseline: float, against: str, measured: int, **bars: float) -> dict[str, Any]:
    """One JSON-able line of the benchmark."""
    return {
        "name": name,
        "value": value,
        "unit": "s",
        "baseline": baseline,
        "ratio": baseline / value,
        "against": against,
        "baseline_measured": f"{measured} resamples, extrapolated linearly to {RESAMPLES}",
        **bars,
    }


def run() -> Iterator[dict[str, Any]]:
    """Yields one entry per measurement; `bar_ratio` or `bar_seconds` is what it has to reach."""
    small = made_up_scores(200)
    ours(small)
    value = seconds(lambda: ours(small), repeats=15)
    what = f"agreement: {RESAMPLES} task-cluster resamples, 5 statistics, 3 scores"
    loop = "plain loop over scipy"
    name = f"{what}, 200 responses"
    yield entry(name, value, extrapolated(plain_loop, small, 100), loop, 100, bar_ratio=500)
    resampler = "scipy.stats.bootstrap, one call per score and statistic"
    yield entry(name, value, extrapolated(scipy_bootstrap, small, 100), resampler, 100, bar_ratio=250)
    resampler = "scipy.stats.bootstrap, vectorized by hand"
    yield entry(name, value, extrapolated(scipy_bootstrap_by_hand, small, 200), resampler, 200)
    for n_responses, bar, measured in ((10_000, 2.0, 5), (100_000, 15.0, 1)):
        scores = made_up_scores(n_responses)
        value = seconds(lambda scores=scores: ours(scores))  # type: ignore[misc]
        baseline = extrapolated(plain_loop, scores, measured)
        yield entry(f"{what}, {n_responses} responses", value, baseline, loop, measured, bar_seconds=bar)


if __name__ == "__main__":
    import json
    import sys

    for line in run():
        sys.stdout.write(json.dumps(line) + "\n")
