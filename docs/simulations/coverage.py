"""How often a 95% interval holds the truth when the responses of a task are alike: whole tasks against single rows.

Studies are made up of tasks with four responses of five answer groups each. In the `alike` setting a task's
difficulty and the judge's error on it (how often, and in whose favour) are shared by its responses; in the other
they are drawn anew for each response. Every study is analysed twice, by drawing whole tasks and by drawing
responses one by one.

    python -m docs.simulations.coverage               # the table in docs/statistics.md, half a minute
    python -m docs.simulations.coverage --studies 50  # a quick look
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.bootstrap import Part, Resampling, percentile_interval, replicates
from agreement.stats.cells import recode
from agreement.stats.label_block import label_part
from agreement.stats.scores import pair_part
from agreement.stats.undefined import Undefined

Bools: TypeAlias = NDArray[np.bool_]

SEED = 20250101
RESPONSES, GROUPS = 4, 5
TRUTH_TASKS = 200_000
STATISTICS = {
    "observed agreement": ("labels", "observed"),
    "Cohen's kappa": ("labels", "kappa"),
    "Pearson, AS": ("as", "pearson"),
    "tau-b, AS": ("as", "kendall_b"),
    "MAE, AS": ("as", "mae"),
    "bias, AS": ("as", "bias"),
}


@dataclass(frozen=True, slots=True)
class Coverage:
    """One line of the result: shares of studies whose interval held the truth, and the mean widths."""

    setting: str
    tasks: int
    statistic: str
    truth: float
    by_task: float
    by_row: float
    width_by_task: float
    width_by_row: float


def labels(rng: np.random.Generator, tasks: int, alike: bool) -> tuple[Bools, Bools]:
    """Automatic and human verdicts (correct or not), responses by groups, four responses of a task in a row."""
    units = tasks if alike else tasks * RESPONSES
    repeat = RESPONSES if alike else 1
    difficulty = np.repeat(rng.normal(0, 1.5, units), repeat)[:, None]
    error = np.repeat(rng.beta(0.6, 5.4, units), repeat)[:, None]
    generous = np.repeat(rng.random(units) < 0.5, repeat)[:, None]
    shape = (tasks * RESPONSES, GROUPS)
    human = rng.random(shape) < 1 / (1 + np.exp(-difficulty - rng.normal(0, 0.7, (shape[0], 1))))
    # A generous judge errs by calling wrong groups correct, a harsh one the other way round; twice the rate on one
    # side keeps the overall rate of errors at that of the task.
    errs = (rng.random(shape) < 2 * error) & (human != generous)
    return human ^ errs, human


def parts(automatic: Bools, human: Bools, unit: NDArray[np.int64]) -> list[Part]:
    """The labels' matrix and the Answer Scores of a study, as parts of one draw of `unit`, one per response."""
    code = (~automatic).astype(np.int64) * 2 + ~human
    score = recode(100.0 * automatic.sum(axis=1) / GROUPS, 100.0 * human.sum(axis=1) / GROUPS)
    return [
        label_part(code.ravel(), np.repeat(unit, GROUPS), ("C", "I")),
        pair_part("as", score, unit, ("pearson", "kendall_b", "mae", "bias")),
    ]


def truth(alike: bool) -> dict[str, float]:
    """Each statistic's value in a study so large that it stands for the population."""
    automatic, human = labels(np.random.default_rng(SEED), TRUTH_TASKS, alike)
    whole = parts(automatic, human, np.zeros(len(human), dtype=np.int64))
    values = {
        part.name: part.evaluate(np.bincount(part.code, minlength=part.n_cells).astype(np.float64)[:, None])
        for part in whole
    }
    return {label: float(values[part][name][0]) for label, (part, name) in STATISTICS.items()}


def simulate(tasks: int, alike: bool, studies: int, resamples: int) -> Iterator[Coverage]:
    """Coverage of both intervals over `studies` made-up studies of `tasks` tasks."""
    true = truth(alike)
    held = {unit: dict.fromkeys(STATISTICS, 0) for unit in ("task", "row")}
    width = {unit: dict.fromkeys(STATISTICS, 0.0) for unit in ("task", "row")}
    rng = np.random.default_rng([SEED, tasks, int(alike)])
    for study in range(studies):
        automatic, human = labels(rng, tasks, alike)
        row = np.arange(tasks * RESPONSES)
        for unit, index in (("task", row // RESPONSES), ("row", row)):
            drawn = replicates(parts(automatic, human, index), int(index[-1]) + 1, Resampling(resamples, study))
            for label, (part, name) in STATISTICS.items():
                interval, _ = percentile_interval(drawn[part][name], 0.95)
                if not isinstance(interval, Undefined):
                    held[unit][label] += interval[0] <= true[label] <= interval[1]
                    width[unit][label] += interval[1] - interval[0]
    for label in STATISTICS:
        yield Coverage(
            "alike" if alike else "not alike",
            tasks,
            label,
            true[label],
            held["task"][label] / studies,
            held["row"][label] / studies,
            width["task"][label] / studies,
            width["row"][label] / studies,
        )


def main() -> None:
    """Prints the table in Markdown."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--studies", type=int, default=1000)
    options.add_argument("--resamples", type=int, default=1000)
    chosen = options.parse_args()
    sys.stdout.write(
        "| responses of a task | tasks | statistic | truth | held, tasks drawn | held, rows drawn "
        "| width, tasks | width, rows |\n| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n"
    )
    for alike in (True, False):
        for tasks in (20, 100):
            for line in simulate(tasks, alike, chosen.studies, chosen.resamples):
                sys.stdout.write(
                    f"| {line.setting} | {line.tasks} | {line.statistic} | {line.truth:.3f} | {line.by_task:.1%} "
                    f"| {line.by_row:.1%} | {line.width_by_task:.3f} | {line.width_by_row:.3f} |\n"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
