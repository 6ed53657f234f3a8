"""Per-category agreement: the rows of the matrix read as predictions, the columns as the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from agreement.stats.nominal import Floats, as_matrix
from agreement.stats.undefined import Undefined, Value

SUMMARIES = ("macro_f1", "weighted_f1", "balanced_accuracy", "mcc")
MEASURES = ("precision", "recall", "f1")


def class_measures(counts: Floats) -> dict[str, Floats]:
    """Precision, recall and F1 of each category for many matrices at once (q by q by weightings), q by weightings.

    NaN where undefined: precision where the first rater never used the label, recall where the second never did,
    F1, which is also the specific agreement, where neither did.
    """
    rows, columns, hits = counts.sum(axis=1), counts.sum(axis=0), np.einsum("iib->ib", counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {"precision": hits / rows, "recall": hits / columns, "f1": 2 * hits / (rows + columns)}


def class_summaries(counts: Floats) -> dict[str, Floats]:
    """`SUMMARIES` for many matrices at once (q by q by weightings), NaN where undefined.

    Means run over the categories in which the term exists: F1 over those that either rater used, recall over those
    that the second used; weighted F1 weighs by the second's counts. `mcc` is Matthews' correlation for q categories
    (Gorodkin 2004), undefined where either rater used one label only.
    """
    measures = class_measures(counts)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    n = rows.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        weighted = np.nansum(measures["f1"] * columns, axis=0) / n
        covariance = n * np.einsum("iib->b", counts) - (rows * columns).sum(axis=0)
        row_spread, column_spread = (n * n - (side * side).sum(axis=0) for side in (rows, columns))
        mcc = np.where(
            (row_spread > 0) & (column_spread > 0),
            covariance / (np.sqrt(row_spread) * np.sqrt(column_spread)),
            np.nan,
        )
    return {
        "macro_f1": _mean_of_defined(measures["f1"]),
        "weighted_f1": weighted,
        "balanced_accuracy": _mean_of_defined(measures["recall"]),
        "mcc": mcc,
    }


def _mean_of_defined(values: Floats) -> Floats:
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.where(defined, values, 0.0).sum(axis=0) / defined.sum(axis=0)


def class_scores(matrix: ArrayLike, categories: Sequence[str]) -> dict[str, dict[str, Value]]:
    """Per category: precision, recall, F1, or why each is undefined, and the two marginal counts."""
    counts = as_matrix(matrix)
    measures = class_measures(counts[:, :, None])
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    who = {"precision": "the first never says", "recall": "the second never says", "f1": "neither says"}
    return {
        category: {
            **{
                name: Undefined(f"{who[name]} {category}") if np.isnan(values[k, 0]) else float(values[k, 0])
                for name, values in measures.items()
            },
            "first": int(rows[k]),
            "second": int(columns[k]),
        }
        for k, category in enumerate(categories)
    }


def class_summary(matrix: ArrayLike) -> dict[str, Value]:
    """Each of `SUMMARIES` of a matrix, or why it is undefined."""
    counts = as_matrix(matrix)
    empty = counts.sum() == 0
    reason = Undefined("no item has a label from both" if empty else "one of the two used one label only")
    values = class_summaries(counts[:, :, None])
    return {name: reason if np.isnan(value[0]) else float(value[0]) for name, value in values.items()}
