"""Adjudication: the queue of disagreements, anonymous pairs, decisions with a reason, and what stays apart."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agreement.selectors import RATERS as COUNTED
from annotation import adjudication, labels, services
from annotation.adjudication_selectors import (
    adjudication_progress,
    new_disagreements,
    pair_of,
    present_disagreements,
    rulings_of,
    skips_of,
)
from annotation.administration import close_audit
from annotation.errors import PairChangedError
from annotation.history import differences
from annotation.models import AuditEvent, Between, LabelerRole, LabelVersion, Queue, Seat, Slot, SlotStatus
from annotation.sampling import Plan
from lseval.errors import ConflictError, InputError
from lseval.models import Role, User
from tests.annotation.making import Made, give, make_audit, submit
from tests.factories import give_verdict, make_user

pytestmark = pytest.mark.django_db
EVERYTHING_TWICE = Plan(h2_tasks=3, link_trajectories=0, round_trajectories=0)


@dataclass(frozen=True)
class Differing:
    """An audit whose 12 groups H1 and H2 both label: 3 disagreements, and one item that H2 skipped."""

    made: Made
    items: list[int]

    @property
    def queue(self) -> Queue:
        return self.made.audit.queues.get(role=LabelerRole.ADJUDICATOR)


@pytest.fixture
def differing() -> Differing:
    made = make_audit(EVERYTHING_TWICE)
    items = list(made.h1.slots.order_by("position").values_list("item_id", flat=True))
    assert made.h2.slots.count() == 12
    # Those that differ come last, so that they are among the decisions that can still be changed.
    for place, item in reversed(list(enumerate(items))):
        submit(give(made.h1.slots.get(item=item), made.first), made.first, "C", comment="first says so")
        slot = give(made.h2.slots.get(item=item), made.second)
        if place == 3:
            labels.skip(slot.pk, made.second, "unsure", request_key=uuid.uuid4(), base_version=0)
        else:
            submit(slot, made.second, "I" if place < 3 else "C", comment="second says so")
    return Differing(made, items)


def seated(differing: Differing, **options: bool) -> User:
    adjudication.rebuild_queue(differing.made.audit, differing.made.lead, **options)
    adjudication.seat_adjudicator(differing.made.audit, differing.made.lead, differing.made.lead)
    return differing.made.lead


def decide(slot: Slot, user: User, label: str = "I", reason: str = "the page says 1971", **changes: Any) -> None:
    slot.refresh_from_db()
    pair = pair_of(slot)
    given = {"request_key": uuid.uuid4(), "base_version": slot.version, "pair_key": pair.key if pair else "-"}
    adjudication.decide(slot.pk, user, label, reason, **{**given, **changes})


def next_pair(differing: Differing, user: User) -> Slot:
    slot = adjudication.claim_disagreement(differing.queue, user, sees_automatic=user == differing.made.lead)
    assert slot is not None
    return slot


def test_items_on_which_people_differ_are_queued_and_no_others(differing: Differing) -> None:
    done = adjudication.rebuild_queue(differing.made.audit, differing.made.lead)
    assert (done.added, done.removed, done.open) == (3, 0, 3)
    queued = set(differing.queue.slots.values_list("item_id", flat=True))
    assert queued == set(differing.items[:3])
    event = AuditEvent.objects.filter(action="adjudication").get()
    assert (event.by, event.detail["added"]) == (differing.made.lead, 3)


def test_rebuilding_adds_what_is_new_and_takes_out_what_agrees(differing: Differing) -> None:
    made = differing.made
    adjudication.rebuild_queue(made.audit, made.lead)
    for item, label in ((differing.items[0], "C"), (differing.items[4], "U")):
        slot = made.h2.slots.get(item=item)
        LabelVersion.objects.create(
            slot=slot, number=2, action="label", label=label, user=made.second, codebook_version="1",
            evidence_digest="", request_key=uuid.uuid4(),
        )  # fmt: skip
        Slot.objects.filter(pk=slot.pk).update(version=2)
    done = adjudication.rebuild_queue(made.audit, made.lead)
    assert (done.added, done.removed, done.open) == (1, 1, 3)
    assert set(differing.queue.slots.values_list("item_id", flat=True)) == set(differing.items[1:3]) | {
        differing.items[4]
    }


def test_rebuilding_leaves_decisions_and_their_places_alone(differing: Differing) -> None:
    user = seated(differing)
    slot = next_pair(differing, user)
    decide(slot, user)
    before = list(differing.queue.slots.values_list("pk", "position", "status", "version"))
    adjudication.rebuild_queue(differing.made.audit, differing.made.lead)
    assert list(differing.queue.slots.values_list("pk", "position", "status", "version")) == before


def test_item_with_a_history_that_agrees_by_now_is_kept_and_not_served(differing: Differing) -> None:
    user = seated(differing)
    slot = next_pair(differing, user)
    decide(slot, user)
    labels.undo_last(differing.queue, user, request_key=uuid.uuid4())
    second = differing.made.h2.slots.get(item=slot.item_id)
    submit(second, differing.made.second, "C")
    adjudication.rebuild_queue(differing.made.audit, user)
    slot.refresh_from_db()
    assert slot.disagreement.is_settled
    assert slot.versions.count() == 2
    served = set()
    while (found := adjudication.claim_disagreement(differing.queue, user, sees_automatic=True)) is not None:
        decide(found, user)
        served.add(found.pk)
    assert len(served) == 2
    assert slot.pk not in served


def test_lead_may_adjudicate_and_who_labels_may_not(differing: Differing) -> None:
    made = differing.made
    with pytest.raises(InputError, match="Queue them first"):
        adjudication.seat_adjudicator(made.audit, made.lead, made.lead)
    seated(differing)
    third = make_user("third", made.study)
    adjudication.seat_adjudicator(made.audit, third, made.lead)
    for labeler in (made.first, made.second):
        with pytest.raises(ConflictError):
            adjudication.seat_adjudicator(made.audit, labeler, made.lead)
    Seat.objects.filter(user=made.first).delete()
    with pytest.raises(ConflictError, match="has labeled as H1"):
        adjudication.seat_adjudicator(made.audit, made.first, made.lead)
    for wrong in (make_user("r", made.study, Role.RESEARCHER), make_user("stranger")):
        with pytest.raises(InputError):
            adjudication.seat_adjudicator(made.audit, wrong, made.lead)
    # And the other way round: one role in an audit, ever.
    with pytest.raises(ConflictError):
        services.seat(made.h1, third)
    assert set(differing.queue.seats.values_list("user__username", flat=True)) == {made.lead.username, "third"}


def test_who_labels_the_same_items_in_another_audit_may_not_adjudicate(differing: Differing) -> None:
    made = differing.made
    seated(differing)
    other = services.create_audit(made.study, EVERYTHING_TWICE, 2, "B", None)
    third = make_user("third", made.study)
    services.seat(other.queues.get(role="H1"), third)
    with pytest.raises(ConflictError, match="same items in another audit"):
        adjudication.seat_adjudicator(made.audit, third, made.lead)
    fourth = make_user("fourth", made.study)
    adjudication.seat_adjudicator(made.audit, fourth, made.lead)
    with pytest.raises(ConflictError, match="adjudicates the same items"):
        services.seat(other.queues.get(role="H2"), fourth)


def test_order_of_the_two_labels_tells_nothing_and_does_not_change() -> None:
    """Over 12 items H1's label must come first sometimes and second at other times."""
    made = make_audit(EVERYTHING_TWICE)
    for slot in made.h1.slots.all():
        submit(give(slot, made.first), made.first, "C")
        submit(give(made.h2.slots.get(item=slot.item_id), made.second), made.second, "I")
    adjudication.rebuild_queue(made.audit, made.lead)
    slots = made.audit.queues.get(role="adjudicator").slots.select_related("disagreement")
    orders = ["".join(side.label for side in pair_of(slot).sides) for slot in slots]
    assert len(orders) == 12
    assert set(orders) == {"CI", "IC"}
    assert orders == ["".join(side.label for side in pair_of(slot).sides) for slot in slots]
    assert {pair_of(slot).names for slot in slots} == {("One labeler", "Another labeler")}


def test_decision_is_a_version_with_its_reason_and_what_was_shown(differing: Differing) -> None:
    user = seated(differing)
    slot = next_pair(differing, user)
    pair = pair_of(slot)
    decide(slot, user, "U", "  no cited page could be read ")
    version = slot.versions.get()
    assert (version.label, version.comment, version.user) == ("U", "no cited page could be read", user)
    assert [shown["version"] for shown in version.visible["labels"]] == [side.version for side in pair.sides]
    assert version.visible["between"] == "people"
    assert version.visible["sources"][0]["page"] == slot.item.snapshots[0]["page"]
    slot.refresh_from_db()
    assert slot.status == SlotStatus.LABELED
    assert differences(differing.made.audit) == []


def test_decision_needs_a_reason(differing: Differing) -> None:
    user = seated(differing)
    with pytest.raises(InputError, match="Say why"):
        decide(next_pair(differing, user), user, reason="  ")


def test_decision_on_labels_that_have_changed_is_refused(differing: Differing) -> None:
    user = seated(differing)
    slot = next_pair(differing, user)
    seen = pair_of(slot).key
    submit(differing.made.h2.slots.get(item=slot.item_id), differing.made.second, "U")
    with pytest.raises(PairChangedError):
        decide(slot, user, pair_key=seen)
    decide(slot, user)


def test_adjudicated_label_can_be_neither_changed_nor_undone(differing: Differing) -> None:
    """C07: refused with the reason, and the attempt to undo is a row of the history."""
    made = differing.made
    user = seated(differing)
    for item in differing.items[:3]:
        decide(give(differing.queue.slots.get(item=item), user), user)
    slot = made.h1.slots.get(item=differing.items[0])
    with pytest.raises(ConflictError, match="adjudicator has decided"):
        submit(slot, made.first, "U")
    with pytest.raises(ConflictError, match="adjudicator has decided"):
        labels.undo_last(made.h1, made.first, request_key=(key := uuid.uuid4()))
    with pytest.raises(ConflictError, match="adjudicator has decided"):
        labels.undo_last(made.h1, made.first, request_key=key)
    slot.refresh_from_db()
    assert (slot.status, slot.version) == (SlotStatus.LABELED, 1)
    assert list(slot.versions.values_list("action", "is_late")) == [("label", False), ("undo", True)]
    assert differences(made.audit) == []
    # The next undo goes to the decision before it, which was adjudicated as well.
    with pytest.raises(ConflictError, match="adjudicator has decided"):
        labels.undo_last(made.h1, made.first, request_key=uuid.uuid4())
    assert made.h1.slots.get(item=differing.items[1]).versions.filter(is_late=True).count() == 1


def test_nothing_of_it_counts_as_a_raters_label(differing: Differing) -> None:
    user = seated(differing)
    decide(next_pair(differing, user), user)
    assert set(COUNTED) == {LabelerRole.H1, LabelerRole.H2}
    ruling = rulings_of(differing.made.audit)[0]
    assert dict(ruling.labels) == {"H1": "C", "H2": "I"}
    assert ruling.decision.label == "I"


class TestSkip:
    """An adjudicator may set a disagreement aside, as a labeler may an item."""

    def test_skip_needs_a_reason_is_a_version_and_decides_nothing(self, differing: Differing) -> None:
        user = seated(differing)
        slot = next_pair(differing, user)
        with pytest.raises(InputError):
            labels.skip(slot.pk, user, " ", request_key=uuid.uuid4(), base_version=0)
        labels.skip(slot.pk, user, "page unreadable", request_key=uuid.uuid4(), base_version=0)
        assert next_pair(differing, user) != slot
        (skip,) = skips_of(differing.made.audit)
        assert (skip.slot, skip.skip.comment) == (slot, "page unreadable")
        assert rulings_of(differing.made.audit) == []
        # Nobody has decided, so the labelers may still think again.
        second = differing.made.h2.slots.get(item=slot.item_id)
        submit(second, differing.made.second, "C")
        assert differences(differing.made.audit) == []

    def test_skipped_item_comes_back_with_undo(self, differing: Differing) -> None:
        user = seated(differing)
        slot = next_pair(differing, user)
        labels.skip(slot.pk, user, "not now", request_key=uuid.uuid4(), base_version=0)
        labels.undo_last(differing.queue, user, request_key=uuid.uuid4())
        assert next_pair(differing, user) == slot
        assert skips_of(differing.made.audit) == []

    def test_pages_take_a_skip_show_it_to_the_lead_and_undo_it(self, client: Client, differing: Differing) -> None:
        user = seated(differing)
        client.force_login(user)
        url = reverse("adjudicate", args=[differing.queue.pk])
        text = client.get(url).content.decode()
        key = re.search(r'name="request_key" value="([^"]+)"', text.split('id="skip-form"')[1])[1]
        slot = differing.queue.slots.get(lease__user=user)
        sent = {"slot": slot.pk, "request_key": key, "base_version": 0}
        skip = reverse("adjudicate_skip", args=[differing.queue.pk])
        assert client.post(skip, sent).status_code == 400
        assert client.post(skip, {**sent, "reason": "cannot open the page"}).status_code == 302
        assert client.post(skip, {**sent, "reason": "cannot open the page"}).status_code == 302
        assert slot.versions.count() == 1
        stale = {**sent, "request_key": uuid.uuid4(), "reason": "another"}
        assert client.post(skip, stale).status_code == 409
        page = client.get(reverse("adjudication", args=["s1", differing.made.audit.pk])).content.decode()
        assert "cannot open the page" in page
        opened = client.get(f"{url}?slot={slot.pk}").content.decode()
        assert 'value="cannot open the page"' in opened
        undo = re.search(r'id="undo-form".*?name="request_key" value="([^"]+)"', opened, re.DOTALL)[1]
        client.post(reverse("adjudicate_undo", args=[differing.queue.pk]), {"request_key": undo})
        slot.refresh_from_db()
        assert slot.status == SlotStatus.OPEN

    def test_skip_of_a_disagreement_with_the_machine_is_for_who_sees_verdicts(
        self, client: Client, differing: Differing
    ) -> None:
        for run in differing.made.study.runs.all():
            give_verdict(run, "C", "U")
        seated(differing, with_automatic=True)
        third = make_user("third", differing.made.study)
        adjudication.seat_adjudicator(differing.made.audit, third, differing.made.lead)
        slot = differing.queue.slots.filter(disagreement__between=Between.AUTOMATIC).first()
        give(slot, third)
        client.force_login(third)
        sent = {"slot": slot.pk, "request_key": uuid.uuid4(), "base_version": 0, "reason": "x"}
        assert client.post(reverse("adjudicate_skip", args=[differing.queue.pk]), sent).status_code == 404
        assert not slot.versions.exists()


class TestLaterDisagreements:
    """Once disagreements are adjudicated, those that come up later join them by themselves."""

    def relabel(self, differing: Differing, place: int, label: str) -> int:
        item = differing.items[place]
        slot = differing.made.h2.slots.get(item=item)
        submit(slot, differing.made.second, label)
        return item

    def test_label_that_makes_a_difference_puts_its_item_into_the_queue(self, differing: Differing) -> None:
        user = seated(differing)
        for _ in range(3):
            decide(next_pair(differing, user), user)
        assert adjudication.claim_disagreement(differing.queue, user, sees_automatic=True) is None
        item = self.relabel(differing, 5, "U")
        assert new_disagreements(differing.made.audit) == {item: Between.PEOPLE}
        slot = next_pair(differing, user)
        assert slot.item_id == item
        assert new_disagreements(differing.made.audit) == {}
        event = AuditEvent.objects.filter(action="adjudication").first()
        detail = {"added": 1, "removed": 0, "open": 1, "queued": 4, "settled": 0}
        assert (event.by, event.detail) == (user, detail)

    def test_nothing_is_queued_before_a_lead_begins(self, differing: Differing) -> None:
        assert set(new_disagreements(differing.made.audit)) == set(differing.items[:3])
        assert adjudication.queue_new_disagreements(differing.made.audit, None) == 0
        assert not Slot.objects.filter(queue__role=LabelerRole.ADJUDICATOR).exists()

    def test_settled_item_with_a_history_that_differs_again_is_served_again(self, differing: Differing) -> None:
        user = seated(differing)
        slot = next_pair(differing, user)
        decide(slot, user)
        labels.undo_last(differing.queue, user, request_key=uuid.uuid4())
        place = differing.items.index(slot.item_id)
        self.relabel(differing, place, "C")
        adjudication.rebuild_queue(differing.made.audit, user)
        slot.disagreement.refresh_from_db()
        assert slot.disagreement.is_settled
        self.relabel(differing, place, "U")
        assert adjudication.queue_new_disagreements(differing.made.audit, user) == 1
        slot.disagreement.refresh_from_db()
        assert not slot.disagreement.is_settled
        assert differing.queue.slots.filter(item=slot.item_id).count() == 1

    def test_it_finds_what_the_rebuilding_finds(self, differing: Differing) -> None:
        audit = differing.made.audit
        assert new_disagreements(audit) == present_disagreements(audit, with_automatic=False)

    def test_page_tells_the_lead_what_is_not_queued_yet(self, client: Client, differing: Differing) -> None:
        client.force_login(differing.made.lead)
        page = reverse("adjudication", args=["s1", differing.made.audit.pk])
        assert "3 items on which H1 and H2 differ are not queued yet" in client.get(page).content.decode()
        seated(differing)
        assert "not queued yet" not in client.get(page).content.decode()


def test_leads_page_asks_as_often_for_many_decisions_as_for_one(
    client: Client, differing: Differing, django_assert_num_queries: Any
) -> None:
    user = seated(differing)
    client.force_login(user)
    page = reverse("adjudication", args=["s1", differing.made.audit.pk])
    decide(next_pair(differing, user), user)
    # Session with user, study with role; audit, its queue and counts, what is settled, seats, people, skips and
    # rulings with labels.
    with django_assert_num_queries(15):
        client.get(page)
    for _ in range(2):
        decide(next_pair(differing, user), user)
    with django_assert_num_queries(15):
        assert client.get(page).content.decode().count("the page says 1971") == 3


class TestSettled:
    """Disagreements that the labelers settle while they are queued are not to decide, and are told apart."""

    def settle(self, differing: Differing, *places: int) -> None:
        for place in places:
            slot = differing.made.h2.slots.get(item=differing.items[place])
            submit(slot, differing.made.second, "C")

    def test_they_are_counted_apart_on_every_page(self, client: Client, differing: Differing) -> None:
        user = seated(differing)
        self.settle(differing, 0, 1)
        progress = adjudication_progress(differing.made.audit)
        assert (progress.open, progress.settled, progress.decided) == (1, 2, 0)
        client.force_login(user)
        page = client.get(reverse("adjudication", args=["s1", differing.made.audit.pk])).content.decode()
        assert '<dt>To decide</dt><dd><span class="stat-value num">1</span></dd>' in page
        assert "2 settled by the labelers" in page
        audit_page = client.get(reverse("audit", args=["s1"])).content.decode()
        assert "0 of 1" in audit_page
        assert "2 settled by the labelers" in audit_page
        # A rebuilding takes them out, and the numbers to decide stay.
        adjudication.rebuild_queue(differing.made.audit, user)
        progress = adjudication_progress(differing.made.audit)
        assert (progress.open, progress.settled) == (1, 0)

    def test_adjudicator_is_told_that_the_labelers_settled_all(self, client: Client, differing: Differing) -> None:
        user = seated(differing)
        self.settle(differing, 0, 1, 2)
        client.force_login(user)
        text = client.get(reverse("adjudicate", args=[differing.queue.pk])).content.decode()
        assert "Nothing left to decide" in text
        assert "0 decided, 3 settled by the labelers" in text
        listed = client.get(reverse("adjudication", args=["s1", differing.made.audit.pk])).content.decode()
        assert '<dt>To decide</dt><dd><span class="stat-value num">0</span></dd>' in listed

    def test_those_with_the_automatic_verdict_settle_too(self, differing: Differing) -> None:
        for run in differing.made.study.runs.all():
            give_verdict(run, "C", "U")
        seated(differing, with_automatic=True)
        before = adjudication_progress(differing.made.audit)
        # One of H1's last ten decisions, which can still be changed.
        slot = differing.queue.slots.filter(
            disagreement__between=Between.AUTOMATIC, item__in=differing.items[:10]
        ).first()
        first = differing.made.h1.slots.get(item=slot.item_id)
        give(first, differing.made.first)
        submit(first, differing.made.first, "U")
        after = adjudication_progress(differing.made.audit)
        assert (after.open, after.settled) == (before.open - 1, before.settled + 1)

    def test_what_others_hold_is_told_to_a_lead_without_sending_them_to_the_lead(
        self, client: Client, differing: Differing
    ) -> None:
        user = seated(differing)
        third = make_user("third", differing.made.study)
        adjudication.seat_adjudicator(differing.made.audit, third, user)
        for item in differing.items[:3]:
            give(differing.queue.slots.get(item=item), third)
        client.force_login(user)
        text = client.get(reverse("adjudicate", args=[differing.queue.pk])).content.decode()
        assert "in work with other adjudicators" in text
        assert "for the lead to decide" not in text

    def test_what_is_left_for_the_lead_is_told_to_an_annotator(self, client: Client, differing: Differing) -> None:
        for run in differing.made.study.runs.all():
            give_verdict(run, "C", "U")
        user = seated(differing, with_automatic=True)
        third = make_user("third", differing.made.study)
        adjudication.seat_adjudicator(differing.made.audit, third, user)
        for item in differing.items[:3]:
            decide(give(differing.queue.slots.get(item=item), user), user)
        client.force_login(third)
        text = client.get(reverse("adjudicate", args=[differing.queue.pk])).content.decode()
        assert "for the lead to decide" in text


class TestAutomatic:
    """Items on which H1 and the automatic verdict differ, for leads only."""

    @pytest.fixture
    def differing(self, differing: Differing) -> Differing:
        for run in differing.made.study.runs.all():
            give_verdict(run, "C", "U")
        return differing

    def test_they_are_queued_only_when_asked_for(self, differing: Differing) -> None:
        audit = differing.made.audit
        people = present_disagreements(audit, with_automatic=False)
        both = present_disagreements(audit, with_automatic=True)
        assert set(people.values()) == {Between.PEOPLE}
        assert {item for item, between in both.items() if between == Between.PEOPLE} == set(people)
        # H1 calls all 12 groups C and the machine calls each run's second group, 6 of them, U.
        second_groups = set(audit.items.filter(group__number=2).values_list("pk", flat=True))
        assert set(both) == set(people) | second_groups

    def test_annotator_is_never_given_one(self, differing: Differing) -> None:
        made = differing.made
        seated(differing, with_automatic=True)
        third = make_user("third", made.study)
        adjudication.seat_adjudicator(made.audit, third, made.lead)
        served = 0
        while (slot := adjudication.claim_disagreement(differing.queue, third, sees_automatic=False)) is not None:
            assert slot.disagreement.between == Between.PEOPLE
            decide(slot, third)
            served += 1
        assert served == 3

    def test_words_that_would_tell_the_person_from_the_machine_are_left_out(self, differing: Differing) -> None:
        seated(differing, with_automatic=True)
        slot = differing.queue.slots.filter(disagreement__between=Between.AUTOMATIC).first()
        pair = pair_of(slot)
        assert {side.label for side in pair.sides} == {"C", "U"}
        assert [side.comment for side in pair.sides] == ["", ""]
        assert pair.names == ("One label", "Another label")


class TestPages:
    """Through their addresses."""

    def test_lead_queues_takes_a_place_and_decides(self, client: Client, differing: Differing) -> None:
        made = differing.made
        client.force_login(made.lead)
        page = reverse("adjudication", args=["s1", made.audit.pk])
        assert "No disagreement has been queued yet" in client.get(page).content.decode()
        client.post(reverse("rebuild_adjudication", args=["s1", made.audit.pk]))
        client.post(reverse("seat_adjudicator", args=["s1", made.audit.pk]), {"user": made.lead.pk})
        url = reverse("adjudicate", args=[differing.queue.pk])
        assert url in client.get(page).content.decode()
        text = client.get(url).content.decode()
        slot = differing.queue.slots.get(lease__user=made.lead)
        assert "One labeler" in text
        assert "first says so" in text
        assert "second says so" in text
        for telling in (made.first.username, made.second.username, "H1", "H2"):
            assert telling not in text.split("<main")[1]
        pair = pair_of(slot)
        sent = {"slot": slot.pk, "request_key": uuid.uuid4(), "base_version": 0, "pair": pair.key, "label": "I"}
        assert client.post(url, sent).status_code == 400
        assert client.post(url, {**sent, "comment": "says 1971"}).status_code == 302
        listed = client.get(page).content.decode()
        assert "says 1971" in listed
        undo = client.post(reverse("adjudicate_undo", args=[differing.queue.pk]), {"request_key": uuid.uuid4()})
        assert undo.status_code == 302
        slot.refresh_from_db()
        assert slot.status == SlotStatus.OPEN

    def test_all_decided_says_so(self, client: Client, differing: Differing) -> None:
        user = seated(differing)
        for _ in range(3):
            decide(next_pair(differing, user), user)
        client.force_login(user)
        assert "All decided" in client.get(reverse("adjudicate", args=[differing.queue.pk])).content.decode()

    def test_closed_audit_takes_no_decision(self, client: Client, differing: Differing) -> None:
        user = seated(differing)
        slot = next_pair(differing, user)
        close_audit(differing.made.audit, user)
        with pytest.raises(ConflictError):
            decide(slot, user)
        client.force_login(user)
        assert (
            "The audit is closed" in client.get(reverse("adjudicate", args=[differing.queue.pk])).content.decode()
        )

    def test_labelers_of_the_audit_find_nothing_there(self, client: Client, differing: Differing) -> None:
        seated(differing)
        for person in (differing.made.first, differing.made.second):
            client.force_login(person)
            assert client.get(reverse("adjudicate", args=[differing.queue.pk])).status_code == 404
            assert client.get(reverse("label", args=[differing.queue.pk])).status_code == 404
            assert client.get(reverse("adjudication", args=["s1", differing.made.audit.pk])).status_code == 403

    def test_adjudicating_annotator_cannot_use_the_labelers_pages_of_that_queue(
        self, client: Client, differing: Differing
    ) -> None:
        made = differing.made
        seated(differing)
        third = make_user("third", made.study)
        adjudication.seat_adjudicator(made.audit, third, made.lead)
        client.force_login(third)
        assert client.get(reverse("adjudicate", args=[differing.queue.pk])).status_code == 200
        assert client.get(reverse("label", args=[differing.queue.pk])).status_code == 404
        assert (
            reverse("adjudicate", args=[differing.queue.pk])
            in client.get(reverse("audit", args=["s1"])).content.decode()
        )
