"""How far the rubrics of a task agree from run to run: the counts behind Table A4 and Figure A2."""

from __future__ import annotations

import re
import statistics
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import F, Func, IntegerField

from lseval.models import Rubric, Study
from lseval.pipeline.import_runs import GIVEN

_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class StoredRubric:
    """What is compared of a run's rubric."""

    required_count: int
    constraints: int
    grouping_rule: str


FIELDS: Final[dict[str, tuple[str, Callable[[StoredRubric], Hashable]]]] = {
    "required_count": ("Required count", lambda rubric: rubric.required_count),
    "constraints": ("Hard-constraint count", lambda rubric: rubric.constraints),
    "grouping_rule": ("Normalized grouping-rule text", lambda rubric: normalized(rubric.grouping_rule)),
}
"""The fields by key, with their words and what is compared."""


@dataclass(frozen=True, slots=True)
class Stability:
    """One field over tasks. `modes` is how often each task's most frequent value occurs, `distinct` how many values
    the task has, and `is_tied` whether two values share the first place; all three by task in the same order.
    """

    rubrics: int
    modes: tuple[int, ...]
    distinct: tuple[int, ...]
    is_tied: tuple[bool, ...]

    @property
    def modal(self) -> int:
        """Rubrics that have their task's most frequent value, tied ones counted once a task."""
        return sum(self.modes)

    @property
    def tied_tasks(self) -> int:
        """Tasks without a single most frequent value."""
        return sum(self.is_tied)

    @property
    def unique_modes(self) -> list[int]:
        """The counts of the tasks that have one."""
        return [count for count, tied in zip(self.modes, self.is_tied, strict=True) if not tied]

    @property
    def median_unique_mode(self) -> float | None:
        """Their median; None where no task has one."""
        return statistics.median(self.unique_modes) if self.unique_modes else None


@dataclass(frozen=True, slots=True)
class RubricStability:
    """All fields, by the keys of `FIELDS`. `most` is the largest number of rubrics that a task has."""

    rubrics: int
    given: int
    tasks: int
    most: int
    fields: Mapping[str, Stability]


def stability_of(by_task: Sequence[Sequence[StoredRubric]], given: int = 0) -> RubricStability:
    """From each task's rubrics; a task without one is left out."""
    tasks = [rubrics for rubrics in by_task if rubrics]
    return RubricStability(
        rubrics=sum(map(len, tasks)),
        given=given,
        tasks=len(tasks),
        most=max(map(len, tasks), default=0),
        fields={key: _field(tasks, compared) for key, (_, compared) in FIELDS.items()},
    )


def _field(tasks: Sequence[Sequence[StoredRubric]], compared: Callable[[StoredRubric], Hashable]) -> Stability:
    modes, distinct, tied = [], [], []
    for rubrics in tasks:
        counts = Counter(compared(rubric) for rubric in rubrics)
        first, *others = sorted(counts.values(), reverse=True)
        modes.append(first)
        distinct.append(len(counts))
        tied.append(bool(others) and others[0] == first)
    return Stability(sum(map(len, tasks)), tuple(modes), tuple(distinct), tuple(tied))


def normalized(rule: str) -> str:
    """The rule without what does not change its wording: case, width of letters, spaces and punctuation."""
    return _BETWEEN_WORDS.sub(" ", unicodedata.normalize("NFKC", rule).casefold()).strip()


def rubric_stability_of(study: Study) -> RubricStability:
    """The study's rubrics. One query."""
    by_task: dict[int, list[StoredRubric]] = defaultdict(list)
    given = 0
    rows = (
        Rubric.objects.filter(run__study=study)
        .annotate(n=Func(F("constraints"), function="jsonb_array_length", output_field=IntegerField()))
        .order_by("run__task_id", "run_id")
        .values_list("run__task_id", "required_count", "n", "grouping_rule", "origin")
    )
    for task_id, required, constraints, rule, origin in rows:
        by_task[task_id].append(StoredRubric(required, constraints, rule))
        given += origin == GIVEN
    return stability_of(list(by_task.values()), given)
