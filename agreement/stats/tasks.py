"""Tasks as indices: the clusters of everything here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def task_indices(tasks: Sequence[object]) -> tuple[NDArray[np.int64], int]:
    """Each row's task as an index in order of first appearance, and how many tasks there are."""
    seen: dict[object, int] = {}
    index = np.fromiter((seen.setdefault(task, len(seen)) for task in tasks), dtype=np.int64, count=len(tasks))
    return index, len(seen)
