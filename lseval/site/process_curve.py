"""The curve of the earliest association: the share of linked runs whose first link is at a round or before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lseval.site.selectors.process_details import PolicyRow

_LEFT, _RIGHT, _TOP, _BOTTOM = 7.0, 98.0, 5.0, 84.0
_TICKS: Final = (1, 5, 10, 20, 50, 100, 200, 500, 1_000)


@dataclass(frozen=True, slots=True)
class Line:
    """A stroke, its ends in per cent of the drawing."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis, in per cent of the drawing, and what stands there."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Curve:
    """The drawing: a staircase for each policy that has links, as (policy, whether it is in force, strokes)."""

    stairs: list[tuple[str, bool, list[Line]]]
    rounds: list[Tick]
    shares: list[Tick]
    text: str


def curve_of(policies: Sequence[PolicyRow]) -> Curve | None:
    """The curve; None where no run has a link under either policy."""
    linked = [row for row in policies if row.firsts]
    if not linked:
        return None
    last = max(row.firsts[-1] for row in linked)
    return Curve(
        stairs=[(row.policy, row.is_in_force, _stairs(row, last)) for row in linked],
        rounds=[
            Tick(_x(number, last), str(number)) for number in sorted({*_TICKS, last}) if _is_shown(number, last)
        ],
        shares=[Tick(_y(share), f"{share:.0%}") for share in (0.0, 0.5, 1.0)],
        text="; ".join(
            f"policy {row.policy}: " + ", ".join(f"{share.text} by round {number}" for number, share in row.early)
            for row in linked
        ),
    )


def _is_shown(number: int, last: int) -> bool:
    """Ticks up to the last round, none so near to it that their numbers would touch."""
    return number == last or (number < last and last - number > last / 12)


def _x(number: int, last: int) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * number / last, 2)


def _y(share: float) -> float:
    return round(_BOTTOM - (_BOTTOM - _TOP) * share, 2)


def _stairs(row: PolicyRow, last: int) -> list[Line]:
    lines: list[Line] = []
    x, y = _x(0, last), _y(0.0)
    for number in sorted(set(row.firsts)):
        to_x, to_y = _x(number, last), _y(row.by_round(number).value or 0.0)
        lines += [Line(x, y, to_x, y), Line(to_x, y, to_x, to_y)]
        x, y = to_x, to_y
    if x < _RIGHT:
        lines.append(Line(x, y, _RIGHT, y))
    return lines
