"""Traps that other packages are known to fall into; each is a rule here."""

from __future__ import annotations

import numpy as np
import pytest

from agreement.stats import classes, nominal, proportions, symmetry
from agreement.stats.bootstrap import Part, Resampling, jackknife, percentile_interval, replicates
from agreement.stats.cells import STATISTICS, points, recode
from agreement.stats.groups import GroupRow
from agreement.stats.nominal_errors import standard_error, wald_interval
from agreement.stats.report import groups_report, pairs_report
from agreement.stats.scores import pair_part, pair_statistics
from agreement.stats.undefined import Undefined
from lseval.errors import InputError


def test_equal_marginals_keep_their_category_in_stuart_maxwell() -> None:
    # Marginals (10, 12, 8) and (10, 11, 9): A has equal ones. With d = (0, 1) on the last two of A, B, C reordered,
    # dropping A instead of C must not matter: d = (0, 1, -1), S over (A, B) = [[6, -4], [-4, 7]], so
    # chi2 = d' S^-1 d = 6 / (6 * 7 - 16) = 6 / 26 on 2 degrees of freedom.
    matrix = [[7, 2, 1], [2, 8, 2], [1, 1, 6]]
    test = symmetry.stuart_maxwell(matrix)
    assert not isinstance(test, Undefined)
    assert test.chi2 == pytest.approx(6 / 26, abs=1e-12)
    assert test.df == 2


def test_marginal_homogeneity_does_not_depend_on_the_order_of_categories() -> None:
    matrix = np.array([[10, 3, 1, 0], [1, 9, 4, 0], [2, 0, 8, 0], [0, 0, 0, 5]])
    order = [2, 0, 3, 1]
    one, other = symmetry.stuart_maxwell(matrix), symmetry.stuart_maxwell(matrix[np.ix_(order, order)])
    assert not isinstance(one, Undefined)
    assert not isinstance(other, Undefined)
    assert one.chi2 == pytest.approx(other.chi2, abs=1e-12)
    # The fourth category exchanges no item with the others: two degrees of freedom, not three.
    assert one.df == other.df == 2


def test_agreement_everywhere_leaves_nothing_to_test() -> None:
    for test in (symmetry.bowker, symmetry.stuart_maxwell, symmetry.bhapkar):
        assert test([[3, 0], [0, 4]]) == Undefined("the two never disagree")


def test_zero_cells_stay_zero_in_bowker() -> None:
    # (4 - 0)**2 / 4 = 4 and the pair of zeros adds nothing; 0.5 in each cell would give 16 / 5 + 0.
    test = symmetry.bowker([[5, 4, 0], [0, 5, 0], [0, 0, 5]])
    assert not isinstance(test, Undefined)
    assert (test.chi2, test.df) == (4.0, 3)


def test_one_label_only_gives_undefined_kappa_and_observed_agreement_one() -> None:
    matrix = [[12, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert nominal.observed_agreement(matrix) == 1.0
    for name in ("kappa", "pi", "alpha"):
        value = nominal.coefficient(name, matrix)
        assert isinstance(value, Undefined)
        assert "one label only" in value.reason
    # Their chance agreement is not 1 here: (1 - 0) / (1 - 0), and (1 - 1/3) / (1 - 1/3).
    assert nominal.gwet_ac1(matrix) == 1.0
    assert nominal.brennan_prediger(matrix) == pytest.approx(1.0)


def test_empty_row_gives_a_finite_kappa() -> None:
    # n = 10, p_o = 6/10, p_e = (0 * 3 + 7 * 5 + 3 * 2) / 100 = 41/100: kappa = 19/59.
    matrix = [[0, 0, 0], [2, 4, 1], [1, 1, 1]]
    # rows (0, 7, 3), columns (3, 5, 2), diagonal 0 + 4 + 1 = 5: p_o = 5/10, kappa = 9/59.
    assert nominal.cohen_kappa(matrix) == pytest.approx(9 / 59, abs=1e-12)
    error = standard_error("kappa", matrix)
    assert isinstance(error, float)
    assert error > 0


def test_declared_category_that_nobody_used_counts() -> None:
    # Two used categories, three declared: BP is (0.8 - 1/3) / (2/3) = 0.7, not 0.6.
    assert nominal.brennan_prediger([[5, 1, 0], [1, 3, 0], [0, 0, 0]]) == pytest.approx(0.7)
    assert nominal.brennan_prediger([[5, 1], [1, 3]]) == pytest.approx(0.6)


def test_two_pairs_with_a_constant_score_are_undefined() -> None:
    said = points(recode(np.array([1.0, 1.0]), np.array([2.0, 3.0])))
    assert said["pearson"] == Undefined("the first score is constant")
    assert said["mae"] == 1.5


def test_constant_resamples_are_counted_and_do_not_void_the_interval() -> None:
    # Task 2 alone differs; a resample without it is constant, which happens with probability (2/3)**3 = 8/27.
    x, y, tasks = [0.0, 0.0, 0.0, 0.0, 50.0, 100.0], [0.0, 0.0, 0.0, 0.0, 25.0, 100.0], [0, 0, 1, 1, 2, 2]
    found = pair_statistics(x, y, tasks, Resampling(4000, seed=1))["pearson"]
    assert found.degenerate / found.resamples == pytest.approx(8 / 27, abs=0.03)
    assert isinstance(found.interval, tuple)
    assert all(np.isfinite(found.interval))


def test_statistic_undefined_in_every_resample_has_no_interval() -> None:
    interval, degenerate = percentile_interval(np.array([np.nan, np.nan]), 0.95)
    assert isinstance(interval, Undefined)
    assert degenerate == 2


def test_tau_b_of_200_000_tied_pairs_does_not_overflow() -> None:
    # 100,000 pairs at (0, 0), 50,000 at (1, 1), 50,000 at (1, 0), in units of 50,000: cells 2, 1, 1.
    # Concordant: 2 * 1 = 2. Untied in x: 2 * 2 = 4; untied in y: 3 * 1 = 3. tau-b = 2 / sqrt(12).
    x = np.repeat([0.0, 1.0, 1.0], [100_000, 50_000, 50_000])
    y = np.repeat([0.0, 1.0, 0.0], [100_000, 50_000, 50_000])
    assert points(recode(x, y))["kendall_b"] == pytest.approx(2 / np.sqrt(12), abs=1e-14)


def test_tau_b_of_200_000_distinct_pairs_is_one() -> None:
    x = np.arange(200_000, dtype=np.float64)
    said = points(recode(x, x[::-1].copy()))
    assert said["kendall_b"] == pytest.approx(-1.0, abs=1e-14)
    assert said["spearman"] == pytest.approx(-1.0, abs=1e-14)


def test_jackknife_leaves_out_a_task_not_a_row() -> None:
    x, y = np.array([1.0, 2.0, 4.0, 3.0, 5.0]), np.array([2.0, 1.0, 4.0, 4.0, 3.0])
    task = np.array([0, 0, 1, 1, 2])
    left_out = jackknife([pair_part("p", recode(x, y), task, STATISTICS)], 3)["p"]
    assert len(left_out["mae"]) == 3
    for t in range(3):
        alone = points(recode(x[task != t], y[task != t]))
        for name in STATISTICS:
            assert left_out[name][t] == pytest.approx(alone[name], abs=1e-12)


def test_intervals_hold_whichever_way_the_table_is_turned() -> None:
    matrix = np.array([[40, 3, 1], [5, 30, 2], [0, 4, 9]])
    for name in nominal.COEFFICIENTS:
        for turned in (matrix.T, matrix[::-1, ::-1]):
            assert nominal.coefficient(name, turned) == pytest.approx(nominal.coefficient(name, matrix), abs=1e-12)
            assert standard_error(name, turned) == pytest.approx(standard_error(name, matrix), abs=1e-12)
    for name in classes.SUMMARIES[:1] + classes.SUMMARIES[3:]:
        assert classes.class_summary(matrix.T)[name] == pytest.approx(
            classes.class_summary(matrix)[name], abs=1e-12
        )


def test_resampled_intervals_hold_whichever_way_the_scores_are_turned() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 5, 60) * 25.0, rng.integers(0, 5, 60) * 25.0
    tasks = np.repeat(np.arange(30), 2).tolist()
    one, other = (pair_statistics(a, b, tasks, Resampling(400)) for a, b in ((x, y), (y, x)))
    for name in ("pearson", "spearman", "kendall_b", "mae"):
        assert one[name].interval == pytest.approx(other[name].interval, abs=1e-12)
    low, high = one["bias"].interval
    assert other["bias"].interval == pytest.approx((-high, -low), abs=1e-12)


@pytest.mark.parametrize("k", [0, 20])
def test_proportion_of_zero_or_one_has_an_interval_with_width(k: int) -> None:
    for method in ("wilson", "wilson_corrected", "clopper_pearson", "agresti_coull", "jeffreys"):
        low, high = proportions.proportion_interval(k, 20, method)
        assert 0.02 < high - low < 0.4
        assert low <= k / 20 <= high
    assert isinstance(proportions.proportion_interval(k, 20, "wald"), Undefined)
    low, high = proportions.cluster_interval([k / 4] * 4, [5] * 4)
    assert high - low > 0.2


def test_perfect_agreement_in_a_report_has_intervals_with_width_or_a_reason() -> None:
    rows = [GroupRow(f"t{k}", "r", str(j), 2, "CI"[j], "CI"[j]) for k in range(10) for j in range(2)]
    block = groups_report(rows, Resampling(200))["auto_h1"]
    # Ten clusters, all alike: Wilson at ten items with Student's quantile 2.262 begins at 10 / (10 + 2.262**2).
    for share in (block["nominal"]["observed"], block["class_intervals"]["C"]["precision"]):
        assert share["point"] == 1.0
        assert share["interval"] == [pytest.approx(10 / (10 + 2.2621571628**2)), 1.0]
    assert "no width" in block["nominal"]["kappa"]["interval"]["undefined"]
    assert "no width" in block["scores"]["as"]["mae"]["interval"]["undefined"]


def test_analytic_interval_without_width_is_refused() -> None:
    perfect = [[5, 0], [0, 5]]
    interval = wald_interval(nominal.cohen_kappa(perfect), standard_error("kappa", perfect), 10)
    assert isinstance(interval, Undefined)


def test_task_without_rows_in_a_part_still_takes_its_place_in_the_draw() -> None:
    part = Part("p", np.array([0, 1]), np.array([0, 2]), 2, lambda counts: {"n": counts.sum(axis=0)})
    drawn = replicates([part], 3, Resampling(2000))["p"]["n"]
    # Three tasks, two of them with one row each: two rows a resample on average.
    assert drawn.mean() == pytest.approx(2.0, abs=0.06)
    assert set(np.unique(drawn)) == {0.0, 1.0, 2.0, 3.0}


@pytest.mark.parametrize("size", [1e-165, 1e-101, 1e101, 1e155, 1e308])
def test_scores_whose_squares_leave_the_range_are_refused_not_miscomputed(size: float) -> None:
    with pytest.raises(InputError, match="Scale the scores"):
        pairs_report([size, 2 * size / 2, 0.5 * size, 0.0], [1.0, 2.0, 4.0, 4.0], list("abcd"))


@pytest.mark.parametrize("size", [1e-99, 1e-50, 1.0, 1e50, 1e99])
def test_pearson_does_not_depend_on_the_unit(size: float) -> None:
    found = pairs_report([size * value for value in (1, 2, 3, 5)], [1.0, 2.0, 4.0, 4.0], list("abcd"))
    assert found["pearson"]["point"] == pytest.approx(0.8783100656536799, abs=1e-12)


def test_a_required_count_beyond_all_reason_is_refused_by_row() -> None:
    with pytest.raises(InputError, match="required count"):
        groups_report([GroupRow("t", "r", "g", 10**23, "C", "C", "")])
