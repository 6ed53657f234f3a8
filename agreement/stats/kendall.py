"""The concordance sum of Kendall's tau for many weightings of the same cells at once.

For cells k with counts v, `concordance` is the sum over pairs k < l of v_k v_l sign(x_k - x_l) sign(y_k - y_l):
concordant less discordant pairs. Every partial sum is an integer held in a double, hence exact below 2**53, which
pairs of 100 million rows do not reach.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.products import integer_product

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

SIGN_MATRIX_MAX_CELLS = 128
"""Up to here the product with the sign matrix is faster than the tree (measured on two cores)."""


@dataclass(frozen=True, slots=True)
class _Level:
    """One level of the tree over the levels of x: each node's cells in order of y, and where each looks up sums."""

    order: Ints
    is_left: NDArray[np.bool_]
    right: Ints
    node_start: Ints
    node_end: Ints
    tie_start: Ints
    tie_end: Ints


@dataclass(slots=True)
class Concordance:
    """The cells' ranks `x` and `y` (integers from 0, any ties), prepared once and then weighted many times."""

    x: Ints
    y: Ints
    _signs: Floats | None = field(init=False, default=None)
    _levels: list[_Level] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        if len(self.x) <= SIGN_MATRIX_MAX_CELLS:
            self._signs = _sign_matrix(self.x, self.y)
        else:
            self._levels = _tree(self.x, self.y)

    def __call__(self, counts: Floats, narrow: NDArray[np.floating]) -> Floats:
        """The concordance sum of each column of `counts` (cells by weightings); `narrow` is that narrowed."""
        if self._signs is not None:
            return np.einsum("kb,kb->b", counts, integer_product(self._signs, narrow)) / 2
        total = np.zeros(counts.shape[1])
        for level in self._levels:
            total += _level_sum(level, counts)
        return total


def _sign_matrix(x: Ints, y: Ints) -> Floats:
    return (np.sign(x[:, None] - x[None, :]) * np.sign(y[:, None] - y[None, :])).astype(np.float64)


def _tree(x: Ints, y: Ints) -> list[_Level]:
    """Halve the levels of x again and again: the halves of a node differ in x, so ties in x never meet."""
    depth = int(x.max()).bit_length()
    return [level for bit in range(depth) if (level := _tree_level(x, y, bit)) is not None]


def _tree_level(x: Ints, y: Ints, bit: int) -> _Level | None:
    node, is_right = x >> (bit + 1), (x >> bit) & 1 == 1
    order = np.lexsort((y, node))
    node, is_right, y = node[order], is_right[order], y[order]
    right = np.flatnonzero(is_right)
    if len(right) == 0 or len(right) == len(order):
        return None
    starts = np.r_[True, node[1:] != node[:-1]]
    tie_starts = starts | np.r_[True, y[1:] != y[:-1]]
    return _Level(
        order=order,
        is_left=~is_right,
        right=right,
        node_start=_run_start(starts)[right],
        node_end=_run_end(starts)[right],
        tie_start=_run_start(tie_starts)[right],
        tie_end=_run_end(tie_starts)[right],
    )


def _run_start(is_start: NDArray[np.bool_]) -> Ints:
    return np.maximum.accumulate(np.where(is_start, np.arange(len(is_start)), 0))


def _run_end(is_start: NDArray[np.bool_]) -> Ints:
    edges = np.r_[np.flatnonzero(is_start), len(is_start)]
    return edges[np.cumsum(is_start)]


def _level_sum(level: _Level, counts: Floats) -> Floats:
    """Each right cell's count times the left half's count with a smaller y less that with a larger y."""
    ordered = counts[level.order]
    running = np.zeros((len(ordered) + 1, counts.shape[1]))
    np.cumsum(ordered * level.is_left[:, None], axis=0, out=running[1:])
    below = running[level.tie_start]
    below -= running[level.node_start]
    below -= running[level.node_end]
    below += running[level.tie_end]
    return np.einsum("kb,kb->b", ordered[level.right], below)
