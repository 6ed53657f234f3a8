"""Scores of a response from the labels of its answer groups, exactly; and the agreement of two scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.bootstrap import Part, Resampling, jackknife, replicates
from agreement.stats.cells import STATISTICS, PairCells, evaluate, points, recode, recode_exact
from agreement.stats.estimates import estimate
from agreement.stats.exact import canonical, check_sizes
from agreement.stats.tasks import task_indices
from agreement.stats.undefined import Estimate
from lseval.errors import InputError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

LABELS = ("C", "I", "U")
SCORES = ("as", "ap", "upper")


def response_scores(required: int, labels: Iterable[str]) -> tuple[Fraction, Fraction, Fraction]:
    """Answer Score, Answer Precision and Upper Score of one response, as exact fractions.

    With k groups required and N supplied, of which C correct and U unverifiable: AS is 100 min(C, k) / k, AP is
    C / N (0 for N = 0), Upper is 100 min(C + U, k) / k. Raises `InputError` for k < 1 and for a label other than C,
    I and U: a response with an unlabelled group has no score.
    """
    if required < 1:
        raise InputError(f"A response needs a required count of at least 1 to be scored; got {required}.")
    counts = dict.fromkeys(LABELS, 0)
    for label in labels:
        if label not in counts:
            raise InputError(f"A response is scored from the labels C, I and U; got {label!r}.")
        counts[label] += 1
    supplied = sum(counts.values())
    return (
        Fraction(100 * min(counts["C"], required), required),
        Fraction(counts["C"], supplied) if supplied else Fraction(0),
        Fraction(100 * min(counts["C"] + counts["U"], required), required),
    )


def score_arrays(required: Ints, correct: Ints, unverifiable: Ints, supplied: Ints) -> dict[str, Floats]:
    """`response_scores` of many responses at once, each the double nearest to the exact fraction.

    One division of two integers each, so equal fractions are equal doubles.
    """
    return {
        "as": 100 * np.minimum(correct, required) / required,
        "ap": np.where(supplied > 0, correct / np.maximum(supplied, 1), 0.0),
        "upper": 100 * np.minimum(correct + unverifiable, required) / required,
    }


def pair_part(name: str, cells: PairCells, task: Ints, names: Sequence[str]) -> Part:
    """A pair of scores as a part of a bootstrap."""
    return Part(name, cells.code, task, cells.n_cells, lambda counts: evaluate(cells, counts, names))


def pair_statistics(
    first: Sequence[float | Fraction] | Floats,
    second: Sequence[float | Fraction] | Floats,
    tasks: Sequence[object],
    how: Resampling | None = None,
    names: Sequence[str] = STATISTICS,
    bca: bool = False,
) -> dict[str, Estimate]:
    """The agreement of two scores of the same responses, with task-cluster intervals.

    Fractions are exact: equal ones tie and others never do. Doubles are taken as `exact.canonical` takes them.
    `bias` is first minus second. Pairs in which either is NaN are left out; each estimate's `n` counts the rest.
    With `how.unit` of `row` every response is drawn for itself. Raises `InputError` for lists of unequal length.
    """
    if not len(first) == len(second) == len(tasks):
        raise InputError("The two scores and the tasks are three equally long lists, one entry per response.")
    how = how or Resampling()
    x, y = canonical(first), canonical(second)
    check_sizes(x)
    check_sizes(y)
    kept = ~(np.isnan(x) | np.isnan(y))
    if any(isinstance(value, Fraction) for side in (first, second) for value in side):
        cells = recode_exact(*([v for v, keep in zip(side, kept, strict=True) if keep] for side in (first, second)))
    else:
        cells = recode(x[kept], y[kept])
    clusters = range(len(tasks)) if how.unit == "row" else tasks
    task, n_tasks = task_indices([cluster for cluster, keep in zip(clusters, kept, strict=True) if keep])
    part = pair_part("pair", cells, task, names)
    values = points(cells, names)
    drawn = replicates([part], n_tasks, how)["pair"] if n_tasks > 1 else None
    left_out = jackknife([part], n_tasks)["pair"] if bca and n_tasks > 1 else None
    return {
        name: estimate(
            values[name],
            drawn[name] if drawn else None,
            how,
            n=len(task),
            clusters=n_tasks,
            left_out=left_out[name] if left_out else None,
        )
        for name in names
    }
