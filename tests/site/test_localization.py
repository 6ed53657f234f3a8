"""`manage.py localization`: flags beside the steps that people named."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from django.core.management import CommandError, call_command

from agreement.stats.bootstrap import Resampling
from agreement.stats.undefined import Undefined
from lseval.domain.localization import LocatedRun, located
from lseval.domain.trajectory import ReferenceRecord, TurnRecord
from lseval.formats.reading import read_runs
from lseval.models import Judgement, Study
from lseval.pipeline.evaluation import evaluate
from lseval.pipeline.import_runs import import_run
from lseval.site.localization.measuring import measured
from lseval.site.localization.selectors import localization_of
from tests.factories import give_verdict, make_run, make_study
from tests.shared import shared_path
from tests.site.building import give_judgements, reading_turns

QUICK = Resampling(200, 1)


def with_steps(count: int, first: int = 1) -> tuple[TurnRecord, ...]:
    """Turns at steps from `first`; step 0 is the user's."""
    return tuple(
        TurnRecord(turn.text, turn.tool_calls, agent=f"agent {place % 2}", source_step=place + first)
        for place, turn in enumerate(reading_turns(count))
    )


@pytest.fixture
def study(db: None) -> Study:
    """Three runs of six rounds at steps 1 to 6, and one without a reference.

    t1: both judges flag rounds 2 and 4 (steps 2 and 4), the reference is 4. t2: judge A alone flags round 3, the
    reference is 3. t3: nothing is flagged, the reference is 6.
    """
    study = make_study()
    for task, step in (("t1", 4), ("t2", 3), ("t3", 6)):
        agent = f"agent {(step - 1) % 2}"
        run = make_run(study, task, turns=with_steps(6), references=(ReferenceRecord(step, agent),))
        run.rounds.update(skip_reason="")
        for number in range(1, 7):
            a = "error" if (task, number) in {("t1", 2), ("t1", 4), ("t2", 3)} else "non_error"
            b = "error" if (task, number) in {("t1", 2), ("t1", 4)} else "non_error"
            give_judgements(run, number, a, b)
    make_run(study, "t4")
    return study


def shares(found, way):
    return [round(3 * estimate.point) for estimate in found.ways[way]["within"].values()]


def test_each_way_of_flagging_is_measured_on_all_runs_with_a_reference(study):
    found = localization_of(study, how=QUICK)
    assert (found.runs, found.without_reference, found.references, found.rounds) == (3, 1, 3, 18)
    # t1's earliest node is at step 2, two before the reference; t2 and t3 have none.
    assert shares(found, "consensus") == [0, 0, 1, 1, 1, 1]
    # t2's round 3 is right for judge A.
    assert shares(found, "judge_a") == shares(found, "either") == [1, 1, 2, 2, 2, 2]
    assert shares(found, "last_round") == [1, 1, 2, 3, 3, 3]
    assert shares(found, "first_round") == [0, 0, 1, 2, 2, 3]
    consensus = found.ways["consensus"]
    assert (consensus["precision"].point, consensus["recall"].point) == (0.5, pytest.approx(1 / 3))
    assert (consensus["first_right"].point, consensus["ranked"], consensus["named"]) == (2.0, 1, 1)
    # One round of six is right in every run.
    assert found.ways["random"]["within"][0].point == pytest.approx(1 / 6)
    assert found.ways["random"]["first_right"].point == 3.5


def test_reference_that_no_judge_can_reach_is_counted(study):
    run = study.runs.get(task__key="t3")
    run.rounds.filter(number=6).update(skip_reason="planning_only")
    assert localization_of(study, how=QUICK).pre_skipped == 1


def test_agents_tell_a_source_that_counts_from_elsewhere(study):
    found = localization_of(study, how=QUICK)
    assert (found.agents, found.named_agents, found.best_shift) == ({-1: 0, 0: 3, 1: 0}, 3, 0)
    for run in study.runs.filter(reference_labels__isnull=False):
        label = run.reference_labels.get()
        label.step += 1
        label.save()
    assert localization_of(study, how=QUICK).best_shift == -1
    moved = localization_of(study, first_step=1, how=QUICK)
    assert shares(moved, "judge_a") == [1, 1, 2, 2, 2, 2]
    assert moved.best_shift == 0


def test_what_does_not_exist_is_undefined_with_its_reason():
    run = LocatedRun(((0,), (1,)), frozenset({1}))
    way = measured([located(run, [])], ["t1"], QUICK)
    assert way["precision"].point == Undefined("no round is flagged")
    assert way["first_right"].point == Undefined("no flagged round holds a reference step")
    assert way["within"][0].point == 0.0
    assert isinstance(way["within"][0].interval, Undefined)
    assert measured([], [], QUICK)["recall"].point == Undefined("no run has a reference step")


def test_interval_resamples_tasks_and_not_runs():
    """Two runs of one task, both right, and one of another, wrong: a resample has 0, 2 of 3 or all right."""
    run = LocatedRun(((0,), (1,)), frozenset({1}))
    found = [located(run, [1]), located(run, [1]), located(run, [0])]
    exact = measured(found, ["t1", "t1", "t2"], Resampling(2000, 3))["within"][0]
    assert exact.point == float(Fraction(2, 3))
    assert exact.interval == (0.0, 1.0)
    assert exact.clusters == 2


def test_command_prints_tables_markdown_and_json(study, capsys):
    call_command("localization", "s1")
    text = capsys.readouterr().out
    assert "Failure nodes: both judges" in text
    assert "3 runs of 3 tasks with 3 reference steps among 18 rounds; 1 run without a reference left out" in text
    call_command("localization", "s1", "--markdown")
    assert "| Random round, on average |" in capsys.readouterr().out
    call_command("localization", "s1", "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["ways"]["judge_a"]["within"]["0"]["point"] == pytest.approx(1 / 3)
    assert told["agents"] == {"named": 3, "-1": 0, "+0": 3, "+1": 0}


def test_command_refuses_a_study_without_references_and_a_wrong_start(study):
    make_study("bare")
    with pytest.raises(CommandError, match="no run with a reference label"):
        call_command("localization", "bare")
    study.runs.get(task__key="t1").reference_labels.update(step=0)
    with pytest.raises(CommandError, match="does not count its steps from 1"):
        call_command("localization", "s1", "--steps-from", "1")


@pytest.mark.django_db
def test_groups_of_a_run_known_to_be_wrong_go_to_the_judges_as_incorrect():
    """Judge B follows incorrect groups only; of a run that a person found wrong it follows the undecided ones."""
    study = make_study()
    turns = with_steps(2)
    plain = make_run(study, "t1", turns=turns)
    named = make_run(study, "t2", turns=turns, references=(ReferenceRecord(1),))
    for run in (plain, named):
        give_verdict(run, "U", "C")
    evaluate(study, ("2",))
    said = Judgement.objects.filter(judge_role="B", verdict="error")
    assert not said.filter(round__run=plain).exists()
    # Group 2, which Stage 1 calls correct, is not followed.
    assert set(said.filter(round__run=named).values_list("groups__number", flat=True)) == {1}
    assert set(named.answer_groups.values_list("verdict__label", flat=True)) == {"U", "C"}
    assert not named.links.exists()


@pytest.mark.django_db
def test_the_92_runs_of_who_and_when():
    """The figures of docs/stage2.md; they move only with the embedded judges or the reader."""
    study = make_study("who-and-when")
    for path in sorted(shared_path("data/who_and_when").rglob("*.json")):
        for result in read_runs(path):
            assert result.record is not None
            import_run(study, result.record, source_format="who_and_when")
    evaluate(study)
    found = localization_of(study)
    assert (found.runs, found.references, found.outside, found.best_shift) == (92, 92, 0, 0)
    hits = {way: round(92 * found.ways[way]["within"][0].point) for way in ("consensus", "either", "first_round")}
    assert hits == {"consensus": 11, "either": 19, "first_round": 9}
    assert found.ways["random"]["within"][0].point == pytest.approx(0.0943, abs=0.0005)
