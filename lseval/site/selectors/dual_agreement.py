"""How far the two judges of Stage 2 agree, with intervals that take tasks as clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.bootstrap import Floats, Part, Resampling
from agreement.stats.draws import Draw
from agreement.stats.nominal import coefficients, cohen_kappa
from agreement.stats.undefined import Estimate, Undefined, Value, plain, ratio
from lseval.domain.labels import RoundLabel
from lseval.domain.taxonomy import ErrorType
from lseval.site.quantities import DASH, Share

ByTask: TypeAlias = Mapping[tuple[int, str, str], int]
"""How many units of a task judge A and judge B call what: by task, A's word and B's."""

VERDICTS: Final = (str(RoundLabel.ERROR), str(RoundLabel.NON_ERROR), str(RoundLabel.SKIPPED))
_TYPES: Final = tuple(str(kind) for kind in ErrorType)


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure of agreement over `n` units with its interval; undefined with a reason."""

    estimate: Estimate
    is_share: bool = False

    @property
    def value(self) -> Value:
        """The measure itself."""
        return self.estimate.point

    @property
    def n(self) -> int:
        """How many units it is over."""
        return self.estimate.n

    @property
    def text(self) -> str:
        """Two decimals, or per cent to one of a share; a dash where undefined."""
        return DASH if isinstance(self.value, Undefined) else self._shown(self.value)

    @property
    def bounds(self) -> str:
        """Both ends of the interval, as `0.41 to 0.52`; empty where there is none."""
        interval = self.estimate.interval
        if isinstance(interval, Undefined) or isinstance(self.value, Undefined):
            return ""
        return f"{self._shown(interval[0])} to {self._shown(interval[1])}"

    @property
    def reason(self) -> str:
        """Why there is no value; empty where there is one."""
        return self.value.reason if isinstance(self.value, Undefined) else ""

    @property
    def no_interval(self) -> str:
        """Why there is no interval, where there is a value without one."""
        interval = self.estimate.interval
        return interval.reason if isinstance(interval, Undefined) and not self.reason else ""

    def as_dict(self) -> dict[str, Any]:
        """JSON-able numbers."""
        found: dict[str, Any] = plain(self.estimate)
        return found

    def _shown(self, value: float) -> str:
        return f"{100 * value:.1f}%" if self.is_share else f"{value:.2f}"


@dataclass(frozen=True, slots=True)
class DualAgreement:
    """How far the two judges agree, beyond chance where that is asked.

    `verdicts` is over error, no error and skipped, `errors` over rounds that neither skipped, `types` over failure
    nodes of which both name one of the ten. `overlap` is Jaccard's index of the links: of the (failure node,
    incorrect group) that a judge names, the share that both name; `named` has its counts.
    """

    verdicts: Measured
    errors: Measured
    types: Measured
    overlap: Measured
    named: Share
    how: Resampling

    @property
    def measures(self) -> list[tuple[str, Measured, str]]:
        """Each measure's name, the measure, and what its number of units counts."""
        return [
            ("Kappa of verdicts", self.verdicts, "rounds: error, no error or skipped"),
            ("Kappa of errors", self.errors, "rounds that neither skipped"),
            ("Kappa of types", self.types, "failure nodes with a type from both"),
            ("Overlap of links", self.overlap, "incorrect groups named at a node by either"),
        ]

    def as_dict(self) -> dict[str, Any]:
        """JSON-able numbers."""
        return {
            "kappa_verdicts": self.verdicts.as_dict(),
            "kappa_errors": self.errors.as_dict(),
            "kappa_types": self.types.as_dict(),
            "link_overlap": {**self.overlap.as_dict(), **self.named.as_dict()},
        }


def dual_agreement(
    verdicts: ByTask, types: ByTask, named: Mapping[tuple[int, int], int], how: Resampling | None = None
) -> DualAgreement:
    """The measures with percentile intervals, all from one draw of tasks.

    `named` counts, by task and by how many judges name it (1 or 2), the incorrect groups named at failure nodes.
    """
    how = how or Resampling()
    tasks = sorted({*(key[0] for key in verdicts), *(key[0] for key in types), *(key[0] for key in named)})
    position = {task: place for place, task in enumerate(tasks)}
    tables = {
        "verdicts": _Table(verdicts, VERDICTS, position),
        "errors": _Table(verdicts, VERDICTS[:2], position),
        "types": _Table(types, _TYPES, position),
    }
    overlap = _part(
        "overlap", [(position[task], judges - 1, count) for (task, judges), count in named.items()], 2, _share
    )
    draw = Draw.of([*(table.part(name) for name, table in tables.items()), overlap], len(position), how)
    measured = {
        name: Measured(draw.estimate(name, "kappa", cohen_kappa(table.matrix), table.n, table.clusters))
        for name, table in tables.items()
    }
    both = int((overlap.code == 1).sum())
    every = len(overlap.code)
    nothing = "no judge names an incorrect group at a failure node"
    point = ratio(both, every, nothing)
    clusters = len(np.unique(overlap.task))
    return DualAgreement(
        **measured,
        overlap=Measured(draw.estimate("overlap", "share", point, every, clusters), is_share=True),
        named=Share(both, every, nothing),
        how=how,
    )


class _Table:
    """Counts by task of pairs of labels, those of other labels left out."""

    def __init__(self, counts: ByTask, labels: Sequence[str], position: Mapping[int, int]) -> None:
        place = {label: number for number, label in enumerate(labels)}
        self._q = len(labels)
        self._rows = [
            (position[task], place[a] * self._q + place[b], count)
            for (task, a, b), count in counts.items()
            if a in place and b in place
        ]
        self.matrix: NDArray[np.int64] = np.zeros((self._q, self._q), dtype=np.int64)
        for _, cell, count in self._rows:
            self.matrix[divmod(cell, self._q)] += count
        self.n = int(self.matrix.sum())
        self.clusters = len({task for task, _, count in self._rows if count})

    def part(self, name: str) -> Part:
        """As a part of a draw."""
        q = self._q

        def evaluate(counts: Floats) -> dict[str, Floats]:
            return coefficients(counts.reshape(q, q, -1), ("kappa",))

        return _part(name, self._rows, q * q, evaluate)


def _part(name: str, rows: Sequence[tuple[int, int, int]], cells: int, evaluate: Any) -> Part:
    task, code, count = (np.array([row[column] for row in rows], dtype=np.int64) for column in range(3))
    return Part(name, np.repeat(code, count), np.repeat(task, count), cells, evaluate)


def _share(counts: Floats) -> dict[str, Floats]:
    every = counts.sum(axis=0)
    return {"share": np.divide(counts[1], every, out=np.full_like(every, np.nan), where=every > 0)}
