"""What an audit's log comes to: its settings, places, draws and adjudication, worked out from its events alone."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from annotation.adjudication_models import Disagreement
from annotation.codebook import CODEBOOK_VERSION
from annotation.models import Audit, AuditAction, AuditEvent, AuditStatus, Item, LabelerRole, Seat, Slot

Things = dict[str, dict[str, dict[str, Any]]]
"""Kind to name to field to value, as JSON has it. A field that is not there cannot be told."""

BEGINS_WITH: Final = "begins_with"
"""Stands in the event with which an audit begins here, and holds `things_of` it at that moment.

The newest event that has it is where a replay begins. What an audit that was moved here went through elsewhere may
stand in the log before it.
"""
SETTINGS, SEATS, DRAWS, ADJUDICATION = "settings", "seats", "draws", "adjudication"
KINDS: Final = (SETTINGS, SEATS, DRAWS, ADJUDICATION)
_OF_AUDIT: Final = ""
"""The name of what an audit has one of."""
_COUNTED: Final = (LabelerRole.H1, LabelerRole.H2)
_STATUS_AFTER: Final = {
    AuditAction.PAUSED: AuditStatus.PAUSED,
    AuditAction.RESUMED: AuditStatus.OPEN,
    AuditAction.CLOSED: AuditStatus.CLOSED,
}


def things_of(audit: Audit) -> Things:
    """What the log of an audit must lead to, as it is stored now."""
    return {
        SETTINGS: {_OF_AUDIT: _settings(audit)},
        SEATS: {
            username: {"role": role, "is_simulated": is_simulated}
            for username, role, is_simulated in Seat.objects.filter(audit=audit).values_list(
                "user__username", "queue__role", "queue__is_simulated"
            )
        },
        DRAWS: dict(_draws(audit)),
        ADJUDICATION: {_OF_AUDIT: adjudication_of(audit)},
    }


def adjudication_of(audit: Audit) -> dict[str, Any]:
    """How many items the adjudicators' queue of an audit holds, and how many of them are settled."""
    queued = Disagreement.objects.filter(slot__queue__audit=audit)
    settled = Counter(queued.values_list("is_settled", flat=True))
    return {"queued": settled.total(), "settled": settled[True]}


def replayed(events: Sequence[AuditEvent]) -> Things | None:
    """What a log in the order of its events leads to; None where it does not say how the audit began.

    Events that were stored before they said enough leave out the fields that cannot be told.
    """
    begun = [place for place, event in enumerate(events) if BEGINS_WITH in event.detail]
    if begun:
        things: Things = json.loads(json.dumps(events[begun[-1]].detail[BEGINS_WITH]))
        events = events[begun[-1] + 1 :]
    else:
        drawn = next((event for event in events if event.action == AuditAction.DRAWN), None)
        if drawn is None:
            return None
        things = _as_drawn(drawn)
    for event in events:
        _apply(things, event)
    return things


def _settings(audit: Audit) -> dict[str, Any]:
    names = ("name", "seed", "status", "codebook_version", "reveal_after_submission", "plan", "frame")
    values = Audit.objects.values(*names).get(pk=audit.pk)
    return values | {name: _digest(values[name]) for name in ("plan", "frame")}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _draws(audit: Audit) -> Iterator[tuple[str, dict[str, Any]]]:
    """Number of a draw to its seed, its items and its places in each labeler's queue; those without items too."""
    seeds = {1: audit.seed, **dict(audit.extensions.values_list("number", "seed"))}
    items = Counter(Item.objects.filter(audit=audit).values_list("draw", flat=True))
    slots = Slot.objects.filter(queue__audit=audit, queue__is_simulated=False, queue__role__in=_COUNTED)
    places = Counter(slots.order_by().values_list("item__draw", "queue__role"))
    for draw in sorted({*seeds, *items}):
        in_queues = {str(role): places[draw, role] for role in _COUNTED}
        yield str(draw), {"seed": seeds.get(draw), "items": items[draw], **in_queues}


def _as_drawn(event: AuditEvent) -> Things:
    """How an audit began whose log does not say so in full: one that came by files may have been anything."""
    was_moved = "source" in event.detail
    return {
        SETTINGS: {
            _OF_AUDIT: {} if was_moved else {"status": AuditStatus.OPEN, "codebook_version": CODEBOOK_VERSION}
        },
        SEATS: {},
        DRAWS: {"1": _told(event.detail, "items")},
        ADJUDICATION: {_OF_AUDIT: {} if was_moved else {"queued": 0, "settled": 0}},
    }


def _apply(things: Things, event: AuditEvent) -> None:
    detail = event.detail
    settings = things[SETTINGS][_OF_AUDIT]
    match event.action:
        case AuditAction.PAUSED | AuditAction.RESUMED | AuditAction.CLOSED:
            settings["status"] = _STATUS_AFTER[AuditAction(event.action)]
        case AuditAction.CODEBOOK:
            settings["codebook_version"] = detail["version"]
        case AuditAction.SEATED:
            things[SEATS][detail["person"]] = _told(detail, "role", "is_simulated")
        case AuditAction.SEAT_ENDED:
            things[SEATS].pop(detail["person"], None)
        case AuditAction.EXTENDED:
            draw = things[DRAWS].setdefault(str(detail["draw"]), {})
            draw.update(_told(detail, "seed", "items", *_COUNTED))
        case AuditAction.ADJUDICATION:
            things[ADJUDICATION][_OF_AUDIT] = _told(detail, "queued", "settled")


def _told(detail: dict[str, Any], *names: str) -> dict[str, Any]:
    return {str(name): detail[name] for name in names if name in detail}
