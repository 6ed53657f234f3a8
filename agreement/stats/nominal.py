"""Agreement of two raters on declared categories: the matrix, and the coefficients computed from it.

The matrix has the first rater in its rows and the second in its columns. A category that is declared and never
used still counts, in Gwet's AC1 and in Brennan and Prediger's coefficient. Every coefficient is
(p_o - p_e) / (1 - p_e) with its own p_e, and is undefined where p_e is 1: both raters then used one label only, and
agreed by necessity.

References: Cohen (1960, 1968); Scott (1955); Krippendorff (2004); Gwet (2008); Brennan & Prediger (1981); Byrt,
Bishop & Carlin (1993).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement.stats.undefined import Undefined, Value
from lseval.errors import InputError

Floats: TypeAlias = NDArray[np.float64]
Weights: TypeAlias = Literal["linear", "quadratic"] | ArrayLike

COEFFICIENTS = ("observed", "kappa", "pi", "alpha", "ac1", "brennan_prediger", "pabak")
WEIGHTED = ("linear_kappa", "quadratic_kappa")
"""What `coefficients` computes; the weighted ones read the categories as ordered. `pabak` is the two-category form
2 p_o - 1 of Byrt et al. whatever the number of categories; for q categories it is Brennan and Prediger's."""


def confusion_matrix(pairs: Iterable[tuple[str, str]], categories: Sequence[str]) -> NDArray[np.int64]:
    """Counts of (first, second) label pairs, q by q in the order of `categories`.

    Raises `InputError` for a label that is not declared, and for declared categories that repeat.
    """
    position = {category: index for index, category in enumerate(categories)}
    if len(position) != len(categories):
        raise InputError(f"The categories repeat: {', '.join(categories)}.")
    matrix = np.zeros((len(categories), len(categories)), dtype=np.int64)
    for first, second in pairs:
        try:
            matrix[position[first], position[second]] += 1
        except KeyError as missing:
            raise InputError(f"The label {missing} is none of {', '.join(categories)}.") from None
    return matrix


def as_matrix(matrix: ArrayLike) -> Floats:
    """The matrix as doubles, with its form checked: square, no negative and no missing count."""
    counts = np.asarray(matrix, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.shape[0] == 0:
        raise InputError(f"A confusion matrix is square; got the shape {counts.shape}.")
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise InputError("A confusion matrix holds counts of 0 or more.")
    return counts


def expected_agreement(name: str, rows: Floats, columns: Floats, n: Floats) -> Floats:
    """The chance agreement p_e of a coefficient, from marginal counts (q by weightings) of n pairs each.

    For kappa the product of the marginals; for pi and alpha the square of their mean; for AC1 the mean over
    categories of pi_k (1 - pi_k), scaled by q / (q - 1); for Brennan and Prediger 1 / q; for PABAK 1 / 2.
    """
    q = len(rows)
    pooled = rows + columns
    if name == "kappa":
        return (rows * columns).sum(axis=0) / (n * n)
    if name in ("pi", "alpha"):
        return (pooled * pooled).sum(axis=0) / (4 * n * n)
    if name == "ac1":
        return (pooled * (2 * n - pooled)).sum(axis=0) / (4 * n * n) / (q - 1)
    return np.full_like(n, 0.5 if name == "pabak" else 1 / q)


def coefficients(counts: Floats, names: Sequence[str] = COEFFICIENTS) -> dict[str, Floats]:
    """The named coefficients for many matrices at once: `counts` is q by q by weightings; NaN where undefined."""
    q = len(counts)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    n = rows.sum(axis=0)
    # Integer arithmetic: 1 - p_e need not come out as an exact zero.
    one_label = (rows + columns).max(axis=0) == 2 * n
    results: dict[str, Floats] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.einsum("iib->b", counts) / n
        for name in names:
            if name == "observed":
                results[name] = observed
                continue
            if name in WEIGHTED:
                results[name] = _weighted(counts, 1 - agreement_weights(q, name.removesuffix("_kappa")), n)
                continue
            chance = expected_agreement(name, rows, columns, n)
            value = (observed - chance) / (1 - chance)
            if name == "alpha":
                # The expected disagreement is drawn without replacement from the 2 n labels.
                value = 1 - (1 - value) * (2 * n - 1) / (2 * n)
            needs_variety = name in ("kappa", "pi", "alpha") or (name != "pabak" and q == 1)
            results[name] = np.where(one_label & needs_variety, np.nan, value)
    return results


def _weighted(counts: Floats, disagreement: Floats, n: Floats) -> Floats:
    """Weighted kappa: 1 less the observed over the expected weighted disagreement, NaN where none is expected."""
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    observed = np.einsum("ij,ijb->b", disagreement, counts)
    expected = np.einsum("ij,ib,jb->b", disagreement, rows, columns) / n
    return np.where(expected > 0, 1 - observed / expected, np.nan)


def coefficient(name: str, matrix: ArrayLike) -> Value:
    """One of `COEFFICIENTS` or `WEIGHTED` of a matrix, or why it is undefined."""
    counts = as_matrix(matrix)
    value = float(coefficients(counts[:, :, None], (name,))[name][0])
    return why_undefined(counts) if np.isnan(value) else value


def why_undefined(counts: Floats) -> Undefined:
    """Why a chance-corrected coefficient has no value on this matrix."""
    if counts.sum() == 0:
        return Undefined("no item has a label from both")
    if len(counts) == 1:
        return Undefined("only one category is declared")
    return Undefined("both used one label only, and the same, so chance agreement is 1")


def observed_agreement(matrix: ArrayLike) -> Value:
    """The share of items on which the two agree."""
    return coefficient("observed", matrix)


def cohen_kappa(matrix: ArrayLike) -> Value:
    """Cohen's kappa: chance agreement from each rater's own marginals."""
    return coefficient("kappa", matrix)


def scott_pi(matrix: ArrayLike) -> Value:
    """Scott's pi: chance agreement from the pooled marginals."""
    return coefficient("pi", matrix)


def krippendorff_alpha(matrix: ArrayLike) -> Value:
    """Krippendorff's alpha for two raters and nominal labels; `raters.nominal_alpha` takes any number of raters."""
    return coefficient("alpha", matrix)


def gwet_ac1(matrix: ArrayLike) -> Value:
    """Gwet's AC1, which stays near the observed agreement where one label prevails."""
    return coefficient("ac1", matrix)


def brennan_prediger(matrix: ArrayLike) -> Value:
    """Brennan and Prediger's coefficient (Bennett's S): chance agreement 1 / q. PABAK for q categories."""
    return coefficient("brennan_prediger", matrix)


def pabak(matrix: ArrayLike) -> Value:
    """The prevalence- and bias-adjusted kappa of Byrt et al., 2 p_o - 1, made for two categories."""
    return coefficient("pabak", matrix)


def agreement_weights(q: int, kind: str) -> Floats:
    """Weights 1 - (|i - j| / (q - 1))**p, p 1 for `linear` and 2 for `quadratic`, in the declared order."""
    if q < 2:
        return np.ones((q, q))
    distance = np.abs(np.subtract.outer(np.arange(q), np.arange(q))) / (q - 1)
    return 1 - distance ** (1 if kind == "linear" else 2)


def weighted_kappa(matrix: ArrayLike, weights: Weights = "linear") -> Value:
    """Cohen's weighted kappa (1968) for ordered categories, or for agreement weights of your own."""
    counts = as_matrix(matrix)
    w = resolve_weights(len(counts), weights)
    value = float(_weighted(counts[:, :, None], 1 - w, np.array([counts.sum()]))[0]) if counts.any() else np.nan
    return why_undefined(counts) if np.isnan(value) else value


def resolve_weights(q: int, weights: str | ArrayLike) -> Floats:
    """Agreement weights by name or as given; raises `InputError` for another name, shape or range."""
    if isinstance(weights, str):
        if weights not in ("linear", "quadratic"):
            raise InputError(f"The weights are 'linear', 'quadratic' or a matrix; got {weights!r}.")
        return agreement_weights(q, weights)
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (q, q) or not ((w >= 0) & (w <= 1)).all() or not (np.diag(w) == 1).all():
        raise InputError(f"Agreement weights for {q} categories are {q} by {q}, from 0 to 1, with a diagonal of 1.")
    return w
