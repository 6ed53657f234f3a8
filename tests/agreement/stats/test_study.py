"""Estimates for the whole study from an audited part of it, and plans for more."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from agreement.stats.design import AuditedGroup, AuditedScore, study_agreement, study_mean
from agreement.stats.planner import Plan, plan_any, plan_mean, plan_proportion
from agreement.stats.prediction import prediction_powered
from agreement.stats.proportions import cluster_interval
from agreement.stats.quantiles import normal_quantile, student_p, student_quantile
from agreement.stats.rogan_gladen import corrected_share
from agreement.stats.study_scores import Run, model_estimates
from agreement.stats.undefined import Undefined
from lseval.errors import InputError

LABELS = ("C", "I", "U")


def test_design_weights_undo_unequal_probabilities() -> None:
    # A group drawn with probability 1/4 stands for four, one drawn for certain for itself: 4 of 5 agree.
    audited = [AuditedGroup("t", "C", "C", 0.25), AuditedGroup("u", "C", "I", 1.0)]
    report = study_agreement(audited, LABELS)
    assert report["observed"]["point"] == pytest.approx(0.8)
    assert report["matrix"] == [[4, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert study_mean([AuditedScore("t", 50, 0.25), AuditedScore("u", 100, 1.0)]).point == pytest.approx(60)


def test_post_stratification_weighs_each_automatic_label_by_its_study_total() -> None:
    # Audited: C agrees 3 of 4, I 1 of 2. In the study 100 C and 300 I: (100 * .75 + 300 * .5) / 400 = .5625.
    audited = [AuditedGroup(f"t{k}", "C", "C" if k else "I", 0.1) for k in range(4)]
    audited += [AuditedGroup(f"u{k}", "I", "I" if k else "C", 0.1) for k in range(2)]
    report = study_agreement(audited, LABELS, {"C": 100, "I": 300})
    assert report["observed"]["point"] == pytest.approx(0.5625)
    assert report["matrix"] == [
        [pytest.approx(75), pytest.approx(25), 0],
        [pytest.approx(150), pytest.approx(150), 0],
        [0] * 3,
    ]
    # People's C: 75 + 150 of 400.
    assert report["human_share"]["C"]["point"] == pytest.approx(225 / 400)
    assert study_agreement(audited, LABELS)["observed"]["point"] == pytest.approx(4 / 6)


def test_label_that_the_audit_never_met_is_named() -> None:
    audited = [AuditedGroup(t, "C", "C", 0.5) for t in "abc"]
    assert study_agreement(audited, LABELS, {"C": 6, "U": 2})["unmet"] == ["U"]


def test_jackknife_of_an_unweighted_mean_is_the_between_task_variance() -> None:
    values = [10.0, 30.0, 20.0, 60.0]
    found = study_mean([AuditedScore(str(k), value, 0.5) for k, value in enumerate(values)])
    assert found.se == pytest.approx(np.std(values, ddof=1) / 2)
    assert found.high - found.point == pytest.approx(3.182446305284263 * found.se)


def test_perfect_agreement_in_the_audit_still_has_an_interval_with_width() -> None:
    audited = [AuditedGroup(str(k), "C" if k % 2 else "I", "C" if k % 2 else "I", 0.1) for k in range(12)]
    observed = study_agreement(audited, LABELS)["observed"]
    assert observed["point"] == 1.0
    assert observed["interval"][0] < 0.8
    assert observed["interval"][1] == 1.0


def test_probability_or_total_that_cannot_be_is_refused() -> None:
    for probability in (0.0, 1.2, float("nan")):
        with pytest.raises(InputError, match="inclusion probability"):
            study_mean([AuditedScore("t", 1.0, probability)])
    with pytest.raises(InputError, match="totals"):
        study_agreement([AuditedGroup("t", "C", "C", 1.0)], LABELS, {"C": 0})
    with pytest.raises(InputError, match="'X'"):
        study_agreement([AuditedGroup("t", "C", "X", 1.0)], LABELS)


def test_nothing_audited_is_undefined() -> None:
    assert isinstance(study_mean([]).point, Undefined)
    assert "undefined" in study_agreement([], LABELS)["kappa"]["point"]


def test_ppi_corrects_all_automatic_scores_by_the_audited_difference() -> None:
    # Audited y = 1, 2, 6 against f = 2, 2, 5 (mean difference 0); others f = 3, 5, 4, 4 (mean 4).
    # PPI: 3 + (4 - 3) = 4. Variance: var(-1, 0, 1) / 3 + var(3, 5, 4, 4) / 4 = 1/3 + (2/3) / 4 = 1/2.
    found = prediction_powered([1, 2, 6], [2, 2, 5], [3, 5, 4, 4], tuning=1.0)
    assert found.estimate.point == pytest.approx(4.0)
    assert found.estimate.se == pytest.approx(np.sqrt(0.5))
    assert found.estimate.high - 4 == pytest.approx(4.302652729911275 * np.sqrt(0.5))


def test_ppi_plus_plus_tunes_lambda_by_its_formula() -> None:
    # lambda = cov(y, f) / n / (var(all f) (1/n + 1/N)). cov = 4.5, var of 2, 2, 5, 3, 5, 4, 4 is 1.6190.
    y, f, rest = [1, 2, 6], [2, 2, 5], [3, 5, 4, 4]
    expected = (4.5 / 3) / (np.var([*f, *rest], ddof=1) * (1 / 3 + 1 / 4))
    found = prediction_powered(y, f, rest)
    assert found.tuning == pytest.approx(min(expected, 1.0))
    useless = prediction_powered([1, 2, 6, 3], [5, 5, 5, 5], [5, 5, 5])
    assert useless.tuning == 0.0
    assert useless.estimate.point == pytest.approx(3.0)


def test_ppi_with_every_unit_audited_is_the_human_mean() -> None:
    found = prediction_powered([1, 2, 6], [9, 9, 9], [], tuning=1.0)
    assert found.estimate.point == pytest.approx(3.0)
    assert found.estimate.se == pytest.approx(np.std([1, 2, 6], ddof=1) / np.sqrt(3))


def test_ppi_of_a_ratio_divides_by_the_known_sizes() -> None:
    # Human U 1, 0 against automatic 1, 1, others 2, 0: PPI mean .5 + (1 - 1) = .5, mean size 12 / 4 = 3.
    found = prediction_powered([1, 0], [1, 1], [2, 0], 1.0, sizes=[4, 2], sizes_rest=[4, 2])
    assert found.estimate.point == pytest.approx(0.5 / 3)


def test_ppi_refuses_what_it_cannot_estimate() -> None:
    assert isinstance(prediction_powered([], [], [1, 2]).estimate.point, Undefined)
    assert isinstance(prediction_powered([1], [1], [1, 2]).estimate.interval, Undefined)
    with pytest.raises(InputError):
        prediction_powered([1, 2], [1], [])


def test_prediction_powered_intervals_cover_and_are_narrower_than_human_ones() -> None:
    rng = np.random.default_rng(3)
    covered = {"ppi": 0, "tuned": 0}
    widths = {"human": 0.0, "tuned": 0.0}
    rounds = 400
    for _ in range(rounds):
        truth = rng.normal(0, 1, 120)
        automatic = truth + rng.normal(0.3, 0.4, 120)
        args = (truth[:30], automatic[:30], automatic[30:])
        for name, tuning in (("ppi", 1.0), ("tuned", None)):
            low, high = prediction_powered(*args, tuning).estimate.interval
            covered[name] += low <= 0 <= high
            widths["tuned"] += (high - low) * (name == "tuned")
        low, high = prediction_powered(*args, 0.0).estimate.interval
        widths["human"] += high - low
    # 95% of 400 with a standard error of 1.1%; the naive mean, off by .3, would never cover.
    assert all(0.92 <= count / rounds <= 0.985 for count in covered.values())
    assert widths["tuned"] < 0.75 * widths["human"]


def test_rogan_gladen_undoes_known_error_rates() -> None:
    # Sensitivity .9, specificity .8, true share .3: flagged .3 * .9 + .7 * .2 = .41.
    table = np.array([[80.0, 10.0], [20.0, 90.0]])
    assert corrected_share(41, 100, table) == pytest.approx(0.3)


def test_rogan_gladen_without_both_rates_or_with_useless_ones_is_undefined() -> None:
    assert isinstance(corrected_share(1, 10, np.array([[5.0, 0.0], [1.0, 0.0]])), Undefined)
    assert isinstance(corrected_share(1, 10, np.array([[5.0, 5.0], [5.0, 5.0]])), Undefined)
    assert isinstance(corrected_share(0, 0, np.array([[5.0, 1.0], [1.0, 5.0]])), Undefined)


def some_runs() -> list[Run]:
    rng = np.random.default_rng(7)
    runs = []
    for model in ("m1", "m2"):
        for t in range(30):
            automatic = tuple(rng.choice(list(LABELS), size=int(rng.integers(1, 6)), p=[0.5, 0.3, 0.2]))
            human = tuple(label if rng.random() < 0.9 else "I" for label in automatic)
            runs.append(Run(model, f"t{t}", 4, automatic, human if t < 12 else None))
    return runs


def test_every_estimator_of_a_model_names_what_it_estimates() -> None:
    report = model_estimates(some_runs())
    assert [entry["model"] for entry in report] == ["m1", "m2"]
    for entry in report:
        assert (entry["runs"], entry["audited"]) == (30, 12)
        for score in ("as", "ap", "upper", "ugr"):
            for name in ("naive", "human", "ppi", "ppi_tuned"):
                assert len(entry[score][name]["estimand"]) > 20
                assert isinstance(entry[score][name]["point"], float)
        assert 0 <= entry["as"]["ppi_tuned"]["lambda"] <= 1
        assert "undefined" in entry["as"]["rogan_gladen"]
        assert 0 <= entry["ugr"]["rogan_gladen"]["point"] <= 1


def test_an_estimate_outside_its_range_is_kept_with_a_remark() -> None:
    # People on the audited 50, 100, 100, 100, 100, automatic 50; automatic on the others 100: 90 + (100 - 50).
    runs = [Run("m", f"a{k}", 2, ("C", "I"), ("C", "C" if k else "I")) for k in range(5)]
    runs += [Run("m", f"b{k}", 2, ("C", "C")) for k in range(20)]
    found = model_estimates(runs)[0]["as"]
    assert found["ppi"]["point"] == pytest.approx(140)
    assert "above 100" in found["ppi"]["remark"]
    # 90 +- 2.78 * 22.4 / root 5 = 90 +- 27.8.
    assert found["human"]["interval"][1] > 100
    assert "reaches beyond 0 to 100" in found["human"]["remark"]
    assert "remark" not in found["naive"]


@pytest.mark.parametrize("freedom", [1, 2, 5, 19, 893])
def test_quantiles_and_p_values_are_those_of_scipy(freedom: int) -> None:
    for level in (0.5, 0.9, 0.95, 0.999):
        assert student_quantile(level, freedom) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=1e-12)
        assert normal_quantile(level) == pytest.approx(stats.norm.ppf((1 + level) / 2), rel=1e-12)
    for statistic in (0.0, 0.3, -2.5, 12.0):
        assert student_p(statistic, freedom) == pytest.approx(2 * stats.t.sf(abs(statistic), freedom), rel=1e-12)


def test_rogan_gladen_may_leave_its_range_and_says_so() -> None:
    # The audit: automatic U on 2 of 10 that people do not call U, and on 1 of 1 that they do. A model without any:
    # (0 + .8 - 1) / (1 + .8 - 1) = -.25.
    audited = [Run("m", f"t{k}", 1, ("U" if k < 3 else "C",), ("U" if k == 0 else "C",)) for k in range(11)]
    other = [Run("n", f"t{k}", 1, ("C",)) for k in range(11)]
    found = model_estimates([*audited, *other])[1]["ugr"]["rogan_gladen"]
    assert found["point"] == pytest.approx(-0.25)
    assert "below 0" in found["remark"]


def test_model_estimates_are_the_generic_ones_on_the_models_columns() -> None:
    runs = [run for run in some_runs() if run.model == "m1"]
    entry = model_estimates(some_runs())[0]
    u = [run.automatic.count("U") for run in runs]
    sizes = [len(run.automatic) for run in runs]
    assert entry["ugr"]["naive"]["point"] == pytest.approx(sum(u) / sum(sizes))
    human = [run.human.count("U") for run in runs[:12]]
    expected = prediction_powered(human, u[:12], u[12:], 1.0, sizes[:12], sizes[12:])
    assert entry["ugr"]["ppi"]["point"] == pytest.approx(expected.estimate.point)
    precision = [run.automatic.count("C") / len(run.automatic) for run in runs]
    assert entry["ap"]["naive"]["point"] == pytest.approx(np.mean(precision))


def test_runs_that_cannot_be_compared_are_refused() -> None:
    for bad, problem in (
        ([Run("m", "t", 1, ("C",)), Run("m", "t", 1, ("I",))], "two runs"),
        ([Run("m", "t", 1, ("C", "I"), ("C",))], "same groups"),
        ([Run("m", "t", 1, ("unjudged",))], "'unjudged'"),
    ):
        with pytest.raises(InputError, match=problem):
            model_estimates(bad)


def test_model_without_audit_has_only_its_naive_estimate() -> None:
    entry = model_estimates([Run("m", f"t{k}", 2, ("C",) * (1 + k % 2)) for k in range(4)])[0]
    assert entry["as"]["naive"]["point"] == 75.0
    assert "undefined" in entry["as"]["human"]["point"]
    assert "undefined" in entry["as"]["ppi"]["point"]
    assert "undefined" in entry["ap"]["rogan_gladen"]["point"]


def half_width(interval: object) -> float:
    assert isinstance(interval, tuple)
    return (interval[1] - interval[0]) / 2


def test_plan_for_a_share_gives_the_first_number_of_tasks_that_is_enough() -> None:
    successes, trials = [4, 5, 3, 5, 5, 2, 5, 4], [5] * 8
    plan = plan_proportion(successes, trials, 0.05)
    assert isinstance(plan, Plan)
    assert plan.half_width_now == pytest.approx(half_width(cluster_interval(successes, trials)))
    assert plan.half_width_then <= 0.05
    assert plan.more_tasks == plan.tasks - 8 > 0
    assert plan.labels == plan.tasks * 5
    # One task fewer would not do; the plan's own half-width at that number is above what was asked.
    fewer = plan_proportion(successes, trials, plan.half_width_then * (1 - 1e-9))
    assert isinstance(fewer, Plan)
    assert fewer.tasks == plan.tasks + 1


def test_plan_for_a_mean_solves_students_interval() -> None:
    plan = plan_mean([0, 50, 100, 50, 25, 75], half_width=10, labels=60)
    assert isinstance(plan, Plan)
    deviation = np.std([0, 50, 100, 50, 25, 75], ddof=1)
    assert plan.half_width_then <= 10 < 2.0 * deviation / np.sqrt(plan.tasks - 2) * 1.02
    assert plan.more_labels == plan.labels - 60


def test_plan_by_the_root_law_quadruples_the_tasks_for_half_the_width() -> None:
    plan = plan_any((0.6, 0.8), tasks=25, labels=250, half_width=0.05)
    assert isinstance(plan, Plan)
    assert (plan.tasks, plan.more_tasks, plan.labels, plan.more_labels) == (100, 75, 1000, 750)
    assert plan.half_width_then == pytest.approx(0.05)


def test_interval_that_is_narrow_enough_needs_nothing_more() -> None:
    plan = plan_any((0.6, 0.8), tasks=25, labels=250, half_width=0.2)
    assert isinstance(plan, Plan)
    assert (plan.more_tasks, plan.more_labels) == (0, 0)


def test_plan_without_anything_to_go_by_is_undefined() -> None:
    assert isinstance(plan_mean([5.0], 1, 1), Undefined)
    assert isinstance(plan_mean([5.0, 5.0], 1, 2), Undefined)
    assert isinstance(plan_proportion([1], [2], 0.1), Undefined)
    assert isinstance(plan_any(Undefined("one task"), 1, 5, 0.1), Undefined)
    assert isinstance(plan_any((0.0, 1.0), 10, 10, 1e-6), Undefined)
    for wrong in (0, -1):
        with pytest.raises(InputError):
            plan_mean([1.0, 2.0], wrong, 2)
    with pytest.raises(InputError):
        plan_proportion([1, 2], [2, 2], 0.6)
