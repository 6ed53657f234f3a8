"""The engine of the bootstrap: what is drawn, by how many threads, and the intervals made of it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from agreement.stats.bootstrap import Resampling, bca_interval, percentile_interval, replicates, replicates_of
from agreement.stats.cells import ALL_STATISTICS, STATISTICS, evaluate, points, recode
from agreement.stats.kendall import SIGN_MATRIX_MAX_CELLS, Concordance
from agreement.stats.scores import pair_part, pair_statistics
from agreement.stats.undefined import Undefined
from lseval.errors import InputError


def some_pairs(n: int, levels: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, levels, n).astype(float)
    return x, np.round((x + rng.integers(0, levels, n)) / 2)


def scipy_statistics(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    return {
        "pearson": stats.pearsonr(x, y).statistic,
        "spearman": stats.spearmanr(x, y).statistic,
        "kendall_b": stats.kendalltau(x, y).statistic,
        "mae": float(np.abs(x - y).mean()),
        "bias": float((x - y).mean()),
    }


@pytest.mark.parametrize(("n", "levels"), [(30, 4), (120, 12), (1500, 90), (500, 100_000)])
def test_points_are_those_of_scipy_for_few_and_many_cells(n: int, levels: int) -> None:
    x, y = some_pairs(n, levels)
    cells = recode(x, y)
    assert (cells.n_cells <= SIGN_MATRIX_MAX_CELLS) == (n <= 300)
    assert points(cells, STATISTICS) == pytest.approx(scipy_statistics(x, y), rel=0, abs=1e-12)


def test_both_ways_to_count_concordance_agree() -> None:
    rng = np.random.default_rng(8)
    x, y = rng.integers(0, 37, 400), rng.integers(0, 23, 400)
    counts = rng.integers(0, 4, (400, 6)).astype(float)
    signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    assert Concordance(x, y)(counts, counts) == pytest.approx(
        np.einsum("kb,kl,lb->b", counts, signs, counts) / 2, abs=0
    )


def test_replicate_is_the_statistic_of_the_rows_of_the_drawn_tasks() -> None:
    x, y = some_pairs(40, 9)
    task = np.random.default_rng(1).integers(0, 12, 40)
    indices = np.random.default_rng(2).integers(0, 12, (20, 12))
    drawn = replicates_of([pair_part("p", recode(x, y), task, STATISTICS)], 12, indices)["p"]
    for b, draw in enumerate(indices):
        rows = np.concatenate([np.flatnonzero(task == t) for t in draw])
        for name, expected in scipy_statistics(x[rows], y[rows]).items():
            assert drawn[name][b] == pytest.approx(expected, rel=0, abs=1e-12)


def test_same_result_on_one_thread_and_on_many() -> None:
    x, y = np.random.default_rng(4).normal(size=(2, 3000))
    part = [pair_part("p", recode(x, y), np.arange(3000) // 2, ALL_STATISTICS)]
    one, many = (replicates(part, 1500, Resampling(700, threads=threads))["p"] for threads in (1, 3))
    for name in ALL_STATISTICS:
        assert np.array_equal(one[name], many[name])


_DIGEST = """
import hashlib, numpy as np
from agreement.stats.bootstrap import Resampling, replicates
from agreement.stats.cells import ALL_STATISTICS, recode
from agreement.stats.scores import pair_part
x, y = np.round(np.random.default_rng(4).normal(size=(2, 400)), 1)
drawn = replicates([pair_part("p", recode(x, y), np.arange(400) // 2, ALL_STATISTICS)], 200, Resampling(900))["p"]
print(hashlib.sha256(b"".join(drawn[name].tobytes() for name in ALL_STATISTICS)).hexdigest())
"""


def test_same_result_whatever_threads_the_linear_algebra_has() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", _DIGEST],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(digests) == 1


def test_percentile_interval_takes_linear_quantiles_of_the_defined() -> None:
    # Quantiles .25 and .75 of 0, 1, 2, 3, 10: positions 1 and 3.
    interval, degenerate = percentile_interval(np.array([3.0, 0, np.nan, 2, 1, 10]), 0.5)
    assert (interval, degenerate) == ((1.0, 3.0), 1)


def test_bca_interval_is_that_of_scipy_on_the_same_resamples() -> None:
    rng = np.random.default_rng(11)
    sample = rng.exponential(size=40)
    reference = stats.bootstrap((sample,), np.mean, n_resamples=2000, method="BCa", rng=np.random.default_rng(1))
    left_out = (sample.sum() - sample) / 39
    ours = bca_interval(reference.bootstrap_distribution, float(sample.mean()), left_out, 0.95)
    assert ours == pytest.approx(tuple(reference.confidence_interval), abs=1e-12)


def test_bca_interval_needs_a_jackknife_that_varies() -> None:
    assert isinstance(bca_interval(np.array([1.0, 2.0, 3.0]), 2.0, np.array([2.0, 2.0]), 0.95), Undefined)
    assert isinstance(bca_interval(np.array([1.0, 2.0, 3.0]), 9.0, np.array([8.0, 9.5]), 0.95), Undefined)
    assert isinstance(bca_interval(np.array([1.0, 2.0, 3.0]), 2.0, np.array([2.0, np.nan]), 0.95), Undefined)


def test_row_bootstrap_draws_responses_and_task_bootstrap_tasks() -> None:
    rng = np.random.default_rng(0)
    effect = np.repeat(rng.normal(size=25), 8)
    x, y = effect, effect + np.repeat(rng.normal(size=25), 8)
    tasks = np.repeat(np.arange(25), 8).tolist()
    by_task = pair_statistics(x, y, tasks, Resampling(1000))["bias"]
    by_row = pair_statistics(x, y, tasks, Resampling(1000, unit="row"))["bias"]
    assert (by_task.clusters, by_row.clusters) == (25, 200)
    # Eight alike responses of a task carry the information of one: the root of eight between the two errors.
    assert by_task.se / by_row.se == pytest.approx(np.sqrt(8), rel=0.1)


def test_icc_and_limits_of_agreement_of_a_worked_example() -> None:
    # x = 9, 6, 8, 7; y = 2, 1, 4, 1. Means 7.5 and 2, d = 7, 5, 4, 6 (mean 5.5, sum of squares about it 5).
    # Subjects' means 5.5, 3.5, 6, 4 about 4.75 give MSR = 2 * (.5625 + 1.5625 + 1.5625 + .5625) / 3 = 8.5 / 3;
    # MSE = 5 / 2 / 3; MSC = 4 * 5.5**2 / 2 = 60.5. ICC(2,1) = 2 / (2.8333 + .8333 + 2 (60.5 - .8333) / 4).
    x, y = np.array([9.0, 6, 8, 7]), np.array([2.0, 1, 4, 1])
    said = points(recode(x, y), ALL_STATISTICS)
    assert said["icc_2_1"] == pytest.approx(2 / (11 / 3 + (60.5 - 2.5 / 3) / 2), abs=1e-12)
    spread = np.sqrt(5 / 3)
    assert said["limit_low"] == pytest.approx(5.5 - 1.959963984540054 * spread, abs=1e-12)
    assert said["limit_high"] == pytest.approx(5.5 + 1.959963984540054 * spread, abs=1e-12)
    assert said["rmse"] == pytest.approx(np.sqrt((49 + 25 + 16 + 36) / 4), abs=1e-12)


def test_icc_of_scores_that_are_all_the_same_is_undefined() -> None:
    counts = np.array([[5.0, 1.0], [0.0, 4.0]])
    cells = recode(np.array([0.1, 0.3]), np.array([0.1, 0.3]))
    values = evaluate(cells, counts, ("icc_2_1",))["icc_2_1"]
    assert np.isnan(values[0])
    assert values[1] == pytest.approx(1.0)


def test_unusable_settings_are_refused() -> None:
    for wrong in ({"resamples": 0}, {"seed": -1}, {"level": 1.0}, {"level": 95}):
        with pytest.raises(InputError):
            Resampling(**wrong)


def test_scores_far_from_zero_keep_their_digits() -> None:
    x, y = some_pairs(50, 20)
    far = points(recode(x + 1e9, y - 1e9), ("pearson", "limit_high"))
    near = points(recode(x, y), ("pearson", "limit_high"))
    assert far["pearson"] == pytest.approx(near["pearson"], abs=1e-12)
    assert far["limit_high"] - 2e9 == pytest.approx(near["limit_high"], abs=1e-5)
