"""A study beside another, or its two judges beside each other."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from lseval.judging.embedded import STAGE1_NAME, VERSION
from lseval.models import Membership, Role, Run, SecondVerdict, Study, Verdict
from lseval.site.comparison.selectors import Comparison, compare_judges, compare_studies, label_matrix
from lseval.site.comparison.views import SECOND_JUDGE
from tests.factories import ANSWER, give_verdict, make_run, make_study, make_user
from tests.site.building import World, make_world, signed_in

pytestmark = pytest.mark.django_db


def _second(run: Run, *labels: str) -> None:
    for group, label in zip(run.answer_groups.all(), labels, strict=True):
        SecondVerdict.objects.create(group=group, label=label, reason="set", judge="second", judge_version="2")


def _two_studies() -> tuple[Study, Study]:
    """m1 on t1 and t2 in both, t3 in the first only; in the second t2's answer has another second group.

    First: t1 C I, t2 C C. Second: t1 C C, t2 I C. So 3 groups can be compared, and t1 G2 and t2 G1 changed.
    """
    first, second = make_study("first"), make_study("second")
    give_verdict(make_run(first, "t1"), "C", "I")
    give_verdict(make_run(first, "t2"), "C", "C")
    give_verdict(make_run(first, "t3"), "C", "C")
    give_verdict(make_run(second, "t1"), "C", "C")
    give_verdict(
        make_run(second, "t2", answer=ANSWER.replace("Borun ferry: opened in 1971", "Corin: 1972")), "I", "C"
    )
    return first, second


def test_two_studies_are_matched_by_task_model_and_text() -> None:
    found = compare_studies(*_two_studies())
    assert (found.matched, found.matched_runs, found.same.counts) == (3, 2, "1 of 3")
    assert [(change.task, change.number, change.first, change.second) for change in found.changes] == [
        ("t1", 2, "I", "C"),
        ("t2", 1, "C", "I"),
    ]
    assert dict(found.left_out) == {"only in Study first": 2, "with another text": 1}
    assert all(change.other_run_id != change.run_id for change in found.changes)


def test_models_are_compared_over_the_runs_that_are_the_same_on_both_sides() -> None:
    """Required are 2 groups. t1: 1 of 2, then 2 of 2. Of t2 one group differs, so it is left out."""
    row = compare_studies(*_two_studies()).models[0]
    assert (row.name, row.tasks, row.first.text, row.second.text) == ("m1", 1, "50.00", "100.00")
    assert (row.difference.text, row.difference.interval_text) == ("50.00", "")
    assert row.changed.counts == "2 of 3"


def test_difference_has_the_interval_of_resampled_tasks() -> None:
    """t1 gains 50, t2 nothing: a mean of 25, and two tasks can be drawn as 0, 25 or 50."""
    study = make_study()
    for task, labels in (("t1", "CC"), ("t2", "CI")):
        run = make_run(study, task)
        give_verdict(run, "C", "I")
        _second(run, *labels)
    difference = compare_judges(study).models[0].difference
    assert (difference.text, difference.interval_text) == ("25.00", "[0.00, 50.00]")


def test_studies_that_share_nothing_are_compared_without_a_number() -> None:
    first, second = make_study("first"), make_study("second")
    give_verdict(make_run(first, "t1"), "C", "I")
    found = compare_studies(first, second)
    assert (found.matched, found.same.value, found.models) == (0, None, [])
    assert dict(found.left_out) == {"only in Study first": 2}


def test_a_group_without_a_verdict_on_one_side_is_left_out_and_counted() -> None:
    first, second = make_study("first"), make_study("second")
    give_verdict(make_run(first), "C", "I")
    make_run(second)
    found = compare_studies(first, second)
    assert (found.matched, dict(found.left_out)) == (0, {"without a verdict on one side": 2})
    assert found.models[0].difference.is_undefined


@pytest.fixture
def judged() -> tuple[World, Comparison]:
    """The world (C, I) with a second judge that says C, unjudged."""
    world = make_world()
    _second(world.run, "C", "unjudged")
    return world, compare_judges(world.study)


def test_two_judges_of_one_study(judged: tuple[World, Comparison]) -> None:
    found = judged[1]
    assert found.same.counts == "1 of 2"
    assert [(change.first, change.second) for change in found.changes] == [("I", "unjudged")]
    assert [judge.text for judge in found.second_judges] == ["second, version 2"]
    assert found.block["n"] == 1  # an unjudged group is in no coefficient
    assert found.models[0].first.is_undefined  # its run has no score by the second judge


def test_matrix_holds_every_compared_group_once(judged: tuple[World, Comparison]) -> None:
    matrix = label_matrix(judged[1])
    assert matrix["total"] == 2
    assert [column["label"] for column in matrix["columns"]] == ["C", "I", "U", "unjudged"]
    assert [cell["count"] for row in matrix["rows"] for cell in row["cells"]] == [
        1, 0, 0, 0,
        0, 0, 0, 1,
        0, 0, 0, 0,
        0, 0, 0, 0,
    ]  # fmt: skip


def _get(world: World, wanted: str, person: Any = None, **query: str) -> Any:
    client = signed_in(person or world.researcher)
    return client.get(reverse("compare", args=["s1"]), {"with": wanted, **query})


def test_page_offers_only_studies_whose_results_the_person_sees(judged: tuple[World, Comparison]) -> None:
    world, _ = judged
    seen, hidden, labeled = make_study("seen"), make_study("hidden"), make_study("labeled")
    Membership.objects.create(study=seen, user=world.researcher, role=Role.LEAD)
    Membership.objects.create(study=labeled, user=world.researcher, role=Role.ANNOTATOR)
    page = signed_in(world.researcher).get(reverse("compare", args=["s1"])).content.decode()
    assert 'value="seen"' in page
    assert f'value="{SECOND_JUDGE}"' in page
    for study in (hidden, labeled):
        assert f'value="{study.slug}"' not in page
        assert _get(world, study.slug).status_code == 404
    assert _get(world, "seen").status_code == 200
    assert _get(world, "no-such").status_code == 404


def test_page_shows_what_changed_and_links_both_runs(judged: tuple[World, Comparison]) -> None:
    world, _ = judged
    other = make_study("other")
    Membership.objects.create(study=other, user=world.researcher, role=Role.RESEARCHER)
    run = make_run(other)
    give_verdict(run, "U", "I")
    page = _get(world, "other").content.decode()
    assert f"{reverse('run', args=['s1', world.run.pk])}#group-1" in page
    assert f"{reverse('run', args=['other', run.pk])}#group-1" in page
    assert "1 of 2 groups" in page


def test_second_judge_that_is_not_there_is_not_found() -> None:
    world = make_world()
    assert _get(world, SECOND_JUDGE).status_code == 404
    assert "Nothing to compare with" in signed_in(world.lead).get(reverse("compare", args=["s1"])).content.decode()


def test_changes_are_paged(judged: tuple[World, Comparison]) -> None:
    world, _ = judged
    for number in range(30):
        run = make_run(world.study, f"x{number}")
        give_verdict(run, "C", "I")
        _second(run, "I", "C")
    assert b"Page 1 of 2" in _get(world, SECOND_JUDGE).content
    assert b"Page 2 of 2" in _get(world, SECOND_JUDGE, page="2").content
    assert _get(world, SECOND_JUDGE, page="x").status_code == 400


def test_page_asks_the_database_as_often_for_many_runs_as_for_few(
    judged: tuple[World, Comparison], django_assert_num_queries: Any
) -> None:
    world, _ = judged
    client = signed_in(world.researcher)
    address = reverse("compare", args=["s1"])
    # Session with user, study with role; is there a second judge; both sides, both judges' names; the choices.
    with django_assert_num_queries(8):
        client.get(address, {"with": SECOND_JUDGE})
    for number in range(5):
        run = make_run(world.study, f"x{number}", f"y{number}")
        give_verdict(run, "C", "I")
        _second(run, "C", "C")
    with django_assert_num_queries(8):
        client.get(address, {"with": SECOND_JUDGE})


def test_labeler_compares_nothing(judged: tuple[World, Comparison]) -> None:
    world, _ = judged
    assert _get(world, SECOND_JUDGE, world.annotator).status_code == 403
    assert _get(world, SECOND_JUDGE, make_user("nobody")).status_code == 404


def test_accuracy_of_the_embedded_judge_stands_once_beside_its_verdicts() -> None:
    first, second = _two_studies()
    lead = make_user("lead")
    for study in (first, second):
        Membership.objects.create(study=study, user=lead, role=Role.LEAD)
    address = reverse("compare", args=[first.slug]) + f"?with={second.slug}"
    told = "was measured on 349 claims that people labelled"
    assert told not in signed_in(lead).get(address).content.decode()
    Verdict.objects.update(judge=STAGE1_NAME, judge_version=VERSION)
    assert signed_in(lead).get(address).content.decode().count(told) == 1
