"""Flags: raised and taken back, appended, seen by the lead and by nobody else."""

from __future__ import annotations

import uuid

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotation import flags, services
from annotation.administration import close_audit
from annotation.models import Flag, Queue, Slot, SlotStatus
from annotation.selectors import flags_that_stand
from lseval.errors import ConflictError, InputError, NotPermittedError
from tests.annotation.making import Made, give, make_audit, next_slot, submit
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Made:
    return make_audit()


def raise_flag(slot: Slot, made: Made, note: str = "", **changes: object) -> flags.Flagging:
    given = {"request_key": uuid.uuid4(), **changes}
    return flags.raise_flag(slot.pk, made.first, note, **given)


def standing(queue: Queue) -> list[str]:
    """The notes of the flags that stand, by the lead's selector; the replayed history must say the same."""
    found = flags_that_stand([queue])
    replayed = flags.flags_after(Flag.objects.all())
    assert replayed == {(flag.slot_id, flag.user_id): flag.note for flag in found}
    return [flag.note for flag in found]


def test_flag_stands_with_its_note_and_moves_nothing(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    flag = raise_flag(slot, made, " two ferries share\r\nthe name ").flag
    assert (flag.user, flag.number, flag.is_raised, flag.note) == (
        made.first, 1, True, "two ferries share\nthe name",
    )  # fmt: skip
    assert flag.created_at is not None
    slot.refresh_from_db()
    assert (slot.status, slot.version) == (SlotStatus.OPEN, 0)
    assert standing(made.h1) == ["two ferries share\nthe name"]
    assert next_slot(made.h1, made.first) == slot


def test_taking_back_is_a_row_too_and_the_flag_can_be_raised_anew(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    raise_flag(slot, made, "one")
    flags.take_flag_back(slot.pk, made.first, request_key=uuid.uuid4())
    assert standing(made.h1) == []
    raise_flag(slot, made, "two")
    assert standing(made.h1) == ["two"]
    assert list(Flag.objects.values_list("number", "is_raised", "note")) == [
        (1, True, "one"), (2, False, ""), (3, True, "two"),
    ]  # fmt: skip


def test_another_note_replaces_the_note(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    raise_flag(slot, made, "one")
    raise_flag(slot, made, "two")
    assert standing(made.h1) == ["two"]


def test_asking_twice_adds_one_row(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    key = uuid.uuid4()
    assert not raise_flag(slot, made, "one", request_key=key).is_repeat
    assert raise_flag(slot, made, "one", request_key=key).is_repeat
    assert raise_flag(slot, made, "one").is_repeat
    assert Flag.objects.count() == 1


def test_key_with_other_content_is_a_conflict(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    key = uuid.uuid4()
    raise_flag(slot, made, "one", request_key=key)
    with pytest.raises(ConflictError):
        raise_flag(slot, made, "two", request_key=key)
    with pytest.raises(ConflictError):
        flags.take_flag_back(slot.pk, made.first, request_key=key)


def test_decided_item_of_the_last_ten_can_be_flagged(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first)
    raise_flag(slot, made, "unsure after all")
    assert standing(made.h1) == ["unsure after all"]


def test_items_of_others_cannot_be_flagged(made: Made) -> None:
    other = make_user("third", made.study)
    services.seat(made.h1, other)
    slot = give(made.h1.slots.first(), other)
    with pytest.raises(ConflictError):
        raise_flag(slot, made)
    with pytest.raises(NotPermittedError):
        raise_flag(made.h2.slots.first(), made)
    with pytest.raises(ConflictError):
        flags.take_flag_back(give(slot, made.first).pk, made.first, request_key=uuid.uuid4())
    assert not Flag.objects.exists()


def test_endless_note_is_refused(made: Made) -> None:
    with pytest.raises(InputError):
        raise_flag(next_slot(made.h1, made.first), made, "x" * 5001)


def test_closed_audit_takes_no_flag(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    close_audit(made.audit, made.lead)
    with pytest.raises(ConflictError, match="closed"):
        raise_flag(slot, made)


def test_rows_cannot_be_changed_in_the_database(made: Made) -> None:
    flag = raise_flag(next_slot(made.h1, made.first), made, "one").flag
    with pytest.raises(IntegrityError, match="only ever added to"), transaction.atomic():
        Flag.objects.filter(pk=flag.pk).update(note="other")


class TestPage:
    """The flag on the labeling page."""

    def post(self, client: Client, made: Made, **data: object) -> None:
        reply = client.post(reverse("label_flag", args=[made.h1.pk]), data)
        assert reply.status_code == 302, reply.content
        assert reply.url == f"{reverse('label', args=[made.h1.pk])}?slot={data['slot']}"

    def test_flagged_item_says_so_and_offers_to_take_it_back(self, client: Client, made: Made) -> None:
        client.force_login(made.first)
        url = reverse("label", args=[made.h1.pk])
        slot = next_slot(made.h1, made.first)
        assert "Flag it" in client.get(url).content.decode()
        self.post(client, made, slot=slot.pk, request_key=uuid.uuid4(), note="which ferry?")
        text = client.get(url).content.decode()
        assert "which ferry?" in text
        assert "Take the flag back" in text
        self.post(client, made, slot=slot.pk, request_key=uuid.uuid4(), take_back="1")
        assert "which ferry?" not in client.get(url).content.decode()

    def test_nobody_of_the_same_role_sees_the_flag(self, client: Client, made: Made) -> None:
        other = make_user("third", made.study)
        services.seat(made.h1, other)
        slot = next_slot(made.h1, made.first)
        raise_flag(slot, made, "which ferry?")
        client.force_login(other)
        give(slot, other)
        text = client.get(reverse("label", args=[made.h1.pk])).content.decode()
        assert f'value="{slot.pk}"' in text
        assert "which ferry?" not in text
        assert "Take the flag back" not in text

    def test_foreign_slot_and_unreadable_request_are_refused(self, client: Client, made: Made) -> None:
        client.force_login(made.first)
        url = reverse("label_flag", args=[made.h1.pk])
        foreign = {"slot": made.h2.slots.first().pk, "request_key": uuid.uuid4()}
        assert client.post(url, foreign).status_code == 404
        assert client.post(url, {"slot": 1, "request_key": "x"}).status_code == 400
        assert not Flag.objects.exists()
