"""The process cross-tabulation: people's labels of rounds against the automatic ones, as in Table A10."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agreement.stats.nominal import confusion_matrix, observed_agreement
from agreement.stats.proportions import cluster_interval_of, proportion_interval
from agreement.stats.tasks import task_indices
from agreement.stats.undefined import plain, ratio

ROUND_LABELS = ("error", "non_error", "skipped")
_NAMES = {"error": "an error", "non_error": "no error", "skipped": "skipped"}


@dataclass(frozen=True, slots=True)
class AuditedRound:
    """One round with a person's label and the automatic one, each of `ROUND_LABELS`."""

    task: str
    human: str
    automatic: str


def process_report(rounds: Iterable[AuditedRound], level: float = 0.95) -> dict[str, Any]:
    """The three-way table (`matrix`, people in rows, automatic in columns) with totals; JSON-able.

    For each label `recall` is, of the rounds that people give it, the share to which the automatic one gives it
    too; `precision` the reverse. Both show k and n, Wilson's and the cluster interval, and are undefined at 0 /
    0, which is not 0: where people call no round an error, nothing is known of the recall of errors. The two
    kinds of label are made for different ends, so the agreement is a description, not a verdict on either. Raises
    `InputError` for another label.
    """
    rounds = list(rounds)
    matrix = confusion_matrix(((entry.human, entry.automatic) for entry in rounds), ROUND_LABELS)
    evaluable = matrix[:2, :2]
    return {
        "labels": list(ROUND_LABELS),
        "matrix": matrix.tolist(),
        "human_totals": matrix.sum(axis=1).tolist(),
        "automatic_totals": matrix.sum(axis=0).tolist(),
        "rounds": int(matrix.sum()),
        "tasks": len({entry.task for entry in rounds}),
        "observed": plain(observed_agreement(matrix)),
        "observed_where_both_evaluate": plain(observed_agreement(evaluable)),
        "evaluated_by_both": int(evaluable.sum()),
        "recall": {
            label: _share(
                [entry for entry in rounds if entry.human == label],
                label,
                f"people call no round {_NAMES[label]}",
                level,
            )
            for label in ROUND_LABELS
        },
        "precision": {
            label: _share(
                [entry for entry in rounds if entry.automatic == label],
                label,
                f"the automatic label calls no round {_NAMES[label]}",
                level,
            )
            for label in ROUND_LABELS
        },
    }


def _share(rounds: Sequence[AuditedRound], label: str, reason: str, level: float) -> dict[str, Any]:
    """Of these rounds, the share that both sides give the label."""
    hits = np.array([entry.human == entry.automatic == label for entry in rounds], dtype=np.float64)
    task, _ = task_indices([entry.task for entry in rounds])
    k, n = int(hits.sum()), len(rounds)
    return plain(
        {
            "k": k,
            "n": n,
            "point": ratio(k, n, f"0 / 0: {reason}"),
            "wilson": proportion_interval(k, n, "wilson", level),
            "cluster_robust": cluster_interval_of(hits, task, level),
        }
    )
