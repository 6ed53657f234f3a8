"""The report of an audit, from rows in the database to numbers."""

from __future__ import annotations

import json
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command

from agreement.reporting import audit_report, choose_audit, process_parts
from agreement.selectors import PEOPLE, SIMULATED, group_rows
from annotation.labels import submit_label, undo_last
from annotation.leases import claim_next
from annotation.models import Item, LabelerRole
from annotation.sampling import Plan
from annotation.services import create_audit, queue_of, seat
from annotation.simulation import simulate_labels
from lseval.errors import InputError
from lseval.models import FailureNode, Link, Verdict
from tests.agreement.conftest import Audited
from tests.factories import give_verdict, make_run, make_study, make_user
from tests.site.building import give_judgements


def test_matrices_have_the_first_source_in_the_rows(audited: Audited) -> None:
    report = audit_report(audited.audit, SIMULATED)
    # Automatic against H1: t1 C-C, C-I; t2 C-C, I-I; t3 U-U, I-C.
    assert report["auto_h1"]["matrix"] == [[2, 1, 0], [1, 1, 0], [0, 0, 1]]
    # H1 against H2: t1 C-C, I-I; t2 C-C, I-C; t3 U-U, C-C.
    assert report["h1_h2"]["matrix"] == [[3, 0, 0], [1, 1, 0], [0, 0, 1]]


def test_coefficients_are_those_of_the_matrix(audited: Audited) -> None:
    block = audit_report(audited.audit, SIMULATED)["auto_h1"]
    assert block["observed"] == pytest.approx(4 / 6)
    # Both margins are C 3, I 2, U 1 of 6: expected (9 + 4 + 1) / 36; kappa = (4/6 - 14/36) / (22/36) = 10/22.
    assert block["kappa"] == pytest.approx(10 / 22)


def test_response_scores_follow_from_labels_and_required_count(audited: Audited) -> None:
    scores = audit_report(audited.audit, SIMULATED)["auto_h1"]["scores"]
    # Required 2. AS automatic 100, 50, 0; H1 50, 50, 50: errors 50, 0, 50 and bias 50 + 0 - 50.
    assert scores["as"]["mae"]["point"] == pytest.approx(100 / 3)
    assert scores["as"]["bias"]["point"] == pytest.approx(0)
    assert "undefined" in scores["as"]["pearson"]["point"]


def test_simulated_and_peoples_labels_never_mix(audited: Audited) -> None:
    h1 = make_user("h1", audited.study)
    queue = queue_of(audited.audit, LabelerRole.H1)
    seat(queue, h1)
    assert audit_report(audited.audit, PEOPLE)["auto_h1"]["n"] == 0
    slot = claim_next(queue, h1)
    submit_label(slot.pk, h1, "C", request_key=uuid4(), base_version=slot.version)
    assert audit_report(audited.audit, PEOPLE)["auto_h1"]["n"] == 1
    assert audit_report(audited.audit, SIMULATED)["auto_h1"]["n"] == 6


def test_a_label_that_was_undone_does_not_count(audited: Audited) -> None:
    h1 = make_user("h1", audited.study)
    queue = queue_of(audited.audit, LabelerRole.H1)
    seat(queue, h1)
    slot = claim_next(queue, h1)
    submit_label(slot.pk, h1, "C", request_key=uuid4(), base_version=slot.version)
    undo_last(queue, h1, request_key=uuid4())
    assert audit_report(audited.audit, PEOPLE)["auto_h1"]["n"] == 0


def test_an_unjudged_group_is_left_out_and_counted(audited: Audited) -> None:
    Verdict.objects.filter(group__run__task__key="t1", group__number=2).update(label="unjudged")
    block = audit_report(audited.audit, SIMULATED)["auto_h1"]
    assert block["n"] == 5
    assert {"reason": "of these, the automatic verdict is unjudged", "count": 1} in block["left_out"]
    assert block["score_pairs"]["responses"] == 2


def test_rows_come_by_task_and_group_and_cost_the_same_queries(audited: Audited, django_assert_num_queries) -> None:
    with django_assert_num_queries(2):
        rows = group_rows(audited.audit, SIMULATED)
    assert [(row.task_id, row.group_id) for row in rows] == [
        (task, group) for task in ("t1", "t2", "t3") for group in ("G1", "G2")
    ]


def test_links_carry_what_precision_is_broken_down_by(db: None) -> None:
    run = make_run(make_study())
    give_verdict(run, "I", "C")
    round_, group = run.rounds.get(number=2), run.answer_groups.get(number=1)
    node = FailureNode.objects.create(run=run, round=round_, error_type="temporal_error")
    Link.objects.create(run=run, node=node, round=round_, group=group)
    plan = Plan(tasks=1, responses_per_task=1, link_trajectories=1, round_trajectories=1)
    audit = create_audit(run.study, plan, 1, "A", None)
    said = {"group": "C", "link": "corresponds", "round": "error"}
    simulate_labels(audit, LabelerRole.H1, lambda item: said[item.kind], 1, 0)
    report = audit_report(audit, SIMULATED)
    assert (report["links"]["overall"]["k"], report["links"]["overall"]["n"]) == (1, 1)
    assert list(report["links"]["by_type"]) == ["temporal_error"]
    assert list(report["links"]["by_judge_setting"]) == ["both"]
    # Of the two rounds, one is pre-skipped as a listing and the other waits for the judges, so only one counts.
    assert report["rounds"]["matrix"] == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]


def test_choose_audit_prefers_people_and_says_what_is_missing(audited: Audited) -> None:
    assert choose_audit(audited.study) == (audited.audit, SIMULATED)
    with pytest.raises(InputError, match="no audit named 'B'"):
        choose_audit(audited.study, "B")
    with pytest.raises(InputError, match="draw_audit"):
        choose_audit(make_study("empty"))
    with pytest.raises(InputError, match="no source of labels"):
        choose_audit(audited.study, "", "robots")


def run_command(*options: str) -> str:
    out = StringIO()
    call_command("agreement", "s1", "--resamples", "200", *options, stdout=out)
    return out.getvalue()


def test_command_prints_everything_as_json(audited: Audited) -> None:
    report = json.loads(run_command("--json"))
    assert report["is_simulated"] is True
    assert report["auto_h1"]["scores"]["ap"]["mae"]["resamples"] == 200
    assert {"people", "whole_study", "leaderboard", "ceiling"} <= report.keys()


def test_command_prints_text_and_tables(audited: Audited) -> None:
    assert "SIMULATED labels" in run_command()
    assert "Cohen's kappa" in run_command()
    assert "| Cohen's kappa | 0.4545 [" in run_command("--markdown")  # 10/22, worked above
    assert r"\begin{tabular}" in run_command("--latex")


def test_command_says_what_to_do_before_the_first_label(audited: Audited) -> None:
    out = StringIO()
    call_command("agreement", "s1", "--labels", "people", stdout=out)
    assert "No labels yet. H1 and H2 label their queues" in out.getvalue()
    assert "undefined" not in out.getvalue()


def test_what_was_drawn_and_not_used_is_counted_with_the_reason(db: None) -> None:
    study = make_study()
    run = make_run(study)
    give_verdict(run, "I", "C")
    give_judgements(run, 1, "error", "non_error")
    give_judgements(run, 2, "error", "error", error_type="temporal_error", groups=[1])
    plan = Plan(tasks=1, responses_per_task=1, link_trajectories=1, round_trajectories=1)
    audit = create_audit(study, plan, 1, "A", None)
    drawn = audit.items.filter(kind="round").count()
    said = {"group": "C", "link": "cannot_tell", "round": "error"}

    def label(item: Item) -> str | None:
        return None if item.kind == "round" and item.round.number == 1 else said[item.kind]

    simulate_labels(audit, LabelerRole.H1, label, 1, 0)
    run.rounds.get(number=2).consensus.delete()
    parts = process_parts(audit, SIMULATED)
    assert (parts["links"]["drew"], parts["links"]["overall"]["n"]) == (1, 0)
    assert parts["links"]["left_out"] == [{"reason": "H1 cannot tell", "count": 1}]
    assert parts["rounds"]["drew"] == drawn
    reasons = {entry["reason"]: entry["count"] for entry in parts["rounds"]["left_out"]}
    assert reasons["without a label of H1"] == 1
    assert reasons["the judges have not settled it"] >= 1
    assert parts["rounds"]["rounds"] == drawn - sum(reasons.values())


def test_ceiling_is_on_the_groups_that_have_all_three_labels(audited: Audited) -> None:
    Verdict.objects.filter(group__run__task__key="t1").update(label="unjudged")
    ceiling = audit_report(audited.audit, SIMULATED)["ceiling"]["observed"]
    # Left are t2 and t3. Automatic - H1: C-C, I-I, U-U, I-C agree on 3 of 4; H1 - H2: C-C, I-C, U-U, C-C on 3 of 4.
    assert ceiling["n"] == 4
    assert ceiling["auto_h1"]["point"] == pytest.approx(3 / 4)
    assert ceiling["h1_h2"]["point"] == pytest.approx(3 / 4)
    assert ceiling["difference"]["point"] == pytest.approx(0)
