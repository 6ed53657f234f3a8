"""The rounds of a run from above: stretches that fold away, and arcs from failure nodes to groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from lseval.site.selectors.groups import GroupShown
from lseval.site.selectors.rounds import RoundShown

WIDTH, HEIGHT = 1000.0, 120.0
_TOP, _BOTTOM, _MARK, _TALL = 8.0, 112.0, 6.0, 12.0
MOST_ARCS: Final = 400
MOST_GROUP_MARKS: Final = 200
_ARCS_IN_WORDS = 12


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rounds that follow each other. A folded stretch holds skipped rounds only; `summary` says why, in words."""

    rounds: list[RoundShown]
    is_folded: bool

    @property
    def span(self) -> str:
        """`Round 3` or `Rounds 3–7`."""
        first, last = self.rounds[0].number, self.rounds[-1].number
        return f"Round {first}" if first == last else f"Rounds {first}–{last}"

    @property
    def summary(self) -> str:
        """Why they were skipped, with how many of each reason."""
        reasons = Counter(found.skip_reason or "set aside by a judge" for found in self.rounds)
        return ", ".join(
            reason if len(self.rounds) == 1 else f"{reason} {count}" for reason, count in reasons.items()
        )


def stretches_of(rounds: Sequence[RoundShown]) -> list[Stretch]:
    """The rounds in order; skipped ones that follow each other, and that no expert names, fold into one stretch."""
    return [
        Stretch(list(found), is_folded)
        for is_folded, found in groupby(rounds, lambda one: one.state == "skipped" and not one.references)
    ]


@dataclass(frozen=True, slots=True)
class Mark:
    """A round or a group in the drawing: a rectangle of which `x` is the left edge."""

    number: int
    kind: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Arc:
    """A link: from a failure node down to a group."""

    round: int
    group: int
    path: str


@dataclass(frozen=True, slots=True)
class Overview:
    """The drawing: rounds from first to last above, groups below, an arc for each link.

    Only the first `MOST_ARCS` are drawn; groups that no arc touches are drawn where there are few groups.
    """

    rounds: list[Mark]
    groups: list[Mark]
    arcs: list[Arc]
    links: int

    @property
    def is_cut(self) -> bool:
        """Whether there are more links than arcs."""
        return self.links > len(self.arcs)

    @property
    def text(self) -> str:
        """The arcs in words."""
        touched: dict[int, list[int]] = {}
        for arc in self.arcs:
            touched.setdefault(arc.round, []).append(arc.group)
        words = [
            f"round {number} touches {'group' if len(groups) == 1 else 'groups'} "
            + ", ".join(map(str, groups[:_ARCS_IN_WORDS]))
            + (" and more" if len(groups) > _ARCS_IN_WORDS else "")
            for number, groups in list(touched.items())[:_ARCS_IN_WORDS]
        ]
        more = "; and more" if len(touched) > _ARCS_IN_WORDS else ""
        return "; ".join(words) + more if words else "no failure node touches a group"


def overview_of(
    rounds: Sequence[RoundShown],
    groups_by_round: Mapping[int, Sequence[int]],
    group_count: int,
    shown: Sequence[GroupShown],
) -> Overview | None:
    """The drawing; None where there is no round or no group. `shown` are the groups whose labels are at hand."""
    if not rounds or not group_count:
        return None
    links = [(number, group) for number, groups in sorted(groups_by_round.items()) for group in groups]
    drawn = links[:MOST_ARCS]
    numbers = (
        list(range(1, group_count + 1))
        if group_count <= MOST_GROUP_MARKS
        else sorted({group for _, group in drawn})
    )
    label_of = {group.number: group.label or "unjudged" for group in shown}
    label_of |= {group: "I" for _, group in drawn}
    round_at = _places([found.number for found in rounds])
    group_at = _places(numbers)
    return Overview(
        rounds=[_mark(found.number, found.state, round_at, _TOP, is_above=True) for found in rounds],
        groups=[_mark(number, label_of.get(number, ""), group_at, _BOTTOM, is_above=False) for number in numbers],
        arcs=[Arc(number, group, _path(round_at[number], group_at[group])) for number, group in drawn],
        links=len(links),
    )


def _places(numbers: Sequence[int]) -> dict[int, float]:
    return {number: WIDTH * (place + 0.5) / len(numbers) for place, number in enumerate(numbers)}


def _mark(number: int, kind: str, at: Mapping[int, float], y: float, *, is_above: bool) -> Mark:
    width = round(min(WIDTH / len(at) * 0.6, 12.0), 2)
    height = _TALL if kind in ("failure", "I") else _MARK
    return Mark(number, kind, round(at[number] - width / 2, 2), y if is_above else y - height, width, height)


def _path(x1: float, x2: float) -> str:
    top, bottom = _TOP + _TALL, _BOTTOM - _TALL
    middle = (top + bottom) / 2
    return f"M{x1:.1f} {top:g}C{x1:.1f} {middle:g} {x2:.1f} {middle:g} {x2:.1f} {bottom:g}"
