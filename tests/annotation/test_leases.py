"""Who gets which item, and for how long."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from annotation import leases, services
from annotation.administration import release_lease
from annotation.models import ItemKind, Lease, Seat, Slot, SlotStatus
from annotation.sampling import Plan, draw
from annotation.selectors import frame_of
from lseval.errors import NotPermittedError
from lseval.models import Run, User
from tests.annotation.making import GROUPS_ONLY, Made, add_link, expire, give, make_audit, next_slot, submit
from tests.factories import make_run, make_study, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Made:
    return make_audit()


def seat_another(made: Made, name: str = "third") -> User:
    user = make_user(name, made.study)
    services.seat(made.h1, user)
    return user


def test_next_begins_a_response_at_its_first_item_for_a_quarter_of_an_hour(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    assert (
        slot.position
        == slot.run.items.filter(slots__queue=made.h1).earliest("id").slots.get(queue=made.h1).position
    )
    lease = Lease.objects.get(slot=slot)
    assert lease.user == made.first
    assert lease.expires_at - lease.leased_at == timedelta(minutes=15)


def test_asking_again_gives_the_same_item(made: Made) -> None:
    assert next_slot(made.h1, made.first) == next_slot(made.h1, made.first)
    assert Lease.objects.count() == 1


def test_nothing_is_leased_to_a_person_without_a_seat(made: Made) -> None:
    next_slot(made.h1, made.first)
    Seat.objects.filter(user=made.first).delete()
    Lease.objects.all().delete()
    for person in (made.first, made.second):
        with pytest.raises(NotPermittedError):
            leases.claim_next(made.h1, person)
    assert not Lease.objects.exists()


def test_two_people_of_a_role_get_different_items(made: Made) -> None:
    assert next_slot(made.h1, made.first) != next_slot(made.h1, seat_another(made))


def test_expired_lease_returns_item_to_queue_without_a_sweeper(made: Made) -> None:
    other = seat_another(made)
    slot = next_slot(made.h1, made.first)
    made.h1.slots.exclude(pk=slot.pk).update(status=SlotStatus.SKIPPED)
    assert leases.claim_next(made.h1, other) is None
    expire(slot)
    assert next_slot(made.h1, other) == slot
    assert Lease.objects.get(slot=slot).user == other


def test_person_back_from_a_break_gets_their_item_while_nobody_took_it(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    expire(slot)
    assert next_slot(made.h1, made.first) == slot
    assert Lease.objects.filter(slot=slot, expires_at__gt=F("leased_at")).exists()


def test_person_back_from_a_break_gets_another_item_where_somebody_took_it(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    expire(slot)
    give(slot, seat_another(made))
    assert next_slot(made.h1, made.first) != slot


def test_heartbeat_extends_the_lease(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    expire(slot)
    before = Lease.objects.get(slot=slot).expires_at
    assert leases.heartbeat(slot.pk, made.first) > before


@pytest.mark.parametrize("days", [-1, 1])
def test_leases_go_by_the_databases_clock_whatever_the_programs_says(
    made: Made, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    """C08."""
    other = seat_another(made)
    slot = next_slot(made.h1, made.first)
    made.h1.slots.exclude(pk=slot.pk).update(status=SlotStatus.SKIPPED)
    wrong = timezone.now() + timedelta(days=days)
    monkeypatch.setattr(timezone, "now", lambda: wrong)
    assert leases.claim_next(made.h1, other) is None
    expire(slot)
    assert next_slot(made.h1, other) == slot
    assert abs(Lease.objects.get().leased_at - wrong) > timedelta(hours=23)


class TestRefusedHeartbeat:
    """C05: it is refused with the reason, and nothing is claimed that is not so."""

    def refusal(self, slot: Slot, user: User) -> str:
        with pytest.raises(leases.NotHeldError) as raised:
            leases.heartbeat(slot.pk, user)
        return str(raised.value)

    def test_of_who_does_not_hold_it(self, made: Made) -> None:
        slot = next_slot(made.h1, made.first)
        before = Lease.objects.get(slot=slot)
        assert "with somebody else of your role" in self.refusal(slot, seat_another(made))
        assert Lease.objects.get(slot=slot).expires_at == before.expires_at

    def test_of_who_never_held_it_while_nobody_does(self, made: Made) -> None:
        told = self.refusal(made.h1.slots.first(), made.first)
        assert "You do not hold this item" in told
        assert "somebody else" not in told

    def test_after_own_submit(self, made: Made) -> None:
        slot = next_slot(made.h1, made.first)
        submit(slot, made.first)
        told = self.refusal(slot, made.first)
        assert "You have decided this item already" in told
        assert "somebody else" not in told
        assert not Lease.objects.exists()

    def test_after_somebody_else_decided(self, made: Made) -> None:
        other = seat_another(made)
        slot = next_slot(made.h1, made.first)
        submit(give(slot, other), other)
        told = self.refusal(slot, made.first)
        assert "has been decided" in told
        assert "You have decided" not in told

    def test_after_the_lead_took_it_back(self, made: Made) -> None:
        slot = next_slot(made.h1, made.first)
        release_lease(slot, made.lead)
        assert "You do not hold this item now" in self.refusal(slot, made.first)
        assert next_slot(made.h1, seat_another(made)) is not None

    def test_of_who_has_lost_their_place(self, made: Made) -> None:
        slot = next_slot(made.h1, made.first)
        Seat.objects.filter(user=made.first).delete()
        assert "You do not hold this item now" in self.refusal(slot, made.first)


def test_nobody_is_served_without_a_seat(made: Made) -> None:
    with pytest.raises(NotPermittedError):
        leases.claim_next(made.h1, made.second)


def test_finished_queue_gives_nothing(made: Made) -> None:
    while (slot := leases.claim_next(made.h2, made.second)) is not None:
        submit(slot, made.second)
    assert set(made.h2.slots.values_list("status", flat=True)) == {"labeled"}


def test_links_of_a_run_wait_for_its_groups_and_rounds() -> None:
    """Two people share the queue: the second must not learn from a link what the machine says of an open group."""
    study = make_study()
    for model in ("m1", "n1"):
        add_link(make_run(study, "t1", model))
    audit = services.create_audit(study, Plan(), 1, "A", None)
    queue = audit.queues.get(role="H1")
    people = [make_user(f"p{number}", study) for number in range(2)]
    for person in people:
        services.seat(queue, person)
    held = next_slot(queue, people[0])
    served = []
    while (slot := leases.claim_next(queue, people[1])) is not None:
        submit(slot, people[1], {"group": "C", "round": "non_error", "link": "corresponds"}[slot.item.kind])
        served.append(slot)
    others = Run.objects.exclude(pk=held.item.run_id).get()
    assert {slot.item.run_id for slot in served if slot.item.kind != ItemKind.GROUP} == {others.pk}
    assert Counter(slot.item.kind for slot in served) == {"group": 3, "round": 2, "link": 1}
    submit(held, people[0])
    kinds = []
    while (slot := leases.claim_next(queue, people[1])) is not None:
        submit(slot, people[1], {"round": "non_error", "link": "corresponds"}[slot.item.kind])
        kinds.append(slot.item.kind)
    assert kinds == ["round", "round", "link"]


def test_h2_is_the_drawn_subset_whatever_h1_does(made: Made) -> None:
    sample = draw(frame_of(made.study), GROUPS_ONLY, made.audit.seed)
    expected = [sample.items[place].group for place in sample.h2]
    while (slot := leases.claim_next(made.h1, made.first)) is not None:
        submit(slot, made.first, "I")
    assert list(made.h2.slots.values_list("item__group_id", flat=True)) == expected
    served = []
    while (slot := leases.claim_next(made.h2, made.second)) is not None:
        submit(slot, made.second)
        served.append(slot.item.group_id)
    assert sorted(served) == sorted(expected)


def served_runs(made: Made, person: User, label: str = "C") -> list[int]:
    """The responses in the order in which the person labels all that is left of H1's queue."""
    runs = []
    while (slot := leases.claim_next(made.h1, person)) is not None:
        submit(slot, person, label)
        runs.append(slot.run_id)
    return runs


def test_a_response_is_finished_before_the_next_is_begun(made: Made) -> None:
    runs = served_runs(made, made.first)
    # 3 tasks with 2 responses of 2 groups each.
    assert len(runs) == 12
    assert runs[0::2] == runs[1::2]
    assert len(set(runs)) == 6


def test_each_labelers_order_is_their_own_and_follows_from_the_seed() -> None:
    """Three people each label the whole of a queue of twelve responses, in transactions that are taken back."""
    made = make_audit(tasks=6)
    orders = {}
    for person in (made.first, seat_another(made), seat_another(made, "fourth")):
        for label in ("C", "I"):
            with transaction.atomic():
                orders[person.pk, label] = served_runs(made, person, label)
                transaction.set_rollback(True)
        assert orders[person.pk, "C"] == orders[person.pk, "I"]
    drawn = [slot.run_id for slot in made.h1.slots.order_by("position")]
    assert len({tuple(order) for order in [*orders.values(), drawn]}) == 4
    assert {frozenset(order) for order in orders.values()} == {frozenset(drawn)}


def test_two_people_of_a_role_work_on_different_responses_while_there_are_any(made: Made) -> None:
    people = [made.first, seat_another(made), seat_another(made, "fourth")]
    at = {}
    for _ in range(4):
        for person in people:
            slot = next_slot(made.h1, person)
            at[person.pk] = slot.run_id
            assert len(set(at.values())) == len(at)
            submit(slot, person)
    # 12 items are done after four rounds of three; nobody has been turned away.
    assert not made.h1.slots.filter(status=SlotStatus.OPEN).exists()


def test_last_response_is_shared_where_nothing_else_is_left(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    made.h1.slots.exclude(run=slot.run_id).update(status=SlotStatus.SKIPPED)
    other = next_slot(made.h1, seat_another(made))
    assert (other.run_id, other.pk == slot.pk) == (slot.run_id, False)


def claim_and_close(made: Made, person: User) -> Slot | None:
    """What a thread of its own does: a claim over a connection of its own."""
    try:
        return leases.claim_next(made.h1, person)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_on_twelve_items_never_share_one() -> None:
    made = make_audit()
    people = [make_user(f"p{number}", made.study) for number in range(20)]
    for person in people:
        services.seat(made.h1, person)
    assert made.h1.slots.count() == 12
    barrier = Barrier(20)

    def ask(person: User) -> Slot | None:
        barrier.wait(timeout=30)
        return claim_and_close(made, person)

    with ThreadPoolExecutor(20) as pool:
        given = list(pool.map(ask, people))
    slots = [slot.pk for slot in given if slot is not None]
    assert len(slots) == len(set(slots)) == 12
    assert given.count(None) == 8
    assert Lease.objects.count() == 12


def first_of(made: Made) -> int:
    """The slot that H1's person is given first."""
    slot = next_slot(made.h1, made.first)
    Lease.objects.all().delete()
    Seat.objects.update(run=None)
    return slot.pk


@pytest.mark.django_db(transaction=True)
def test_next_does_not_wait_for_an_item_that_is_being_saved() -> None:
    made = make_audit()
    first = first_of(made)
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        saving = Slot.objects.select_for_update().get(pk=first)
        given = pool.submit(claim_and_close, made, made.first).result(timeout=20)
    assert given is not None
    assert (given.run_id, given.position) == (saving.run_id, saving.position + 1)


@pytest.mark.django_db(transaction=True)
def test_one_person_asking_in_many_windows_holds_one_item() -> None:
    made = make_audit()
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(lambda _: claim_and_close(made, made.first), range(8)))
    assert len({slot.pk for slot in given if slot is not None}) == 1
    assert Lease.objects.count() == 1
