"""Both stages on rows: verdicts, judgements, nodes and links, and what happens when they are run again."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from lseval.domain.trajectory import PageRecord, ToolCallRecord, TurnRecord
from lseval.errors import InputError
from lseval.models import FailureNode, Judgement, Link, Page, Run, Verdict
from lseval.pipeline import stage1, stage2
from lseval.pipeline.evaluation import evaluate, stage_counts
from tests.factories import PAGE_TEXT, make_run, make_study

pytestmark = pytest.mark.django_db

WRONG = """1. Lake Aldis ferry: opened in 1999 [1]

Sources
[1] https://ferries.example/aldis
"""


def wrong_run(study, task: str = "t1") -> Run:
    """A run whose one group tells another year than the page, first told in the round that read it."""
    read = ToolCallRecord("read_page", "read_page", {"url": "https://ferries.example/aldis"}, PAGE_TEXT)
    turns = (TurnRecord("The Lake Aldis ferry opened in 1999.", (read,)),)
    return make_run(study, task, answer=WRONG, turns=turns)


def verdicts_of(run: Run) -> list[str]:
    return list(Verdict.objects.filter(group__run=run).order_by("group__number").values_list("label", flat=True))


def test_supported_is_correct_and_an_unreadable_page_is_unverifiable_never_incorrect() -> None:
    run = make_run(make_study())
    evaluate(run.study)
    assert verdicts_of(run) == ["C", "U"]


def test_a_contradicted_year_is_incorrect_with_the_words_it_rests_on() -> None:
    run = wrong_run(make_study())
    evaluate(run.study)
    verdict = Verdict.objects.get(group__run=run)
    assert verdict.label == "I"
    quotations = [claim["quotation"] for claim in verdict.claims if claim["quotation"]]
    assert quotations
    for quotation in quotations:
        page = Page.objects.get(pk=quotation["page"])
        assert page.text[quotation["start"] : quotation["end"]] == quotation["text"]
    assert verdict.pages == [
        {"id": run.pages.get(outcome="ok").pk, "digest": run.pages.get(outcome="ok").text_digest}
    ]


def test_a_group_that_cites_nothing_is_unverifiable() -> None:
    run = make_run(make_study(), answer="The Lake Aldis ferry opened in 1962.")
    evaluate(run.study)
    assert verdicts_of(run) == ["U"]


def test_a_page_recorded_in_another_run_is_no_evidence() -> None:
    study = make_study()
    make_run(study, "t1", "m1")
    other = make_run(study, "t1", "m2", pages=())
    evaluate(study)
    assert verdicts_of(other) == ["U", "U"]


def test_the_run_own_reading_goes_before_a_fetched_page_and_a_readable_page_before_both() -> None:
    study = make_study()
    run = make_run(study)
    key = run.pages.get(outcome="ok").canonical_key
    unread = run.pages.get(outcome="not_found").canonical_key
    for canonical_key, text in ((key, "fetched"), (unread, "fetched too")):
        Page.objects.create(
            study=study, source="fetched", url="https://x.example", canonical_key=canonical_key, text=text,
            text_digest="0" * 64, outcome="ok",
        )  # fmt: skip
    pages = stage1.pages_by_key(run)
    assert pages[key].text == PAGE_TEXT
    assert pages[unread].text == "fetched too"


def _fetched(study, key: str, text: str, outcome: str = "ok") -> Page:
    digest = hashlib.sha256(text.encode()).hexdigest()
    page, _ = Page.objects.update_or_create(
        study=study, run=None, source="fetched", canonical_key=key,
        defaults={"url": key, "text": text, "text_digest": digest, "outcome": outcome},
    )  # fmt: skip
    return page


def test_verdict_whose_page_is_fetched_later_is_given_anew_without_being_asked_for() -> None:
    study = make_study()
    run, other = make_run(study, pages=()), make_run(study, "t2", pages=())
    evaluate(study)
    assert verdicts_of(run) == ["U", "U"]
    key = run.citations.order_by("id")[0].canonical_key
    _fetched(study, key, "", "unavailable")
    evaluate(study)
    assert (verdicts_of(run), stage1.runs_to_verify(study)) == (["U", "U"], [])
    _fetched(study, key, PAGE_TEXT)
    assert stage1.runs_to_verify(study) == [run.pk, other.pk]
    evaluate(study)
    assert (verdicts_of(run), stage1.runs_to_verify(study)) == (["C", "U"], [])
    assert run.rounds.filter(skip_reason="", consensus=None).count() == 0
    _fetched(study, key, "The Lake Aldis ferry opened in 1999.")
    evaluate(study)
    assert (verdicts_of(run), stage1.runs_to_verify(study)) == (["I", "U"], [])


def test_what_serves_no_group_makes_no_verdict_old() -> None:
    study = make_study()
    run = make_run(study)
    evaluate(study)
    make_run(study, "t2", "m2")  # with its own reading of the same pages
    evaluate(study)
    _fetched(study, run.pages.get(outcome="ok").canonical_key, "Another text.")  # the run's own comes first
    _fetched(study, "https://elsewhere.example/", "Cited by nobody.")
    assert stage1.runs_to_verify(study) == []


def test_where_wrong_content_came_in_is_a_node_linked_to_its_group() -> None:
    run = wrong_run(make_study())
    evaluate(run.study)
    node = FailureNode.objects.get()
    assert node.round == run.rounds.get(number=1)
    assert [(link.round_id, link.group.number) for link in Link.objects.all()] == [(node.round_id, 1)]
    assert Judgement.objects.filter(round=node.round).count() == 2


def test_every_round_is_pre_skipped_or_judged_twice() -> None:
    study = make_study()
    make_run(study)
    wrong_run(study, "t2")
    evaluate(study)
    for run in study.runs.all():
        for round_ in run.rounds.all():
            assert round_.judgements.count() == (0 if round_.skip_reason else 2)
            assert hasattr(round_, "consensus") is not bool(round_.skip_reason)


def test_rounds_add_up() -> None:
    study = make_study()
    make_run(study)
    wrong_run(study, "t2")
    rounds = evaluate(study)["rounds"]
    assert rounds.pop("all") == sum(rounds.values())


def test_a_second_evaluation_finds_nothing_to_do_and_again_gives_the_same() -> None:
    study = make_study()
    wrong_run(study)
    first = evaluate(study)
    judged_at = Verdict.objects.get().judged_at
    assert evaluate(study) == first
    assert Verdict.objects.get().judged_at == judged_at
    assert evaluate(study, again=True) == first
    assert Verdict.objects.get().judged_at == judged_at  # what comes out the same is left as it was


def test_new_verdicts_make_a_run_wait_for_stage_2_again() -> None:
    study = make_study()
    wrong_run(study)
    evaluate(study)
    Verdict.objects.update(label="C", judge_version="an older one")
    evaluate(study, ("1",))
    assert stage_counts(study)["verdicts"]["I"] == 1
    assert stage_counts(study)["process"] == {"failure_nodes": 0, "links": 0}
    assert stage_counts(study)["rounds"]["waiting"] == 1
    evaluate(study)
    assert stage_counts(study)["process"] == {"failure_nodes": 1, "links": 1}


def test_verdicts_that_come_out_the_same_leave_stage_2_alone() -> None:
    study = make_study()
    wrong_run(study)
    evaluate(study)
    evaluate(study, ("1",), again=True)
    assert stage_counts(study)["process"] == {"failure_nodes": 1, "links": 1}


def test_verdicts_that_change_while_the_judges_work_are_what_stage_2_rests_on(monkeypatch) -> None:
    """A lead has the group judged again meanwhile, and it comes out correct: no link may lead to it."""
    study = make_study()
    run = wrong_run(study)
    evaluate(study, ("1",))
    auditor = stage2.auditor
    shown: list[str] = []

    def meddled(*given):
        found = auditor(*given)

        def judge(evidence):
            shown.append(evidence.groups[0].label)
            if len(shown) == 1:
                old = Verdict.objects.get()
                old.delete()
                Verdict.objects.create(group=old.group, label="C", reason="judged again", judge="j")
            return found.judge(evidence)

        return replace(found, judge=judge)

    monkeypatch.setattr(stage2, "auditor", meddled)
    stage2.audit_run(run.pk)
    assert shown == ["I", "I", "C", "C"]
    assert not Link.objects.exists()
    assert Judgement.objects.count() == 2


def test_no_judge_of_stage_2_is_shown_hidden_reasoning(monkeypatch) -> None:
    read = ToolCallRecord("read_page", "read_page", {"url": "https://ferries.example/aldis"}, PAGE_TEXT)
    run = make_run(
        make_study(), turns=(TurnRecord("It opened in 1999.", (read,), reasoning="I made the year up."),)
    )
    auditor = stage2.auditor
    seen: list[str] = []

    def listening(*given):
        found = auditor(*given)
        return replace(found, judge=lambda evidence: seen.append(repr(evidence)) or found.judge(evidence))

    monkeypatch.setattr(stage2, "auditor", listening)
    stage2.audit_run(run.pk)
    assert len(seen) == 2
    assert all("It opened in 1999." in evidence for evidence in seen)
    assert not any("made the year up" in evidence for evidence in seen)


def test_link_policy_is_a_setting_of_the_study() -> None:
    study = make_study()
    study.settings = {"link_policy": "neither"}
    study.save()
    wrong_run(study)
    with pytest.raises(InputError, match="both or either"):
        evaluate(study)


def test_command_prints_counts_and_names_the_baselines() -> None:
    wrong_run(make_study())
    out = StringIO()
    call_command("evaluate", "s1", "--json", stdout=out)
    assert json.loads(out.getvalue())["verdicts"]["I"] == 1
    out = StringIO()
    call_command("evaluate", "s1", stdout=out)
    assert "baseline" in out.getvalue()


def test_command_on_a_study_that_is_not_there_says_which_there_are() -> None:
    make_study("known")
    with pytest.raises(InputError, match="known"):
        call_command("evaluate", "unknown")


def test_an_empty_page_is_not_evidence_of_absence() -> None:
    pages = (PageRecord("https://ferries.example/aldis", "  \n", outcome="ok"),)
    run = make_run(make_study(), pages=pages)
    evaluate(run.study)
    assert verdicts_of(run) == ["U", "U"]


@pytest.mark.django_db(transaction=True)
def test_two_evaluations_at_once_give_each_group_one_verdict() -> None:
    study = make_study()
    for number in range(4):
        wrong_run(study, f"t{number}")
    waiting = stage1.runs_to_verify(study)

    def verify() -> None:
        try:
            stage1.verify_runs(waiting)
            stage2.audit_runs(waiting)
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(verify) for _ in range(3)]:
            done.result()
    assert Verdict.objects.count() == 4
    assert stage_counts(study)["process"] == {"failure_nodes": 4, "links": 4}
