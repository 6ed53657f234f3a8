"""What the appended versions come to: the state that every slot must be in, worked out from its history alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from annotation.labels import STATUS_AFTER
from annotation.models import Audit, LabelVersion, Slot, SlotStatus


@dataclass(frozen=True, slots=True)
class State:
    """Where a slot stands: its status and the number of its version in force, 0 for none."""

    status: str = SlotStatus.OPEN
    version: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """A slot that is not where its history leads."""

    slot: Slot
    stored: State
    replayed: State


def replay(versions: Iterable[LabelVersion]) -> State:
    """The state that a slot's versions lead to, in the order of their numbers; late ones change nothing.

    Raises ValueError where the numbers are not 1, 2, 3, ...: a version is missing then.
    """
    state = State()
    for expected, version in enumerate(sorted(versions, key=lambda version: version.number), 1):
        if version.number != expected:
            raise ValueError(f"version {expected} of slot {version.slot_id} is missing")
        if not version.is_late:
            state = State(STATUS_AFTER[version.action], version.number)
    return state


def differences(audit: Audit) -> list[Difference]:
    """The slots of an audit whose stored state is not what their versions replay to; none where all is well."""
    versions: dict[int, list[LabelVersion]] = defaultdict(list)
    found = LabelVersion.objects.filter(slot__queue__audit=audit).only("slot_id", "number", "action", "is_late")
    for version in found.iterator():
        versions[version.slot_id].append(version)
    differing = []
    for slot in Slot.objects.filter(queue__audit=audit).iterator():
        stored, replayed = State(slot.status, slot.version), replay(versions[slot.pk])
        if stored != replayed:
            differing.append(Difference(slot, stored, replayed))
    return differing
