"""The task-cluster bootstrap: one draw of tasks for every score and statistic, by counting cells.

What is resampled is the task, so that responses of a task that are alike do not pass for independent. Each part of
a report (a pair of scores, a matrix of labels) assigns every row a cell; the cells' counts in a resample are the
sum of those of the tasks drawn, which a sparse product gives for all parts at once.

References: Davison & Hinkley (1997), sections 2.4, 3.8 and 5.3; Field & Welsh (2007) for clusters; Efron (1987) for
BCa.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtr, ndtri

from agreement.stats.undefined import Interval, Undefined, check_level
from lseval.errors import InputError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Evaluate: TypeAlias = Callable[[Floats], dict[str, Floats]]

DEFAULT_RESAMPLES = 10_000
DEFAULT_SEED = 12345
MOST_RESAMPLES = 200_000
MOST_DRAWS = 10_000_000_000
"""Of tasks, in all resamples together: some minutes of work."""
_BLOCK_DRAWS = 400_000
_BLOCK_CELLS = 200_000
_LEAST_ROWS = 32
_WORTH_THREADS = 500_000
_MOST_THREADS = 4
_KEPT_BYTES = 32 * 2**20 - 2**16


@dataclass(frozen=True, slots=True)
class Part:
    """One table of cells to resample.

    `code[r]` is the cell of the part's row r and `task[r]` the index of the task it belongs to; `evaluate` turns
    counts (n_cells by weightings) into named statistics, NaN where one is undefined.
    """

    name: str
    code: Ints
    task: Ints
    n_cells: int
    evaluate: Evaluate


@dataclass(frozen=True, slots=True)
class Resampling:
    """How to draw: how many resamples, of which unit, from which seed, and the confidence level.

    `unit` is `task`, or `row` for the plain bootstrap, in which every response is drawn for itself. `threads` of
    None takes what the size of the work deserves; the result does not depend on it.
    """

    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED
    level: float = 0.95
    threads: int | None = None
    unit: Literal["task", "row"] = "task"

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.resamples < 1:
            raise InputError(f"At least one resample is needed; got {self.resamples}.")
        if self.resamples > MOST_RESAMPLES:
            raise InputError(
                f"At most {MOST_RESAMPLES:,} resamples can be drawn, since each statistic keeps one number for "
                f"every resample; got {self.resamples:,}. From 10,000 on an interval's ends hardly move."
            )
        if self.seed < 0:
            raise InputError(f"The seed must be a whole number from 0; got {self.seed}.")


Replicates: TypeAlias = dict[str, dict[str, Floats]]
"""Part name, then statistic name, to one value per resample; NaN marks a degenerate resample."""


def replicates(parts: Sequence[Part], n_tasks: int, how: Resampling) -> Replicates:
    """Every statistic of every part in each resample of the tasks.

    Row b of the draw is `numpy.random.default_rng(seed).integers(0, n_tasks, size=(resamples, n_tasks))[b]`: the
    tasks' indices, all of whose rows enter as often as the task is drawn. The same for any number of threads.
    """
    if how.resamples * n_tasks > MOST_DRAWS:
        raise InputError(
            f"{how.resamples:,} resamples of {n_tasks:,} {how.unit}s are more than {MOST_DRAWS:,} draws, some "
            "minutes of work; ask for fewer resamples."
        )
    threads = how.threads
    if threads is None:
        threads = min(_MOST_THREADS, _available_cpus()) if how.resamples * n_tasks > _WORTH_THREADS else 1
    counts = _counts_by_task(parts, n_tasks)
    return _collect(parts, counts, _drawn(n_tasks, counts.shape[0], how), threads)


def _available_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def replicates_of(parts: Sequence[Part], n_tasks: int, indices: Ints, threads: int = 1) -> Replicates:
    """As `replicates`, with the draw given: one row of task indices per resample."""
    counts = _counts_by_task(parts, n_tasks)
    size = _block_rows(n_tasks, counts.shape[0])
    blocks = (indices[start : start + size] for start in range(0, len(indices), size))
    return _collect(parts, counts, blocks, threads)


def jackknife(parts: Sequence[Part], n_tasks: int) -> Replicates:
    """Every statistic of every part with each task left out in turn, in the order of the tasks' indices."""
    counts = _counts_by_task(parts, n_tasks)
    total = np.asarray(counts.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    size = max(1, min(n_tasks, _BLOCK_CELLS // max(counts.shape[0], 1)))
    columns = counts.tocsc()
    pieces = []
    for start in range(0, n_tasks, size):
        left_out = columns[:, start : start + size].toarray().astype(np.float64)
        pieces.append(_evaluate(parts, total - left_out))
    return _join(parts, pieces)


def _block_rows(n_tasks: int, n_cells: int) -> int:
    """How many resamples to take at once: few enough that their counts stay in the cache, enough to fill a call."""
    return max(_LEAST_ROWS, min(_BLOCK_DRAWS // max(n_tasks, 1), _BLOCK_CELLS // max(n_cells, 1)))


def _drawn(n_tasks: int, n_cells: int, how: Resampling) -> Iterator[NDArray[np.int32]]:
    """Blocks of the draw. 32-bit indices come from the same stream as 64-bit ones, in half the memory."""
    generator = np.random.default_rng(how.seed)
    size = _block_rows(n_tasks, n_cells)
    for start in range(0, how.resamples, size):
        rows = min(size, how.resamples - start)
        yield generator.integers(0, n_tasks, size=(rows, n_tasks), dtype=np.int32)


def _counts_by_task(parts: Sequence[Part], n_tasks: int) -> sparse.csc_array:
    """How often each cell, of all parts one below the other, occurs in each task."""
    offsets = np.cumsum([0, *(part.n_cells for part in parts)])
    cell = np.concatenate([part.code + offset for part, offset in zip(parts, offsets, strict=False)])
    task = np.concatenate([part.task for part in parts])
    ones = np.ones(len(cell), dtype=np.float64)
    counts = sparse.coo_array((ones, (cell, task)), shape=(int(offsets[-1]), n_tasks)).tocsc()
    # Single precision holds counts below 2**24 exactly, and halves the work.
    largest = float(counts.max()) * n_tasks if counts.nnz else 0.0
    return counts.astype(np.float32) if largest < 2**24 else counts


def _collect(
    parts: Sequence[Part], counts: sparse.csc_array, blocks: Iterator[NDArray[np.integer]], threads: int
) -> Replicates:
    def work(block: NDArray[np.integer]) -> Replicates:
        return _evaluate_block(parts, counts, block)

    _keep_freed_memory()
    if threads <= 1:
        return _join(parts, [work(block) for block in blocks])
    pieces: list[Replicates] = []
    waiting: deque[Future[Replicates]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for block in blocks:
            waiting.append(pool.submit(work, block))
            if len(waiting) > 2 * threads:
                pieces.append(waiting.popleft().result())
        pieces.extend(future.result() for future in waiting)
    return _join(parts, pieces)


def _keep_freed_memory() -> None:
    """Lets the C library reuse the memory of one block for the next; a third of the time went into page faults.

    Freeing one large array raises glibc's thresholds (mallopt(3), M_MMAP_THRESHOLD) so that it keeps up to 64 MB
    instead of returning each block's arrays to the system. The array is never touched, so it costs nothing; other
    C libraries ignore it.
    """
    np.empty(_KEPT_BYTES, dtype=np.uint8)


def _evaluate_block(parts: Sequence[Part], counts: sparse.csc_array, block: NDArray[np.integer]) -> Replicates:
    n_rows, n_tasks = len(block), counts.shape[1]
    flat = block + (np.arange(n_rows, dtype=np.int64) * n_tasks)[:, None]
    times_drawn = np.bincount(flat.ravel(), minlength=n_rows * n_tasks).reshape(n_rows, n_tasks)
    by_task = np.ascontiguousarray(times_drawn.T, dtype=counts.dtype)
    return _evaluate(parts, (counts @ by_task).astype(np.float64))


def _evaluate(parts: Sequence[Part], counts: Floats) -> Replicates:
    results: Replicates = {}
    start = 0
    for part in parts:
        results[part.name] = part.evaluate(counts[start : start + part.n_cells])
        start += part.n_cells
    return results


def _join(parts: Sequence[Part], pieces: Sequence[Replicates]) -> Replicates:
    return {
        part.name: {
            name: np.concatenate([piece[part.name][name] for piece in pieces]) for name in pieces[0][part.name]
        }
        for part in parts
    }


def percentile_interval(values: Floats, level: float) -> tuple[Interval, int]:
    """The percentile interval of the resamples that have a value (linear quantiles), and how many have none.

    Undefined where none has one, and where the interval would have no width.
    """
    defined = values[~np.isnan(values)]
    degenerate = len(values) - len(defined)
    if len(defined) == 0:
        return Undefined("the statistic is undefined in every resample"), degenerate
    return _with_width(*np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])), degenerate


def _with_width(low: float, high: float) -> Interval:
    """The interval, unless its ends differ by no more than rounding: one without width would claim certainty."""
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-3):
        return Undefined("nearly all resamples give the same value, so this interval would have no width")
    return (float(low), float(high))


def bca_interval(values: Floats, point: float, left_out: Floats, level: float) -> Interval:
    """The bias-corrected and accelerated interval.

    `left_out` holds the statistic with each task left out. Tied resamples count half towards the bias. Undefined
    where all resamples lie on one side of the point, or where the jackknife does not vary or has no value.
    """
    defined = values[~np.isnan(values)]
    if len(defined) == 0:
        return Undefined("the statistic is undefined in every resample")
    if np.isnan(left_out).any():
        return Undefined("the statistic is undefined when some one task is left out")
    share = (np.count_nonzero(defined < point) + np.count_nonzero(defined <= point)) / (2 * len(defined))
    if share in (0.0, 1.0):
        return Undefined("every resample lies on one side of the point")
    influence = left_out.mean() - left_out
    spread = float(np.sum(influence**2))
    if spread <= (1e-12 * max(1.0, abs(point))) ** 2:
        return Undefined("leaving out one task never changes the statistic")
    acceleration = float(np.sum(influence**3)) / (6 * spread**1.5)
    bias = ndtri(share)
    ends = bias + ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    probabilities = ndtr(bias + ends / (1 - acceleration * ends))
    return _with_width(*np.quantile(defined, np.clip(probabilities, 0.0, 1.0)))
