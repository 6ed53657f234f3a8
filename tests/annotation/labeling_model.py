"""A queue as plain Python: what leases, labels, skips, undos and flags must come to. No database, no clock."""

from __future__ import annotations

from dataclasses import dataclass, field

OK, LATE, REFUSED, NOT_SEATED = "ok", "late", "refused", "not seated"


@dataclass
class Version:
    """One appended version."""

    order: int
    number: int
    person: str
    action: str
    is_late: bool = False


@dataclass
class ModelLease:
    """Who holds a slot; `is_live` until it runs out, `is_taken_back` by the lead."""

    person: str
    order: int
    is_live: bool = True
    is_taken_back: bool = False


@dataclass
class ModelSlot:
    """One slot."""

    status: str = "open"
    version: int = 0
    lease: ModelLease | None = None
    versions: list[Version] = field(default_factory=list)
    flags: dict[str, str] = field(default_factory=dict)

    @property
    def in_force(self) -> Version | None:
        return self.versions[self.version - 1] if self.version else None

    @property
    def is_free(self) -> bool:
        return self.status == "open" and not (self.lease and self.lease.is_live)


@dataclass
class ModelQueue:
    """A queue that several people share."""

    slots: dict[int, ModelSlot]
    seated: set[str]
    status: str = "open"
    _order: int = 0

    def tick(self) -> int:
        self._order += 1
        return self._order

    def held_by(self, person: str) -> int | None:
        """The slot that a person is given again: the one they were given last and still hold."""
        held = [
            (slot.lease.order, pk)
            for pk, slot in self.slots.items()
            if slot.status == "open"
            and slot.lease is not None
            and slot.lease.person == person
            and not slot.lease.is_taken_back
        ]
        return max(held)[1] if held else None

    def may_be_given(self, person: str) -> set[int | None]:
        """What a claim may answer; it must say None only where nothing is free."""
        if self.status != "open":
            return {None}
        held = self.held_by(person)
        if held is not None:
            return {held}
        return {pk for pk, slot in self.slots.items() if slot.is_free} or {None}

    def give(self, pk: int, person: str) -> None:
        lease = self.slots[pk].lease
        if lease is not None and lease.person == person and not lease.is_taken_back:
            lease.is_live = True
        else:
            self.slots[pk].lease = ModelLease(person, self.tick())

    def keeps(self, pk: int, person: str) -> bool:
        """Whether a heartbeat is taken."""
        slot = self.slots[pk]
        lease = slot.lease
        if slot.status != "open" or lease is None or lease.person != person or person not in self.seated:
            return False
        if not lease.is_taken_back:
            lease.is_live = True
        return not lease.is_taken_back

    def decide(self, pk: int, person: str, action: str, base: int, *, was_given: bool = False) -> str:
        """Label or skip a slot, seen at version `base`; from its page where it `was_given` to the person."""
        slot = self.slots[pk]
        if person not in self.seated:
            return NOT_SEATED
        if self.status == "closed":
            return REFUSED
        if slot.in_force is not None and slot.in_force.person != person and base < slot.version:
            self._append(slot, person, action, is_late=True)
            return LATE
        if base != slot.version:
            return REFUSED
        if slot.status == "open" and slot.lease is None:
            return REFUSED
        if slot.status == "open" and slot.lease.person != person and not was_given:
            return REFUSED
        if slot.status != "open" and slot.in_force.person != person:
            return REFUSED
        self._append(slot, person, action)
        slot.lease = None
        return OK

    def undo(self, person: str) -> str:
        """Take back the person's last decision."""
        if person not in self.seated:
            return NOT_SEATED
        if self.status == "closed":
            return REFUSED
        last = self._last_decision(person)
        if last is None:
            return REFUSED
        pk, version = last
        slot = self.slots[pk]
        if slot.version != version.number:
            self._append(slot, person, "undo", is_late=True)
            return REFUSED
        self._append(slot, person, "undo")
        slot.lease = ModelLease(person, self.tick())
        return OK

    def flag(self, pk: int, person: str, note: str | None) -> str:
        """Raise a flag with a note, or take it back with None."""
        slot = self.slots[pk]
        if person not in self.seated:
            return NOT_SEATED
        if self.status == "closed":
            return REFUSED
        if slot.status == "open":
            is_own = slot.lease is not None and slot.lease.person == person
        else:
            is_own = slot.in_force.person == person
        if not is_own or (note is None and not self.was_flagged(pk, person)):
            return REFUSED
        if note is None:
            slot.flags.pop(person, None)
        else:
            slot.flags[person] = note
        self._ever_flagged.add((pk, person))
        return OK

    def was_flagged(self, pk: int, person: str) -> bool:
        return (pk, person) in self._ever_flagged

    _ever_flagged: set[tuple[int, str]] = field(default_factory=set)

    def leave(self, person: str) -> None:
        """The lead ends a person's place; what they hold goes back."""
        self.seated.discard(person)
        for slot in self.slots.values():
            if slot.lease and slot.lease.person == person and slot.lease.is_live:
                slot.lease.is_live, slot.lease.is_taken_back = False, True

    def close(self) -> None:
        self.status = "closed"
        for slot in self.slots.values():
            slot.lease = None

    def _append(self, slot: ModelSlot, person: str, action: str, *, is_late: bool = False) -> None:
        number = len(slot.versions) + 1
        slot.versions.append(Version(self.tick(), number, person, action, is_late))
        if not is_late:
            slot.version = number
            slot.status = {"label": "labeled", "skip": "skipped", "undo": "open"}[action]

    def _last_decision(self, person: str) -> tuple[int, Version] | None:
        """As a person remembers it: the newest decision that they have not tried to undo."""
        own = sorted(
            (
                (version.order, pk, version)
                for pk, slot in self.slots.items()
                for version in slot.versions
                if version.person == person and (not version.is_late or version.action == "undo")
            ),
            key=lambda found: -found[0],
        )
        tried: set[int] = set()
        for _, pk, version in own:
            if version.action == "undo":
                tried.add(pk)
            elif pk not in tried:
                return pk, version
        return None
