"""Labels as versions: appended, idempotent, undone, never lost."""

from __future__ import annotations

import hashlib
import uuid

import pytest
from django.db import IntegrityError, transaction

from annotation import labels, leases, services
from annotation.errors import EvidenceChangedError, StaleLabelError
from annotation.evidence import item_shown
from annotation.history import State, differences, replay
from annotation.models import AuditStatus, ItemKind, LabelVersion, Slot, SlotStatus
from annotation.request_keys import request_key
from annotation.sampling import Plan
from lseval.errors import ConflictError, InputError, NotPermittedError
from lseval.models import Page, User
from tests.annotation.making import Made, expire, give, make_audit, next_slot, submit
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Made:
    return make_audit()


def test_label_is_stored_with_what_was_seen(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    version = submit(slot, made.first, "I", comment=" said 1971 ", seconds_on_task=12.5).version
    slot.refresh_from_db()
    assert (slot.status, slot.version) == (SlotStatus.LABELED, 1)
    assert (version.number, version.label, version.comment) == (1, "I", "said 1971")
    assert (version.codebook_version, version.seconds_on_task) == ("1", 12.5)
    assert not version.is_late
    assert not version.is_simulated


def test_evidence_digest_covers_the_snapshots_in_order(made: Made) -> None:
    """A group of the factory cites one page: the digest is SHA-256 over that snapshot's own."""
    slot = next_slot(made.h1, made.first)
    cited = slot.item.snapshots
    assert len(cited) == 1
    digest = Page.objects.get(pk=cited[0]["page"]).text_digest
    assert submit(slot, made.first).version.evidence_digest == hashlib.sha256(digest.encode()).hexdigest()


def test_same_key_and_content_gives_the_first_reply_again(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    key = uuid.uuid4()
    first = submit(slot, made.first, "C", request_key=key)
    again = submit(slot, made.first, "C", request_key=key)
    assert not first.is_repeat
    assert again.is_repeat
    assert again.version == first.version
    assert LabelVersion.objects.count() == 1


def test_same_key_with_other_content_is_a_conflict_that_shows_both(made: Made) -> None:
    """C02."""
    slot = next_slot(made.h1, made.first)
    key = uuid.uuid4()
    submit(slot, made.first, "C", request_key=key)
    with pytest.raises(StaleLabelError) as raised:
        submit(slot, made.first, "U", request_key=key)
    assert raised.value.in_force.label == "C"
    assert raised.value.offered.label == "U"
    assert LabelVersion.objects.count() == 1


def test_key_of_another_item_is_a_conflict(made: Made) -> None:
    key = uuid.uuid4()
    submit(next_slot(made.h1, made.first), made.first, request_key=key)
    with pytest.raises(ConflictError):
        submit(next_slot(made.h1, made.first), made.first, request_key=key)


def test_two_people_may_use_the_same_key(made: Made) -> None:
    key = uuid.uuid4()
    submit(next_slot(made.h1, made.first), made.first, request_key=key)
    submit(next_slot(made.h2, made.second), made.second, request_key=key)
    assert LabelVersion.objects.filter(request_key=key).count() == 2


def test_stale_window_overwrites_nothing(made: Made) -> None:
    """C03: refused with both, and none is lost."""
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first, "C", comment="first window")
    with pytest.raises(StaleLabelError) as raised:
        submit(slot, made.first, "I", comment="second window")
    assert (raised.value.in_force.comment, raised.value.offered.comment) == ("first window", "second window")
    assert LabelVersion.objects.get().label == "C"


def test_own_recent_label_can_be_changed(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first, "C")
    slot.refresh_from_db()
    submit(slot, made.first, "I")
    slot.refresh_from_db()
    assert (slot.version, slot.status) == (2, SlotStatus.LABELED)
    assert list(slot.versions.values_list("number", "label")) == [(1, "C"), (2, "I")]


def test_only_the_last_ten_can_be_changed() -> None:
    made = make_audit(tasks=4)
    slots = []
    for _ in range(11):
        slots.append(next_slot(made.h1, made.first))
        submit(slots[-1], made.first)
    for slot in slots:
        slot.refresh_from_db()
    submit(slots[1], made.first, "U")
    with pytest.raises(ConflictError):
        submit(slots[0], made.first, "U")


def test_late_work_is_kept_and_not_in_force(made: Made) -> None:
    other = make_user("third", made.study)
    services.seat(made.h1, other)
    slot = next_slot(made.h1, made.first)
    expire(slot)
    submit(give(slot, other), other, "I")
    late = submit(slot, made.first, "C")
    assert late.is_late
    slot.refresh_from_db()
    assert slot.version == 1
    assert list(slot.versions.values_list("number", "label", "is_late")) == [(1, "I", False), (2, "C", True)]


def test_work_after_the_lease_counts_where_nobody_else_decided(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    expire(slot)
    assert not submit(slot, made.first).is_late


def test_first_to_submit_is_in_force_when_both_hold_the_page(made: Made) -> None:
    """The first person's lease ran out and the second has taken the item, but has not decided it yet."""
    other = make_user("third", made.study)
    services.seat(made.h1, other)
    slot = next_slot(made.h1, made.first)
    key = request_key("label", slot.pk, slot.version, made.first.pk)
    expire(slot)
    give(slot, other)
    assert not submit(slot, made.first, "C", request_key=key).is_late
    assert submit(slot, other, "I").is_late


@pytest.mark.parametrize("action", ["label", "skip"])
def test_item_that_is_with_a_colleague_cannot_be_decided_by_who_was_never_given_it(made: Made, action: str) -> None:
    """B04: both are of one role, so that the slot is of their own queue; only the page of an item tells its key."""
    forger = make_user("third", made.study)
    services.seat(made.h1, forger)
    slot = next_slot(made.h1, made.first)
    others = request_key(action, slot.pk, slot.version, made.first.pk)
    decide = {"label": labels.submit_label, "skip": labels.skip}[action]
    for key in (uuid.uuid4(), others):
        with pytest.raises(ConflictError, match="with somebody else"):
            decide(slot.pk, forger, "I", request_key=key, base_version=0)
    assert not LabelVersion.objects.exists()
    assert not submit(slot, made.first).is_late


def test_item_that_was_not_given_out_cannot_be_labeled(made: Made) -> None:
    with pytest.raises(ConflictError):
        submit(made.h1.slots.last(), made.first)


def test_other_peoples_decision_cannot_be_changed(made: Made) -> None:
    other = make_user("third", made.study)
    services.seat(made.h1, other)
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first)
    slot.refresh_from_db()
    with pytest.raises(ConflictError):
        submit(slot, other, "I")
    assert LabelVersion.objects.count() == 1


def test_without_a_seat_nothing_can_be_stored(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    with pytest.raises(NotPermittedError):
        submit(slot, made.second)


@pytest.mark.parametrize("wrong", ["", "X", "c", "error", "C'; --"])
def test_label_must_be_one_of_its_kind(made: Made, wrong: str) -> None:
    with pytest.raises(InputError):
        submit(next_slot(made.h1, made.first), made.first, wrong)
    assert not LabelVersion.objects.exists()


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0])
def test_time_that_is_none_is_refused(made: Made, seconds: float) -> None:
    with pytest.raises(InputError):
        submit(next_slot(made.h1, made.first), made.first, seconds_on_task=seconds)


def test_comment_with_null_byte_is_stored_with_a_replacement(made: Made) -> None:
    assert submit(next_slot(made.h1, made.first), made.first, comment="a\x00b").version.comment == "a\ufffdb"


def test_endless_comment_is_refused(made: Made) -> None:
    with pytest.raises(InputError):
        submit(next_slot(made.h1, made.first), made.first, comment="x" * 5001)


def test_changed_snapshot_is_shown_again_before_a_label_counts(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    seen = item_shown(slot).evidence_digest
    Page.objects.filter(pk=slot.item.snapshots[0]["page"]).update(text="other", text_digest="0" * 64)
    with pytest.raises(EvidenceChangedError):
        submit(slot, made.first, evidence_digest=seen)
    submit(slot, made.first, evidence_digest=item_shown(slot).evidence_digest)


def test_skip_needs_a_reason_and_keeps_it(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    with pytest.raises(InputError):
        labels.skip(slot.pk, made.first, "  ", request_key=uuid.uuid4(), base_version=0)
    labels.skip(slot.pk, made.first, "in Finnish", request_key=uuid.uuid4(), base_version=0)
    slot.refresh_from_db()
    assert slot.status == SlotStatus.SKIPPED
    assert slot.versions.get().comment == "in Finnish"
    assert next_slot(made.h1, made.first) != slot


def test_undo_is_a_version_and_gives_the_item_back(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first, "C")
    labels.undo_last(made.h1, made.first, request_key=uuid.uuid4())
    slot.refresh_from_db()
    assert (slot.status, slot.version) == (SlotStatus.OPEN, 2)
    assert list(slot.versions.values_list("action", "label")) == [("label", "C"), ("undo", "")]
    assert next_slot(made.h1, made.first) == slot
    submit(slot, made.first, "U")
    assert slot.versions.count() == 3


def test_undone_item_comes_before_the_one_that_was_open(made: Made) -> None:
    first = next_slot(made.h1, made.first)
    submit(first, made.first)
    second = next_slot(made.h1, made.first)
    labels.undo_last(made.h1, made.first, request_key=uuid.uuid4())
    assert next_slot(made.h1, made.first) == first
    first.refresh_from_db()
    submit(first, made.first)
    assert next_slot(made.h1, made.first) == second


def test_undo_goes_back_decision_by_decision(made: Made) -> None:
    slots = [next_slot(made.h1, made.first) for _ in range(2) if submit(next_slot(made.h1, made.first), made.first)]
    decided = list(Slot.objects.filter(status=SlotStatus.LABELED).order_by("position"))
    assert slots
    assert [
        labels.undo_last(made.h1, made.first, request_key=uuid.uuid4()).version.slot for _ in decided
    ] == decided[::-1]
    with pytest.raises(ConflictError):
        labels.undo_last(made.h1, made.first, request_key=uuid.uuid4())


def test_double_click_on_undo_undoes_once(made: Made) -> None:
    for _ in range(2):
        submit(next_slot(made.h1, made.first), made.first)
    key = uuid.uuid4()
    labels.undo_last(made.h1, made.first, request_key=key)
    assert labels.undo_last(made.h1, made.first, request_key=key).is_repeat
    assert Slot.objects.filter(status=SlotStatus.LABELED).count() == 1


def test_undo_never_touches_another_persons_label(made: Made) -> None:
    other = make_user("third", made.study)
    services.seat(made.h1, other)
    submit(next_slot(made.h1, made.first), made.first)
    with pytest.raises(ConflictError):
        labels.undo_last(made.h1, other, request_key=uuid.uuid4())


def test_closed_audit_takes_nothing_more(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first)
    held = next_slot(made.h1, made.first)
    made.audit.status = AuditStatus.CLOSED
    made.audit.save()
    with pytest.raises(ConflictError):
        submit(held, made.first)
    with pytest.raises(ConflictError):
        labels.undo_last(made.h1, made.first, request_key=uuid.uuid4())
    assert leases.claim_next(made.h1, made.first) is None


def test_paused_audit_keeps_work_that_was_begun(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    made.audit.status = AuditStatus.PAUSED
    made.audit.save()
    assert leases.claim_next(made.h1, made.first) is None
    submit(slot, made.first)


def test_versions_cannot_be_changed_in_the_database(made: Made) -> None:
    version = submit(next_slot(made.h1, made.first), made.first, "C").version
    with pytest.raises(IntegrityError, match="only ever appended"), transaction.atomic():
        LabelVersion.objects.filter(pk=version.pk).update(label="I")
    version.refresh_from_db()
    assert version.label == "C"


def test_undo_after_somebody_else_decided_is_refused_and_kept_as_a_row(made: Made) -> None:
    """C07. The item was taken back from the first person, and another decided it."""
    other = make_user("third", made.study)
    services.seat(made.h1, other)
    before = next_slot(made.h1, made.first)
    submit(before, made.first, "C")
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first, "C")
    slot.refresh_from_db()
    _decide_anew(slot, other)
    with pytest.raises(ConflictError, match="decided anew"):
        labels.undo_last(made.h1, made.first, request_key=uuid.uuid4())
    slot.refresh_from_db()
    assert (slot.status, slot.version) == (SlotStatus.LABELED, 2)
    assert list(slot.versions.values_list("action", "label", "is_late")) == [
        ("label", "C", False),
        ("label", "I", False),
        ("undo", "", True),
    ]
    # The next undo goes to the decision before it.
    assert labels.undo_last(made.h1, made.first, request_key=uuid.uuid4()).version.slot == before


def _decide_anew(slot: Slot, user: User) -> None:
    """A version of somebody else in force, as an import or a lead's correction adds one."""
    LabelVersion.objects.create(
        slot=slot,
        number=2,
        action="label",
        label="I",
        user=user,
        codebook_version="1",
        evidence_digest="",
        request_key=uuid.uuid4(),
    )
    Slot.objects.filter(pk=slot.pk).update(version=2, status=SlotStatus.LABELED)


def test_label_keeps_what_was_visible(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    version = submit(slot, made.first).version
    cited = slot.item.snapshots[0]
    page = Page.objects.get(pk=cited["page"])
    assert version.visible == {
        "sources": [{"url": cited["url"], "page": page.pk, "digest": page.text_digest}],
        "round": None,
        "reveal_after_submission": False,
    }


def test_versions_replay_to_the_slots_state(made: Made) -> None:
    """C11; the state machine holds it after every step of any history."""
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first, "C")
    labels.undo_last(made.h1, made.first, request_key=uuid.uuid4())
    slot.refresh_from_db()
    labels.skip(slot.pk, made.first, "unsure", request_key=uuid.uuid4(), base_version=slot.version)
    slot.refresh_from_db()
    submit(slot, made.first, "U")
    assert differences(made.audit) == []
    assert replay(slot.versions.all()) == State(SlotStatus.LABELED, 4)
    # And a slot that says otherwise is found.
    Slot.objects.filter(pk=slot.pk).update(status=SlotStatus.OPEN)
    assert list(map(str, differences(made.audit))) == [
        f"place {slot.position} of H1: stored open at version 4; its history says labeled at version 4"
    ]


def test_missing_version_is_found_on_replay(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first)
    slot.refresh_from_db()
    submit(slot, made.first, "I")
    with pytest.raises(ValueError, match="is missing"):
        replay(slot.versions.filter(number=2))


class TestRoundsAndLinks:
    """Kinds with labels of their own."""

    @pytest.fixture
    def slot(self) -> Slot:
        made = make_audit(Plan(link_trajectories=0))
        self.user = made.first
        while (slot := next_slot(made.h1, made.first)).item.kind == ItemKind.GROUP:
            submit(slot, made.first)
        return slot

    def test_error_needs_a_type_from_the_ten(self, slot: Slot) -> None:
        for wrong in ("", "typo", "Wrong entity"):
            with pytest.raises(InputError):
                submit(slot, self.user, "error", error_type=wrong)
        assert submit(slot, self.user, "error", error_type="scope_error").version.error_type == "scope_error"

    def test_type_without_an_error_is_refused(self, slot: Slot) -> None:
        with pytest.raises(InputError):
            submit(slot, self.user, "non_error", error_type="scope_error")
        submit(slot, self.user, "skipped")

    def test_round_evidence_covers_its_words_and_observations(self, slot: Slot) -> None:
        found = item_shown(slot).round
        assert found is not None
        texts = [found.text, *(call.observation or "" for call in found.calls)]
        digests = "\n".join(hashlib.sha256(text.encode()).hexdigest() for text in texts)
        assert submit(slot, self.user, "skipped").version.evidence_digest == (
            hashlib.sha256(digests.encode()).hexdigest()
        )
