"""What a simulated model decides for each answer unit before it sets out: right, or wrong in one of ten ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from lseval.domain.labels import GroupLabel
from lseval.domain.taxonomy import ErrorType
from lseval.sandbox.kinds import COUNT, YEAR, A, B
from lseval.sandbox.pages import (
    DEAD,
    ENCYCLOPEDIA,
    LEAFLET,
    MIRROR,
    NEWS,
    OFFICIAL,
    OVERVIEW,
    VISIT,
    WALLED,
    mirrored,
    url_of,
)
from lseval.sandbox.profiles import TYPE_WEIGHTS, Profile
from lseval.sandbox.world import SandboxTask, Thing, written

_FIGURES: Final = (A, B, YEAR, COUNT)


@dataclass(frozen=True, slots=True)
class PlannedUnit:
    """One answer unit as the model will come to state it, and what is true of it.

    `stated` are the fields' values as the answer has them, `misled` the slots that are wrong in it. `source` is the
    page that the answer cites and `read` the page that the model takes the values from (the same, mostly); empty
    `read` means that it read none. `label` is the truth: correct, incorrect or unverifiable. `partner` is the
    second thing that a badly formed unit runs together with the first.
    """

    thing: Thing
    stated: tuple[tuple[str, str], ...]
    source: str
    read: str
    label: GroupLabel
    error_type: ErrorType | None = None
    misled: tuple[str, ...] = ()
    partner: Thing | None = None
    extra_source: str = ""


def plan_units(task: SandboxTask, profile: Profile, random: Random) -> list[PlannedUnit]:
    """The units that a run will supply, in their order; at least one."""
    things = list(task.eligible)
    random.shuffle(things)
    wanted = [thing for thing in things[: task.required] if random.random() < profile.supplied] or things[:1]
    spare = things[task.required :]
    units: list[PlannedUnit] = []
    used: set[str] = set()
    for place, thing in enumerate(wanted):
        if thing.name in used:
            continue
        draw = random.random()
        if draw < profile.unreadable:
            unit = _unreadable(task, thing, random)
        elif draw < profile.unreadable + (1 - profile.unreadable) * profile.right:
            unit = _right(task, thing, random)
        else:
            rest = [other for other in wanted[place + 1 :] if other.name not in used]
            unit = _wrong(task, thing, profile, random, rest)
            if unit.thing.name in used:
                unit = _right(task, thing, random)
        used.update((thing.name, unit.thing.name, unit.partner.name if unit.partner else ""))
        units.append(unit)
    # Now and then a model supplies one more than it was asked for.
    if spare and random.random() < 0.06 and spare[0].name not in used:
        units.append(_right(task, spare[0], random))
    return units


def _true(task: SandboxTask, thing: Thing) -> dict[str, str]:
    return {slot: thing.value(slot) for slot in task.fields}


def _unit(task: SandboxTask, thing: Thing, stated: dict[str, str], page: str, **more: Any) -> PlannedUnit:
    url = url_of(task, page) if page == OVERVIEW else url_of(task, page, thing)
    values = {"source": url, "read": url, "label": GroupLabel.INCORRECT, **more}
    return PlannedUnit(thing, tuple(stated.items()), **values)


def _right(task: SandboxTask, thing: Thing, random: Random) -> PlannedUnit:
    pages = (OFFICIAL,) if task.needs_official else (OFFICIAL, OFFICIAL, ENCYCLOPEDIA, ENCYCLOPEDIA, LEAFLET)
    page = random.choice(pages)
    if page == LEAFLET and any(condition.on in ("feature", "subtype") for condition in task.conditions):
        page = OFFICIAL
    extra = url_of(task, random.choice((DEAD, WALLED, ENCYCLOPEDIA)), thing) if random.random() < 0.1 else ""
    if extra == url_of(task, page, thing):
        extra = ""
    return _unit(task, thing, _true(task, thing), page, label=GroupLabel.CORRECT, extra_source=extra)


def _unreadable(task: SandboxTask, thing: Thing, random: Random) -> PlannedUnit:
    """The figures may well be right, but what is cited is behind a wall or gone."""
    return _unit(
        task,
        thing,
        _true(task, thing),
        random.choice((WALLED, DEAD)),
        label=GroupLabel.UNVERIFIABLE,
        error_type=ErrorType.SOURCE_QUALITY_ERROR,
        misled=task.fields,
        read="",
    )


_Maker = Callable[[SandboxTask, Thing, Random, Sequence[Thing]], "PlannedUnit | None"]


def _wrong(task: SandboxTask, thing: Thing, profile: Profile, random: Random, rest: Sequence[Thing]) -> PlannedUnit:
    """A unit that goes wrong in one of the ways that the task has room for, drawn by the profile's weights."""
    weights = {kind: profile.weight_of(kind) for kind in TYPE_WEIGHTS}
    while weights:
        chosen = random.choices(list(weights), list(weights.values()))[0]
        unit = _MAKERS[chosen](task, thing, random, rest)
        if unit is not None:
            return unit
        del weights[chosen]
    raise AssertionError("a source that does not support a figure is always possible")


def _wrong_entity(task: SandboxTask, thing: Thing, random: Random, rest: Sequence[Thing]) -> PlannedUnit | None:
    other = task.namesakes.get(thing.name)
    if other is None:
        return None
    stated = {slot: other.value(slot) for slot in task.fields}
    url = url_of(task, OFFICIAL, other)
    return _unit(
        task, thing, stated, OFFICIAL, source=url, read=url, error_type=ErrorType.WRONG_ENTITY, misled=task.fields
    )


def _violation(task: SandboxTask, thing: Thing, random: Random, rest: Sequence[Thing]) -> PlannedUnit | None:
    if not task.failing:
        return None
    place = random.randrange(len(task.failing))
    other, broken = task.failing[place], task.broken[place]
    # A condition on dates is a temporal error by the paper's borders, any other a violation.
    kind = ErrorType.TEMPORAL_ERROR if broken.on == YEAR else ErrorType.CONSTRAINT_VIOLATION
    page = OFFICIAL if task.needs_official else random.choice((OFFICIAL, ENCYCLOPEDIA))
    return _unit(task, other, _true(task, other), page, error_type=kind)


def _missing(task: SandboxTask, thing: Thing, random: Random, rest: Sequence[Thing]) -> PlannedUnit | None:
    stated = _true(task, thing)
    left_out = random.choice(task.fields)
    del stated[left_out]
    return _unit(task, thing, stated, OFFICIAL, error_type=ErrorType.MISSING_REQUIRED_FIELD, misled=(left_out,))


def _guessed(task: SandboxTask, thing: Thing, random: Random, page: str, kind: ErrorType) -> PlannedUnit | None:
    """One figure made up, and given to a page that does not tell it."""
    figures = [slot for slot in task.fields if slot in _FIGURES]
    if not figures:
        return None
    slot = random.choice(figures)
    stated = _true(task, thing)
    stated[slot] = written(thing.kind, slot, _off(thing, slot, random))
    return _unit(task, thing, stated, page, error_type=kind, misled=(slot,))


def _off(thing: Thing, slot: str, random: Random) -> Any:
    value = thing.facts[slot]
    if slot == YEAR:
        return value + random.choice((-21, -13, -6, 7, 12, 18))
    factor = random.choice((0.55, 0.7, 1.35, 1.6, 1.9))
    return round(value * factor, 1) if isinstance(value, float) else int(value * factor) + 1


def _insufficient(task: SandboxTask, thing: Thing, random: Random, rest: Sequence[Thing]) -> PlannedUnit | None:
    unit = _guessed(task, thing, random, ENCYCLOPEDIA, ErrorType.INSUFFICIENT_EVIDENCE)
    return None if unit is None else _but(unit, read="")


def _unsupported(task: SandboxTask, thing: Thing, random: Random, rest: Sequence[Thing]) -> PlannedUnit | None:
    unit = _guessed(task, thing, random, random.choice((VISIT, OFFICIAL)), ErrorType.SOURCE_NOT_SUPPORTING)
    if unit is not None:
        return unit
    return _unit(
        task, thing, _true(task, thing), VISIT, error_type=ErrorType.SOURCE_NOT_SUPPORTING, misled=task.fields
    )


def _poor_source(task: SandboxTask, thing: Thing, random: Random, rest: Sequence[Thing]) -> PlannedUnit | None:
    facts = mirrored(thing)
    stated = {slot: written(thing.kind, slot, facts[slot]) for slot in task.fields}
    misled = tuple(slot for slot in task.fields if slot in _FIGURES)
    return _unit(task, thing, stated, MIRROR, error_type=ErrorType.SOURCE_QUALITY_ERROR, misled=misled)


def _outdated(task: SandboxTask, thing: Thing, random: Random, rest: Sequence[Thing]) -> PlannedUnit | None:
    if COUNT not in task.fields:
        return None
    stated = {**_true(task, thing), COUNT: written(thing.kind, COUNT, thing.older)}
    return _unit(task, thing, stated, NEWS, error_type=ErrorType.TEMPORAL_ERROR, misled=(COUNT,))


def _too_wide(task: SandboxTask, thing: Thing, random: Random, rest: Sequence[Thing]) -> PlannedUnit | None:
    slots = [slot for slot in task.fields if slot in task.totals]
    if not slots:
        return None
    slot = random.choice(slots)
    stated = {**_true(task, thing), slot: written(thing.kind, slot, task.totals[slot])}
    return _unit(task, thing, stated, OVERVIEW, error_type=ErrorType.SCOPE_ERROR, misled=(slot,))


def _swapped(task: SandboxTask, thing: Thing, random: Random, rest: Sequence[Thing]) -> PlannedUnit | None:
    if A not in task.fields or B not in task.fields:
        return None
    stated = {**_true(task, thing), A: thing.value(B), B: thing.value(A)}
    return _unit(task, thing, stated, OFFICIAL, error_type=ErrorType.MAPPING_ERROR, misled=(A, B))


def _run_together(task: SandboxTask, thing: Thing, random: Random, rest: Sequence[Thing]) -> PlannedUnit | None:
    if not rest:
        return None
    other = rest[0]
    stated = {slot: other.value(slot) if place % 2 else thing.value(slot) for place, slot in enumerate(task.fields)}
    return _unit(
        task, thing, stated, OFFICIAL, error_type=ErrorType.GROUPING_ERROR, misled=task.fields[1::2], partner=other
    )


def _but(unit: PlannedUnit, **changed: Any) -> PlannedUnit:
    return replace(unit, **changed)


_MAKERS: Final[dict[ErrorType, _Maker]] = {
    ErrorType.WRONG_ENTITY: _wrong_entity,
    ErrorType.CONSTRAINT_VIOLATION: _violation,
    ErrorType.MISSING_REQUIRED_FIELD: _missing,
    ErrorType.INSUFFICIENT_EVIDENCE: _insufficient,
    ErrorType.SOURCE_NOT_SUPPORTING: _unsupported,
    ErrorType.SOURCE_QUALITY_ERROR: _poor_source,
    ErrorType.TEMPORAL_ERROR: _outdated,
    ErrorType.SCOPE_ERROR: _too_wide,
    ErrorType.MAPPING_ERROR: _swapped,
    ErrorType.GROUPING_ERROR: _run_together,
}
