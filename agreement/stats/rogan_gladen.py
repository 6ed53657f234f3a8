"""The Rogan-Gladen correction of a share of groups for the misclassification seen in an audit.

Reference: Rogan & Gladen (1978). It takes the rates of missing and inventing a label for the same everywhere, which
prediction-powered estimates do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.estimates import jackknife_estimate
from agreement.stats.undefined import Estimate, Undefined, Value, plain

Floats: TypeAlias = NDArray[np.float64]

METHOD = "Rogan-Gladen, delete-one-task jackknife, Student's t"


@dataclass(frozen=True, slots=True)
class Misclassification:
    """How the automatic verdict treats one label, pooled over the audit.

    `counts[task]` is 2 by 2, [automatic gives the label?][people give it?].
    """

    label: str
    counts: dict[str, Floats]

    @classmethod
    def of(cls, label: str, audited: Sequence[tuple[str, Sequence[str], Sequence[str]]]) -> Misclassification:
        """From (task, automatic labels, human labels) of the audited runs, the labels of the same groups."""
        counts: dict[str, Floats] = {}
        for task, automatic, human in audited:
            table = counts.setdefault(task, np.zeros((2, 2)))
            for one, other in zip(automatic, human, strict=True):
                table[int(one == label), int(other == label)] += 1
        return cls(label, counts)

    def corrected(self, flagged: Floats, groups: Floats, tasks: Sequence[str], level: float) -> dict[str, Any]:
        """The corrected share of the label among a model's groups, JSON-able.

        `flagged` of `groups` have the label automatically, per run; `tasks` names each run's task. The share may
        leave [0, 1], as may the ends of its interval. The variance leaves out one task at a time, from the model's
        runs and from the audit.
        """
        index = {task: k for k, task in enumerate(sorted(set(self.counts) | set(tasks)))}
        table, model = np.zeros((len(index), 2, 2)), np.zeros((len(index), 2))
        for task, counts in self.counts.items():
            table[index[task]] = counts
        for task, hits, size in zip(tasks, flagged, groups, strict=True):
            model[index[task]] += hits, size
        table_sum, model_sum = table.sum(axis=0), model.sum(axis=0)
        point = corrected_share(model_sum[0], model_sum[1], table_sum, self.label)
        n, m = int(groups.sum()), len(index)
        if isinstance(point, Undefined):
            return plain(Estimate(point, point, level, METHOD, n, m))
        left_out = [
            corrected_share(model_sum[0] - own[0], model_sum[1] - own[1], table_sum - part, self.label)
            for own, part in zip(model, table, strict=True)
        ]
        values = np.array([np.nan if isinstance(value, Undefined) else value for value in left_out])
        found: dict[str, Any] = plain(jackknife_estimate(point, values, n, level, METHOD))
        return found


def corrected_share(flagged: float, groups: float, table: Floats, label: str = "U") -> Value:
    """(q + specificity - 1) / (sensitivity + specificity - 1), with q = flagged / groups; it may leave [0, 1].

    `table` is 2 by 2, [automatic gives the label?][people give it?]. Undefined where the audit cannot show one of
    the two rates, or where they are together no better than chance.
    """
    if groups == 0:
        return Undefined("no group was supplied")
    with_label, without = float(table[:, 1].sum()), float(table[:, 0].sum())
    if with_label == 0 or without == 0:
        which = "none" if with_label == 0 else "all"
        return Undefined(f"people gave {which} of the audited groups the label {label}")
    sensitivity, specificity = float(table[1, 1]) / with_label, float(table[0, 0]) / without
    if sensitivity + specificity <= 1:
        return Undefined(f"the automatic verdict finds {label} no better than chance")
    return (float(flagged) / float(groups) + specificity - 1) / (sensitivity + specificity - 1)
