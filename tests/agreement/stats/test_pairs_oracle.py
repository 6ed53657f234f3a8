"""Score pairs against scipy's values, recorded in the acceptance data: points, replicates and intervals."""

from __future__ import annotations

import csv
import json
from typing import Any

import numpy as np
import pytest

from agreement.stats.bootstrap import Resampling, percentile_interval, replicates, replicates_of
from agreement.stats.cells import STATISTICS, points, recode
from agreement.stats.exact import canonical, parse_number
from agreement.stats.scores import SCORES, pair_part, pair_statistics
from agreement.stats.tasks import task_indices
from tests.shared import shared_path

FILES = [("pairs_200", "auto", "h1"), ("pairs_40", "h1", "h2")]
DRAWN = Resampling(resamples=20_000, seed=12345)


def load(name: str, first: str, second: str) -> tuple[dict[str, Any], dict[str, Any], Any, int]:
    folder = shared_path("acceptance/agreement")
    with (folder / f"{name}.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    oracle = json.loads((folder / f"{name}_oracle.json").read_text())

    def column(source: str, score: str) -> np.ndarray:
        return canonical([parse_number(row[f"{source}_{score}"]) for row in rows])

    cells = {score: recode(column(first, score), column(second, score)) for score in SCORES}
    task, n_tasks = task_indices([row["task_id"] for row in rows])
    return oracle, cells, task, n_tasks


@pytest.mark.parametrize("file", FILES, ids=lambda file: file[0])
def test_points_are_those_of_scipy(file: tuple[str, str, str]) -> None:
    oracle, cells, _, _ = load(*file)
    for score in SCORES:
        for name, value in points(cells[score], STATISTICS).items():
            assert value == pytest.approx(oracle[f"{score}.{name}"]["point"], rel=0, abs=1e-12)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file[0])
def test_replicates_of_the_stated_index_matrix_are_those_of_scipy(file: tuple[str, str, str]) -> None:
    oracle, cells, task, n_tasks = load(*file)
    indices = np.random.default_rng(12345).integers(0, n_tasks, size=(20_000, n_tasks))
    parts = [pair_part(score, cells[score], task, STATISTICS) for score in SCORES]
    given, drawn = replicates_of(parts, n_tasks, indices[:5]), replicates(parts, n_tasks, DRAWN)
    for score in SCORES:
        for name in STATISTICS:
            expected = oracle[f"{score}.{name}"]["first5_replicates"]
            assert given[score][name] == pytest.approx(expected, rel=0, abs=1e-12)
            # The built-in draw is the same matrix.
            assert drawn[score][name][:5] == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize(("resamples", "seed"), [(10_000, 12345), (20_000, 12345), (20_000, 0)])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file[0])
def test_intervals_lie_within_four_monte_carlo_errors(
    file: tuple[str, str, str], resamples: int, seed: int
) -> None:
    oracle, cells, task, n_tasks = load(*file)
    parts = [pair_part(score, cells[score], task, STATISTICS) for score in SCORES]
    drawn = replicates(parts, n_tasks, Resampling(resamples, seed))
    for score in SCORES:
        for name in STATISTICS:
            expected = oracle[f"{score}.{name}"]
            interval, degenerate = percentile_interval(drawn[score][name], 0.95)
            assert degenerate == expected["n_nan"]
            # The difference of two independent estimates has the root of two of one's error.
            errors = np.sqrt(2) * np.array(expected["mc_se_of_endpoints"]) + 1e-12
            assert (np.abs(np.array(interval) - expected["ci95_percentile_task_cluster"]) <= 4 * errors).all()


def awkward() -> dict[str, Any]:
    cases = json.loads(shared_path("acceptance/agreement/awkward_pairs.json").read_text())
    cases.pop("_meta")
    return cases


def estimates(case: dict[str, Any]) -> dict[str, Any]:
    x, y = ([parse_number(value) for value in case[side]] for side in ("x", "y"))
    return {
        name: estimate.as_dict()
        for name, estimate in pair_statistics(x, y, case["cluster"], Resampling(500)).items()
    }


def test_there_are_fourteen_awkward_pairs() -> None:
    assert len(awkward()) == 14


@pytest.mark.parametrize(
    "name",
    [
        "constant_x",
        "constant_y",
        "both_constant_equal",
        "n2_concordant",
        "n2_constant_x",
        "n1",
        "n0",
        "nan_in_x",
        "all_tied_pairs",
        "perfect_negative",
        "single_cluster",
        "near_constant",
        "fp_lattice_ties",
        "one_disagreement",
    ],
)
def test_awkward_pair_has_the_right_value_or_a_reason(name: str) -> None:
    case = awkward()[name]
    expected = dict(case.get("scipy_pairwise_complete", case["scipy"]))
    if case.get("expected_exact") == "undefined":
        expected |= dict.fromkeys(("pearson", "spearman", "kendall_b"), "nan")
    elif "expected_exact" in case:
        expected |= case["expected_exact"]
    said = estimates(case)
    for statistic in STATISTICS:
        point, value = said[statistic]["point"], expected[statistic]
        if isinstance(value, str):
            assert len(point["undefined"]) > 10, (statistic, point)
            assert said[statistic]["interval"] == point
        else:
            assert point == pytest.approx(value, rel=0, abs=1e-12), statistic


def test_missing_score_is_left_out_and_counted() -> None:
    assert estimates(awkward()["nan_in_x"])["pearson"]["n"] == 3


def test_single_cluster_has_a_point_and_no_interval() -> None:
    said = estimates(awkward()["single_cluster"])
    assert said["pearson"]["point"] == pytest.approx(0.8)
    assert "only one task" in said["pearson"]["interval"]["undefined"]


def test_three_scores_equal_to_a_third_reached_two_ways_tie() -> None:
    # x is (1/3, 1/3, 1/3, 2/3) whatever its last digits, y ascends: 3 concordant pairs of 3 untied in x, 6 in y.
    said = estimates(awkward()["fp_lattice_ties"])
    assert said["kendall_b"]["point"] == pytest.approx(3 / np.sqrt(3 * 6), abs=1e-12)
    assert said["kendall_b"]["point"] == pytest.approx(0.7071067811865476, abs=1e-12)
