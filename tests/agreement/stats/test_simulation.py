"""The coverage simulation of the documentation can be run again and says what the documentation says."""

from __future__ import annotations

import importlib

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
