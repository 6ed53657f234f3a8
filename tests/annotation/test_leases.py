"""Who gets which item, and for how long."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection, transaction
from django.db.models import F

from annotation import leases, services
from annotation.models import ItemKind, Lease, Slot
from annotation.sampling import Plan, draw
from annotation.selectors import frame_of
from lseval.errors import NotPermittedError
from lseval.models import Run, User
from tests.annotation.making import GROUPS_ONLY, Made, add_link, expire, make_audit, next_slot, submit
from tests.factories import make_run, make_study, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Made:
    return make_audit()


def seat_another(made: Made, name: str = "third") -> User:
    user = make_user(name, made.study)
    services.seat(made.h1, user)
    return user


def test_next_is_the_first_open_slot_for_a_quarter_of_an_hour(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    assert slot.position == 1
    lease = Lease.objects.get(slot=slot)
    assert lease.user == made.first
    assert lease.expires_at - lease.leased_at == timedelta(minutes=15)


def test_asking_again_gives_the_same_item(made: Made) -> None:
    assert next_slot(made.h1, made.first) == next_slot(made.h1, made.first)
    assert Lease.objects.count() == 1


def test_two_people_of_a_role_get_different_items(made: Made) -> None:
    assert next_slot(made.h1, made.first) != next_slot(made.h1, seat_another(made))


def test_expired_lease_returns_item_to_queue_without_a_sweeper(made: Made) -> None:
    other = seat_another(made)
    slot = next_slot(made.h1, made.first)
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
    next_slot(made.h1, seat_another(made))
    assert next_slot(made.h1, made.first) != slot


def test_heartbeat_extends_the_lease(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    expire(slot)
    before = Lease.objects.get(slot=slot).expires_at
    assert leases.heartbeat(slot.pk, made.first) > before


def test_heartbeat_of_somebody_else_is_refused(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    with pytest.raises(leases.NotHeldError):
        leases.heartbeat(slot.pk, seat_another(made))


def test_heartbeat_after_own_submit_is_refused_and_harmless(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first)
    with pytest.raises(leases.NotHeldError):
        leases.heartbeat(slot.pk, made.first)
    assert not Lease.objects.exists()


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
    assert served == expected


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


@pytest.mark.django_db(transaction=True)
def test_next_does_not_wait_for_an_item_that_is_being_saved() -> None:
    made = make_audit()
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        saving = Slot.objects.select_for_update().get(queue=made.h1, position=1)
        given = pool.submit(claim_and_close, made, made.first).result(timeout=20)
    assert given is not None
    assert (saving.position, given.position) == (1, 2)


@pytest.mark.django_db(transaction=True)
def test_one_person_asking_in_many_windows_holds_one_item() -> None:
    made = make_audit()
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(lambda _: claim_and_close(made, made.first), range(8)))
    assert len({slot.pk for slot in given if slot is not None}) == 1
    assert Lease.objects.count() == 1
