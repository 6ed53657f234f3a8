"""One draw for all the parts of a block, and the estimates taken from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.stats.bootstrap import Part, Replicates, Resampling, jackknife, replicates
from agreement.stats.estimates import estimate
from agreement.stats.undefined import Estimate, Undefined, Value


@dataclass(frozen=True, slots=True)
class Draw:
    """The resamples of several parts under one draw of units; None where there are fewer than two units to draw."""

    how: Resampling
    resampled: Replicates | None
    left_out: Replicates | None

    @classmethod
    def of(cls, parts: Sequence[Part], n_units: int, how: Resampling, bca: bool = False) -> Draw:
        """Draws, and with `bca` leaves each unit out in turn as well."""
        if n_units < 2:
            return cls(how, None, None)
        return cls(how, replicates(parts, n_units, how), jackknife(parts, n_units) if bca else None)

    def estimate(self, part: str, name: str, point: Value, n: int, clusters: int) -> Estimate:
        """The point of a part's statistic with the intervals of this draw."""
        return estimate(
            point,
            self.resampled[part][name] if self.resampled else None,
            self.how,
            n=n,
            clusters=clusters,
            left_out=self.left_out[part][name] if self.left_out else None,
        )

    def difference(
        self, one: tuple[str, str], other: tuple[str, str], point: Value, other_point: Value, n: int, clusters: int
    ) -> Estimate:
        """The first statistic (part, name) less the second, paired resample by resample."""
        if isinstance(point, Undefined) or isinstance(other_point, Undefined):
            missing = point if isinstance(point, Undefined) else other_point
            return estimate(missing, None, self.how, n, clusters)

        def paired(values: Replicates | None) -> NDArray[np.float64] | None:
            return values[one[0]][one[1]] - values[other[0]][other[1]] if values else None

        return estimate(
            point - other_point, paired(self.resampled), self.how, n, clusters, left_out=paired(self.left_out)
        )
