"""Agreement of any number of raters with missing labels: Krippendorff's alpha, and the rater-by-rater matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats import nominal
from agreement.stats.bootstrap import Part, Resampling
from agreement.stats.draws import Draw
from agreement.stats.label_block import label_part, share_estimate
from agreement.stats.products import product
from agreement.stats.tasks import task_indices
from agreement.stats.undefined import Estimate, Undefined, Value, plain

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Label: TypeAlias = Hashable | None


def label_counts(units: Iterable[Sequence[Label]]) -> Ints:
    """How often each unit got each label (units by distinct labels, in order of appearance); None is no label."""
    codes: dict[Hashable, int] = {}
    rows: list[list[int]] = []
    for unit in units:
        rows.append([codes.setdefault(label, len(codes)) for label in unit if label is not None])
    counts = np.zeros((len(rows), len(codes)), dtype=np.int64)
    for index, row in enumerate(rows):
        np.add.at(counts[index], row, 1)
    return counts


def nominal_alpha(units: Iterable[Sequence[Label]]) -> Value:
    """Krippendorff's alpha for nominal labels, any number of raters and missing labels (None).

    `units` holds one sequence of labels per item. An item with fewer than two labels cannot be paired and does not
    count. Undefined where no item can be paired, and where all labels that can are the same. Krippendorff (2004).
    """
    counts = label_counts(units)
    paired = counts[counts.sum(axis=1) >= 2]
    if len(paired) == 0:
        return Undefined("no item has labels from two raters")
    value = float(_alpha(paired, np.ones((len(paired), 1)))[0])
    return Undefined("all labels are the same, so no disagreement is expected") if np.isnan(value) else value


def _alpha(profiles: Ints, counts: Floats) -> Floats:
    """Alpha for units of the given label counts, each occurring `counts` times (profiles by weightings)."""
    raters = profiles.sum(axis=1)
    disagreeing = (profiles * (raters[:, None] - profiles)).sum(axis=1) / (raters - 1)
    sums = product(np.vstack([disagreeing, profiles.T]).astype(np.float64), counts)
    observed, totals = sums[0], sums[1:]
    n = totals.sum(axis=0)
    expected = (totals * (n - totals)).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - (n - 1) * observed / expected, np.nan)


def alpha_estimate(
    units: Sequence[Sequence[Label]], tasks: Sequence[object], how: Resampling | None = None, bca: bool = False
) -> Estimate:
    """`nominal_alpha` with a task-cluster interval; `tasks` names each unit's task. `n` counts the paired items."""
    how = how or Resampling()
    counts = label_counts(units)
    paired = counts.sum(axis=1) >= 2
    clusters = range(len(tasks)) if how.unit == "row" else tasks
    task, n_tasks = task_indices([cluster for cluster, keep in zip(clusters, paired, strict=True) if keep])
    profiles, code = np.unique(counts[paired], axis=0, return_inverse=True)
    part = Part("a", code.reshape(-1), task, len(profiles), lambda weights: {"alpha": _alpha(profiles, weights)})
    draw = Draw.of([part], n_tasks, how, bca)
    return draw.estimate("a", "alpha", nominal_alpha(units), n=int(paired.sum()), clusters=n_tasks)


def rater_matrix(
    labels: Mapping[str, Mapping[str, str]],
    tasks: Mapping[str, object],
    categories: Sequence[str],
    how: Resampling | None = None,
) -> list[dict[str, Any]]:
    """One JSON-able entry per pair of raters: how many items both labelled, the matrix, the coefficients.

    `labels[rater][item]` is a label of `categories`; `tasks[item]` the item's task. Raters are paired in the order
    given, the first in the matrix's rows. A pair with no common item is there too, undefined.
    """
    how = how or Resampling()
    position = {category: index for index, category in enumerate(categories)}
    entries = []
    for first, second in combinations(labels, 2):
        common = [item for item in labels[first] if item in labels[second]]
        matrix = nominal.confusion_matrix(((labels[first][i], labels[second][i]) for i in common), categories)
        code = [position[labels[first][i]] * len(categories) + position[labels[second][i]] for i in common]
        clusters = range(len(common)) if how.unit == "row" else [tasks[item] for item in common]
        task, n_tasks = task_indices(clusters)
        part = label_part(np.array(code, dtype=np.int64), task, categories)
        draw = Draw.of([part], n_tasks, how)
        coefficients = {
            name: plain(draw.estimate(part.name, name, nominal.coefficient(name, matrix), len(common), n_tasks))
            for name in ("kappa", "alpha", "ac1")
        }
        observed = share_estimate("observed", nominal.observed_agreement(matrix), part, categories, draw)
        entries.append(
            {
                "first": first,
                "second": second,
                "n": len(common),
                "matrix": matrix.tolist(),
                "observed": plain(observed),
                **coefficients,
            }
        )
    return entries
