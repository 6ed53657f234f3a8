"""Simulated models in the real loop, with the real tools."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import lru_cache

import pytest

from lseval.agent.loop import run_agent
from lseval.agent.run import AgentRun
from lseval.agent.schemas import tool_schemas
from lseval.domain.chat import ChatRequest, Endpoint, Message
from lseval.domain.controls import Controls
from lseval.domain.grouping import group_answer
from lseval.domain.labels import GroupLabel
from lseval.domain.rounds import normalize_rounds
from lseval.domain.skipping import skip_reasons
from lseval.domain.taxonomy import ErrorType
from lseval.domain.web import Fetch
from lseval.errors import InputError
from lseval.providers.errors import RequestRefusedError
from lseval.sandbox.answers import title_of
from lseval.sandbox.fetching import fetcher
from lseval.sandbox.model import SimulatedModel
from lseval.sandbox.plans import Plan, plan_of
from lseval.sandbox.profiles import PROFILES, Profile, profile_of
from lseval.sandbox.search import index_of
from lseval.sandbox.web import Web
from lseval.sandbox.world import World, make_world

TASKS = 12


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(946, TASKS)


@lru_cache
def fetch_of(world: World) -> Fetch:
    """Fetches each page once, as snapshots do."""
    return lru_cache(maxsize=None)(fetcher(Web(world)))


def run_of(world: World, profile: Profile, number: int, controls: Controls | None = None) -> AgentRun:
    return run_agent(
        world.tasks[number].question,
        Endpoint("", profile.name),
        controls or Controls(),
        SimulatedModel(world, profile).reply,
        index_of(world).search,
        fetch_of(world),
    )


@pytest.fixture(scope="module")
def runs(world: World) -> list[tuple[Plan, AgentRun]]:
    """A run of each model."""
    return [
        (plan_of(world, profile, place % TASKS), run_of(world, profile, place % TASKS))
        for place, profile in enumerate(PROFILES)
    ]


def test_run_goes_as_planned_turn_by_turn(runs: list[tuple[Plan, AgentRun]]) -> None:
    for plan, run in runs:
        steps = plan.steps[: len(run.turns)]
        assert len(run.turns) == min(len(plan.steps), Controls().iterations)
        assert [turn.text for turn in run.turns] == [step.text for step in steps]
        for turn, step in zip(run.turns, steps, strict=True):
            assert [call.name for call in turn.tool_calls] == [call.name for call in step.calls]
        assert run.final_answer.strip() == plan.answer.strip()


def test_pages_are_read_by_the_identifiers_that_opening_them_gave(runs: list[tuple[Plan, AgentRun]]) -> None:
    """The only failed calls are those on pages that nobody can read, and searches after the searches ran out."""
    for _, run in runs:
        for turn in run.turns:
            for call in turn.tool_calls:
                if call.is_error:
                    assert "no readable text" in (call.observation or "") or call.name == "web_search"


def test_most_rounds_are_set_aside_before_judging(runs: list[tuple[Plan, AgentRun]]) -> None:
    """The paper sets 62% aside."""
    reasons: Counter[str] = Counter()
    for _, run in runs:
        reasons.update(str(reason) for reason in skip_reasons(normalize_rounds(run.turns)))
    share = 1 - reasons["None"] / reasons.total()
    assert 0.5 < share < 0.72
    assert {"listing_only", "tool_error", "duplicate"} <= set(reasons)


def test_same_run_again_sends_the_same_requests(world: World) -> None:
    seen: list[list[ChatRequest]] = [[], []]
    model = SimulatedModel(world, PROFILES[3])
    for requests in seen:

        def chat(request: ChatRequest, requests: list[ChatRequest] = requests) -> object:
            requests.append(request)
            return model.reply(request)

        run_agent(
            world.tasks[2].question,
            Endpoint("", "m"),
            Controls(),
            chat,  # type: ignore[arg-type]
            index_of(world).search,
            fetch_of(world),
        )
    assert seen[0] == seen[1]
    assert len(seen[0]) > 5


def test_answer_groups_are_the_planned_units_in_every_form() -> None:
    world = make_world(17, 40)
    plans = [plan_of(world, profile, number) for profile in PROFILES for number in range(0, 40, 2)]
    right = sum(
        [group.title for group in group_answer(plan.answer).groups] == [title_of(unit) for unit in plan.units]
        for plan in plans
    )
    assert right >= 0.99 * len(plans)
    methods = {group_answer(plan.answer).method for plan in plans}
    assert {"numbered_list", "table", "none"} <= methods


@pytest.mark.parametrize("profile", PROFILES[1::2], ids=lambda profile: profile.name)
def test_each_unit_cites_its_source_and_no_other(world: World, profile: Profile) -> None:
    for number in range(TASKS):
        plan = plan_of(world, profile, number)
        for unit, group in zip(plan.units, group_answer(plan.answer).groups, strict=True):
            urls = [cited.url for cited in group.citations if cited.url]
            assert urls == [url for url in (unit.source, unit.extra_source) if url]


def test_all_ten_types_are_injected_and_errors_explain_every_wrong_unit() -> None:
    world = make_world(5, 60)
    types: Counter[str] = Counter()
    for profile in PROFILES[::3]:
        for number in range(60):
            plan = plan_of(world, profile, number)
            for error in plan.errors:
                types[error.error_type] += 1
                assert 1 <= error.turn <= error.stated_turn <= len(plan.steps)
            for place, unit in enumerate(plan.units, start=1):
                errors = [error for error in plan.errors if place in error.units]
                if unit.source:
                    assert len(errors) == (unit.error_type is not None)
                    assert (unit.label == GroupLabel.CORRECT) == (unit.error_type is None)
    assert set(types) == {str(kind) for kind in ErrorType}


def test_stronger_profiles_are_right_more_often() -> None:
    world = make_world(5, 60)

    def right(profile: Profile) -> float:
        units = [unit for number in range(60) for unit in plan_of(world, profile, number).units]
        return sum(unit.label == GroupLabel.CORRECT for unit in units) / len(units)

    assert right(PROFILES[0]) > right(PROFILES[8]) + 0.1 > right(PROFILES[-1]) + 0.15


def test_rates_of_a_profile_are_those_stated() -> None:
    world = make_world(9, 100)
    profile = profile_of("any", {"right": 1.0, "unreadable": 0.0, "passing": 0.0, "invalid": 0.0, "supplied": 1.0})
    plans = [plan_of(world, profile, number) for number in range(100)]
    assert not any(plan.errors for plan in plans)
    assert all(unit.label == GroupLabel.CORRECT for plan in plans for unit in plan.units)
    assert all(len(plan.units) >= task.required for plan, task in zip(plans, world.tasks, strict=True))
    only = {kind: 0.0 for kind in ErrorType if kind != ErrorType.SOURCE_NOT_SUPPORTING}
    wrong = profile_of("any", {"right": 0.0, "unreadable": 0.0, "passing": 0.0, "invalid": 0.0, "weights": only})
    kinds = {error.error_type for number in range(20) for error in plan_of(world, wrong, number).errors}
    assert kinds == {"source_not_supporting"}


def test_endless_run_is_asked_for_an_answer_when_its_budget_is_spent(world: World) -> None:
    profile = profile_of("any", {"endless": 1.0, "premature": 0.0, "invalid": 0.0})
    run = run_of(world, profile, 1, replace(Controls(), iterations=30))
    assert run.ended == "budget"
    assert run.is_final_only
    assert len(run.turns) == 30
    assert run.final_answer.strip() == plan_of(world, profile, 1).answer.strip()


def test_premature_run_reads_nothing(world: World) -> None:
    run = run_of(world, profile_of("any", {"premature": 1.0}), 1)
    assert run.final_answer
    assert {call.name for turn in run.turns for call in turn.tool_calls} == {"web_search"}


def test_invalid_final_has_no_source_and_its_units_cannot_be_verified(world: World) -> None:
    profile = profile_of("any", {"invalid": 1.0})
    kinds = set()
    for number in range(TASKS):
        plan = plan_of(world, profile, number)
        groups = group_answer(plan.answer).groups
        kinds.add(bool(groups))
        assert not any(cited.url for group in groups for cited in group.citations)
        assert len(groups) == len(plan.units)
        assert all(unit.label == GroupLabel.UNVERIFIABLE for unit in plan.units)
    assert kinds == {True, False}


def test_other_questions_are_refused(world: World) -> None:
    request = ChatRequest(Endpoint("", "m"), (Message("user", "Who was it?"),), tool_schemas(Controls()))
    with pytest.raises(RequestRefusedError, match="made-up world"):
        SimulatedModel(world, PROFILES[0]).reply(request)


def test_reply_tells_its_tokens(world: World) -> None:
    question = Message("user", world.tasks[0].question)
    reply = SimulatedModel(world, PROFILES[0]).reply(
        ChatRequest(Endpoint("", "m"), (question,), tool_schemas(Controls()))
    )
    assert reply.usage.input_tokens == len(question.content) // 4
    assert reply.usage.cached_tokens == 0
    assert reply.usage.output_tokens
    assert json.loads(reply.tool_calls[0].arguments)["query"]


@pytest.mark.parametrize(
    "given",
    [{"skill": 1}, {"right": "much"}, {"right": True}, {"weights": {"typo": 1}}, {"name": "x"}, {"right": -1}],
)
def test_wrong_profile_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(InputError, match="profile"):
        profile_of("Alder-5", given)
