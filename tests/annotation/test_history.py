"""C11: what was appended replays to what is stored, and a change past the services is found and named."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from annotation import adjudication, administration, codebooks, flags, labels, leases, services
from annotation.history import check_audit, differences
from annotation.history_of_audits import BEGINS_WITH
from annotation.models import Audit, AuditAction, AuditEvent, LabelerRole, Queue, Slot
from annotation.reveals import reveal
from annotation.sampling import Plan
from annotation.simulation import simulate_labels
from lseval.door.members import remove_member, set_role
from lseval.models import Role
from tests.annotation.making import GROUPS_ONLY, Made, make_audit, next_slot, submit
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db

SMALL = Plan(tasks=1, responses_per_task=1, h2_tasks=1, link_trajectories=0, round_trajectories=0)


@pytest.fixture
def made() -> Made:
    return make_audit(SMALL)


def disagreement(made: Made) -> Slot:
    """An item that H1 and H2 see differently; H2's slot."""
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first, "C")
    other = made.h2.slots.get(item=slot.item)
    leases.hold(other.pk, made.second)
    submit(other, made.second, "I")
    other.refresh_from_db()
    return other


def settle(made: Made) -> None:
    """A disagreement that is queued, looked at, flagged, and gone when the queue is rebuilt."""
    other = disagreement(made)
    adjudication.rebuild_queue(made.audit, made.lead)
    queue = made.audit.queues.get(role=LabelerRole.ADJUDICATOR)
    adjudication.seat_adjudicator(made.audit, made.lead, made.lead)
    held = adjudication.claim_disagreement(queue, made.lead, sees_automatic=True)
    assert held is not None
    flags.raise_flag(held.pk, made.lead, "unclear", request_key=uuid.uuid4())
    administration.release_lease(held, made.lead)
    submit(other, made.second, "C")
    adjudication.rebuild_queue(made.audit, made.lead)
    # What somebody has said of it is not deleted with it.
    assert queue.slots.get().flags.count() == 1
    assert queue.slots.get().disagreement.is_settled


def show_verdict(made: Made) -> None:
    """An audit that shows verdicts, and a label whose person has seen one."""
    audit = services.create_audit(made.study, GROUPS_ONLY, 1, "B", None, reveal_after_submission=True)
    person = make_user("shown", made.study)
    seat = services.seat(audit.queues.get(role="H1"), person)
    while (slot := leases.claim_next(seat.queue, person)) is not None:
        submit(slot, person)
    first = seat.queue.slots.first()
    assert first is not None
    reveal(seat, first)


CHANGES: dict[str, Callable[[Made], object]] = {
    "nothing": lambda made: None,
    "a label": lambda made: submit(next_slot(made.h1, made.first), made.first),
    "paused": lambda made: administration.pause_audit(made.audit, made.lead),
    "paused and resumed": lambda made: (
        administration.pause_audit(made.audit, made.lead),
        administration.resume_audit(made.audit, made.lead),
    ),
    "closed": lambda made: administration.close_audit(made.audit, made.lead),
    "a codebook": lambda made: codebooks.publish_codebook(made.study, "# New", "all", made.lead, [made.audit]),
    "a place": lambda made: services.seat(made.h1, make_user("third", made.study)),
    "a place that ends": lambda made: administration.reassign(made.audit, made.first, made.lead),
    "a place that goes to another": lambda made: administration.reassign(
        made.audit, made.first, made.lead, to=make_user("third", made.study)
    ),
    "a place that is taken again": lambda made: (
        administration.reassign(made.audit, made.first, made.lead),
        services.seat(made.h1, made.first),
    ),
    "a person who leaves": lambda made: remove_member(
        made.study, made.study.memberships.get(user=made.first).pk, made.lead
    ),
    "a person who becomes a lead": lambda made: set_role(made.study, made.first, Role.LEAD),
    "an extension": lambda made: administration.extend_audit(made.audit, made.lead),
    "two extensions": lambda made: [administration.extend_audit(made.audit, made.lead, SMALL) for _ in range(2)],
    "a disagreement": lambda made: (disagreement(made), adjudication.rebuild_queue(made.audit, made.lead)),
    "a disagreement that settles": settle,
    "simulated labels": lambda made: simulate_labels(made.audit, "H1", lambda item: "C", 1),
    "a shown verdict": show_verdict,
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_replays(made: Made, change: str) -> None:
    CHANGES[change](made)
    for audit in made.study.audits.all():
        checked = check_audit(audit)
        assert (checked.differences, checked.untold) == ([], [])
        assert checked.numbers["slots"] == Slot.objects.filter(queue__audit=audit).count()


def test_all_changes_one_after_the_other_replay(made: Made) -> None:
    for change in ("a label", "two extensions", "a codebook", "a disagreement that settles", "a place",
                   "simulated labels", "paused", "a person who leaves", "closed"):  # fmt: skip
        CHANGES[change](made)
        assert differences(made.audit) == [], change
        sql("SELECT 1")  # What is checked at commit is checked before the next change.


def sql(statement: str, *values: object) -> None:
    """Change rows past the services, and past what the database itself would refuse."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement, values)
        cursor.execute("SET LOCAL session_replication_role = origin")


CORRUPTIONS: dict[str, tuple[str, str]] = {
    "status": (
        "UPDATE annotation_audit SET status = 'paused' WHERE id = %s",
        "the audit's status: stored paused; its history says open",
    ),
    "codebook": (
        "UPDATE annotation_audit SET codebook_version = '7' WHERE id = %s",
        "the codebook in force: stored 7; its history says 1",
    ),
    "reveal": (
        "UPDATE annotation_audit SET reveal_after_submission = true WHERE id = %s",
        "whether verdicts are shown after a label: stored True; its history says False",
    ),
    "name": (
        "UPDATE annotation_audit SET name = 'Z' WHERE id = %s",
        "the audit's name: stored Z; its history says A",
    ),
    "seed": ("UPDATE annotation_audit SET seed = 9 WHERE id = %s", "the seed: stored 9; its history says 1"),
    "plan": (
        "UPDATE annotation_audit SET plan = jsonb_set(plan, '{tasks}', '2') WHERE id = %s",
        "the digest of the plan: stored ",
    ),
    "a seat that is gone": (
        "DELETE FROM annotation_seat seat USING lseval_user person "
        "WHERE person.id = seat.user_id AND person.username = 'first-s1' AND seat.audit_id = %s",
        "the place of first-s1: stored nothing; its history says role H1, is_simulated False",
    ),
    "a seat in another queue": (
        "UPDATE annotation_seat seat SET queue_id = other.id FROM annotation_queue other, lseval_user person "
        "WHERE other.audit_id = seat.audit_id AND other.role = 'H2' AND person.id = seat.user_id "
        "AND person.username = 'first-s1' AND seat.audit_id = %s",
        "role of the place of first-s1: stored H2; its history says H1",
    ),
    "an extension that is gone": (
        "DELETE FROM annotation_extension WHERE audit_id = %s",
        "seed of draw 2: stored None; its history says ",
    ),
    "an item of another draw": (
        "UPDATE annotation_item SET draw = 3 WHERE draw = 2 AND audit_id = %s",
        "draw 3: stored seed None, items ",
    ),
    "a slot that is gone": (
        "DELETE FROM annotation_slot slot USING annotation_queue queue WHERE queue.id = slot.queue_id "
        "AND queue.role = 'H2' AND slot.position = 1 AND queue.audit_id = %s",
        "H2 of draw 1: stored 1; its history says 2",
    ),
    "a slot's status": (
        "UPDATE annotation_slot slot SET status = 'skipped' FROM annotation_queue queue "
        "WHERE queue.id = slot.queue_id AND queue.role = 'H1' AND slot.position = 1 AND queue.audit_id = %s",
        "place 1 of H1: stored skipped at version 0; its history says open at version 0",
    ),
    "a slot's count": (
        "UPDATE annotation_slotcount count SET still_open = still_open + 5, total = total + 5 "
        "FROM annotation_queue queue WHERE queue.id = count.queue_id AND queue.role = 'H2' AND queue.audit_id = %s",
        "the count of open items of stage 0 in H2: stored ",
    ),
    "a version that is gone": (
        "DELETE FROM annotation_labelversion version USING annotation_slot slot, annotation_queue queue "
        "WHERE slot.id = version.slot_id AND queue.id = slot.queue_id AND version.number = 1 "
        "AND queue.audit_id = %s",
        "place 2 of H1: stored labeled at version 2; its history says version 1 of slot ",
    ),
    "a flag that is gone": (
        "DELETE FROM annotation_flag flag USING annotation_slot slot, annotation_queue queue "
        "WHERE slot.id = flag.slot_id AND queue.id = slot.queue_id AND flag.number = 1 AND queue.audit_id = %s",
        "flag 2 of first-s1 on place 2 of H1: stored there; its history says nothing: flag 1 is missing",
    ),
    "an event that is gone": (
        "DELETE FROM annotation_auditevent WHERE action = 'extended' AND audit_id = %s",
        "draw 2: stored seed ",
    ),
}


@pytest.fixture
def changed(made: Made) -> Made:
    """An audit with an extension, a changed label and a flag that was taken back."""
    administration.extend_audit(made.audit, made.lead)
    slot = made.h1.slots.get(position=2)
    leases.hold(slot.pk, made.first)
    flags.raise_flag(slot.pk, made.first, "unclear", request_key=uuid.uuid4())
    flags.take_flag_back(slot.pk, made.first, request_key=uuid.uuid4())
    submit(slot, made.first, "C")
    slot.refresh_from_db()
    submit(slot, made.first, "I")
    return made


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_change_past_the_services_is_found_and_named(changed: Made, corruption: str) -> None:
    assert differences(changed.audit) == []
    statement, named = CORRUPTIONS[corruption]
    sql(statement, changed.audit.pk)
    found = list(map(str, differences(changed.audit)))
    assert [line for line in found if line.startswith(named)], found


class TestRedrawn:
    """Items and inclusion probabilities are those that the seed draws, as long as the runs are what they were."""

    def test_each_draw_is_drawn_again(self, made: Made) -> None:
        CHANGES["two extensions"](made)
        checked = check_audit(made.audit)
        assert (checked.differences, checked.numbers["redrawn"]) == ([], 3)

    def test_probability_that_was_changed_is_found(self, made: Made) -> None:
        CHANGES["two extensions"](made)
        item = made.audit.items.filter(draw=2).first()
        assert item is not None
        sql("UPDATE annotation_item SET inclusion_probability = 0.125 WHERE id = %s", item.pk)
        (found,) = differences(made.audit)
        assert found.what == (
            f"the inclusion probability of the group item on group {item.group_id} of run {item.run_id}"
        )
        assert (found.stored, found.replayed) == ("0.125", str(item.inclusion_probability))

    def test_another_seed_than_the_one_drawn_with_is_found(self, made: Made) -> None:
        drawn = set(made.audit.items.values_list("run_id", flat=True))
        for seed in range(2, 50):
            sample = services.preview_draw(made.study, SMALL, seed).sample
            if {item.run for item in sample.items} != drawn:
                break
        sql("UPDATE annotation_audit SET seed = %s", seed)
        assert "the items of draw 1" in [found.what for found in differences(made.audit)]

    def test_draw_from_runs_that_are_others_by_now_is_not_drawn_again(self, made: Made) -> None:
        make_run(made.study, "t9", "m1")
        sql("UPDATE annotation_item SET inclusion_probability = 0.125")
        checked = check_audit(made.audit)
        assert (checked.differences, checked.numbers["redrawn"]) == ([], 0)


def test_queued_disagreement_that_is_settled_by_hand_is_found(made: Made) -> None:
    CHANGES["a disagreement"](made)
    sql("UPDATE annotation_disagreement SET is_settled = true")
    assert list(map(str, differences(made.audit))) == [
        "the disagreements that are settled: stored 1; its history says 0"
    ]


def test_label_that_changed_after_its_verdict_was_shown_is_found(made: Made) -> None:
    show_verdict(made)
    audit = made.study.audits.get(name="B")
    slot = Slot.objects.get(reveals__isnull=False)
    sql("UPDATE annotation_reveal SET version = 9")
    assert list(map(str, differences(audit))) == [
        f"the label of shown on place {slot.position} of H1, who was shown the verdict: stored no such version; "
        "its history says version 9"
    ]


class TestOlderLogs:
    """Events that were stored before they said enough: what cannot be told is no difference."""

    def forget(self, audit: Audit, *names: str) -> None:
        for name in names:
            sql("UPDATE annotation_auditevent SET detail = detail - %s WHERE audit_id = %s", name, audit.pk)

    def test_what_a_log_does_not_say_cannot_be_told(self, changed: Made) -> None:
        self.forget(changed.audit, BEGINS_WITH, "is_simulated")
        checked = check_audit(changed.audit)
        assert checked.differences == []
        assert {"whether verdicts are shown after a label", "the seed", "H1 of draw 1"} <= set(checked.untold)
        assert "is_simulated of the place of first-s1" in checked.untold
        sql("UPDATE annotation_audit SET status = 'paused' WHERE id = %s", changed.audit.pk)
        assert [found.what for found in differences(changed.audit)] == ["the audit's status"]

    def test_audit_that_came_by_files_may_have_begun_in_any_status(self, made: Made) -> None:
        self.forget(made.audit, BEGINS_WITH)
        sql(
            "UPDATE annotation_auditevent SET detail = detail || %s WHERE action = 'drawn'",
            json.dumps({"source": "audits.jsonl"}),
        )
        sql("UPDATE annotation_audit SET status = 'paused' WHERE id = %s", made.audit.pk)
        assert differences(made.audit) == []
        administration.resume_audit(made.audit, made.lead)
        sql("UPDATE annotation_audit SET status = 'paused' WHERE id = %s", made.audit.pk)
        assert [found.what for found in differences(made.audit)] == ["the audit's status"]

    def test_disagreements_that_an_older_event_did_not_count_cannot_be_told(self, made: Made) -> None:
        CHANGES["a disagreement"](made)
        self.forget(made.audit, "queued", "settled")
        assert check_audit(made.audit).differences == []
        assert "the disagreements that are queued" in check_audit(made.audit).untold

    def test_audit_without_a_log(self, made: Made) -> None:
        sql("DELETE FROM annotation_auditevent")
        checked = check_audit(made.audit)
        assert checked.differences == []
        assert checked.untold == ["the audit's settings, places, draws and adjudication"]

    def test_what_stands_before_the_event_an_audit_begins_with_here_does_not_count(self, made: Made) -> None:
        """An audit that was moved may bring the log of where it was."""
        for action, detail in (
            (AuditAction.DRAWN, {"items": 99, BEGINS_WITH: {}}),
            (AuditAction.SEATED, {"person": "somebody", "role": "H1"}),
            (AuditAction.CLOSED, {"open": 3}),
        ):
            event = AuditEvent.objects.create(audit=made.audit, action=action, detail=detail)
            sql("UPDATE annotation_auditevent SET id = -id WHERE id = %s", event.pk)
        assert differences(made.audit) == []


class TestDatabase:
    """What a history is made of can only be added to, and goes only with what it is the history of."""

    @pytest.mark.parametrize(
        "statement",
        [
            "DELETE FROM annotation_auditevent",
            "DELETE FROM annotation_extension",
            "DELETE FROM annotation_codebookversion",
            "DELETE FROM annotation_flag",
            "DELETE FROM annotation_reveal",
            "UPDATE annotation_auditevent SET detail = '{}'",
            "UPDATE annotation_flag SET note = 'x'",
            "UPDATE annotation_reveal SET version = 9",
        ],
    )
    def test_nothing_is_changed_or_taken_away(self, changed: Made, statement: str) -> None:
        codebooks.publish_codebook(changed.study, "# New", "all", changed.lead, [changed.audit])
        show_verdict(changed)
        with pytest.raises(IntegrityError, match="only ever added to"), transaction.atomic():
            self.run(statement)

    def test_decided_slot_is_not_deleted_with_its_versions(self, changed: Made) -> None:
        changed.h1.slots.get(position=2).delete()
        with pytest.raises(IntegrityError, match="stays in its queue"):
            self.run("SELECT 1")
        transaction.set_rollback(True)

    def test_audit_and_study_are_still_deleted_whole(self, changed: Made) -> None:
        codebooks.publish_codebook(changed.study, "# New", "all", changed.lead, [changed.audit])
        show_verdict(changed)
        changed.audit.delete()
        self.run("SELECT 1")
        changed.study.delete()
        self.run("SELECT 1")
        assert not AuditEvent.objects.exists()
        assert not Queue.objects.exists()

    def run(self, statement: str) -> None:
        """Run a statement, and have the database check it as it does at commit."""
        with connection.cursor() as cursor:
            cursor.execute(statement)
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")


class TestCommand:
    """`manage.py check_audit`."""

    def check(self, *arguments: str) -> str:
        self.output = StringIO()
        call_command("check_audit", *arguments, stdout=self.output)
        return self.output.getvalue()

    def test_says_what_was_looked_at(self, changed: Made) -> None:
        services.create_audit(changed.study, GROUPS_ONLY, 1, "B", None)
        text = self.check("s1")
        slots = Slot.objects.filter(queue__audit=changed.audit).count()
        assert f"A: all as the history says (slots {slots}, versions 2, seats 2, draws 2, events 4, flags 2" in text
        assert "B: all as the history says" in text
        assert "B" not in self.check("s1", "--audit", "A")

    def test_ends_with_1_and_names_what_differs(self, changed: Made) -> None:
        services.create_audit(changed.study, GROUPS_ONLY, 1, "B", None)
        sql("UPDATE annotation_audit SET status = 'paused' WHERE id = %s", changed.audit.pk)
        with pytest.raises(CommandError, match="not what their histories say: A") as raised:
            self.check("s1")
        assert raised.value.returncode == 1
        text = self.output.getvalue()
        assert "A: 1 difference (" in text
        assert "  the audit's status: stored paused; its history says open\n" in text
        assert "B: all as the history says" in text

    def test_older_log_is_told(self, made: Made) -> None:
        TestOlderLogs().forget(made.audit, BEGINS_WITH)
        assert "cannot be told, as the log is older: the seed" in self.check("s1")

    def test_study_without_an_audit(self, made: Made) -> None:
        made.audit.delete()
        with pytest.raises(CommandError, match="no audit"):
            self.check("s1")


def test_undo_and_late_work_replay_as_well(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first)
    labels.undo_last(made.h1, made.first, request_key=uuid.uuid4())
    assert differences(made.audit) == []
