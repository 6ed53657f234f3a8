"""One run on its page."""

from __future__ import annotations

import time

import pytest
from django.test import Client
from django.urls import reverse

from lseval.domain.trajectory import ReferenceRecord, ToolCallRecord, TurnRecord
from lseval.models import Run, Verdict
from lseval.site.selectors.rounds import OBSERVATION_LIMIT
from lseval.site.selectors.run import run_of
from tests.factories import PAGE_TEXT, give_verdict, make_run, make_study, make_user
from tests.site.building import World, give_judgements, make_world, reading_turns, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world()


def _page(world: World, run: Run | None = None) -> str:
    address = reverse("run", args=[world.study.slug, (run or world.run).pk])
    return signed_in(world.lead).get(address).content.decode()


def test_page_shows_question_rubric_response_and_score(world: World) -> None:
    page = _page(world)
    assert "Which two ferries of t1 opened before 1975?" in page
    assert "opened before 1975" in page
    assert "one ferry is one group" in page
    assert "AS 50.0" in page
    assert "1 correct group, 2 required." in page
    assert '<div class="prose markdown"><ol>' in page


def test_groups_and_rounds_have_permalinks_and_lead_to_each_other(world: World) -> None:
    page = _page(world)
    for anchor in ('id="g1"', 'id="g2"', 'id="r1"', 'id="r2"'):
        assert page.count(anchor) == 1
    shown = run_of(world.study, world.run.pk)
    assert [group.linked_rounds for group in shown.groups] == [[], [2]]
    assert shown.rounds[1].linked_groups == [2]
    assert (shown.rounds[1].state, shown.rounds[1].type_name) == ("failure", "Wrong entity")


def test_verdict_comes_with_reason_judge_claims_and_the_way_to_the_quotation(world: World) -> None:
    group = world.run.answer_groups.get(number=1)
    snapshot = world.run.pages.get(url="https://ferries.example/aldis")
    Verdict.objects.filter(group=group).update(
        judge="embedded lexical baseline",
        claims=[
            {
                "claim": "opened in 1962",
                "status": "supported",
                "note": "",
                "quotation": {"page": snapshot.pk, "text": "opened in 1962", "start": 17, "end": 31},
            },
            {"claim": "is a ferry", "status": "not_found", "note": "no page says so", "quotation": None},
        ],
    )
    page = _page(world)
    assert "set by a test" in page
    assert "embedded lexical baseline, version 1" in page
    assert "baseline</span>" in page
    assert reverse("page", args=[world.study.slug, snapshot.pk]) + "?start=17&amp;end=31#quotation" in page
    assert "not found" in page
    assert "no page says so" in page


def test_cited_pages_show_how_reading_them_ended(world: World) -> None:
    first, second = run_of(world.study, world.run.pk).groups
    assert [source.outcome_words for source in first.sources] == ["ok"]
    assert [source.outcome_words for source in second.sources] == ["not found"]


def test_both_judgements_show_with_their_explanations(world: World) -> None:
    page = _page(world)
    assert "Judge A looked at round 2." in page
    assert "Judge B looked at round 2." in page


@pytest.mark.parametrize(
    ("verdicts", "state", "words"),
    [
        (("error", "non_error"), "split", "split: one judge says error"),
        (("non_error", "non_error"), "non_error", "no error"),
        (("non_error", "skipped"), "skipped", "skipped after judging: a judge set it aside"),
        (("unjudged", "error"), "unjudged", "unjudged: a judge gave no opinion"),
    ],
)
def test_round_state_follows_the_consensus(verdicts: tuple[str, str], state: str, words: str) -> None:
    study = make_study()
    run = make_run(study)
    give_judgements(run, 2, *verdicts)
    shown = run_of(study, run.pk).rounds[1]
    assert (shown.state, shown.state_label) == (state, words)


def test_round_that_no_judge_has_seen_is_told_from_one_set_aside() -> None:
    study = make_study()
    run = make_run(study, turns=reading_turns(2))
    run.rounds.filter(number=1).update(skip_reason="listing_only")
    run.rounds.filter(number=2).update(skip_reason="")
    first, second = run_of(study, run.pk).rounds
    assert (first.state, first.state_label) == ("skipped", "set aside before judging: listing only")
    assert (second.state, second.state_label) == ("unjudged", "not judged yet")


def test_unassigned_type_and_type_of_one_judge_are_named_so() -> None:
    study = make_study()
    run = make_run(study)
    give_judgements(run, 2, "error", "error")
    shown = run_of(study, run.pk).rounds[1]
    assert (shown.type_name, shown.is_type_agreed) == ("Type unassigned", False)


def test_experts_step_shows_at_its_round() -> None:
    study = make_study()
    turns = tuple(
        TurnRecord(turn.text, turn.tool_calls, source_step=step)
        for step, turn in zip((4, 9), reading_turns(2), strict=True)
    )
    run = make_run(
        study, turns=turns, references=(ReferenceRecord(9, "Web", "", "took the wrong year", "an expert"),)
    )
    shown = run_of(study, run.pk)
    assert [len(found.references) for found in shown.rounds] == [0, 1]
    page = signed_in(make_user("lead", study, "lead")).get(reverse("run", args=["s1", run.pk])).content.decode()
    assert "took the wrong year" in page
    assert "(an expert)" in page


def test_long_observation_is_cut_and_leads_to_the_whole() -> None:
    study = make_study()
    long = "x" * OBSERVATION_LIMIT + "THE END"
    turn = TurnRecord("I read.", (ToolCallRecord("read_page", "fetch", {"url": "https://f.example/"}, long),))
    run = make_run(study, turns=(turn,))
    client = signed_in(make_user("lead", study, "lead"))
    page = client.get(reverse("run", args=["s1", run.pk])).content.decode()
    assert "THE END" not in page
    assert "The first 20,000 of 20,007 characters." in page
    call = run_of(study, run.pk).rounds[0].turns[0].calls[0]
    whole = reverse("observation", args=["s1", run.pk, call.id])
    assert whole in page
    assert "THE END" in client.get(whole).content.decode()


def test_missing_observation_differs_from_an_empty_one() -> None:
    study = make_study()
    calls = (
        ToolCallRecord("read_page", "read_page", {"url": "https://f.example/1"}, None),
        ToolCallRecord("read_page", "read_page", {"url": "https://f.example/2"}, ""),
    )
    run = make_run(study, turns=(TurnRecord("I read.", calls),))
    shown = run_of(study, run.pk).rounds[0].turns[0].calls
    assert [call.size_words for call in shown] == ["no result recorded", "empty"]


def test_run_without_trajectory_answer_or_verdict_still_has_a_page() -> None:
    study = make_study()
    run = make_run(study, answer="", turns=(), pages=())
    page = signed_in(make_user("lead", study, "lead")).get(reverse("run", args=["s1", run.pk])).content.decode()
    assert "holds no trajectory" in page
    assert "ended without a final response" in page
    assert "supplied no answer group" in page
    assert "trajectory not recorded" in page
    assert "no valid final answer" in page


def _long_run(study: object, task: str, rounds: int) -> Run:
    text = f"{PAGE_TEXT} " * 200
    turns = tuple(
        TurnRecord(turn.text, (ToolCallRecord("read_page", "read_page", {"url": f"u{number}"}, text),))
        for number, turn in enumerate(reading_turns(rounds))
    )
    run = make_run(study, task, turns=turns)
    give_verdict(run, "C", "I")
    for number in range(1, rounds + 1):
        give_judgements(run, number, "error", "error", error_type="scope_error", groups=[2])
    return run


def test_run_page_asks_the_database_as_often_for_many_rounds_as_for_few(django_assert_num_queries) -> None:
    study = make_study()
    client = signed_in(make_user("lead", study, "lead"))
    # Session, user, study with role; run, attempts, references, their rounds; pages, links, citations, groups,
    # theirs; rounds, turns, calls, judgements, their groups, references of rounds.
    for rounds in (3, 30):
        run = _long_run(study, f"t{rounds}", rounds)
        with django_assert_num_queries(17):
            client.get(reverse("run", args=["s1", run.pk]))


def test_run_of_130_rounds_opens_quickly() -> None:
    study = make_study()
    client: Client = signed_in(make_user("lead", study, "lead"))
    run = _long_run(study, "t1", 130)
    address = reverse("run", args=["s1", run.pk])
    client.get(address)  # compiles the templates
    started = time.perf_counter()
    response = client.get(address)
    took_s = time.perf_counter() - started
    assert response.content.decode().count('class="round"') == 130
    assert took_s < 1.5
