"""How often a test of level 5% errs where there is nothing to find: models on the leaderboard, trends of people.

Models: every model has the same mean on every task; tasks differ in difficulty and in the required count. `alike`
models have the same distribution of scores; `uneven` ones alternate with models that find everything or nothing.
A study errs if any pair is told apart after Holm's correction, by Student's test (what the leaderboard prints) or
by a centred bootstrap of tasks.

Trends: a person labels tasks of eight groups one after the other, with the same chance of agreement throughout;
`alike` groups of a task share that chance, others have the same one everywhere. The 95% interval of tau-b of
agreement with the order errs if it lies off 0, by the jackknife (what the people page shows) or the bootstrap.

    python -m docs.simulations.levels               # the tables in docs/statistics.md, some three minutes
    python -m docs.simulations.levels --studies 50  # a quick look
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.bootstrap import Resampling, jackknife, percentile_interval, replicates
from agreement.stats.cells import points, recode
from agreement.stats.estimates import jackknife_estimate
from agreement.stats.leaderboard import holm, paired_p
from agreement.stats.scores import pair_part
from agreement.stats.undefined import Interval, Undefined, Value

Floats: TypeAlias = NDArray[np.float64]

SEED = 20250102
LEVEL = 0.05
RESAMPLES = 1000
GROUPS = 8
TAU = ("kendall_b",)


@dataclass(frozen=True, slots=True)
class Level:
    """Shares of studies that erred by our test and by the bootstrap; `models` is 0 for trends."""

    setting: str
    models: int
    tasks: int
    ours: float
    bootstrap: float


def scores(rng: np.random.Generator, models: int, tasks: int, uneven: bool) -> Floats:
    """Answer Scores, models by tasks, with equal means."""
    required, chance = rng.integers(1, 11, tasks), rng.random(tasks)
    steady = 100 * rng.binomial(required, chance, (models, tasks)) / required
    if uneven:
        steady[1::2] = 100 * (rng.random((models // 2, tasks)) < chance)
    return steady


def bootstrap_p(differences: Floats, times: Floats) -> list[Value]:
    """Per row of `differences` the share of resamples that stray from the mean as far as it does from 0."""
    mean = differences.mean(axis=1)[:, None]
    strays = np.abs(differences @ times - mean) >= np.abs(mean) - 1e-9
    return [float(p) for p in (1 + strays.sum(axis=1)) / (1 + times.shape[1])]


def errs(p_values: list[Value]) -> bool:
    """Whether Holm's correction leaves a p-value below the level."""
    return any(not isinstance(p, Undefined) and p < LEVEL for p in holm(p_values))


def leaderboards(models: int, tasks: int, uneven: bool, studies: int) -> Level:
    """The family-wise error over `studies` made-up leaderboards."""
    rng = np.random.default_rng([SEED, models, tasks, int(uneven)])
    first, second = np.array(list(combinations(range(models), 2))).T
    ours = drawn = 0
    for _ in range(studies):
        values = scores(rng, models, tasks, uneven)
        differences = values[first] - values[second]
        times = rng.multinomial(tasks, np.full(tasks, 1 / tasks), RESAMPLES).T / tasks
        ours += errs([paired_p(row) for row in differences])
        drawn += errs(bootstrap_p(differences, times))
    return Level("uneven" if uneven else "alike", models, tasks, ours / studies, drawn / studies)


def trends(tasks: int, alike: bool, studies: int) -> Level:
    """The share of intervals off 0, of those that exist, over `studies` people who do not change."""
    rng = np.random.default_rng([SEED, tasks, int(alike)])
    task = np.repeat(np.arange(tasks), GROUPS)
    found: dict[str, list[bool]] = {"ours": [], "bootstrap": []}
    for study in range(studies):
        chance = rng.beta(3, 0.5, tasks) if alike else np.full(tasks, 0.85)
        cells = recode(np.arange(len(task), dtype=np.float64), (rng.random(len(task)) < chance[task]).astype(float))
        part, point = pair_part("trend", cells, task, TAU), points(cells, TAU)["kendall_b"]
        left_out = jackknife([part], tasks)["trend"]["kendall_b"]
        drawn = replicates([part], tasks, Resampling(RESAMPLES, study))["trend"]["kendall_b"]
        intervals: dict[str, Interval] = {
            "ours": jackknife_estimate(point, left_out, len(task), 1 - LEVEL).interval,
            "bootstrap": percentile_interval(drawn, 1 - LEVEL)[0],
        }
        for name, interval in intervals.items():
            if not isinstance(interval, Undefined):
                found[name].append(not interval[0] <= 0 <= interval[1])
    return Level(
        "alike" if alike else "not alike", 0, tasks, *(sum(erred) / len(erred) for erred in found.values())
    )


def all_leaderboards(studies: int) -> Iterator[Level]:
    """Every line of the first table."""
    for uneven in (False, True):
        for models in (2, 4, 8):
            for tasks in (6, 20, 100):
                yield leaderboards(models, tasks, uneven, studies)


def main() -> None:
    """Prints both tables in Markdown."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--studies", type=int, default=2000)
    studies = options.parse_args().studies
    sys.stdout.write(
        "| models | how many | tasks | Student, Holm | bootstrap, Holm |\n| --- | ---: | ---: | ---: | ---: |\n"
    )
    for line in all_leaderboards(studies):
        sys.stdout.write(
            f"| {line.setting} | {line.models} | {line.tasks} | {line.ours:.1%} | {line.bootstrap:.1%} |\n"
        )
        sys.stdout.flush()
    sys.stdout.write("\n| groups of a task | tasks | jackknife | bootstrap |\n| --- | ---: | ---: | ---: |\n")
    for alike in (True, False):
        for tasks in (3, 6, 20, 60):
            line = trends(tasks, alike, studies // 2)
            sys.stdout.write(f"| {line.setting} | {line.tasks} | {line.ours:.1%} | {line.bootstrap:.1%} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
