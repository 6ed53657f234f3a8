"""Pausing, resuming, closing, extending, releasing and reassigning, each with its line in the log."""

from __future__ import annotations

import threading
import uuid

import pytest
from django.db import IntegrityError, connection, transaction

from annotation import administration, labels, leases, services
from annotation.events import AuditClosedError, says_closed
from annotation.models import Audit, AuditEvent, LabelVersion, Lease, Seat, Slot
from annotation.sampling import Plan, left_to_draw
from annotation.selectors import frame_of
from lseval.errors import ConflictError, InputError
from tests.annotation.making import GROUPS_ONLY, Made, expire, make_audit, next_slot, submit
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Made:
    return make_audit()


def actions(audit: Audit) -> list[tuple[str, str]]:
    events = AuditEvent.objects.filter(audit=audit).order_by("id").select_related("by")
    return [(event.action, event.by.username if event.by else "") for event in events]


class TestPauseAndResume:
    def test_paused_audit_gives_nothing_and_lets_what_is_held_be_finished(self, made: Made) -> None:
        slot = next_slot(made.h1, made.first)
        administration.pause_audit(made.audit, made.lead)
        assert leases.claim_next(made.h1, made.first) is None
        assert not submit(slot, made.first).is_late
        administration.resume_audit(made.audit, made.lead)
        assert leases.claim_next(made.h1, made.first) is not None
        assert actions(made.audit)[-2:] == [("paused", "lead-s1"), ("resumed", "lead-s1")]

    def test_each_needs_the_other_before_it(self, made: Made) -> None:
        with pytest.raises(ConflictError, match="not paused"):
            administration.resume_audit(made.audit, None)
        administration.pause_audit(made.audit, None)
        with pytest.raises(ConflictError, match="already paused"):
            administration.pause_audit(made.audit, None)
        assert [action for action, _ in actions(made.audit)].count("paused") == 1


class TestClose:
    """C07 and C11 in a closed audit: every later change is refused, with its reason, and the history stays."""

    def test_every_service_refuses(self, made: Made) -> None:
        decided, held = next_slot(made.h1, made.first), None
        submit(decided, made.first)
        decided.refresh_from_db()
        held = next_slot(made.h1, made.first)
        administration.close_audit(made.audit, made.lead)
        third = make_user("third", made.study)
        refused = [
            lambda: submit(held, made.first),
            lambda: submit(decided, made.first, "I"),
            lambda: labels.skip(held.pk, made.first, "x", request_key=uuid.uuid4(), base_version=0),
            lambda: labels.undo_last(made.h1, made.first, request_key=uuid.uuid4()),
            lambda: leases.heartbeat(held.pk, made.first),
            lambda: administration.pause_audit(made.audit, made.lead),
            lambda: administration.resume_audit(made.audit, made.lead),
            lambda: administration.close_audit(made.audit, made.lead),
            lambda: administration.extend_audit(made.audit, made.lead),
            lambda: administration.release_lease(held, made.lead),
            lambda: administration.reassign(made.audit, made.first, made.lead),
            lambda: services.seat(made.h1, third),
        ]
        before = history(made.audit)
        for number, change in enumerate(refused):
            with pytest.raises(ConflictError):
                change()
            assert history(made.audit) == before, number
        assert leases.claim_next(made.h1, made.first) is None

    def test_event_says_how_many_items_were_open(self, made: Made) -> None:
        submit(next_slot(made.h1, made.first), made.first)
        event = administration.close_audit(made.audit, made.lead)
        # 12 items in H1's queue less one, and H2's.
        assert event.detail == {"open": 11 + made.h2.slots.count()}

    def test_database_refuses_every_write(self, made: Made) -> None:
        slot = next_slot(made.h1, made.first)
        submit(slot, made.first)
        other = make_user("other", made.study)
        administration.close_audit(made.audit, made.lead)
        version, item, seat = LabelVersion.objects.get(), made.audit.items.first(), Seat.objects.first()
        writes = [
            lambda: LabelVersion.objects.create(
                slot=slot, number=2, action="undo", user=made.first, request_key=uuid.uuid4()
            ),
            lambda: Slot.objects.filter(pk=slot.pk).update(status="open"),
            lambda: Slot.objects.create(queue=made.h2, item=item, position=99),
            lambda: Seat.objects.create(audit=made.audit, queue=made.h1, user=other),
            lambda: Seat.objects.filter(pk=seat.pk).update(user=other),
            lambda: made.audit.items.update(inclusion_probability=0.5),
            lambda: made.audit.queues.update(role="adjudicator"),
            lambda: Audit.objects.filter(pk=made.audit.pk).update(status="open"),
            lambda: Audit.objects.filter(pk=made.audit.pk).update(name="another"),
            lambda: delete_now(version),
            lambda: delete_now(seat),
            lambda: delete_now(made.h2.slots.first()),
        ]
        for number, write in enumerate(writes):
            with pytest.raises(IntegrityError) as refused, transaction.atomic():
                write()
            # A version is never deleted, closed or not; all else is refused because the audit is closed.
            assert says_closed(refused.value) or number == 9, number

    def test_study_with_a_closed_audit_can_still_be_deleted_whole(self, made: Made) -> None:
        submit(next_slot(made.h1, made.first), made.first)
        next_slot(made.h1, made.first)
        administration.close_audit(made.audit, made.lead)
        made.study.delete()
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        assert not Audit.objects.exists()

    def test_other_audits_of_the_study_go_on(self, made: Made) -> None:
        other = services.create_audit(made.study, GROUPS_ONLY, 2, "B", None)
        queue = other.queues.get(role="H1")
        services.seat(queue, made.first)
        administration.close_audit(made.audit, made.lead)
        assert not submit(next_slot(queue, made.first), made.first).is_late


def history(audit: Audit) -> list[tuple]:
    """All that a closed audit must keep."""
    versions = LabelVersion.objects.filter(slot__queue__audit=audit).order_by("pk").values_list("pk", "number")
    slots = Slot.objects.filter(queue__audit=audit).order_by("pk").values_list("pk", "status", "version")
    return [*versions, *slots, *Seat.objects.filter(audit=audit).values_list("pk", "queue_id"), *actions(audit)]


def delete_now(row: LabelVersion | Seat | Slot) -> None:
    """Delete a row past Django's cascade, and have the database check it as it does at commit."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {row._meta.db_table} WHERE id = %s", [row.pk])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


@pytest.mark.django_db(transaction=True)
def test_closing_waits_for_a_label_that_is_being_saved() -> None:
    """The label that had begun is stored, and it is in the closed audit; the one that came later is refused."""
    made = make_audit()
    begun, later = next_slot(made.h1, made.first), next_slot(made.h2, made.second)
    closed = threading.Event()

    def close() -> None:
        administration.close_audit(made.audit, made.lead)
        closed.set()
        connection.close()

    closer = threading.Thread(target=close)
    with transaction.atomic():
        submit(begun, made.first)
        closer.start()
        assert not closed.wait(0.3)
    closer.join(10)
    assert closed.is_set()
    assert LabelVersion.objects.get().slot == begun
    with pytest.raises(AuditClosedError):
        submit(later, made.second)
    made.study.delete()


class TestRelease:
    def test_released_item_goes_to_the_next_who_asks(self, made: Made) -> None:
        other = make_user("other", made.study)
        services.seat(made.h1, other)
        held = next_slot(made.h1, made.first)
        for slot in made.h1.slots.exclude(pk=held.pk):
            Slot.objects.filter(pk=slot.pk).update(status="skipped")
        assert leases.claim_next(made.h1, other) is None
        event = administration.release_lease(held, made.lead)
        assert event.detail["person"] == "first-s1"
        assert leases.claim_next(made.h1, other) == held

    def test_holder_cannot_keep_a_released_item_and_what_they_save_is_kept(self, made: Made) -> None:
        held = next_slot(made.h1, made.first)
        administration.release_lease(held, made.lead)
        with pytest.raises(leases.NotHeldError):
            leases.heartbeat(held.pk, made.first)
        assert LabelVersion.objects.count() == 0
        submit(held, made.first)
        assert LabelVersion.objects.get().label == "C"

    def test_item_that_nobody_holds_cannot_be_released(self, made: Made) -> None:
        held = next_slot(made.h1, made.first)
        expire(held)
        with pytest.raises(ConflictError):
            administration.release_lease(held, made.lead)


class TestReassign:
    def test_labels_stay_and_what_was_held_comes_back(self, made: Made) -> None:
        third = make_user("third", made.study)
        submit(next_slot(made.h1, made.first), made.first)
        held = next_slot(made.h1, made.first)
        event = administration.reassign(made.audit, made.first, made.lead, to=third)
        assert event.detail == {"person": "first-s1", "role": "H1", "released": 1}
        assert LabelVersion.objects.get().user == made.first
        assert made.h1.slots.filter(status="labeled").count() == 1
        assert Seat.objects.get(queue=made.h1).user == third
        given = set()
        while (slot := leases.claim_next(made.h1, third)) is not None:
            submit(slot, third)
            given.add(slot.pk)
        assert held.pk in given
        assert actions(made.audit)[-2:] == [("seat_ended", "lead-s1"), ("seated", "lead-s1")]

    def test_one_who_left_never_takes_the_other_role(self, made: Made) -> None:
        administration.reassign(made.audit, made.first, made.lead)
        with pytest.raises(ConflictError, match="never holds two roles"):
            services.seat(made.h2, made.first)
        services.seat(made.h1, made.first)

    def test_refused_replacement_changes_nothing(self, made: Made) -> None:
        for to in (made.second, make_user("stranger"), made.first):
            with pytest.raises((InputError, ConflictError)):
                administration.reassign(made.audit, made.first, made.lead, to=to)
            assert Seat.objects.filter(queue=made.h1, user=made.first).exists()

    def test_person_without_a_place_cannot_be_reassigned(self, made: Made) -> None:
        with pytest.raises(InputError):
            administration.reassign(made.audit, make_user("stranger"), made.lead)


class TestExtend:
    SMALL = Plan(tasks=2, responses_per_task=1, h2_tasks=1, link_trajectories=0, round_trajectories=0)

    def test_what_is_there_stays_and_what_is_new_stands_behind_it(self) -> None:
        made = make_audit(self.SMALL, tasks=5)
        submit(next_slot(made.h1, made.first), made.first)
        before = state(made.audit)
        extension = administration.extend_audit(made.audit, made.lead)
        after = state(made.audit)
        assert after[: len(before)] == before
        assert extension.number == 2
        new = made.audit.items.filter(draw=2)
        # Two more tasks of one response with two groups each, out of the three tasks that were left.
        assert new.count() == 4
        old_tasks = set(made.audit.items.filter(draw=1).values_list("run__task_id", flat=True))
        assert not old_tasks & set(new.values_list("run__task_id", flat=True))
        # 2 of 3 tasks, 1 of 2 responses.
        assert set(new.values_list("inclusion_probability", flat=True)) == {1 / 3}
        places = list(made.h1.slots.order_by("position").values_list("position", "item__draw"))
        assert places == [(place, 1 if place <= 4 else 2) for place in range(1, 9)]
        assert made.h2.slots.filter(item__draw=2).count() == 2

    def test_with_every_task_drawn_the_responses_left_on_them_follow(self) -> None:
        made = make_audit(Plan(tasks=9, responses_per_task=1, link_trajectories=0, round_trajectories=0))
        administration.extend_audit(made.audit, made.lead)
        assert made.audit.items.filter(draw=2).values("run").distinct().count() == 3
        with pytest.raises(InputError, match="already holds every response"):
            administration.extend_audit(made.audit, made.lead)

    def test_same_audit_is_extended_the_same_way_twice(self) -> None:
        drawn = []
        for slug in ("s1", "s2"):
            made = make_audit(self.SMALL, slug=slug, tasks=6)
            administration.extend_audit(made.audit, None)
            drawn.append(list(made.audit.items.order_by("pk").values_list("run__task__key", "run__model__name")))
        assert drawn[0] == drawn[1]

    def test_draw_that_is_confirmed_is_the_one_that_was_shown(self) -> None:
        made = make_audit(self.SMALL, tasks=5)
        shown = administration.preview_extension(made.audit)
        make_run(made.study, "t9", "m1")
        with pytest.raises(ConflictError, match="changed"):
            administration.extend_audit(made.audit, None, expected_digest=shown.frame["digest"])
        assert not made.audit.items.filter(draw=2).exists()

    def test_chance_over_all_seeds_is_the_stored_one(self) -> None:
        """Each task that is left is drawn second equally often: by a seed of its own, not the first draw's."""
        made = make_audit(self.SMALL, tasks=5)
        seconds = dict.fromkeys(made.study.tasks.values_list("key", flat=True), 0)
        seeds = 200
        for seed in range(seeds):
            made.audit.seed = seed
            frame = left_to_draw(frame_of(made.study), set(made.audit.items.values_list("run_id", flat=True)))
            sample = administration.draw(frame, self.SMALL, administration.extension_seed(made.audit, 2))
            for run in {item.run for item in sample.items}:
                seconds[next(found.task for found in frame if found.id == run)] += 1
        left = [count for count in seconds.values() if count]
        # 3 tasks are left, 2 are drawn: 133 of 200 expected, standard deviation 6.7.
        assert len(left) == 3
        assert all(abs(count - seeds * 2 / 3) < 27 for count in left)


def state(audit: Audit) -> list[tuple]:
    """Every item, slot and version, oldest first."""
    items = audit.items.order_by("pk").values_list("pk", "inclusion_probability", "draw")
    slots = Slot.objects.filter(queue__audit=audit).order_by("pk")
    return [
        *(
            (*item, *slots.filter(item=item[0]).values_list("queue_id", "position", "status", "version"))
            for item in items
        )
    ]


def test_events_cannot_be_changed_in_the_database(made: Made) -> None:
    with pytest.raises(IntegrityError, match="only ever added to"), transaction.atomic():
        AuditEvent.objects.update(action="closed")


def test_version_cannot_be_deleted_while_its_slot_is_there(made: Made) -> None:
    submit(next_slot(made.h1, made.first), made.first)
    with pytest.raises(IntegrityError, match="only ever appended"), transaction.atomic():
        delete_now(LabelVersion.objects.get())


def test_lease_of_a_closed_audit_is_gone(made: Made) -> None:
    next_slot(made.h1, made.first)
    administration.close_audit(made.audit, None)
    assert not Lease.objects.exists()
