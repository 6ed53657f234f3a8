"""Do the two raters use the labels equally often? Tests of symmetry and of marginal homogeneity.

Nothing is added to zero cells, and a category leaves a test only when no item moves into or out of it.
References: Bowker (1948); Stuart (1955); Maxwell (1970); Bhapkar (1966).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import chi2

from agreement.stats.nominal import as_matrix
from agreement.stats.undefined import Undefined


@dataclass(frozen=True, slots=True)
class ChiSquare:
    """A chi-square statistic with its degrees of freedom and p-value."""

    chi2: float
    df: int
    p: float

    def as_dict(self) -> dict[str, Any]:
        """The three by name."""
        return {"chi2": self.chi2, "df": self.df, "p": self.p}


def _test(statistic: float, df: int) -> ChiSquare:
    return ChiSquare(float(statistic), int(df), float(chi2.sf(statistic, df)))


_NO_DISAGREEMENT = Undefined("the two never disagree")


def bowker(matrix: ArrayLike, drop_empty_pairs: bool = False) -> ChiSquare | Undefined:
    """Bowker's test that the matrix is symmetric; for two categories McNemar's, without continuity correction.

    A pair of cells that are both zero adds nothing to the statistic; with `drop_empty_pairs` it does not count in
    the q (q - 1) / 2 degrees of freedom either. Undefined where nothing lies off the diagonal.
    """
    counts = as_matrix(matrix)
    upper = np.triu_indices(len(counts), 1)
    there, back = counts[upper], counts.T[upper]
    filled = there + back > 0
    if not filled.any():
        return _NO_DISAGREEMENT
    statistic = ((there - back)[filled] ** 2 / (there + back)[filled]).sum()
    return _test(statistic, int(filled.sum()) if drop_empty_pairs else len(filled))


def stuart_maxwell(matrix: ArrayLike) -> ChiSquare | Undefined:
    """The Stuart-Maxwell test of marginal homogeneity.

    The covariance of the q marginal differences is singular, since they sum to zero; its pseudo-inverse gives the
    statistic without choosing a category to leave out, and its rank the degrees of freedom: q less the number of
    groups of categories between which no item moves. A category with equal marginals stays in.
    """
    counts = as_matrix(matrix)
    moves = counts + counts.T
    np.fill_diagonal(moves, 0)
    if not moves.any():
        return _NO_DISAGREEMENT
    difference = counts.sum(axis=1) - counts.sum(axis=0)
    covariance = np.diag(moves.sum(axis=1)) - moves
    # The rank comes from the counts, not from a threshold on singular values.
    groups, group_of = connected_components(csr_array(moves), directed=False)
    # Adding the groups' indicators fills the null space, to which the differences are orthogonal.
    same_group = (group_of[:, None] == group_of[None, :]).astype(np.float64)
    statistic = difference @ np.linalg.solve(covariance + same_group, difference)
    return _test(max(float(statistic), 0.0), len(counts) - groups)


def bhapkar(matrix: ArrayLike) -> ChiSquare | Undefined:
    """Bhapkar's test of marginal homogeneity, which uses the covariance under the alternative: S / (1 - S / n)."""
    test = stuart_maxwell(matrix)
    if isinstance(test, Undefined):
        return test
    n = float(as_matrix(matrix).sum())
    if test.chi2 >= n * (1 - 1e-12):
        return Undefined("every disagreement goes the same way, so the covariance is singular")
    return _test(test.chi2 / (1 - test.chi2 / n), test.df)
