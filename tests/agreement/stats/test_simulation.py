"""The simulations of the documentation can be run again and say what the documentation says."""

from __future__ import annotations

import importlib

levels = importlib.import_module("docs.simulations.levels")
coverage = importlib.import_module("docs.simulations.coverage")


def test_task_intervals_hold_the_truth_more_often_when_responses_are_alike() -> None:
    lines = {line.statistic: line for line in coverage.simulate(tasks=30, alike=True, studies=60, resamples=200)}
    assert len(lines) == len(coverage.STATISTICS)
    for line in lines.values():
        assert line.by_task > line.by_row
        assert line.width_by_task > 1.3 * line.width_by_row
    # 95% of 60 studies with a standard error of 3%.
    assert lines["bias, AS"].by_task > 0.85 > lines["bias, AS"].by_row


def test_simulation_gives_the_same_numbers_again() -> None:
    one, other = (list(coverage.simulate(tasks=10, alike=False, studies=4, resamples=50)) for _ in range(2))
    assert one == other


def test_the_leaderboard_holds_its_level_on_few_tasks_and_a_bootstrap_does_not() -> None:
    for models, tasks in ((2, 6), (4, 6), (4, 20)):
        line = levels.leaderboards(models, tasks, uneven=False, studies=300)
        # 5% of 300 with a standard error of 1.3%.
        assert line.ours <= 0.09
        assert line.bootstrap > line.ours
    assert levels.leaderboards(2, 20, uneven=True, studies=20) == levels.leaderboards(
        2, 20, uneven=True, studies=20
    )


def test_a_trend_shows_about_as_often_as_it_may_where_there_is_none() -> None:
    line = levels.trends(tasks=6, alike=False, studies=200)
    assert line.ours <= 0.09
    assert levels.trends(tasks=3, alike=True, studies=200).bootstrap > 0.09
