"""The report: its page, its two files, and its methods text."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from annotation.models import Slot
from lseval.models import Attempt, EvaluatedModel, Run, Study
from lseval.site.report_text import markdown_of, methods_of
from lseval.site.selectors.report import report_of
from tests.factories import give_verdict, make_run, make_study, make_user
from tests.site.building import World, make_world, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    """The world with a second model, whose run on t2 is not judged yet; so 2 of 4 pairs have no run."""
    world = make_world()
    make_run(world.study, "t2", "m2")
    return world


def _json(world: World) -> dict:
    response = signed_in(world.researcher).get(reverse("report_json", args=["s1"]))
    assert response["Content-Type"] == "application/json"
    assert response["Content-Disposition"] == 'attachment; filename="s1-report.json"'
    return json.loads(response.content)


def test_json_holds_scores_with_what_they_rest_on(world: World) -> None:
    report = _json(world)
    assert report["study"] == {"slug": "s1", "name": "Study s1", "is_demo": False}
    assert report["counts"]["runs"] == 2
    first, second = report["outcome"]["models"]
    assert first["model"] == "m1"
    assert first["answer_score"] == {
        "value": 50.0,
        "standard_error": None,
        "runs": 1,
        "unit": "of 100",
        "reason": "a standard error needs two scored runs",
    }
    assert second["answer_score"]["value"] is None
    assert second["answer_score"]["reason"] == "no scored run"
    assert report["outcome"]["groups"] == {"C": 1, "I": 1, "U": 0, "unjudged": 0, "without_verdict": 2}
    assert report["outcome"]["judges"][0] == {"name": "test", "version": "1", "is_baseline": False, "opinions": 2}
    assert [run["answer_score"] for run in report["outcome"]["runs"]] == [50.0, None]


def test_json_holds_process_and_labels(world: World) -> None:
    Slot.objects.filter(pk=world.slot.pk).update(status="labeled")
    report = _json(world)
    assert report["process"]["accounting"]["rounds"] == 4
    assert report["process"]["failure_nodes"] == 1
    assert report["process"]["earliest_association"]["by_round_5"] == {"count": 1, "of": 1, "share": 1.0}
    assert report["labeling"]["labels"] == {"H1": 1, "H2": 0, "adjudicator": 0}
    assert report["labeling"]["simulated_labels"] == {"H1": 0, "H2": 0, "adjudicator": 0}


def test_json_of_an_empty_study_is_strict_json_without_nan() -> None:
    study = make_study("bare")
    client = signed_in(make_user("lead", study, "lead"))

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} in a report")

    response = client.get(reverse("report_json", args=["bare"]))
    assert json.loads(response.content, parse_constant=refuse)["outcome"]["models"] == []


def test_markers_overlap_and_premature_is_of_recorded_runs(world: World) -> None:
    run = make_run(world.study, "t3", "m1", answer="", turns=(), pages=(), is_final_only=True)
    Attempt.objects.create(run=run, number=2)
    markers = report_of(world.study).markers
    assert markers.invalid_final.counts == "1 of 3"
    assert markers.final_only.counts == "1 of 3"
    assert markers.resumed.counts == "1 of 3"
    assert markers.premature.counts == "0 of 2"


def test_methods_text_is_made_of_the_studys_own_counts(world: World) -> None:
    collection, outcome, process, labeling = methods_of(report_of(world.study))
    assert collection.startswith(
        "The study holds 2 runs of 2 models on 2 tasks, one retained run for each task and model; "
        "2 pairs of task and model have none."
    )
    assert "4 rounds" in collection
    assert "Of 4 groups, 1 was labeled correct, 1 incorrect and 0 unverifiable; 0 got no label" in outcome
    assert "by test, version 1" in outcome
    assert "1 run with a group without a label is left out, not scored as wrong" in outcome
    assert "where both judges name the group: 1 link connects 1 node to 1 group in 1 run" in process
    assert labeling.startswith("No item has been labeled by people yet")


def test_methods_text_tells_simulated_labels_from_peoples(world: World) -> None:
    simulated = world.audit.queues.create(role="H1", is_simulated=True)
    Slot.objects.create(queue=simulated, item=world.slot.item, position=1, status="labeled")
    labeling = methods_of(report_of(world.study))[-1]
    assert labeling.startswith("No item has been labeled by people yet. 1 simulated label is stored apart")
    Slot.objects.filter(pk=world.slot.pk).update(status="labeled")
    labeling = methods_of(report_of(world.study))[-1]
    assert labeling.startswith("People gave 1 label (1 as H1) in 1 audit")


def test_methods_of_an_empty_study_claim_nothing() -> None:
    paragraphs = methods_of(report_of(make_study("bare")))
    assert paragraphs[0].startswith("The study holds 0 runs of 0 models on 0 tasks")
    assert paragraphs[1] == "The answer groups have not been judged yet."
    assert len(paragraphs) == 3


def test_markdown_has_a_line_for_each_model_and_its_names_stay_text(world: World) -> None:
    EvaluatedModel.objects.filter(name="m2").update(name="m2 | <img src=x> [a](javascript:x)\n# b")
    response = signed_in(world.lead).get(reverse("report_md", args=["s1"]))
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    text = response.content.decode()
    assert "| m1 | 1 | 1 | 50.00 | – | 50.00% | 50.00 | 0.0% | 1 | 1 | 0 | 100.0% | 0.0% |" in text
    assert r"| m2 \| \<img src=x\> \[a\](javascript:x) \# b | 1 | 0 |" in text
    assert "| Linked / unlinked nodes | 1 / 0 |" in text


def test_markdown_and_page_say_the_same_of_an_unscored_model(world: World) -> None:
    assert "| m2 | 1 | 0 | – | – | – | – | – |" in markdown_of(report_of(world.study))


def test_page_links_both_files_and_the_agreement(world: World) -> None:
    page = signed_in(world.lead).get(reverse("report", args=["s1"])).content.decode()
    for name in ("report_json", "report_md", "agreement"):
        assert reverse(name, args=["s1"]) in page
    assert "The study holds 2 runs of 2 models on 2 tasks" in page


@pytest.mark.parametrize(("name", "queries"), [("report", 26), ("report_json", 27), ("report_md", 26)])
def test_report_asks_the_database_as_often_for_many_runs_as_for_few(
    world: World, name: str, queries: int, django_assert_num_queries
) -> None:
    client = signed_in(world.lead)
    address = reverse(name, args=["s1"])
    # Session with user, study with role; runs and labels, 7 counts, judges, markers twice, 8 of Stage 2, labels,
    # audit; as JSON also the two judges beside each other.
    with django_assert_num_queries(queries):
        client.get(address)
    for number in range(10):
        give_verdict(make_run(world.study, f"x{number}", f"y{number}"), "C", "I")
    with django_assert_num_queries(queries):
        client.get(address)


def test_run_without_a_rubric_is_unscored_not_an_error(world: World) -> None:
    run = Run.objects.get(pk=world.run.pk)
    run.rubric.delete()
    report = report_of(Study.objects.get(pk=world.study.pk))
    assert report.runs[0].explanation == "Not scored: the run has no rubric."
