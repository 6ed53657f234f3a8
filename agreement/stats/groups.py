"""Labels on answer groups as arrays: one row per group, responses and tasks as indices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.scores import LABELS, score_arrays
from lseval.errors import InputError

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

SOURCES = ("auto", "h1", "h2")
SOURCE_NAMES = {"auto": "automatic label", "h1": "H1 label", "h2": "H2 label"}
UNJUDGED = "unjudged"
NO_LABEL = -1
LARGEST_REQUIRED = 1_000_000_000


class RowError(InputError):
    """A row that cannot be used; `row` counts from 0, `problem` says what is wrong with it."""

    code = "bad_row"

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(f"Row {row + 1}: {problem}.")
        self.row = row
        self.problem = problem


class GroupRow(NamedTuple):
    """One answer group: where it belongs, its response's required count, and each source's label.

    A label is `C`, `I` or `U`, or empty (None too) where there is none; the automatic one may be `unjudged`. A row
    with an empty `group_id` stands for a response that supplied no group. `required` is None where it is unknown.
    """

    task_id: str
    response_id: str
    group_id: str
    required: int | None
    auto: str | None = ""
    h1: str | None = ""
    h2: str | None = ""


@dataclass(frozen=True, slots=True)
class GroupTable:
    """All groups of a report.

    `labels[source]` holds per group the index into `scores.LABELS`, or -1 for no label; `response` per group the
    index of its response. Per response: `task` (index), `required` (0 where unknown) and `ids` (task, response).
    `unjudged` counts the groups whose automatic label is `unjudged`.
    """

    labels: dict[str, Ints]
    response: Ints
    group_ids: list[str]
    task: Ints
    required: Ints
    ids: list[tuple[str, str]]
    unjudged: int

    @property
    def n_responses(self) -> int:
        """How many responses there are, those without a group included."""
        return len(self.ids)

    @property
    def supplied(self) -> Ints:
        """How many groups each response supplied."""
        return np.bincount(self.response, minlength=self.n_responses)

    def labelled(self, source: str) -> Ints:
        """How many of each response's groups the source labelled."""
        return np.bincount(self.response[self.labels[source] >= 0], minlength=self.n_responses)

    def scores(self, source: str) -> dict[str, Floats]:
        """AS, AP and Upper per response by one source's labels; meaningful only where every group is labelled."""
        label = self.labels[source]
        correct = np.bincount(self.response[label == 0], minlength=self.n_responses)
        unverifiable = np.bincount(self.response[label == 2], minlength=self.n_responses)
        return score_arrays(np.maximum(self.required, 1), correct, unverifiable, self.supplied)


def group_table(rows: Iterable[GroupRow]) -> GroupTable:
    """The rows as arrays, responses and tasks in order of first appearance.

    Raises `RowError` for a label outside the scheme, a group that appears twice, a required
    count below 1, and one that differs within a response.
    """
    codes: dict[str | None, int] = {"": NO_LABEL, None: NO_LABEL}
    codes.update({label: index for index, label in enumerate(LABELS)})
    responses: dict[tuple[str, str], int] = {}
    tasks: dict[str, int] = {}
    seen: set[tuple[int, str]] = set()
    labels: dict[str, list[int]] = {source: [] for source in SOURCES}
    response: list[int] = []
    group_ids: list[str] = []
    task: list[int] = []
    required: list[int] = []
    unjudged = 0
    for number, row in enumerate(rows):
        key = (row.task_id, row.response_id)
        index = responses.setdefault(key, len(responses))
        if index == len(task):
            task.append(tasks.setdefault(row.task_id, len(tasks)))
            required.append(0)
        _note_required(number, row, index, required)
        if (index, row.group_id) in seen:
            raise RowError(
                number, f"the answer group {row.group_id!r} of response {row.response_id!r} appears twice"
            )
        seen.add((index, row.group_id))
        if not row.group_id:
            _check_groupless(number, row)
            continue
        is_unjudged = row.auto == UNJUDGED
        unjudged += is_unjudged
        for source, label in (("auto", "" if is_unjudged else row.auto), ("h1", row.h1), ("h2", row.h2)):
            if label not in codes:
                raise RowError(
                    number,
                    f"the {SOURCE_NAMES[source]} {label!r} on group {row.group_id!r} of response "
                    f"{row.response_id!r} is none of C, I, U; leave it empty where there is none",
                )
            labels[source].append(codes[label])
        response.append(index)
        group_ids.append(row.group_id)
    return GroupTable(
        labels={source: np.array(values, dtype=np.int64) for source, values in labels.items()},
        response=np.array(response, dtype=np.int64),
        group_ids=group_ids,
        task=np.array(task, dtype=np.int64),
        required=np.array(required, dtype=np.int64),
        ids=list(responses),
        unjudged=unjudged,
    )


def _note_required(number: int, row: GroupRow, index: int, required: list[int]) -> None:
    if row.required is None:
        return
    if row.required < 1:
        raise RowError(
            number, f"the required count of response {row.response_id!r} is {row.required}; 1 is the least"
        )
    if row.required > LARGEST_REQUIRED:
        raise RowError(
            number, f"the required count of response {row.response_id!r} is above {LARGEST_REQUIRED:,}, the most"
        )
    if required[index] not in (0, row.required):
        raise RowError(
            number,
            f"response {row.response_id!r} has two required counts, {required[index]} and {row.required}",
        )
    required[index] = row.required


def _check_groupless(number: int, row: GroupRow) -> None:
    if row.auto or row.h1 or row.h2:
        raise RowError(number, f"a row of response {row.response_id!r} has a label and no group_id; name the group")
