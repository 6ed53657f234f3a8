"""The chance to be in an audit after several draws: by hand, against the draw itself, and over a whole study."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from annotation import administration
from annotation.draw_chances import Step, chances_over_draws
from annotation.draws import group_chances
from annotation.models import Extension
from annotation.sampling import FrameRun, Plan, draw, expected_by_family
from tests.annotation.making import Made, make_audit
from tests.factories import make_run

CERTAIN = Fraction(1)


def step(chance: Fraction = CERTAIN, wanted: int = 1, *, new: bool = True) -> Step:
    return Step(chance, new, wanted)


class TestByHand:
    def test_one_draw_is_the_tasks_chance_times_that_within_the_task(self) -> None:
        sizes = {"a": 1, "b": 2, "c": 5}
        for wanted in range(1, 9):
            expected = expected_by_family(sizes, wanted)
            found = chances_over_draws(sizes, [step(Fraction(2, 5), wanted)])
            assert found == {name: Fraction(2, 5) * expected[name] / size for name, size in sizes.items()}

    def test_two_draws_of_tasks_are_as_one_draw_of_both(self) -> None:
        # 2 of 5 tasks, then 2 of the 3 that are left: 4 of 5, and 1 of 2 responses on each.
        found = chances_over_draws({"a": 1, "b": 1}, [step(Fraction(2, 5)), step(Fraction(2, 3))])
        assert found == {"a": Fraction(2, 5), "b": Fraction(2, 5)}

    def test_responses_that_are_left_on_a_drawn_task(self) -> None:
        # Of 4 families with one response each, 1 is drawn and then 2 of the 3 others: 3 of 4.
        found = chances_over_draws(dict.fromkeys("abcd", 1), [step(), step(wanted=2, new=False)])
        assert set(found.values()) == {Fraction(3, 4)}

    def test_families_of_other_sizes(self) -> None:
        # a has 1 response, b has 2. The first draw takes 1: from a or from b with 1/2 each. If from a, b gives the
        # second; if from b, a and b have 1 each, and each gives it with 1/2.
        # a: 1/2 + 1/2 * 1/2 = 3/4. b: (1/2 * 1 + 1/2 * (1 + 1/2)) / 2 = 5/8. Together 3/4 + 2 * 5/8 = 2, as drawn.
        found = chances_over_draws({"a": 1, "b": 2}, [step(), step(new=False)])
        assert found == {"a": Fraction(3, 4), "b": Fraction(5, 8)}

    def test_task_that_came_later_could_not_be_drawn_before(self) -> None:
        found = chances_over_draws({"a": 1}, [step(Fraction(0)), step(Fraction(1, 3))])
        assert found == {"a": Fraction(1, 3)}

    def test_everything_is_certain_once_all_is_drawn(self) -> None:
        steps = [step(wanted=2), step(wanted=2, new=False), step(wanted=9, new=False), step(wanted=1, new=False)]
        assert set(chances_over_draws({"a": 3, "b": 1, "c": 2}, steps).values()) == {Fraction(1)}

    def test_expected_number_is_what_the_draws_take(self) -> None:
        sizes = {"a": 1, "b": 2, "c": 2, "d": 4}
        found = chances_over_draws(sizes, [step(Fraction(1, 2), 3), step(Fraction(1), 2)])
        # A task is drawn first with 1/2 and gives 3; else it is drawn second and gives 2.
        assert sum(found[name] * size for name, size in sizes.items()) == Fraction(3 + 2, 2)


def test_chances_are_those_of_the_draw_over_many_seeds() -> None:
    """Two draws of tasks, then one of what is left on them; the share of 3,000 seeds beside the exact chance."""
    families = {"a": 1, "b": 1, "c": 3}
    frame, number = [], 0
    for task in range(4):
        for family, size in families.items():
            for _ in range(size):
                number += 1
                frame.append(FrameRun(number, f"t{task}", f"m{number}", family, (number,)))
    plan = Plan(tasks=2, responses_per_task=2, h2_tasks=0, link_trajectories=0, round_trajectories=0)
    last = Plan(tasks=3, responses_per_task=1, h2_tasks=0, link_trajectories=0, round_trajectories=0)
    seeds = 3000
    taken: Counter[str] = Counter()
    for seed in range(seeds):
        drawn: set[int] = set()
        for each, place in ((plan, 0), (plan, 1), (last, 2)):
            tasks = {run.task for run in frame if run.id in drawn}
            left = [run for run in frame if (run.task not in tasks if place < 2 else run.id not in drawn)]
            drawn |= {item.run for item in draw(left, each, 3 * seed + place).items}
        taken.update(run.family for run in frame if run.id in drawn)
    steps = [step(Fraction(1, 2), 2), step(CERTAIN, 2), step(Fraction(3, 4), 1, new=False)]
    exact = chances_over_draws(families, steps)
    for family, size in families.items():
        # At most four standard deviations of a share of 3,000 * 4 * size, those on a task being no more alike.
        found = taken[family] / (seeds * 4 * size)
        assert abs(found - float(exact[family])) < 4 * 0.5 / (seeds * 4) ** 0.5


@pytest.mark.django_db
class TestAudits:
    SMALL = Plan(tasks=2, responses_per_task=1, h2_tasks=1, link_trajectories=0, round_trajectories=0)

    def extended(self, made: Made, times: int = 1) -> None:
        for _ in range(times):
            administration.extend_audit(made.audit, made.lead)

    def test_single_draw_keeps_what_is_stored(self) -> None:
        made = make_audit(self.SMALL, tasks=5)
        found = group_chances(made.audit)
        assert set(found.by_run.values()) == {0.2}
        assert (found.draws, found.is_exact) == (1, True)

    def test_extended_audit_states_the_chance_of_being_in_it_at_all(self) -> None:
        made = make_audit(self.SMALL, tasks=5)
        self.extended(made)
        found = group_chances(made.audit)
        # 4 of 5 tasks and 1 of 2 responses on each, whichever draw a response came with.
        assert found.by_run.keys() == set(made.audit.items.values_list("run_id", flat=True))
        assert list(found.by_run.values()) == pytest.approx([0.4] * 4)
        assert (found.draws, found.is_exact) == (2, True)
        # What is stored is that of the draw: 1/5 and, given the first, 1/3.
        assert sorted(set(made.audit.items.values_list("inclusion_probability", flat=True))) == pytest.approx(
            [0.2, 1 / 3]
        )

    def test_audit_that_holds_everything_is_certain(self) -> None:
        made = make_audit(self.SMALL, tasks=3)
        self.extended(made, 3)
        found = group_chances(made.audit)
        assert len(found.by_run) == 6
        assert set(found.by_run.values()) == {1.0}
        assert found.is_exact

    def test_weights_sum_to_the_study_on_average(self) -> None:
        """Horvitz and Thompson: the mean over seeds of the sum of 1 / chance is the number of responses, 10."""
        made = make_audit(self.SMALL, tasks=5)
        self.extended(made)
        found = group_chances(made.audit)
        # Every seed draws 4 responses here, so each of them gives 10 and not only their mean.
        assert sum(1 / chance for chance in found.by_run.values()) == pytest.approx(10)

    def test_runs_that_came_between_the_draws_make_it_inexact_and_say_so(self) -> None:
        made = make_audit(self.SMALL, tasks=5)
        for task in range(1, 6):
            make_run(made.study, f"t{task}", "late")
        self.extended(made)
        found = group_chances(made.audit)
        assert not found.is_exact
        assert all(0 < chance <= 1 for chance in found.by_run.values())

    def test_whole_new_tasks_between_the_draws_are_no_trouble(self) -> None:
        made = make_audit(self.SMALL, tasks=3)
        make_run(made.study, "t8", "m1")
        make_run(made.study, "t9", "m1")
        self.extended(made)
        found = group_chances(made.audit)
        assert found.is_exact
        # Of the first 3 tasks: 2/3, or else 2/3 of the 3 that are left then, so 8/9, and 1 of 2 responses.
        # Of the two new tasks: 2/3, and their only response.
        old = made.audit.items.filter(run__task__key__in=["t1", "t2", "t3"]).values_list("run_id", flat=True)
        for run, chance in found.by_run.items():
            assert chance == pytest.approx(4 / 9 if run in set(old) else 2 / 3)

    def test_runs_that_came_after_the_last_draw_change_nothing(self) -> None:
        made = make_audit(self.SMALL, tasks=5)
        self.extended(made)
        before = group_chances(made.audit)
        make_run(made.study, "t1", "late")
        assert Extension.objects.count() == 1
        assert group_chances(made.audit) == before

    def test_queries_do_not_grow_with_the_study(self, django_assert_max_num_queries) -> None:
        made = make_audit(self.SMALL, tasks=6)
        self.extended(made, 2)
        with django_assert_max_num_queries(4):
            group_chances(made.audit)
