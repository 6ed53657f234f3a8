"""How many more labels give an interval of a wanted half-width.

Every plan extrapolates from what has been labelled so far and says so in `assumes`. Planning is by whole tasks,
since that is what is drawn; the labels are what the tasks have brought so far on average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from agreement.stats.proportions import cluster_variance, effective_interval
from agreement.stats.quantiles import student_quantile
from agreement.stats.undefined import Interval, Undefined, Value, check_level, plain
from lseval.errors import InputError

MOST_TASKS = 1_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What it takes: tasks and labels in all and beyond the present, with the half-widths now and then."""

    half_width_now: Value
    half_width_then: float
    tasks: int
    more_tasks: int
    labels: int
    more_labels: int
    assumes: str

    def as_dict(self) -> dict[str, Any]:
        """JSON-able fields."""
        return {
            "half_width_now": plain(self.half_width_now),
            "half_width_then": self.half_width_then,
            "tasks": self.tasks,
            "more_tasks": self.more_tasks,
            "labels": self.labels,
            "more_labels": self.more_labels,
            "assumes": self.assumes,
        }


def plan_proportion(
    successes: ArrayLike, trials: ArrayLike, half_width: float, level: float = 0.95
) -> Plan | Undefined:
    """The plan for a share, such as agreement or link precision, from the counts of each task labelled so far.

    The share, its spread between tasks and the labels per task are taken to stay as they are; the interval is that
    of `proportions.cluster_interval`. Undefined for fewer than two tasks. Raises `InputError` for a half-width
    outside (0, 0.5).
    """
    check_level(level)
    if not 0 < half_width < 0.5:
        raise InputError(f"The half-width of a share lies between 0 and 0.5; got {half_width}.")
    variance = cluster_variance(successes, trials)
    if isinstance(variance, Undefined):
        return variance
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    tasks, labels = int((n > 0).sum()), float(n.sum())
    p = float(k.sum()) / labels

    def width(of_tasks: int) -> float:
        scaled = of_tasks / tasks
        low, high = effective_interval(p, variance / scaled, labels * scaled, of_tasks, level)
        return (high - low) / 2

    needed = _first(width, half_width, tasks)
    if needed is None:
        return Undefined(f"more than {MOST_TASKS} tasks would be needed")
    return _plan(width(tasks), width(needed), needed, tasks, labels, "the share and its spread between tasks stay")


def plan_mean(values: ArrayLike, half_width: float, labels: int, level: float = 0.95) -> Plan | Undefined:
    """The plan for a mean of one value per task, such as a model's human score, by Student's interval.

    `labels` is how many labels the values took. Undefined for fewer than two tasks or values that do not differ.
    Raises `InputError` for a half-width of 0 or less.
    """
    check_level(level)
    _check_half_width(half_width)
    spread = np.asarray(values, dtype=np.float64)
    tasks = len(spread)
    if tasks < 2:
        return Undefined("at least two tasks are needed to see how much they differ")
    deviation = float(spread.std(ddof=1))
    if deviation == 0:
        return Undefined("the tasks do not differ so far, which says nothing of the next")

    def width(of_tasks: int) -> float:
        return student_quantile(level, of_tasks - 1) * deviation / math.sqrt(of_tasks)

    needed = _first(width, half_width, tasks)
    if needed is None:
        return Undefined(f"more than {MOST_TASKS} tasks would be needed")
    return _plan(width(tasks), width(needed), needed, tasks, labels, "the spread between tasks stays")


def plan_any(interval: Interval, tasks: int, labels: int, half_width: float) -> Plan | Undefined:
    """The plan for any statistic with an interval over tasks, by the root-n law; a rough one for skewed intervals.

    Undefined where the interval is. Raises `InputError` for a half-width of 0 or less or fewer than one task.
    """
    _check_half_width(half_width)
    if tasks < 1:
        raise InputError("A plan starts from at least one labelled task.")
    if isinstance(interval, Undefined):
        return interval
    now = (interval[1] - interval[0]) / 2
    if now <= 0:
        return Undefined("the present interval has no width to go by")
    # The small allowance keeps rounding from asking for one task more than the law does.
    needed = max(tasks, math.ceil(tasks * (now / half_width) ** 2 * (1 - 1e-12)))
    if needed > MOST_TASKS:
        return Undefined(f"more than {MOST_TASKS} tasks would be needed")
    then = now * math.sqrt(tasks / needed)
    return _plan(now, then, needed, tasks, labels, "the interval narrows with the root of the number of tasks")


def _check_half_width(half_width: float) -> None:
    if not half_width > 0:
        raise InputError(f"The wanted half-width is above 0; got {half_width}.")


def _first(width: Any, wanted: float, start: int) -> int | None:
    """The fewest tasks, from `start`, whose interval is narrow enough; widths fall as tasks are added."""
    if width(start) <= wanted:
        return start
    low, high = start, start * 2
    while width(high) > wanted:
        low, high = high, high * 2
        if low > MOST_TASKS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if width(middle) <= wanted else (middle, high)
    return high if high <= MOST_TASKS else None


def _plan(now: float, then: float, needed: int, tasks: int, labels: float, assumes: str) -> Plan:
    total = math.ceil(labels * needed / tasks - 1e-9)
    return Plan(
        half_width_now=now,
        half_width_then=then,
        tasks=needed,
        more_tasks=needed - tasks,
        labels=total,
        more_labels=total - int(labels),
        assumes=f"{assumes}; {labels / tasks:.3g} labels a task",
    )
