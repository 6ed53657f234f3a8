"""Scores by model, by task and model, and by run."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from lseval.models import Study
from lseval.site.selectors.outcome import OutcomeFilters, outcome_of
from lseval.site.selectors.scores import model_rows, scored_runs
from tests.factories import ANSWER, give_verdict, make_run, make_study, make_user
from tests.site.building import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Two models on three tasks, two groups a run, two required.

    m1: t1 CC, t2 CI, t3 no group.    AS 100, 50, 0    AP 1, 1/2, 0    Upper 100, 50, 0
    m2: t1 CU, t2 C and unjudged, t3 without verdicts.    AS 50    AP 1/2    Upper 100
    """
    study = make_study()
    give_verdict(make_run(study, "t1", "m1"), "C", "C")
    give_verdict(make_run(study, "t2", "m1"), "C", "I")
    make_run(study, "t3", "m1", answer="")
    give_verdict(make_run(study, "t1", "m2"), "C", "U")
    give_verdict(make_run(study, "t2", "m2"), "C", "unjudged")
    make_run(study, "t3", "m2")
    return study


@pytest.fixture
def client(study: Study) -> Client:
    return signed_in(make_user("lead", study, "lead"))


def _address(study: Study, **asked: str) -> str:
    return reverse("outcome", args=[study.slug], query=asked)


def test_leaderboard_holds_means_over_scored_runs(study: Study) -> None:
    first, second = model_rows(scored_runs(study))
    # m1: (100 + 50 + 0) / 3; deviation 50, over the root of 3: 28.87.
    assert (first.name, first.answer_score.text, first.answer_score.error_text) == ("m1", "50.00", "28.87")
    assert first.answer_precision.text == "50.00%"
    assert first.upper_score.text == "50.00"
    assert (first.runs, first.scored, first.unscored, first.empty) == (3, 3, 0, 1)
    # m2 has one scored run. Equal AS: the order is by name.
    assert (second.name, second.answer_score.text, second.answer_score.error_text) == ("m2", "50.00", "")
    assert second.upper_score.text == "100.00"
    assert (second.runs, second.scored, second.unscored, second.empty) == (3, 1, 2, 0)


def test_unverifiable_rate_pools_the_groups_of_scored_runs(study: Study) -> None:
    first, second = model_rows(scored_runs(study))
    assert (first.unverifiable.count, first.unverifiable.of) == (0, 4)
    assert (second.unverifiable.count, second.unverifiable.of, second.unverifiable.text) == (1, 2, "50.0%")


def test_markers_are_shares_of_all_runs_or_of_those_with_a_trajectory(study: Study) -> None:
    make_run(study, "t4", "m1", turns=(), pages=())
    first, _ = model_rows(scored_runs(study))
    assert first.valid_final.counts == "3 of 4"
    assert first.premature.counts == "0 of 3"


def test_run_without_verdicts_is_unscored_and_says_why(study: Study) -> None:
    by_place = {(run.task_key, run.model_name): run for run in scored_runs(study)}
    assert by_place["t3", "m2"].explanation == "Not scored: 2 groups without a verdict yet."
    assert by_place["t2", "m2"].explanation == "Not scored: 1 group that the judge gave no label."
    assert by_place["t3", "m1"].explanation == "The response supplied no answer group, which scores 0."
    assert [by_place[place].state for place in (("t3", "m2"), ("t3", "m1"), ("t1", "m1"))] == [
        "unscored",
        "empty",
        "scored",
    ]


def test_model_without_a_scored_run_comes_last_with_a_dash(study: Study, client: Client) -> None:
    make_run(study, "t1", "a0")
    rows = model_rows(scored_runs(study))
    assert [row.name for row in rows] == ["m1", "m2", "a0"]
    page = client.get(_address(study)).content.decode()
    assert "Undefined: no scored run." in page
    assert "NaN" not in page
    assert "nan%" not in page


@pytest.mark.parametrize(
    ("sort", "names"), [("model", ["m1", "m2"]), ("upper_score", ["m2", "m1"]), ("unverifiable", ["m1", "m2"])]
)
def test_leaderboard_is_ordered_by_the_column_asked_for(study: Study, sort: str, names: list[str]) -> None:
    assert [row.name for row in model_rows(scored_runs(study), sort)] == names


def test_filters_narrow_the_whole_page(study: Study) -> None:
    narrowed = outcome_of(study, OutcomeFilters.of({"task": "t1", "model": "m2", "view": "runs"}))
    assert [row.name for row in narrowed.rows] == ["m2"]
    assert [(run.task_key, run.model_name) for run, _ in narrowed.listed] == [("t1", "m2")]
    assert narrowed.labels.total == 2


def test_unknown_names_find_nothing_and_unknown_words_fall_back(study: Study, client: Client) -> None:
    assert outcome_of(study, OutcomeFilters.of({"task": "t9"})).rows == []
    assert OutcomeFilters.of({"sort": "id; drop", "view": "x"}) == OutcomeFilters()
    page = client.get(_address(study, task="t9"))
    assert page.status_code == 200
    assert "No run fits these filters" in page.content.decode()


def test_matrix_has_a_cell_for_each_task_and_model_that_leads_to_the_run(study: Study, client: Client) -> None:
    make_run(study, "t4", "m1")
    matrix = outcome_of(study, OutcomeFilters())
    assert [name for _, name in matrix.columns] == ["m1", "m2"]
    assert [row.task_key for row in matrix.listed] == ["t1", "t2", "t3", "t4"]
    first, _, third, fourth = (row.cells for row in matrix.listed)
    assert [cell.run.answer_score_text for cell in first] == ["100.0", "50.0"]
    assert [cell.heat for cell in first] == [9, 5]
    assert [cell.heat for cell in third] == [0, None]
    assert fourth[1].run is None
    page = client.get(_address(study)).content.decode()
    assert reverse("run", args=[study.slug, first[0].run.id]) in page


def test_lists_are_paged_and_keep_the_filters(study: Study, client: Client) -> None:
    for number in range(5, 56):
        make_run(study, f"t{number}", "m1", answer="", turns=(), pages=())
    second = client.get(_address(study, view="runs", model="m1", page="2")).content.decode()
    # 54 runs of m1, 50 a page.
    assert "51–54 of 54" in second
    assert "model=m1" in second
    assert outcome_of(study, OutcomeFilters.of({"page": "none"})).listed.number == 1
    assert len(outcome_of(study, OutcomeFilters.of({"page": "2"})).listed.object_list) == 4


def test_best_of_each_score_is_marked_only_where_models_differ(study: Study) -> None:
    best = outcome_of(study, OutcomeFilters()).best
    assert (best["upper_score"], best["answer_score"]) == (100, None)
    assert set(outcome_of(study, OutcomeFilters(model="m1")).best.values()) == {None}


def test_judges_are_named_with_version_where_verdicts_show(study: Study, client: Client) -> None:
    page = client.get(_address(study)).content.decode()
    assert "test, version 1" in page


def test_empty_study_says_what_to_do() -> None:
    study = make_study("bare")
    page = signed_in(make_user("lead2", study, "lead")).get(_address(study)).content.decode()
    assert "import_runs bare PATH" in page


@pytest.mark.parametrize("view", ["matrix", "runs"])
def test_outcome_page_asks_the_database_as_often_for_many_runs_as_for_few(
    study: Study, client: Client, view: str, django_assert_num_queries
) -> None:
    # Session with user, study with role; runs, labels, tasks, models, judges.
    with django_assert_num_queries(8):
        client.get(_address(study, view=view))
    for number in range(10, 30):
        give_verdict(make_run(study, f"t{number}", f"m{number}", answer=ANSWER), "C", "I")
    with django_assert_num_queries(8):
        client.get(_address(study, view=view))
