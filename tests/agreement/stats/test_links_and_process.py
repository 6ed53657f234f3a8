"""Link precision and the process cross-tabulation."""

from __future__ import annotations

import json

import pytest

from agreement.stats.links import AuditedLink, correspondence, links_report
from agreement.stats.process import AuditedRound, process_report
from agreement.stats.proportions import cluster_interval, proportion_interval
from agreement.stats.undefined import Undefined
from lseval.errors import InputError
from tests.shared import shared_path


def links(task: str, *labels: str, **by: str) -> list[AuditedLink]:
    return [AuditedLink(task, label, **by) for label in labels]


def test_precision_always_shows_its_count() -> None:
    found = correspondence(links("t", "corresponds", "does_not") + links("u", *["corresponds"] * 8))
    assert (found["k"], found["n"], found["point"], found["tasks"]) == (9, 10, 0.9, 2)
    assert found["wilson"] == list(proportion_interval(9, 10))


def test_cannot_tell_is_counted_beside_and_bounds_the_precision() -> None:
    found = correspondence(links("t", "corresponds", "cannot_tell", "does_not", "cannot_tell"))
    assert (found["k"], found["n"], found["cannot_tell"]) == (1, 2, 2)
    assert (found["point"], found["if_all_hold"], found["if_none_hold"]) == (0.5, 0.75, 0.25)


def test_links_are_broken_down_by_type_model_and_judge_setting() -> None:
    report = links_report(
        links("t", "corresponds", error_type="temporal error", model="m1", judge_setting="both")
        + links("u", "does_not", error_type="wrong entity", model="m1", judge_setting="both")
    )
    assert [(name, entry["k"], entry["n"]) for name, entry in report["by_type"].items()] == [
        ("temporal error", 1, 1),
        ("wrong entity", 0, 1),
    ]
    assert report["by_model"]["m1"]["n"] == report["by_judge_setting"]["both"]["n"] == report["overall"]["n"] == 2


def test_no_decided_link_has_no_precision() -> None:
    found = correspondence(links("t", "cannot_tell"))
    assert found["point"] == {"undefined": "no link was decided"}
    assert "undefined" in found["wilson"]


def test_unknown_link_label_is_refused() -> None:
    with pytest.raises(InputError, match="'maybe'"):
        links_report(links("t", "maybe"))


def test_links_of_a_task_that_fail_together_widen_the_interval() -> None:
    # 20 tasks of 5 links; all that fail are in two tasks: 90 / 100, but two tasks of twenty.
    found = correspondence(
        [link for t in range(20) for link in links(str(t), *["does_not" if t < 2 else "corresponds"] * 5)]
    )
    (low, high), (wide_low, wide_high) = found["wilson"], found["cluster_robust"]
    assert wide_low < low < high < wide_high
    # All alike within tasks: the same as 18 of 20, but for Student's quantile and the degrees of freedom.
    assert (wide_low, wide_high) == pytest.approx(cluster_interval([0] * 2 + [1] * 18, [1] * 20), abs=1e-12)


def test_cluster_interval_of_one_cluster_is_refused() -> None:
    assert isinstance(cluster_interval([3], [5]), Undefined)
    assert isinstance(cluster_interval([0, 3], [0, 5]), Undefined)


def test_cluster_interval_of_equal_shares_is_that_of_independent_items() -> None:
    # Every cluster has 2 of 4: no variance between them; the effective size is held at the 40 items, not above.
    low, high = cluster_interval([2] * 10, [4] * 10)
    assert 0.30 < low < 0.35
    assert high == pytest.approx(1 - low)


def paper_rounds() -> list[AuditedRound]:
    facts = json.loads(shared_path("paper/facts.json").read_text())["table_a10"]
    names = ("error", "non_error", "skipped")
    counts = facts["rows_human_columns_automatic"]
    return [
        AuditedRound(str(number % 50), human, automatic)
        for human, row in zip(names, counts, strict=True)
        for automatic, count in zip(names, row, strict=True)
        for number in range(count)
    ]


def test_table_a10_says_undefined_where_recall_is_zero_over_zero() -> None:
    report = process_report(paper_rounds())
    assert report["matrix"] == [[0, 0, 0], [329, 589, 353], [20, 9, 1342]]
    assert report["human_totals"] == [0, 1271, 1371]
    assert report["automatic_totals"] == [349, 598, 1695]
    assert report["rounds"] == 2642
    recall, precision = report["recall"]["error"], report["precision"]["error"]
    assert recall["point"] == {"undefined": "0 / 0: people call no round an error"}
    assert (precision["k"], precision["n"], precision["point"]) == (0, 349, 0.0)
    assert precision["wilson"][1] > 0.005
    assert report["recall"]["non_error"]["point"] == pytest.approx(589 / 1271)
    assert report["precision"]["skipped"]["point"] == pytest.approx(1342 / 1695)
    assert report["observed"] == pytest.approx((589 + 1342) / 2642)
    assert (report["evaluated_by_both"], report["observed_where_both_evaluate"]) == (918, pytest.approx(589 / 918))


def test_no_round_at_all_is_undefined_throughout() -> None:
    report = process_report([])
    assert "undefined" in report["observed"]
    assert all(
        "undefined" in report[side][label]["point"]
        for side in ("recall", "precision")
        for label in report["labels"]
    )
