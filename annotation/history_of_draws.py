"""What an audit's draws come to when they are drawn again: its items, each with its inclusion probability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Audit, Item
from annotation.sampling import FrameRun, Plan, draw, frame_summary, left_to_draw
from annotation.selectors import frame_of
from lseval.errors import InputError

Key = tuple[str, int, int | None, int | None]
"""Kind, run, group and round of an item."""


@dataclass(frozen=True, slots=True)
class Redrawn:
    """A draw beside what its seed draws again: item to its probability, both ways.

    `drawn` is None where the study's runs are no longer those that it was drawn from, as its digest tells.
    """

    number: int
    stored: Mapping[Key, float]
    drawn: Mapping[Key, float] | None


def redrawn(audit: Audit) -> Iterator[Redrawn]:
    """Every draw of an audit, in order, drawn again from its seed and plan."""
    frame = frame_of(audit.study)
    stored: dict[int, dict[Key, float]] = {}
    rows = Item.objects.filter(audit=audit).values_list(
        "draw", "kind", "run", "group", "round", "inclusion_probability"
    )
    for number, kind, run, group, found, probability in rows:
        stored.setdefault(number, {})[kind, run, group, found] = probability
    before: set[int] = set()
    first = Audit.objects.values_list("seed", "plan", "frame").get(pk=audit.pk)
    further = audit.extensions.order_by("number").values_list("number", "seed", "plan", "frame")
    for number, seed, plan, summary in ((1, *first), *further):
        left = left_to_draw(frame, before) if number > 1 else frame
        items = stored.get(number, {})
        yield Redrawn(number, items, _drawn(left, plan, seed) if _is_same(left, summary) else None)
        before |= {run for _, run, _, _ in items}


def _is_same(frame: Sequence[FrameRun], summary: Mapping[str, Any]) -> bool:
    return frame_summary(frame)["digest"] == summary.get("digest")


def _drawn(frame: Sequence[FrameRun], plan: Mapping[str, Any], seed: int) -> dict[Key, float]:
    """Nothing where the plan is none that could ever be drawn by."""
    try:
        sample = draw(frame, Plan.from_json(plan), seed)
    except InputError:
        return {}
    return {(item.kind, item.run, item.group, item.round): item.probability for item in sample.items}
