"""Two-sided quantiles and p-values of Student's and the normal distribution.

They are what `scipy.stats` computes, without its checks of arguments, which take far longer.
"""

from __future__ import annotations

from scipy.special import ndtri, stdtr, stdtrit


def student_quantile(level: float, freedom: float) -> float:
    """The quantile within which, either side of 0, Student's variable lies with probability `level`."""
    return float(stdtrit(freedom, (1 + level) / 2))


def normal_quantile(level: float) -> float:
    """The same of a standard normal variable: 1.96 for 0.95."""
    return float(ndtri((1 + level) / 2))


def student_p(statistic: float, freedom: float) -> float:
    """The probability with which Student's variable lies as far from 0 as `statistic`, or farther."""
    return float(2 * stdtr(freedom, -abs(statistic)))
