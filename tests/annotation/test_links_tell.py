"""A link tells what the machine made of its response: nobody sees one while their labels there can still change."""

from __future__ import annotations

import uuid

import pytest

from annotation import labels, leases, services
from annotation.models import ItemKind, Queue, Slot
from annotation.sampling import Plan
from lseval.errors import ConflictError
from lseval.models import User
from tests.annotation.making import add_link, next_slot, submit
from tests.factories import make_run, make_study, make_user

pytestmark = pytest.mark.django_db

ANSWERS = {ItemKind.GROUP: "C", ItemKind.ROUND: "non_error", ItemKind.LINK: "corresponds"}


@pytest.fixture
def queue() -> Queue:
    """H1's queue of two responses, each with two groups, two rounds and a link."""
    study = make_study()
    for task in ("t1", "t2"):
        add_link(make_run(study, task))
    return services.create_audit(study, Plan(), 1, "A", None).queues.get(role="H1")


@pytest.fixture
def person(queue: Queue) -> User:
    user = make_user("first", queue.audit.study)
    services.seat(queue, user)
    return user


def seat_another(queue: Queue) -> User:
    user = make_user("third", queue.audit.study)
    services.seat(queue, user)
    return user


def decide_all(queue: Queue, person: User, *kinds: ItemKind) -> list[Slot]:
    """Decide what the person is given as long as it is of these kinds; the last one given is another or None."""
    decided = []
    while (slot := leases.claim_next(queue, person)) and slot.item.kind in kinds:
        submit(slot, person, ANSWERS[ItemKind(slot.item.kind)])
        decided.append(slot)
    return decided


def undo(queue: Queue, person: User) -> labels.Submission:
    return labels.undo_last(queue, person, request_key=uuid.uuid4())


def test_groups_and_rounds_can_be_changed_until_a_link_is_given_out(queue: Queue, person: User) -> None:
    decided = decide_all(queue, person, ItemKind.GROUP)
    assert not undo(queue, person).is_late
    decided += decide_all(queue, person, ItemKind.GROUP)
    group = Slot.objects.get(pk=decided[-1].pk)
    submit(group, person, "I")
    assert Slot.objects.get(pk=group.pk).version > group.version


def test_labels_of_a_response_are_final_once_one_of_its_links_is_given_out(queue: Queue, person: User) -> None:
    decided = decide_all(queue, person, ItemKind.GROUP, ItemKind.ROUND)
    told = next_slot(queue, person).run_id
    of_told = next(slot for slot in reversed(decided) if slot.run_id == told and slot.item.kind == ItemKind.ROUND)
    round_slot = Slot.objects.get(pk=of_told.pk)
    with pytest.raises(ConflictError, match="A link of that response has been given out"):
        submit(round_slot, person, "error", error_type="wrong_entity")
    # What they said of the other response, of which no link is out, can still be changed.
    of_other = next(slot for slot in reversed(decided) if slot.run_id != told and slot.item.kind == ItemKind.ROUND)
    submit(Slot.objects.get(pk=of_other.pk), person, "error", error_type="wrong_entity")


def test_undo_passes_over_what_a_link_has_made_final(queue: Queue, person: User) -> None:
    decide_all(queue, person, ItemKind.GROUP, ItemKind.ROUND)
    link = next_slot(queue, person)
    before = set(Slot.objects.filter(queue=queue).values_list("pk", "status", "version"))
    with pytest.raises(ConflictError, match="given out"):
        undo(queue, person)
    assert set(Slot.objects.filter(queue=queue).values_list("pk", "status", "version")) == before
    # The link itself is decided, and its label undone, as any other.
    submit(link, person, "corresponds")
    assert undo(queue, person).version.slot_id == link.pk


def test_link_that_a_colleague_was_given_makes_them_final_too(queue: Queue, person: User) -> None:
    decided = decide_all(queue, person, ItemKind.GROUP, ItemKind.ROUND)
    told = next_slot(queue, seat_another(queue)).run_id
    slot = next(slot for slot in reversed(decided) if slot.run_id == told)
    with pytest.raises(ConflictError, match="given out"):
        submit(Slot.objects.get(pk=slot.pk), person, "error", error_type="wrong_entity")


def test_what_comes_ahead_is_what_is_given_and_no_link_before_one_was_given(queue: Queue, person: User) -> None:
    ahead: int | None = None
    kinds = []
    while slot := leases.claim_next(queue, person):
        if ahead is not None:
            assert slot.pk == ahead
        elif kinds:
            # Nothing came ahead: the first link of a response.
            assert slot.item.kind == ItemKind.LINK
        kinds.append(slot.item.kind)
        ahead = leases.peek_next(person.seats.select_related("audit", "queue").get())
        submit(slot, person, ANSWERS[ItemKind(slot.item.kind)])
    assert kinds == [ItemKind.GROUP] * 4 + [ItemKind.ROUND] * 4 + [ItemKind.LINK] * 2
    assert ahead is None


def test_next_link_of_the_same_response_comes_ahead(queue: Queue, person: User) -> None:
    study = make_study("s2")
    run = make_run(study, "t9")
    link = add_link(run)
    other = run.answer_groups.get(number=2)
    type(link).objects.create(run=run, node=link.node, round=link.round, group=other)
    own = services.create_audit(study, Plan(), 1, "B", None).queues.get(role="H1")
    user = make_user("second", study)
    services.seat(own, user)
    decide_all(own, user, ItemKind.GROUP, ItemKind.ROUND)
    held = next_slot(own, user)
    ahead = leases.peek_next(user.seats.select_related("audit", "queue").get())
    assert ahead == own.slots.filter(stage=leases.LINK_STAGE).exclude(pk=held.pk).get().pk
