"""Dollars and lengths of time as a reader sees them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from lseval.pipeline.costs import CostRow
from lseval.site.quantities import DASH

UNPRICED = "unpriced"


def dollars(amount: Decimal, *, is_known: bool, is_empty: bool = False) -> str:
    """`$1,812.30`, or `$0.0019` below ten dollars; `unpriced` where no call has a price, a dash for no call."""
    if is_empty:
        return DASH
    if not is_known:
        return UNPRICED
    return f"${amount:,.2f}" if amount >= 10 else f"${amount:,.4f}"


def hours(seconds: float | None) -> str:
    """`1,037.2 h`, `12 min` or `48 s`; a dash for None."""
    if seconds is None:
        return DASH
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:,.1f} h"


def tokens(count: int) -> str:
    """`2,782.84 M` from a million up, else the count."""
    return f"{count / 1e6:,.2f} M" if count >= 1_000_000 else f"{count:,}"


@dataclass(frozen=True, slots=True)
class CostLine:
    """A line of a table of costs, as text. `time` is what workers spent, `wait` what providers took of it."""

    label: str
    calls: int
    failed: int
    input: str
    cached: str
    output: str
    reasoning: str
    cost: str
    upper: str
    unpriced: int
    time: str
    wait: str

    @classmethod
    def of(cls, row: CostRow) -> CostLine:
        """The line of a row."""
        spent = row.spent
        return cls(
            label=row.label,
            calls=spent.calls,
            failed=spent.failed,
            input=tokens(spent.input_tokens),
            cached=tokens(spent.cached_tokens),
            output=tokens(spent.output_tokens),
            reasoning=tokens(spent.reasoning_tokens),
            cost=dollars(spent.cost_usd, is_known=spent.is_priced, is_empty=not spent.paid),
            upper=dollars(spent.upper_cost_usd, is_known=spent.is_priced, is_empty=not spent.paid),
            unpriced=spent.unpriced,
            time=hours(row.worked_s),
            wait=hours(spent.wait_s if spent.calls else None),
        )
