"""Statistics of paired scores from the counts of their distinct (x, y) cells, for many weightings at once.

A resample of the rows changes only how often each cell occurs, so a whole bootstrap is one matrix of counts
(cells by resamples) and each statistic a few products with it. Whether a resample has a value is decided on the
counts, which are integers: a score is constant where one level holds all of them, never where a variance is small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.exact import Number, exact_levels
from agreement.stats.kendall import Concordance
from agreement.stats.products import integer_product, narrowed, product
from agreement.stats.undefined import Undefined, Value

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Narrow: TypeAlias = NDArray[np.floating]
Terms: TypeAlias = tuple[Floats, Floats, Floats]
"""What a correlation is made of: the covariance, and the spread of the first and of the second score."""

STATISTICS = ("pearson", "spearman", "kendall_b", "mae", "bias")
"""The five of Table A9."""

MORE_STATISTICS = ("rmse", "icc_2_1", "limit_low", "limit_high")
"""Root mean squared error, ICC(2,1), and the 95% limits of agreement of Bland and Altman."""

ALL_STATISTICS = STATISTICS + MORE_STATISTICS
CORRELATIONS = ("pearson", "spearman", "kendall_b")
_MATRIX_MAX_SIZE = 8_192
_NORMAL_975 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class PairCells:
    """The distinct cells of a pair of scores, with what every weighting of them needs, computed once.

    `x` and `y` are the distinct values, ascending; cell k lies at (`x[ix[k]]`, `y[iy[k]]`), ordered by ix, then iy;
    `code[r]` is the cell of row r. `moments` holds, per cell, the terms that `_Moments` sums.
    """

    x: Floats
    y: Floats
    ix: Ints
    iy: Ints
    code: Ints
    x_levels: Levels
    y_levels: Levels
    moments: Floats
    concordance: Concordance

    @property
    def n_cells(self) -> int:
        """How many distinct cells there are; 0 for no rows."""
        return len(self.ix)


class Levels:
    """The levels of one score: what its cells' counts come to per level, and the ranks that follow."""

    def __init__(self, level: Ints, n_levels: int) -> None:
        self._indicator: Floats | None = None
        self._signs: Floats | None = None
        if len(level) * n_levels <= _MATRIX_MAX_SIZE:
            place = np.arange(n_levels)
            self._indicator = (place[:, None] == level).astype(np.float64)
            self._signs = np.sign(place[:, None] - place).astype(np.float64)
        self._order = np.argsort(level, kind="stable")
        self._starts = np.searchsorted(level[self._order], np.arange(n_levels))

    def totals(self, narrow: Narrow) -> Floats:
        """Each level's count (levels by weightings), from the cells' counts as `products.narrowed` gives them."""
        if self._indicator is not None:
            return integer_product(self._indicator, narrow)
        return np.add.reduceat(narrow[self._order], self._starts, axis=0).astype(np.float64)

    def centred_ranks(self, totals: Floats, n: Floats) -> Floats:
        """Each level's midrank less (n + 1) / 2: half of the count below it less the count above it."""
        if self._signs is not None:
            return integer_product(self._signs, narrowed(totals, n)) / 2
        return np.cumsum(totals, axis=0) - totals / 2 - n / 2


def recode(x: Floats, y: Floats) -> PairCells:
    """The distinct cells of two equally long scores, which hold no NaN and in which equal rationals are equal."""
    x_levels, x_code = np.unique(x, return_inverse=True)
    y_levels, y_code = np.unique(y, return_inverse=True)
    ix, iy, code = _cells_of(x_code, y_code, len(y_levels))
    return _pair_cells(x_levels, y_levels, ix, iy, code, _moment_terms(x_levels[ix], y_levels[iy]))


def recode_exact(x: Sequence[Number], y: Sequence[Number]) -> PairCells:
    """`recode` of exact values: two that differ are two levels, even where they share a double.

    What the moments are made of is subtracted exactly and rounded after that.
    """
    x_exact, x_code = exact_levels(x)
    y_exact, y_code = exact_levels(y)
    ix, iy, code = _cells_of(x_code, y_code, len(y_exact))
    d = [x_exact[i] - y_exact[j] for i, j in zip(ix, iy, strict=True)]
    u, v = _centred(x_exact)[ix], _centred(y_exact)[iy]
    moments = _powers(np.array([float(value) for value in d]), u, v, _centred(d))
    x_levels, y_levels = (np.array([float(value) for value in side]) for side in (x_exact, y_exact))
    return _pair_cells(x_levels, y_levels, ix, iy, code, moments)


def _centred(values: Sequence[Fraction]) -> Floats:
    """The values less one in their middle."""
    middle = sorted(values, key=float)[len(values) // 2] if values else Fraction(0)
    return np.array([float(value - middle) for value in values], dtype=np.float64)


def _cells_of(x_code: Ints, y_code: Ints, y_levels: int) -> tuple[Ints, Ints, Ints]:
    """Each distinct cell's level of x and of y, ordered by x, then y; and each row's cell."""
    width = max(y_levels, 1)
    cells, code = np.unique(x_code.astype(np.int64) * width + y_code, return_inverse=True)
    ix, iy = np.divmod(cells, width)
    return ix, iy, code.astype(np.int64)


def _pair_cells(x: Floats, y: Floats, ix: Ints, iy: Ints, code: Ints, moments: Floats) -> PairCells:
    return PairCells(
        x=x,
        y=y,
        ix=ix,
        iy=iy,
        code=code,
        x_levels=Levels(ix, len(x)),
        y_levels=Levels(iy, len(y)),
        moments=moments,
        concordance=Concordance(ix, iy),
    )


def _moment_terms(x: Floats, y: Floats) -> Floats:
    """Per cell: the difference, its size, and first and second powers of x, y and the difference, each centred.

    Centring keeps the digits of scores that lie far from zero.
    """
    d = x - y
    u, v, e = (side - (np.median(side) if len(side) else 0.0) for side in (x, y, d))
    return _powers(d, u, v, e)


def _powers(d: Floats, u: Floats, v: Floats, e: Floats) -> Floats:
    return np.stack([d, np.abs(d), u, v, e, u * u, v * v, u * v, e * e])


def evaluate(cells: PairCells, counts: Floats, names: Iterable[str] = STATISTICS) -> dict[str, Floats]:
    """Each named statistic for each column of `counts` (cells by weightings), NaN where it is undefined.

    The NaN stay inside the package: callers turn them into `Undefined` or count them as degenerate.
    """
    names = tuple(names)
    n = counts.sum(axis=0)
    results: dict[str, Floats] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        narrow = narrowed(counts, n)
        x, y = cells.x_levels.totals(narrow), cells.y_levels.totals(narrow)
        variable = (x.max(axis=0, initial=0) < n) & (y.max(axis=0, initial=0) < n)
        if "spearman" in names:
            results["spearman"] = _correlation(variable, *_rank_moments(cells, counts, x, y, n))
        if "kendall_b" in names:
            results["kendall_b"] = _correlation(variable, *_tau_terms(cells, counts, narrow, x, y, n))
        moments = _Moments.of(cells, counts, n)
        for name in names:
            if name == "pearson":
                results[name] = _correlation(variable, moments.xy, moments.xx, moments.yy)
            elif name == "icc_2_1":
                results[name] = _icc(moments, x)
            elif name not in results:
                results[name] = _from_moments(name, moments)
    return {name: results[name] for name in names}


def _correlation(variable: NDArray[np.bool_], covariance: Floats, x_spread: Floats, y_spread: Floats) -> Floats:
    """Covariance over the root of the spreads where both scores vary, held within [-1, 1] against rounding."""
    value = covariance / (np.sqrt(x_spread) * np.sqrt(y_spread))
    return np.where(variable, np.clip(value, -1.0, 1.0), np.nan)


def _rank_moments(cells: PairCells, counts: Floats, x: Floats, y: Floats, n: Floats) -> Terms:
    """Sums of products of centred midranks."""
    x_rank, y_rank = cells.x_levels.centred_ranks(x, n), cells.y_levels.centred_ranks(y, n)
    products = np.einsum("kb,kb,kb->b", counts, x_rank[cells.ix], y_rank[cells.iy])
    # Not (n**3 - sum of v**3) / 12, which cancels once n**3 passes 2**53.
    spreads = (np.einsum("kb,kb,kb->b", side, rank, rank) for side, rank in ((x, x_rank), (y, y_rank)))
    return products, *spreads


def _tau_terms(cells: PairCells, counts: Floats, narrow: Narrow, x: Floats, y: Floats, n: Floats) -> Terms:
    """Concordant less discordant pairs, and the pairs not tied in x and in y: (n**2 - sum of v**2) / 2."""
    untied_x = (n * n - np.einsum("kb,kb->b", x, x)) / 2
    untied_y = (n * n - np.einsum("kb,kb->b", y, y)) / 2
    return cells.concordance(counts, narrow), untied_x, untied_y


@dataclass(frozen=True, slots=True)
class _Moments:
    """Sums over the rows of each weighting, those of squares and products about the weighting's own means."""

    n: Floats
    difference: Floats
    absolute: Floats
    xx: Floats
    yy: Floats
    xy: Floats
    dd: Floats

    @classmethod
    def of(cls, cells: PairCells, counts: Floats, n: Floats) -> _Moments:
        difference, absolute, su, sv, se, suu, svv, suv, see = product(cells.moments, counts)
        return cls(
            n=n,
            difference=difference,
            absolute=absolute,
            xx=suu - su * su / n,
            yy=svv - sv * sv / n,
            xy=suv - su * sv / n,
            dd=np.maximum(see - se * se / n, 0.0),
        )


def _from_moments(name: str, m: _Moments) -> Floats:
    if name == "mae":
        return m.absolute / m.n
    if name == "bias":
        return m.difference / m.n
    if name == "rmse":
        return np.sqrt((m.dd + m.difference**2 / m.n) / m.n)
    if name in ("limit_low", "limit_high"):
        spread = np.sqrt(m.dd / np.where(m.n > 1, m.n - 1, np.nan))
        return m.difference / m.n + (_NORMAL_975 if name == "limit_high" else -_NORMAL_975) * spread
    raise KeyError(name)


def _icc(m: _Moments, x: Floats) -> Floats:
    """ICC(2,1), two-way random, single rater, absolute agreement (Shrout & Fleiss 1979), for two raters.

    With two raters the mean squares are: subjects (xx + yy + 2 xy) / 2 / (n - 1), error dd / 2 / (n - 1),
    raters n * bias**2 / 2. NaN for fewer than two rows, or where every score of both is the same number.
    """
    freedom = np.where(m.n > 1, m.n - 1, np.nan)
    subjects = (m.xx + m.yy + 2 * m.xy) / 2 / freedom
    error = m.dd / 2 / freedom
    raters = m.difference**2 / m.n / 2
    total = subjects + error + 2 * (raters - error) / m.n
    all_same = (m.absolute == 0) & (x.max(axis=0, initial=0) == m.n)
    return np.where(all_same, np.nan, (subjects - error) / total)


def why_undefined(cells: PairCells, name: str) -> Undefined:
    """Why the statistic has no value on all rows, in the order in which a reader would ask."""
    n = len(cells.code)
    if n == 0:
        return Undefined("there is no pair of scores")
    if n == 1 and name not in ("mae", "bias", "rmse"):
        return Undefined("there is only one pair of scores; at least two are needed")
    if name in CORRELATIONS:
        sides = (("first", cells.x), ("second", cells.y))
        constant = [f"the {side} score is constant" for side, levels in sides if len(levels) == 1]
        if constant:
            return Undefined(" and ".join(constant))
    return Undefined("every score is the same")


def points(cells: PairCells, names: Iterable[str] = STATISTICS) -> dict[str, Value]:
    """Each named statistic on all rows, or why it is undefined."""
    names = tuple(names)
    counts = np.bincount(cells.code, minlength=cells.n_cells).astype(np.float64)[:, None]
    values = evaluate(cells, counts, names)
    return {
        name: why_undefined(cells, name) if np.isnan(values[name][0]) else float(values[name][0]) for name in names
    }
