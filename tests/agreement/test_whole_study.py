"""From an audited part to the whole study, and the leaderboard."""

from __future__ import annotations

import pytest
from django.test import Client

from agreement.selectors import PEOPLE, SIMULATED, group_rows
from agreement.study_selectors import StudyRun, automatic_totals, study_runs
from agreement.whole_study import human_labels, leaderboard_by, scaled, whole_study_report
from annotation.administration import extend_audit
from annotation.models import LabelVersion, Slot
from annotation.sampling import Plan
from lseval.models import Verdict
from tests.agreement.conftest import Audited
from tests.annotation.making import give, make_audit, submit
from tests.factories import give_verdict, make_run

SILENT = "I could not find any."


def report_of(audited: Audited) -> dict:
    return whole_study_report(audited.audit, group_rows(audited.audit, SIMULATED), study_runs(audited.study))


def test_a_run_counts_as_audited_only_where_h1_labeled_all_its_groups(audited: Audited) -> None:
    assert len(human_labels(group_rows(audited.audit, SIMULATED))) == 3
    slot = Slot.objects.filter(queue__role="H1", queue__is_simulated=True, item__run__task__key="t1").first()
    Slot.objects.filter(pk=slot.pk).update(version=0, status="open")
    assert LabelVersion.objects.filter(slot=slot).exists()
    report = report_of(audited)
    assert report["audited_runs"] == 2
    assert report["audited_groups"] == 5


def test_weights_are_the_stored_probabilities(audited: Audited) -> None:
    # All three runs are drawn for certain, so weighting changes nothing: 4 of 6 agree.
    audited.audit.items.filter(run__task__key="t1").update(inclusion_probability=0.5)
    found = report_of(audited)["agreement"]
    assert found["as_drawn"]["observed"]["point"] == pytest.approx(4 / 6)
    # t1 (1 of 2 agree) now stands for two: (2 * 1 + 2 + 1) / (2 * 2 + 2 + 2) = 5/8.
    assert found["design_weighted"]["observed"]["point"] == pytest.approx(5 / 8)


def test_post_stratification_uses_every_verdict_of_the_study(audited: Audited) -> None:
    give_verdict(make_run(audited.study, "t4"), "C", "C")
    # Automatic C: 2 of 3 audited agree, study 5. I: 1 of 2 audited, study 2. U: 1 of 1 audited, study 1.
    found = report_of(audited)["agreement"]["post_stratified"]
    assert found["observed"]["point"] == pytest.approx((5 * 2 / 3 + 2 * 1 / 2 + 1) / 8)
    assert sum(map(sum, found["matrix"])) == pytest.approx(8)


def test_models_have_every_estimator_and_its_estimand(audited: Audited) -> None:
    give_verdict(make_run(audited.study, "t4"), "C", "C")
    [model] = report_of(audited)["models"]
    assert (model["model"], model["runs"], model["audited"]) == ("m1", 4, 3)
    # AS automatic 100, 50, 0, 100; people on the three audited 50, 50, 50.
    assert model["as"]["naive"]["point"] == pytest.approx(62.5)
    assert model["as"]["human"]["point"] == pytest.approx(50)
    # 50 + (100 - 50): the one run not audited is 50 above the mean of the audited ones.
    assert model["as"]["ppi"]["point"] == pytest.approx(100)
    assert all(
        model[score][name]["estimand"] for score in ("as", "ap", "upper", "ugr") for name in ("naive", "ppi")
    )


def test_a_response_without_a_group_counts_as_0_in_scores_and_not_in_rates(audited: Audited) -> None:
    before = report_of(audited)["models"][0]
    make_run(audited.study, "t4", answer=SILENT)
    after = report_of(audited)["models"][0]
    assert (after["runs"], after["empty"]) == (3, 1)
    assert after["as"]["naive"]["point"] == pytest.approx(before["as"]["naive"]["point"] * 3 / 4)
    assert after["as"]["human"]["interval"] == before["as"]["human"]["interval"]  # undefined, and stays so
    assert after["ugr"]["naive"]["point"] == pytest.approx(before["ugr"]["naive"]["point"])


def test_a_run_with_an_unjudged_group_is_left_out_and_counted(audited: Audited) -> None:
    Verdict.objects.filter(group__run__task__key="t1", group__number=1).update(label="unjudged")
    report = report_of(audited)
    assert report["models"][0]["unscored"] == 1
    assert report["labelable_runs"] == 2
    assert automatic_totals(study_runs(audited.study)) == {"C": 2, "I": 2, "U": 1}


def test_scaling_leaves_what_is_undefined() -> None:
    given = {"point": 40.0, "interval": (30.0, 50.0), "se": 5.0, "estimand": "x"}
    assert scaled(given, 0.5) == {"point": 20.0, "interval": [15.0, 25.0], "se": 2.5, "estimand": "x"}
    undefined = {"point": {"undefined": "no run"}, "interval": {"undefined": "no run"}}
    assert scaled(undefined, 0.5) == undefined


def test_leaderboard_takes_no_missing_score_for_0() -> None:
    runs = [
        StudyRun(1, "a", "t1", 2, ("C", "C")),
        StudyRun(2, "a", "t2", 2, ("C", "")),
        StudyRun(3, "b", "t1", 2, ("C", "I")),
        StudyRun(4, "b", "t2", 2, ()),
        StudyRun(5, "b", "t3", None, ("C",)),
    ]
    board = leaderboard_by("as", runs)
    # a: 100 on t1, no score on t2. b: 50 on t1, 0 on t2 (no group), no score on t3 (no required count).
    assert [(entry["model"], entry["mean"]["point"], entry["unscored"]) for entry in board["models"]] == [
        ("a", 100.0, 2),
        ("b", 25.0, 1),
    ]
    assert board["pairs"][0]["difference"]["point"] == 50.0


@pytest.mark.parametrize("comes_between", [False, True])
def test_extended_audit_weighs_by_all_its_draws_and_says_how(db: None, client: Client, comes_between: bool) -> None:
    made = make_audit(
        Plan(tasks=2, responses_per_task=1, h2_tasks=0, link_trajectories=0, round_trajectories=0), tasks=5
    )
    if comes_between:
        for task in range(1, 6):
            make_run(made.study, f"t{task}", "late")
    extend_audit(made.audit, made.lead)
    for slot in made.h1.slots.all():
        submit(give(slot, made.first), made.first, "C" if slot.item.draw == 1 else "I")
    for run in made.study.runs.all():
        give_verdict(run, "C", "C")
    report = whole_study_report(made.audit, group_rows(made.audit, PEOPLE), study_runs(made.study))
    assert report["draws"] == {"number": 2, "is_exact": not comes_between}
    if not comes_between:
        # Whichever draw it came with, a response had the same chance of 2/5, so half of the groups agree. By the
        # probabilities of the draws alone, 1/5 and 1/3, it would be 5 / (5 + 3).
        assert report["agreement"]["design_weighted"]["observed"]["point"] == pytest.approx(1 / 2)
    client.force_login(made.lead)
    page = client.get("/studies/s1/agreement/study/").content.decode()
    assert "The audit has 2 draws" in page
    assert ("are approximate" in page) == comes_between
