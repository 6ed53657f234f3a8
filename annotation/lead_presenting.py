"""Audits as the lead's page shows them: numbers in words, and what has been done in sentences."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from annotation import selectors
from annotation.audit_files import DONE_BY
from annotation.audit_storing import WAITS_FOR
from annotation.examples import waited_for
from annotation.models import AuditAction, AuditEvent, AuditStatus, Flag
from annotation.pace import UNREAD_BELOW_S, AgreementSoFar, Pace, is_unread
from annotation.sampling import KINDS, Sample
from annotation.services import Drawing
from annotation.speeds import Speed
from lseval.models import Study, User

KIND_NAMES = {"group": "Answer groups", "round": "Rounds", "link": "Round–group links"}
_DRAWN_NAMES = {
    "tasks": "Tasks",
    "responses": "Responses",
    "h2_tasks": "Tasks to H2 as well",
    "h2_responses": "Responses to H2 as well",
    "round_trajectories": "Trajectories with rounds",
    "link_trajectories": "Trajectories with links",
}
_MINUTE_S, _HOUR_S = 60, 3600
_TO_A_TENTH_BELOW_S = 5
_SAID = {
    AuditAction.DRAWN: "drew the audit: {items} items",
    AuditAction.SEATED: "gave {person} a place as {role}",
    AuditAction.SEAT_ENDED: "ended the place of {person} as {role}; items back in the queue: {released}",
    AuditAction.LEASE_RELEASED: "took item {position} of {role} back from {person}",
    AuditAction.PAUSED: "paused the audit",
    AuditAction.RESUMED: "resumed the audit",
    AuditAction.EXTENDED: "extended the audit by draw {draw}: {items} items",
    AuditAction.CODEBOOK: "put version {version} of the codebook in force, after version {before}",
    AuditAction.IMPORTED: "imported {labels} label versions of {person} as {role} from {source}",
    AuditAction.ADJUDICATION: "queued disagreements: {added} added, {removed} taken out, {open} to decide",
    AuditAction.CLOSED: "closed the audit with {open} items open",
}
_BROUGHT = "brought the audit in from {source}: {items} items"


def audits_shown(
    study: Study, audit_id: int | None = None, *, people: Collection[User] = ()
) -> list[dict[str, Any]]:
    """The study's audits, newest first, or the one with that id; `people` may be given places in them."""
    found = selectors.audits_of(study, audit_id)
    audits = [progress.audit for progress in found]
    agreement = selectors.agreement_so_far(audits)
    events = selectors.newest_events(audits)
    flags = selectors.flags_that_stand([queue.queue for progress in found for queue in progress.queues])
    waiting = waited_for([flag.slot.item for flag in flags])
    extensions = selectors.extensions_of(audits)
    return [
        {
            "audit": progress.audit,
            "has_simulated": any(queue.queue.is_simulated for queue in progress.queues),
            "is_closed": progress.audit.status == AuditStatus.CLOSED,
            "kinds": [
                {"name": KIND_NAMES[kind], "number": progress.items[kind]}
                for kind in KINDS
                if progress.items.get(kind)
            ],
            "headlines": [
                {"name": _DRAWN_NAMES[key], "number": number}
                for key, number in (("tasks", progress.tasks), ("responses", progress.responses))
            ],
            "drawn": _drawn(progress.audit.plan.get("drawn", {})),
            "extensions": [
                {"extension": extension, "drawn": _drawn(extension.plan.get("drawn", {}))}
                for extension in extensions.get(progress.audit.pk, [])
            ],
            "queues": [_queue(queue) for queue in progress.queues],
            "seated": _seated(progress),
            "without_place": _without_place(progress, people),
            "held": [{"role": queue.queue.role, "item": item} for queue in progress.queues for item in queue.held],
            "flags": [_flag(flag, waiting) for flag in flags if flag.slot.queue.audit_id == progress.audit.pk],
            "agreement": _agreement(agreement[progress.audit.pk]),
            "events": [_event(event) for event in events.get(progress.audit.pk, [])],
        }
        for progress in found
    ]


def drawing_shown(drawing: Drawing) -> dict[str, Any]:
    """A frame and a draw that nothing has been stored of yet."""
    return {
        "frame": drawing.frame,
        "kinds": _kinds_drawn(drawing.sample),
        "drawn": [{"name": _DRAWN_NAMES[key], "number": number} for key, number in drawing.sample.drawn.items()],
    }


def duration(seconds: float | None) -> str:
    """A time in the largest unit that leaves it above 1: 0.4 s, 40 s, 12 min, 3.2 h; empty for None."""
    if seconds is None:
        return ""
    if seconds < _TO_A_TENTH_BELOW_S:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    if seconds < 2 * _MINUTE_S:
        return f"{seconds:.0f} s"
    if seconds < 2 * _HOUR_S:
        return f"{seconds / _MINUTE_S:.0f} min"
    return f"{seconds / _HOUR_S:.1f} h"


def _kinds_drawn(sample: Sample) -> list[dict[str, Any]]:
    h1, h2 = sample.counts("H1"), sample.counts("H2")
    return [{"name": KIND_NAMES[kind], "h1": h1[kind], "h2": h2[kind]} for kind in KINDS]


def _drawn(counts: dict[str, int]) -> list[dict[str, Any]]:
    return [{"name": name, "number": number} for key, name in _DRAWN_NAMES.items() if (number := counts.get(key))]


def _seated(progress: selectors.AuditProgress) -> list[dict[str, Any]]:
    return [
        {"user_id": person.user_id, "username": person.username, "role": queue.queue.role}
        for queue in progress.queues
        if not queue.queue.is_simulated
        for person in queue.people
    ]


def _without_place(progress: selectors.AuditProgress, people: Collection[User]) -> list[User]:
    seated = {person.user_id for queue in progress.queues for person in queue.people}
    return [user for user in people if user.pk not in seated]


def _queue(found: selectors.QueueProgress) -> dict[str, Any]:
    return {
        "progress": found,
        "pace": _rate(found.pace),
        "time_left": duration(found.pace.seconds_for(found.open)) if found.open else "",
        "people": [_person(person, is_seated=True) for person in found.people]
        + [_person(person, is_seated=False) for person in found.left],
    }


def _person(person: selectors.PersonProgress, *, is_seated: bool) -> dict[str, Any]:
    return {
        "progress": person,
        "is_seated": is_seated,
        "pace": _rate(person.pace),
        "speeds": [{"verdict": speed.verdict, "text": _speed(speed)} for speed in person.speeds],
    }


def _speed(speed: Speed) -> str:
    parts = [f"{duration(speed.median_s)} for {KIND_NAMES[speed.kind].lower()}"]
    if speed.others_median_s is not None:
        others = "others in the study" if speed.is_of_study else "others"
        parts.append(f"{others}: {duration(speed.others_median_s)}")
    if speed.verdict and is_unread(speed.kind, speed.median_s):
        parts.append(f"nobody reads one in less than {duration(UNREAD_BELOW_S[speed.kind])}")
    return ", ".join(parts)


def _rate(pace: Pace) -> str:
    return "" if pace.items_per_hour is None else f"{pace.items_per_hour:,.0f}"


def _agreement(found: AgreementSoFar) -> dict[str, Any]:
    interval = found.interval
    return {
        "planned": found.planned,
        "pairs": found.pairs,
        "share": _percent(found.share),
        "low": _percent(interval[0]) if interval else "",
        "high": _percent(interval[1]) if interval else "",
        "width_now": _points(found.width_now),
        "width_at_end": _points(found.width_at_end),
    }


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}%"


def _points(width: float | None) -> str:
    return "" if width is None else f"±{100 * width:.1f}"


def _flag(flag: Flag, waiting: Mapping[int, str]) -> dict[str, Any]:
    """`waits_for` is whom it waits for before it can be an example; empty where it can."""
    return {
        "flag": flag,
        "role": flag.slot.queue.role,
        "name": selectors.item_name(flag.slot.item),
        "item_id": flag.slot.item_id,
        "waits_for": waiting.get(flag.slot.item_id, ""),
        "run_id": flag.slot.item.run_id,
    }


def _event(event: AuditEvent) -> dict[str, Any]:
    detail = {"person": "", "role": "", "items": 0, **event.detail}
    return {
        "at": event.at,
        "by": event.by.username if event.by else event.detail.get(DONE_BY) or "A command",
        "said": _sentence(_BROUGHT if WAITS_FOR in event.detail else _SAID[AuditAction(event.action)], detail),
    }


def _sentence(pattern: str, detail: dict[str, Any]) -> str:
    try:
        return pattern.format(**detail)
    except KeyError:
        return pattern.split(":")[0].split("{")[0].strip()
