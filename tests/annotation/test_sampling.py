"""Drawing by whole responses, on plain numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.sampling import (
    GROUP,
    LINK,
    ROUND,
    FrameRun,
    Plan,
    Sample,
    draw,
    expected_by_family,
    frame_summary,
)
from lseval.errors import InputError


def frame_of(tasks: int, families: str, *, rounds: int = 3, groups: int = 2) -> list[FrameRun]:
    """One run per task and letter of `families`; ids of groups and rounds follow from the run's.

    Ids and keys are in the same order.
    """
    runs = []
    for task in range(1, tasks + 1):
        for place, family in enumerate(families):
            pk = task * 100 + place
            run_groups = tuple(pk * 10 + number for number in range(groups))
            run_rounds = tuple(pk * 10 + number for number in range(rounds))
            links = tuple((found, run_groups[0]) for found in run_rounds[:1]) if run_groups else ()
            runs.append(FrameRun(pk, f"t{task:03}", f"m{place:02}", family, run_groups, run_rounds, links))
    return runs


def told_without_ids(frame: Sequence[FrameRun], sample: Sample) -> list[tuple[object, ...]]:
    """The items of a sample by task, model and place in the run, with the places that each role has them at."""
    by_id = {run.id: run for run in frame}
    told = []
    for place, item in enumerate(sample.items):
        run = by_id[item.run]
        group = None if item.group is None else run.groups.index(item.group)
        found = None if item.round is None else run.rounds.index(item.round)
        in_h2 = sample.h2.index(place) if place in sample.h2 else None
        told.append((item.kind, run.task, run.model, group, found, item.probability, in_h2))
    return told


def as_if_come_in_another_order(frame: Sequence[FrameRun], seed: int) -> list[FrameRun]:
    """The same runs under other ids, as another database has them."""
    ids = list(range(1, len(frame) + 1))
    Random(seed).shuffle(ids)
    moved = []
    for pk, run in zip(ids, frame, strict=True):
        groups = {old: pk * 1000 + place for place, old in enumerate(run.groups)}
        rounds = {old: pk * 1000 + place for place, old in enumerate(run.rounds)}
        links = tuple((rounds[found], groups[group]) for found, group in run.links)
        moved.append(replace(run, id=pk, groups=tuple(groups.values()), rounds=tuple(rounds.values()), links=links))
    return moved


def runs_of(sample: Sample, kind: str = GROUP) -> set[int]:
    return {item.run for item in sample.items if item.kind == kind}


def test_paper_plan_on_the_papers_frame() -> None:
    """From 16 models of 8 families on 100 tasks: 200 responses to H1, 40 of 20 tasks to H2, 100 trajectories."""
    sample = draw(frame_of(100, "AABBCCDDEEFFGGHH"), Plan(), 7)
    assert sample.drawn == {
        "tasks": 100,
        "responses": 200,
        "h2_tasks": 20,
        "h2_responses": 40,
        "round_trajectories": 100,
        "link_trajectories": 100,
    }
    # 2 groups a response, 3 rounds and 1 link a trajectory.
    assert sample.counts("H1") == {GROUP: 400, ROUND: 300, LINK: 100}
    assert sample.counts("H2") == {GROUP: 80, ROUND: 0, LINK: 0}
    tasks = Counter(run // 100 for run in runs_of(sample))
    assert set(tasks.values()) == {2}
    assert len({run // 100 for run in runs_of(sample, ROUND)}) == 50


def test_whole_responses_are_drawn() -> None:
    frame = frame_of(6, "ABC", groups=3)
    sample = draw(frame, Plan(tasks=4), 1)
    for run in frame:
        drawn = [item.group for item in sample.items if item.run == run.id and item.kind == GROUP]
        assert drawn in ([], list(run.groups))


def test_h2_gets_every_group_of_its_responses_and_nothing_else() -> None:
    sample = draw(frame_of(10, "ABC"), Plan(h2_tasks=3), 5)
    second = [sample.items[place] for place in sample.h2]
    tasks = {item.run // 100 for item in second}
    assert len(tasks) == 3
    assert {item.group for item in second} == {
        item.group for item in sample.items if item.kind == GROUP and item.run // 100 in tasks
    }
    assert {item.kind for item in second} == {GROUP}


def test_same_seed_draws_the_same_whatever_the_order_of_the_frame() -> None:
    frame = frame_of(8, "AABC")
    assert draw(frame, Plan(tasks=5), 3) == draw(frame[::-1], Plan(tasks=5), 3)
    assert draw(frame, Plan(tasks=5), 3) != draw(frame, Plan(tasks=5), 4)


@pytest.mark.parametrize("seed", range(5))
def test_same_seed_draws_the_same_in_whatever_order_the_runs_came_in(seed: int) -> None:
    """Runs are collected by several threads, so their ids follow an order that is another one each time."""
    frame = frame_of(8, "AABC")
    plan = Plan(tasks=5, round_trajectories=4, link_trajectories=6)
    expected = told_without_ids(frame, draw(frame, plan, seed))
    for order in range(3):
        moved = as_if_come_in_another_order(frame, order)
        assert told_without_ids(moved, draw(moved, plan, seed)) == expected
        assert frame_summary(moved) == frame_summary(frame)


def test_a_known_seed_keeps_its_sample() -> None:
    """Stored audits can only be drawn again if nobody changes how numbers are used up."""
    sample = draw(frame_of(5, "ABC", groups=1), Plan(tasks=3, h2_tasks=1, round_trajectories=0), 2024)
    assert [item.run for item in sample.items if item.kind == GROUP] == [300, 502, 100, 301, 102, 501]


@pytest.mark.parametrize("families", ["ABCD", "AABBCCDD", "ABCDEFGH"])
def test_families_are_balanced(families: str) -> None:
    """20 tasks, 2 responses each: every family gives 40 / F of them, whichever way its models are counted."""
    for seed in range(5):
        sample = draw(frame_of(20, families), Plan(), seed)
        found = Counter(families[run % 100] for run in runs_of(sample))
        assert set(found.values()) == {40 // len(set(families))}, (seed, found)


def test_any_two_families_can_meet_on_a_task() -> None:
    pairs = set()
    for seed in range(10):
        by_task: dict[int, set[str]] = {}
        for run in runs_of(draw(frame_of(20, "ABCD"), Plan(), seed)):
            by_task.setdefault(run // 100, set()).add("ABCD"[run % 100])
        pairs |= {"".join(sorted(pair)) for pair in by_task.values()}
    assert pairs == {"AB", "AC", "AD", "BC", "BD", "CD"}


def test_inclusion_probability_is_the_share_of_seeds_that_draw_the_item() -> None:
    """Families of 3, 1 and 1 models, 2 of 5 responses on 2 of 4 tasks.

    Expected per family 2/3, so a run of the family of 3 has 2/9 on a drawn task and 1/9 in all; one of the others
    2/3 and 1/3. A round: 1 of the 2 drawn tasks' trajectories is labeled, so half of that.
    """
    frame = frame_of(4, "AAABC", groups=1, rounds=1)
    plan = Plan(tasks=2, round_trajectories=2, link_trajectories=0)
    seeds = 3000
    drawn: Counter[tuple[str, int]] = Counter()
    stored: dict[tuple[str, int], float] = {}
    for seed in range(seeds):
        for item in draw(frame, plan, seed).items:
            drawn[item.kind, item.run] += 1
            stored[item.kind, item.run] = item.probability
    for run in frame:
        expected = 1 / 9 if run.family == "A" else 1 / 3
        assert stored[GROUP, run.id] == pytest.approx(expected)
        assert stored[ROUND, run.id] == pytest.approx(expected / 2)
        # Within 4.5 standard errors of the mean of 3,000 draws.
        for kind, chance in ((GROUP, expected), (ROUND, expected / 2)):
            assert drawn[kind, run.id] / seeds == pytest.approx(chance, abs=4.5 * (chance / seeds) ** 0.5)


def test_expected_numbers_are_as_equal_as_the_sizes_allow() -> None:
    assert expected_by_family({"A": 1, "B": 2, "C": 5}, 6) == {"A": 1, "B": 2, "C": 3}
    assert expected_by_family({"A": 1, "B": 2, "C": 5}, 3) == {"A": 1, "B": 1, "C": 1}
    assert expected_by_family({"A": 1, "B": 4, "C": 4}, 4) == {"A": 1, "B": Fraction(3, 2), "C": Fraction(3, 2)}


def test_small_study_gives_all_it_has() -> None:
    sample = draw(frame_of(3, "AB"), Plan(), 0)
    assert len(runs_of(sample)) == 6
    assert {item.probability for item in sample.items} == {1.0}
    # A fifth of 3 tasks is less than one; H2 gets one task all the same.
    assert len({item.run // 100 for item in (sample.items[place] for place in sample.h2)}) == 1


def test_response_without_a_group_is_left_out_and_counted() -> None:
    frame = [FrameRun(1, "t1", "a", "A", ()), FrameRun(2, "t1", "b", "B", (20,))]
    sample = draw(frame, Plan(), 0)
    assert runs_of(sample) == {2}
    summary = frame_summary(frame)
    assert (summary["runs"], summary["runs_left_out"]) == (1, 1)


def test_nothing_to_label_draws_nothing() -> None:
    assert draw([FrameRun(1, "t1", "a", "A", ())], Plan(), 0).items == ()
    assert draw([], Plan(), 0).items == ()


def test_run_without_a_trajectory_gives_groups_only() -> None:
    sample = draw([FrameRun(1, "t1", "a", "A", (10,)), FrameRun(2, "t2", "a", "A", (20,), (5, 6))], Plan(), 0)
    assert {(item.kind, item.run) for item in sample.items} == {(GROUP, 1), (GROUP, 2), (ROUND, 2)}


def test_queue_keeps_responses_together_and_links_last() -> None:
    sample = draw(frame_of(6, "ABC"), Plan(), 9)
    for places in (sample.h1, sample.h2):
        items = [sample.items[place] for place in places]
        kinds = [item.kind for item in items]
        assert kinds == sorted(kinds, key=[GROUP, ROUND, LINK].index)
        for kind in set(kinds):
            runs = [item.run for item in items if item.kind == kind]
            changes = sum(first != second for first, second in pairwise(runs))
            assert changes == len(set(runs)) - 1


def test_h1_and_h2_meet_the_responses_in_different_orders() -> None:
    sample = draw(frame_of(20, "AB"), Plan(h2_tasks=20), 1)
    first = [sample.items[place].run for place in sample.h1 if sample.items[place].kind == GROUP]
    assert [sample.items[place].run for place in sample.h2] != first


def test_digest_tells_frames_apart() -> None:
    frame = frame_of(2, "AB")
    digest = frame_summary(frame)["digest"]
    assert frame_summary(frame[::-1])["digest"] == digest
    assert frame_summary(frame[:-1])["digest"] != digest
    more = replace(frame[0], groups=(*frame[0].groups, 1))
    other_links = replace(frame[0], links=((frame[0].rounds[1], frame[0].groups[0]),))
    for changed in (more, other_links, replace(frame[0], model="other"), replace(frame[0], family="other")):
        assert frame_summary([changed, *frame[1:]])["digest"] != digest


@pytest.mark.parametrize(
    "wrong", [{"tasks": 0}, {"responses_per_task": 0}, {"h2_tasks": -1}, {"link_trajectories": -1}]
)
def test_plan_refuses_impossible_numbers(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError):
        Plan(**wrong)


def test_plan_comes_back_from_json() -> None:
    plan = Plan(tasks=3, h2_tasks=1)
    assert Plan.from_json({**plan.as_json(), "drawn": {"tasks": 3}}) == plan


@settings(max_examples=60, deadline=None)
@given(
    families=st.lists(st.text("ABCD", min_size=1, max_size=6), min_size=1, max_size=6),
    per_task=st.integers(1, 4),
    tasks=st.integers(1, 6),
    seed=st.integers(0, 2**63 - 1),
)
def test_every_draw_takes_the_wanted_number_from_each_task(
    families: list[str], per_task: int, tasks: int, seed: int
) -> None:
    """Tasks may have any number of models of any family."""
    frame = [
        FrameRun(task * 100 + place, str(task), str(place), family, (task * 1000 + place,))
        for task, letters in enumerate(families)
        for place, family in enumerate(letters)
    ]
    sample = draw(frame, Plan(tasks=tasks, responses_per_task=per_task), seed)
    found = Counter(run // 100 for run in runs_of(sample))
    assert len(found) == min(tasks, len(families))
    assert all(number == min(per_task, len(families[task])) for task, number in found.items())
    assert len({(item.kind, item.group, item.round) for item in sample.items}) == len(sample.items)
    assert all(0 < item.probability <= 1 for item in sample.items)
