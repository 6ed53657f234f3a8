"""The counts that the database keeps of a queue's slots, against the slots themselves."""

from __future__ import annotations

import uuid
from importlib import import_module

import pytest
from django.db import connection, transaction
from django.db.models import Count, Q, Sum

from annotation import administration, labels
from annotation.labeler_selectors import progress_of
from annotation.models import Queue, Slot, SlotCount, SlotStatus
from annotation.sampling import Plan
from annotation.simulation import simulate_labels
from tests.annotation.making import Made, make_audit, next_slot, submit
from tests.factories import make_run

pytestmark = pytest.mark.django_db


def counted() -> dict[tuple[int, int], tuple[int, int, int]]:
    """(queue, stage) to (total, still open, skipped), as the database has counted; what is nothing is left out."""
    rows = SlotCount.objects.values("queue_id", "stage").annotate(
        all=Sum("total"), of_them_open=Sum("still_open"), of_them_skipped=Sum("skipped")
    )
    found = {
        (row["queue_id"], row["stage"]): (row["all"], row["of_them_open"], row["of_them_skipped"]) for row in rows
    }
    return {place: numbers for place, numbers in found.items() if any(numbers)}


def there() -> dict[tuple[int, int], tuple[int, int, int]]:
    """The same, counted now."""
    rows = (
        Slot.objects.order_by()
        .values_list("queue_id", "stage")
        .annotate(
            all=Count("id"),
            of_them_open=Count("id", filter=Q(status=SlotStatus.OPEN)),
            of_them_skipped=Count("id", filter=Q(status=SlotStatus.SKIPPED)),
        )
    )
    return {(queue, stage): (total, still_open, skipped) for queue, stage, total, still_open, skipped in rows}


@pytest.fixture
def made() -> Made:
    return make_audit(Plan(round_trajectories=2, link_trajectories=0))


def test_a_drawn_queue_is_counted(made: Made) -> None:
    assert counted() == there()
    assert (made.h1.pk, 0) in there()


def test_every_decision_is_counted(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first)
    assert counted() == there()
    another = next_slot(made.h1, made.first)
    labels.skip(another.pk, made.first, "cannot read it", request_key=uuid.uuid4(), base_version=0)
    assert counted() == there()
    labels.undo_last(made.h1, made.first, request_key=uuid.uuid4())
    assert counted() == there()
    (stage,) = progress_of(made.h1).stages
    assert (stage.done, stage.skipped, stage.decided) == (1, 0, 1)


def test_a_label_changed_and_one_come_late_count_once(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first)
    slot.refresh_from_db()
    submit(slot, made.first, "I")
    assert counted() == there()


def test_whole_queues_at_once_are_counted(made: Made) -> None:
    simulate_labels(made.audit, "H1", lambda item: "C" if item.kind == "group" else "non_error", 1)
    assert counted() == there()
    assert Queue.objects.filter(is_simulated=True).exists()


def test_an_extended_audit_is_counted(made: Made) -> None:
    before = there()
    make_run(made.study, "another", "m1")
    administration.extend_audit(made.audit, made.lead)
    assert there() != before
    assert counted() == there()


def test_what_is_taken_back_is_not_counted(made: Made) -> None:
    before = counted()
    with transaction.atomic():
        submit(next_slot(made.h1, made.first), made.first)
        transaction.set_rollback(True)
    assert counted() == before == there()


def test_counts_end_with_their_queue(made: Made) -> None:
    made.audit.delete()
    assert not SlotCount.objects.exists()
    assert there() == {}


def test_slots_that_were_there_before_are_counted_by_the_migration(made: Made) -> None:
    migration = import_module("annotation.migrations.0011_slots_are_counted")
    SlotCount.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(migration.COUNT_WHAT_IS_THERE)
    assert counted() == there()
