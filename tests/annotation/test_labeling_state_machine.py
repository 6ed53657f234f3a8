"""Leases, labels, skips, undos, flags, and what the lead does meanwhile, against a model of plain Python."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from annotation import administration, flags, labels, leases, services
from annotation.history import differences, slot_differences
from annotation.models import Flag, LabelVersion, Slot
from annotation.request_keys import request_key
from lseval.errors import ConflictError, NotPermittedError
from tests.annotation.labeling_model import LATE, NOT_SEATED, OK, REFUSED, ModelQueue, ModelSlot
from tests.annotation.making import expire, make_audit, submit
from tests.annotation.test_blinding_twins import sequences_restart
from tests.factories import make_user

pytestmark = pytest.mark.django_db

NAMES = ("first", "second")
PEOPLE = st.sampled_from(NAMES)
PLACES = st.integers(0, 3)
LABELS = st.sampled_from("CIU")
AGES = st.integers(0, 2)
"""How many versions ago the page was opened from which a decision is sent."""


class Labeling(RuleBasedStateMachine):
    """Four slots that two people share, in a transaction that is taken back."""

    def __init__(self) -> None:
        super().__init__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        # The order of a labeler follows from ids, so the same steps must meet the same ids.
        sequences_restart()
        made = make_audit(tasks=1)
        self.audit, self.queue, self.lead = made.audit, made.h1, made.lead
        self.people = {name: make_user(name, made.study) for name in NAMES}
        administration.reassign(made.audit, made.first, None)
        for user in self.people.values():
            services.seat(self.queue, user)
        self.pks = list(self.queue.slots.order_by("position").values_list("pk", flat=True))
        assert len(self.pks) == 4
        self.model = ModelQueue({pk: ModelSlot() for pk in self.pks}, set(self.people))

    def teardown(self) -> None:
        try:
            assert differences(self.audit) == []
        finally:
            transaction.set_rollback(True)
            self.atomic.__exit__(None, None, None)

    def outcome(self, call: Callable[[], Any]) -> str:
        """What a service did, in the model's words."""
        try:
            with transaction.atomic():
                done = call()
        except NotPermittedError:
            return NOT_SEATED
        except ConflictError:
            return REFUSED
        return LATE if getattr(done, "is_late", False) else OK

    @rule(person=PEOPLE)
    def claim(self, person: str) -> None:
        if person not in self.model.seated:
            with pytest.raises(NotPermittedError):
                leases.claim_next(self.queue, self.people[person])
            return
        allowed = self.model.may_be_given(person)
        slot = leases.claim_next(self.queue, self.people[person])
        given = slot.pk if slot else None
        assert given in allowed
        if given is not None:
            self.model.give(given, person)

    def has_leases(self) -> bool:
        return any(slot.lease for slot in self.model.slots.values())

    def has_versions(self) -> bool:
        return any(slot.version for slot in self.model.slots.values())

    @precondition(lambda self: self.has_leases())
    @rule(person=PEOPLE, place=PLACES)
    def heartbeat(self, person: str, place: int) -> None:
        pk = self.pks[place]
        is_kept = self.model.keeps(pk, person)
        assert (self.outcome(lambda: leases.heartbeat(pk, self.people[person])) == OK) == is_kept

    @precondition(lambda self: self.has_leases())
    @rule(place=PLACES)
    def run_out(self, place: int) -> None:
        slot = self.model.slots[self.pks[place]]
        if slot.lease and not slot.lease.is_taken_back:
            expire(Slot.objects.get(pk=self.pks[place]))
            slot.lease.is_live = False

    @precondition(lambda self: self.has_leases())
    @rule(place=PLACES, label=LABELS)
    def who_was_given_the_page_saves_though_the_other_has_taken_the_item(self, place: int, label: str) -> None:
        held = [pk for pk, slot in self.model.slots.items() if slot.lease and slot.status == "open"]
        if not held:
            return
        pk = held[place % len(held)]
        slot = Slot.objects.get(pk=pk)
        person = next(name for name in NAMES if name != self.model.slots[pk].lease.person)
        key = request_key("label", pk, slot.version, self.people[person].pk)
        expected = self.model.decide(pk, person, "label", slot.version, was_given=True)
        assert self.outcome(lambda: submit(slot, self.people[person], label, request_key=key)) == expected

    @rule(person=PEOPLE, place=PLACES, label=LABELS, age=AGES)
    def submit(self, person: str, place: int, label: str, age: int) -> None:
        pk = self.pks[place]
        base = max(0, self.model.slots[pk].version - age)
        expected = self.model.decide(pk, person, "label", base)
        slot = Slot.objects.get(pk=pk)
        assert self.outcome(lambda: submit(slot, self.people[person], label, base_version=base)) == expected

    @precondition(lambda self: self.model.status == "open")
    @rule(person=PEOPLE, label=LABELS)
    def claim_and_submit(self, person: str, label: str) -> None:
        self.claim(person)
        pk = self.model.held_by(person)
        if pk is not None and person in self.model.seated:
            self.submit(person, self.pks.index(pk), label, 0)

    @precondition(lambda self: self.has_leases())
    @rule(place=PLACES)
    def lease_runs_out_and_the_other_takes_the_item(self, place: int) -> None:
        held = [pk for pk, slot in self.model.slots.items() if slot.lease and slot.status == "open"]
        if not held or self.model.status != "open":
            return
        pk = held[place % len(held)]
        taker = next(name for name in NAMES if name != self.model.slots[pk].lease.person)
        if taker in self.model.seated:
            leases.hold(pk, self.people[taker])
            self.model.give(pk, taker)

    @precondition(lambda self: self.has_versions())
    @rule(place=PLACES, label=LABELS)
    def the_other_submits_from_an_old_page(self, place: int, label: str) -> None:
        decided = [pk for pk, slot in self.model.slots.items() if slot.version]
        pk = decided[place % len(decided)]
        decider = self.model.slots[pk].in_force.person
        self.submit(next(name for name in NAMES if name != decider), self.pks.index(pk), label, 9)

    @rule(person=PEOPLE, place=PLACES)
    def skip(self, person: str, place: int) -> None:
        pk = self.pks[place]
        base = self.model.slots[pk].version
        expected = self.model.decide(pk, person, "skip", base)
        user, key = self.people[person], uuid.uuid4()
        assert self.outcome(lambda: labels.skip(pk, user, "unsure", request_key=key, base_version=base)) == expected

    @precondition(lambda self: self.has_versions())
    @rule(person=PEOPLE)
    def undo(self, person: str) -> None:
        expected = self.model.undo(person)
        user, key = self.people[person], uuid.uuid4()
        try:
            labels.undo_last(self.queue, user, request_key=key)
        except NotPermittedError:
            found = NOT_SEATED
        except ConflictError:
            found = REFUSED
        else:
            found = OK
        assert found == expected

    @rule(person=PEOPLE, place=PLACES, note=st.sampled_from(["", "unclear", None]))
    def flag(self, person: str, place: int, note: str | None) -> None:
        pk, user, key = self.pks[place], self.people[person], uuid.uuid4()
        expected = self.model.flag(pk, person, note)
        if note is None:
            found = self.outcome(lambda: flags.take_flag_back(pk, user, request_key=key))
        else:
            found = self.outcome(lambda: flags.raise_flag(pk, user, note, request_key=key))
        assert found == expected

    @precondition(lambda self: self.has_leases())
    @rule(place=PLACES)
    def release(self, place: int) -> None:
        pk = self.pks[place]
        lease = self.model.slots[pk].lease
        is_held = self.model.status != "closed" and lease is not None and lease.is_live
        slot = Slot.objects.select_related("queue__audit").get(pk=pk)
        assert (self.outcome(lambda: administration.release_lease(slot, self.lead)) == OK) == is_held
        if is_held and lease:
            lease.is_live, lease.is_taken_back = False, True

    @precondition(lambda self: self.model.status != "closed" and len(self.model.seated) == len(NAMES))
    @rule(person=PEOPLE)
    def leave(self, person: str) -> None:
        if person in self.model.seated:
            administration.reassign(self.audit, self.people[person], self.lead)
            self.model.leave(person)

    @precondition(lambda self: self.model.status != "closed" and len(self.model.seated) < len(NAMES))
    @rule(person=PEOPLE)
    def come_back(self, person: str) -> None:
        services.seat(self.queue, self.people[person])
        self.model.seated.add(person)

    @precondition(lambda self: self.model.status != "closed")
    @rule()
    def pause_or_resume(self) -> None:
        if self.model.status == "open":
            administration.pause_audit(self.audit, self.lead)
            self.model.status = "paused"
        else:
            administration.resume_audit(self.audit, self.lead)
            self.model.status = "open"

    @precondition(lambda self: self.model.status == "open" and sum(map(len, self._versions())) > 6)
    @rule()
    def close(self) -> None:
        administration.close_audit(self.audit, self.lead)
        self.model.close()

    def _versions(self) -> list[list[Any]]:
        return [slot.versions for slot in self.model.slots.values()]

    @invariant()
    def slots_are_as_the_model_says(self) -> None:
        for slot in Slot.objects.filter(pk__in=self.pks).select_related("lease__user"):
            expected = self.model.slots[slot.pk]
            assert (slot.status, slot.version) == (expected.status, expected.version)
            holder = slot.lease.user.username if hasattr(slot, "lease") else None
            assert holder == (expected.lease.person if expected.lease else None)

    @invariant()
    def nothing_was_lost_and_history_replays(self) -> None:
        found = LabelVersion.objects.filter(slot__in=self.pks).order_by("slot_id", "number")
        stored = list(found.values_list("slot_id", "number", "user__username", "action", "is_late"))
        assert stored == [
            (pk, version.number, version.person, version.action, version.is_late)
            for pk in sorted(self.pks)
            for version in self.model.slots[pk].versions
        ]
        assert list(slot_differences(self.audit)) == []

    @invariant()
    def flags_replay(self) -> None:
        names = {user.pk: name for name, user in self.people.items()}
        replayed = flags.flags_after(Flag.objects.filter(slot__in=self.pks))
        assert {(pk, names[user]): note for (pk, user), note in replayed.items()} == {
            (pk, person): note for pk, slot in self.model.slots.items() for person, note in slot.flags.items()
        }


def test_labeling_follows_its_model() -> None:
    run_state_machine_as_test(
        Labeling,
        settings=settings(
            max_examples=40,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
