"""The people behind the labels, and the models against each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from agreement.stats.bootstrap import Resampling
from agreement.stats.leaderboard import holm, leaderboard
from agreement.stats.people import Labelling, ceiling, drift, independent, people_report, profile
from agreement.stats.raters import nominal_alpha
from agreement.stats.undefined import Undefined
from lseval.errors import InputError

CATEGORIES = ("C", "I", "U")
FEW = Resampling(400)


def test_alpha_of_krippendorffs_own_example_with_missing_labels() -> None:
    # Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: four observers, nominal .743.
    rows = [
        [None, 1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [None, 1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [None, 1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    assert nominal_alpha(list(zip(*rows, strict=True))) == pytest.approx(0.743, abs=5e-4)


def test_alpha_of_two_raters_is_the_matrix_formula() -> None:
    # 4 items, labels AA AB BB BB: N = 8, n_A = 3, n_B = 5. alpha = 1 - 7 * 2 / (2 * 15) = 16/30.
    assert nominal_alpha([("A", "A"), ("A", "B"), ("B", "B"), ("B", "B")]) == pytest.approx(16 / 30)


def test_alpha_without_variety_or_pairs_is_undefined() -> None:
    assert isinstance(nominal_alpha([("A", "A"), ("A", None, "A")]), Undefined)
    assert isinstance(nominal_alpha([("A", None), (None, "B")]), Undefined)
    assert isinstance(nominal_alpha([]), Undefined)


def labellings() -> list[Labelling]:
    """Two people on six items of three tasks; they differ on the last, which an adjudicator settles."""
    first, second = "CCIIUC", "CCIIUI"
    found = [
        Labelling(f"i{k}", f"t{k // 2}", "ann", "h1", label, order=k + 1, seconds=10.0 * (k + 1))
        for k, label in enumerate(first)
    ]
    found += [Labelling(f"i{k}", f"t{k // 2}", "ben", "h2", label) for k, label in enumerate(second)]
    return [*found, Labelling("i5", "t2", "cat", "adjudicator", "C")]


def test_adjudicated_labels_are_never_a_raters() -> None:
    report = people_report(labellings(), CATEGORIES, FEW)
    assert report["raters"] == ["ann", "ben"]
    assert [(pair["first"], pair["second"], pair["n"]) for pair in report["pairs"]] == [("ann", "ben", 6)]
    assert report["pairs"][0]["observed"]["point"] == pytest.approx(5 / 6)
    assert len(independent(labellings())) == 12
    without = people_report(labellings()[:-1], CATEGORIES, FEW)
    assert without == report


def test_alpha_over_all_raters_is_in_the_report() -> None:
    report = people_report(labellings(), CATEGORIES, FEW)
    assert report["alpha"]["point"] == nominal_alpha(list(zip("CCIIUC", "CCIIUI", strict=True)))
    assert (report["alpha"]["n"], report["alpha"]["clusters"]) == (6, 3)


def test_profile_says_how_a_person_uses_the_labels() -> None:
    found = profile(labellings(), "ann", CATEGORIES)
    assert found["labels"] == {"C": 3, "I": 2, "U": 1}
    assert found["shares"]["C"] == 0.5
    assert (found["agreement"]["agreeing"], found["agreement"]["of"]) == (5, 6)
    assert found["median_seconds"] == 35.0
    assert "undefined" in profile(labellings(), "ben", CATEGORIES)["median_seconds"]


def test_two_labels_of_one_person_on_one_item_are_refused() -> None:
    with pytest.raises(InputError, match="two labels on item i0"):
        people_report([*labellings(), Labelling("i0", "t0", "ann", "h1", "U")], CATEGORIES, FEW)


def test_drift_compares_early_with_late_items() -> None:
    # Ann agrees with the reference on her first three items and not on the last three.
    reference = {"i0": "C", "i1": "C", "i2": "I", "i3": "C", "i4": "C"}
    found = drift([entry for entry in labellings() if entry.rater == "ann"], reference, parts=2)
    assert (found["n"], found["left_out"]) == (5, 1)
    assert [(part["agreeing"], part["of"]) for part in found["by_order"]] == [(3, 3), (0, 2)]
    assert [(part["from"], part["to"]) for part in found["by_order"]] == [(1, 3), (4, 5)]
    # Agreement 1 1 1 0 0 against order 1..5: 6 discordant pairs of 10, 6 untied in agreement.
    assert found["order_trend"]["point"] == pytest.approx(-6 / np.sqrt(10 * 6))
    assert found["speed_trend"]["point"] == found["order_trend"]["point"]


def test_trend_has_the_interval_of_the_jackknife_by_hand() -> None:
    # Order 1 2 3 4, agreement 1 1 0 1 on tasks a, a, b, c: concordant 1, discordant 2, untied in agreement 3 of 6.
    entries = [Labelling(f"i{k}", task, "ann", "h1", "C", order=k + 1) for k, task in enumerate("aabc")]
    trend = drift(entries, {"i0": "C", "i1": "C", "i2": "I", "i3": "C"})["order_trend"]
    assert trend["point"] == pytest.approx(-1 / np.sqrt(6 * 3))
    # Without b nobody disagrees, so tau-b does not exist and neither does the interval.
    assert "left out" in trend["interval"]["undefined"]
    reference = {"i0": "C", "i1": "I", "i2": "C", "i3": "I"}
    entries = [Labelling(f"i{k}", task, "ann", "h1", "C", order=k + 1) for k, task in enumerate("aabb")]
    trend = drift(entries, reference)["order_trend"]
    # 1 0 1 0: 1 concordant, 3 discordant of 4 untied. Each task alone: 1 0, tau-b -1.
    assert trend["point"] == pytest.approx(-2 / np.sqrt(6 * 4))
    assert "no width" in trend["interval"]["undefined"]


def test_drift_without_items_is_undefined() -> None:
    found = drift([], {})
    assert found["n"] == 0
    assert "undefined" in found["order_trend"]["point"]
    assert all("undefined" in part["point"] for part in found["by_order"])


def test_ceiling_stands_beside_the_machine_on_the_same_items() -> None:
    rng = np.random.default_rng(2)
    h1 = rng.choice(list(CATEGORIES), 200)
    auto = np.where(rng.random(200) < 0.7, h1, rng.choice(list(CATEGORIES), 200))
    h2 = np.where(rng.random(200) < 0.95, h1, rng.choice(list(CATEGORIES), 200))
    triples = list(zip(auto.tolist(), h1.tolist(), h2.tolist(), strict=True))
    found = ceiling(triples, [k // 4 for k in range(200)], CATEGORIES, FEW)
    assert found["n"] == 200
    assert found["difference"]["point"] == pytest.approx(found["auto_h1"]["point"] - found["h1_h2"]["point"])
    low, high = found["difference"]["interval"]
    assert low < found["difference"]["point"] < high < 0


def test_machine_that_repeats_h2_is_at_the_ceiling() -> None:
    triples = [("C", "C", "C"), ("I", "C", "I"), ("I", "I", "I"), ("U", "U", "U")]
    found = ceiling(triples, "aabb", CATEGORIES, FEW)
    assert found["difference"]["point"] == 0
    assert "no width" in found["difference"]["interval"]["undefined"]


def scores(**models: list[float | None]) -> dict[str, dict[str, float | None]]:
    return {name: {f"t{k}": value for k, value in enumerate(values)} for name, values in models.items()}


def test_models_are_ranked_by_their_mean_and_ties_share_the_better_rank() -> None:
    report = leaderboard(scores(low=[0, 10], high=[90, 100], tied=[100, 90]), FEW)
    assert [(entry["model"], entry["rank"]) for entry in report["models"]] == [("high", 1), ("tied", 1), ("low", 3)]
    assert report["models"][2]["mean"]["point"] == 5.0
    turned = leaderboard(scores(low=[0, 10], high=[90, 100]), FEW, higher_is_better=False)
    assert [entry["model"] for entry in turned["models"]] == ["low", "high"]


def test_unscored_run_is_counted_and_not_a_zero() -> None:
    report = leaderboard(scores(a=[50, None, 70], b=[40, 90, None]), FEW)
    entry = next(entry for entry in report["models"] if entry["model"] == "a")
    assert (entry["mean"]["point"], entry["tasks"], entry["unscored"]) == (60.0, 2, 1)
    # Only the first task is common.
    pair = report["pairs"][0]
    assert (pair["difference"]["n"], pair["difference"]["point"]) == (1, 10.0)
    assert "undefined" in pair["p"]


def test_paired_differences_see_what_separate_means_do_not() -> None:
    rng = np.random.default_rng(1)
    task = rng.uniform(0, 80, 60)
    better, worse = task + 10 + rng.normal(0, 3, 60), task + rng.normal(0, 3, 60)
    report = leaderboard(scores(a=better.tolist(), b=worse.tolist(), c=(worse + rng.normal(0, 3, 60)).tolist()))
    means = {entry["model"]: entry for entry in report["models"]}
    assert means["a"]["mean"]["interval"][0] < means["b"]["mean"]["interval"][1]
    assert means["a"]["rank_interval"] == [1, 1]
    assert means["b"]["rank_interval"] == means["c"]["rank_interval"] == [2, 3]
    first = report["pairs"][0]
    low, high = first["difference"]["interval"]
    reference = stats.ttest_rel(better, worse).confidence_interval()
    assert (low, high) == pytest.approx((reference.low, reference.high), rel=1e-12)
    assert first["difference"]["bootstrap"] == pytest.approx([reference.low, reference.high], abs=0.15)
    assert first["p"] == pytest.approx(stats.ttest_rel(better, worse).pvalue, rel=1e-9)


def test_p_value_is_that_of_the_paired_t_test() -> None:
    rng = np.random.default_rng(12)
    a = rng.normal(50, 20, 80)
    b = a + rng.normal(2, 10, 80)
    p = leaderboard(scores(a=a.tolist(), b=b.tolist()))["pairs"][0]["p"]
    assert p == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)
    p = leaderboard(scores(a=a[:6].tolist(), b=b[:6].tolist()), FEW)["pairs"][0]["p"]
    assert p == pytest.approx(stats.ttest_rel(a[:6], b[:6]).pvalue, rel=1e-9)


def test_holm_steps_down_and_never_falls() -> None:
    # Sorted .01, .02, .04 times 3, 2, 1: .03, .04, .04.
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    # .5 * 2 = 1; then at least as much.
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    nothing = Undefined("no common task")
    assert holm([nothing, 0.02]) == [nothing, 0.02]


def test_models_that_always_differ_by_the_same_have_no_interval_and_the_sign_flip_p() -> None:
    pair = leaderboard(scores(a=[10, 20, 30], b=[5, 15, 25]), FEW)["pairs"][0]
    assert pair["difference"]["point"] == 5.0
    assert "no width" in pair["difference"]["interval"]["undefined"]
    # Of the 8 ways to turn the three differences of 5, two have a sum as far from 0 as 15.
    assert pair["p"] == pair["p_holm"] == 2 / 8


def test_models_that_never_differ_have_a_p_of_1() -> None:
    # 0.1 + 0.2 and 0.3 differ by rounding alone.
    report = leaderboard(scores(a=[0.1 + 0.2, 50.0, 7.0], b=[0.3, 50.0, 7.0]), FEW)
    assert report["pairs"][0]["p"] == 1.0
    assert [entry["rank_interval"] for entry in report["models"]] == [[1, 2], [1, 2]]


def test_empty_leaderboard_and_a_model_without_scores_are_no_error() -> None:
    assert leaderboard({}, FEW)["models"] == []
    report = leaderboard(scores(a=[None, None], b=[1.0, 2.0]), FEW)
    assert [entry["model"] for entry in report["models"]] == ["b", "a"]
    assert report["models"][1]["rank"] == {"undefined": "no run has a score"}
