"""Products of a small matrix with many weightings, kept to one thread of the linear algebra library.

The products here are so small that OpenBLAS's threads cost more than they bring, and on a busy machine they wait
for each other: measured four times slower. It stays on one thread while the operations of one call are few, so the
weightings are taken in strips; so the order of summation does not depend on the number of threads either. Work is
spread over threads one level up, by whole blocks of resamples.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Array = TypeVar("Array", NDArray[np.float32], NDArray[np.float64], NDArray[np.floating])

_ONE_THREAD_OPERATIONS = 250_000
"""OpenBLAS takes one thread for up to 65536 * 4 multiplications a call."""


def product(matrix: Array, counts: Array) -> Array:
    """`matrix @ counts`, for counts of many weightings."""
    result = np.empty((matrix.shape[0], counts.shape[1]), dtype=matrix.dtype)
    width = max(1, _ONE_THREAD_OPERATIONS // max(matrix.size, 1))
    for start in range(0, counts.shape[1], width):
        strip = slice(start, start + width)
        np.matmul(matrix, counts[:, strip], out=result[:, strip])
    return result


def narrowed(counts: Floats, n: Floats) -> NDArray[np.floating]:
    """The counts in single precision, which holds every sum of them exactly while their sum `n` is below 2**24."""
    return counts.astype(np.float32) if n.max(initial=0.0) < 2**24 else counts


def integer_product(matrix: Floats, narrow: NDArray[np.floating]) -> Floats:
    """`matrix @ narrow`, exactly, for a matrix of -1, 0 and 1 and the counts from `narrowed`; half the time."""
    return product(matrix.astype(narrow.dtype), narrow).astype(np.float64)
