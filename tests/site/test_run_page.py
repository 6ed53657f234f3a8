"""One run on its page."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from lseval.domain.trajectory import ReferenceRecord, ToolCallRecord, TurnRecord
from lseval.models import AnswerGroup, Judgement, Link, ReferenceLabel, Rubric, Run, Verdict
from lseval.site.selectors.round import PART, observation_of
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
    assert shown.rounds[1].linked_groups.shown == [(2, "#g2")]
    assert (shown.rounds[1].state, shown.rounds[1].type_name) == ("failure", "Wrong entity")
    assert 'failure node at <a href="#r2">round 2</a> (wrong entity)' in page
    assert 'href="#r2" title="Wrong entity">2<span' in page


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
    assert [source.outcome_words for source in first.sources] == ["read"]
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
    assert "The first 1,500 of 1,507 characters." in page
    call = run_of(study, run.pk).rounds[0].turns[0].calls[0]
    whole = reverse("observation", args=["s1", run.pk, call.id])
    assert f'hx-get="calls/{call.id}/?from=1500"' in page
    assert "THE END" in client.get(whole).content.decode()
    part = client.get(f"{whole}?from=1500", headers={"HX-Request": "true"}).content.decode()
    assert ">THE END</pre>" in part
    assert "<html" not in part


def test_very_long_observation_comes_in_parts_that_join_up() -> None:
    study = make_study()
    text = "".join(f"{place:>9}\n" for place in range(12_000))
    turn = TurnRecord("I read.", (ToolCallRecord("read_page", "fetch", {"url": "https://f.example/"}, text),))
    run = make_run(study, turns=(turn,))
    call = run_of(study, run.pk).rounds[0].turns[0].calls[0]
    parts, start = [], 0
    while True:
        part = observation_of(study, run.pk, call.id, str(start))
        parts.append(part.text)
        if not part.rest:
            break
        start = part.end
    assert [len(one) for one in parts] == [PART, PART, 20_000]
    assert "".join(parts) == text
    address = reverse("observation", args=["s1", run.pk, call.id])
    page = signed_in(make_user("lead", study, "lead")).get(f"{address}?from=50000").content.decode()
    assert "characters 50,001 to 100,000 of 120,000" in page
    assert 'href="?from=100000"' in page
    assert 'href="?from=0"' in page


@pytest.mark.parametrize("start", ["-1", "x", "1e3", "999999999", "9" * 40])
def test_a_start_that_is_nowhere_gives_the_beginning(world: World, start: str) -> None:
    call = run_of(world.study, world.run.pk).rounds[1].turns[0].calls[0]
    assert observation_of(world.study, world.run.pk, call.id, start).start == 0


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
    # Session with user, study with role; run, attempts, references, their rounds; links; loose citations;
    # labels, groups, citations, pages; rounds, turns, calls, judgements, references of rounds, groups named.
    for rounds in (3, 30):
        run = _long_run(study, f"t{rounds}", rounds)
        with django_assert_num_queries(17):
            client.get(reverse("run", args=["s1", run.pk]))


def _many_groups(run: Run, count: int) -> None:
    """Further groups, all incorrect."""
    more = AnswerGroup.objects.bulk_create(
        AnswerGroup(run=run, number=number, title=f"Ferry {number}", text=f"Ferry {number}", start=0, end=1)
        for number in range(3, count + 1)
    )
    Verdict.objects.bulk_create(
        Verdict(group=group, label="I", reason="set by a test", judge="test", judge_version="1") for group in more
    )


def test_page_of_130_rounds_and_20000_groups_holds_little(django_assert_num_queries) -> None:
    study = make_study()
    client: Client = signed_in(make_user("lead", study, "lead"))
    run = _long_run(study, "t1", 130)
    _many_groups(run, 20_000)
    # A judge names every group of a round, and each is linked.
    found = run.rounds.get(number=7)
    groups = list(run.answer_groups.filter(number__gt=2).values_list("pk", flat=True))
    named = Judgement.groups.through
    named.objects.bulk_create(
        named(judgement_id=judgement.pk, answergroup_id=group)
        for judgement in found.judgements.all()
        for group in groups[:5_000]
    )
    node = found.failure_node
    Link.objects.bulk_create(Link(run=run, node=node, round=found, group_id=group) for group in groups[:5_000])
    with django_assert_num_queries(17):
        response = client.get(reverse("run", args=["s1", run.pk]))
    page = response.content.decode()
    assert page.count('class="round"') == 130
    assert page.count('class="group"') == 50
    assert "20,000" in page
    assert "Page 1 of 400" in page
    assert "and 4989 more" in page
    assert len(response.content) < 1_500_000
    shown = run_of(study, run.pk, "400")
    assert [group.number for group in shown.groups][-1] == 20_000
    assert shown.scored.labels.incorrect == 19_999
    assert shown.rounds[0].linked_groups.shown == [(2, "?page=1#g2")]


@pytest.mark.parametrize("page", ["0", "9999", "x", ""])
def test_page_of_groups_that_there_is_not_gives_the_nearest(world: World, page: str) -> None:
    assert [group.number for group in run_of(world.study, world.run.pk, page).groups] == [1, 2]


def test_skipped_rounds_fold_with_their_reasons_unless_an_expert_names_one() -> None:
    study = make_study()
    run = make_run(study, turns=reading_turns(7))
    run.rounds.filter(number__in=(1, 2, 6)).update(skip_reason="listing_only")
    run.rounds.filter(number=3).update(skip_reason="planning_only")
    run.rounds.filter(number__in=(4, 5, 7)).update(skip_reason="")
    ReferenceLabel.objects.create(run=run, round=run.rounds.get(number=6), step=6)
    give_judgements(run, 7, "skipped", "non_error")
    shown = run_of(study, run.pk)
    folds = [(one.span, one.summary) for one in shown.stretches if one.is_folded]
    assert folds == [("Rounds 1–3", "listing only 2, planning only 1"), ("Round 7", "set aside by a judge")]
    assert [found.number for one in shown.stretches for found in one.rounds] == list(range(1, 8))


def test_arcs_lead_from_failure_nodes_to_the_groups_they_touch(world: World) -> None:
    overview = run_of(world.study, world.run.pk).overview
    assert overview is not None
    assert [(arc.round, arc.group) for arc in overview.arcs] == [(2, 2)]
    assert overview.text == "round 2 touches group 2"
    assert [(mark.number, mark.kind) for mark in overview.groups] == [(1, "C"), (2, "I")]
    # The second of two rounds, and of two groups, stands in the middle of the right half.
    assert overview.arcs[0].path.startswith("M750.0 ")
    assert overview.arcs[0].path.split()[-2:] == ["750.0", "100"]
    page = _page(world)
    assert 'aria-label="Links: round 2 touches group 2"' in page


def test_split_rounds_are_named_above_the_trajectory() -> None:
    study = make_study()
    run = make_run(study)
    give_judgements(run, 2, "error", "non_error", groups=[1])
    page = signed_in(make_user("lead", study, "lead")).get(reverse("run", args=["s1", run.pk])).content.decode()
    assert 'the judges split at <a href="#r2">round 2</a>' in page
    assert "data-flagged" in page


def test_why_a_judge_gave_no_opinion_shows(world: World) -> None:
    Judgement.objects.filter(judge_role="A").update(verdict="unjudged", code="no_json", flags=["round_cut"])
    page = _page(world)
    assert "(no json)" in page
    assert "round cut" in page


def test_what_a_model_prepared_names_its_prompt_by_version_and_digest(world: World) -> None:
    assert "SHA-256 of the prompt" not in _page(world)
    Rubric.objects.filter(run=world.run).update(origin="reader, prompt rubric.1", prompt_digest="ab12" * 16)
    Run.objects.filter(pk=world.run.pk).update(
        grouping_origin="reader, prompt grouping.1", grouping_digest="cd34" * 16
    )
    page = _page(world)
    assert "reader, prompt rubric.1" in page
    assert ">ab12ab12ab12<" in page
    assert "reader, prompt grouping.1" in page
    assert ">cd34cd34cd34<" in page
