"""The database refuses wrong states, whoever writes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import IntegrityError, connection, transaction

from annotation.models import Audit, Item, LabelVersion, Queue, Seat, Slot
from lseval.models import (
    AnswerGroup,
    Citation,
    EvaluatedModel,
    FailureNode,
    Link,
    Membership,
    Page,
    Round,
    RoundConsensus,
    Rubric,
    Run,
    Task,
    User,
    Verdict,
)
from tests.factories import give_verdict, make_run, make_study, make_user

pytestmark = pytest.mark.django_db


def refused(write: Callable[[], object]) -> bool:
    """Whether the database refuses a write, at once or when the transaction ends."""
    try:
        with transaction.atomic():
            write()
            connection.cursor().execute("SET CONSTRAINTS ALL IMMEDIATE")
    except IntegrityError:
        return True
    return False


def copy_of(row: object, **changes: object) -> Callable[[], object]:
    """A write of the same row once more, under a new id."""

    def write() -> object:
        row.pk, row._state.adding = None, True  # type: ignore[attr-defined]
        for name, value in changes.items():
            setattr(row, name, value)
        row.save(force_insert=True)  # type: ignore[attr-defined]
        return row

    return write


def test_one_run_per_study_model_and_task() -> None:
    assert refused(copy_of(make_run(make_study())))


def test_a_run_stays_in_its_study() -> None:
    run, other = make_run(make_study("one")), make_run(make_study("two"), "t9", "m9")
    assert refused(lambda: Run.objects.filter(pk=run.pk).update(task=other.task))
    assert refused(lambda: Run.objects.filter(pk=run.pk).update(model=other.model))
    assert refused(lambda: Page.objects.filter(run=run).update(run=other))


def test_rows_of_a_run_stay_in_their_run() -> None:
    study = make_study()
    run, other = make_run(study), make_run(study, "t2")
    assert refused(lambda: Citation.objects.filter(run=run).update(run=other))
    assert refused(lambda: run.turns.update(round=other.rounds.get(number=1)))


def linked(run: Run) -> Link:
    give_verdict(run, "I", "C")
    round_, group = run.rounds.get(number=2), run.answer_groups.get(number=1)
    node = FailureNode.objects.create(run=run, round=round_)
    return Link.objects.create(run=run, node=node, round=round_, group=group)


def test_a_link_is_distinct() -> None:
    assert refused(copy_of(linked(make_run(make_study()))))


def test_a_link_is_within_one_run() -> None:
    study = make_study()
    link, other = linked(make_run(study)), make_run(study, "t2")
    assert refused(lambda: Link.objects.filter(pk=link.pk).update(group=other.answer_groups.get(number=1)))
    assert refused(lambda: Link.objects.filter(pk=link.pk).update(round=other.rounds.get(number=1)))


def test_a_verdict_belongs_to_one_group_and_has_a_known_label_and_a_reason() -> None:
    run = make_run(make_study())
    give_verdict(run, "C", "U")
    verdict = Verdict.objects.filter(group__run=run)
    assert refused(copy_of(verdict.first()))
    assert refused(lambda: verdict.update(label="X"))
    assert refused(lambda: verdict.update(reason=""))


def test_rounds_and_groups_are_numbered_once() -> None:
    run = make_run(make_study())
    assert refused(copy_of(Round.objects.filter(run=run).first()))
    assert refused(copy_of(AnswerGroup.objects.filter(run=run).first()))
    assert refused(lambda: run.rounds.filter(number=1).update(number=0))


def test_the_required_count_is_at_least_one() -> None:
    run = make_run(make_study())
    assert refused(lambda: Rubric.objects.filter(run=run).update(required_count=0))


def test_a_split_round_is_no_error() -> None:
    round_ = make_run(make_study()).rounds.get(number=2)
    assert refused(lambda: RoundConsensus.objects.create(round=round_, verdict="error", is_split=True))


def test_names_are_unique_within_a_study_and_roles_within_a_membership() -> None:
    study = make_study()
    make_run(study)
    user = make_user("p", study)
    assert refused(copy_of(Task.objects.get(study=study)))
    assert refused(copy_of(EvaluatedModel.objects.get(study=study)))
    assert refused(copy_of(Membership.objects.get(user=user)))
    assert refused(lambda: Membership.objects.filter(user=user).update(role="owner"))


def test_a_simulated_labeler_is_never_a_superuser() -> None:
    user = User.objects.create(username="simulated", is_simulated=True)
    assert refused(lambda: User.objects.filter(pk=user.pk).update(is_superuser=True))


@pytest.fixture
def slot() -> Slot:
    run = make_run(make_study())
    audit = Audit.objects.create(study=run.study, name="A", seed=1, plan={}, frame={})
    item = Item.objects.create(
        audit=audit, kind="group", run=run, group=run.answer_groups.get(number=1), inclusion_probability=0.5
    )
    queue = Queue.objects.create(audit=audit, role="H1")
    return Slot.objects.create(queue=queue, item=item, position=1)


def version_of(slot: Slot, **changes: object) -> LabelVersion:
    fields = {
        "slot": slot,
        "number": 1,
        "action": "label",
        "label": "C",
        "user": User.objects.get_or_create(username="h1")[0],
        "codebook_version": "1",
        "evidence_digest": "0" * 64,
        "request_key": "6f1c1a58-5c8e-4b52-8e0b-1c5a3f3f2b11",
    }
    return LabelVersion.objects.create(**{**fields, **changes})


def test_a_label_version_is_unique_and_cannot_be_changed(slot: Slot) -> None:
    version = version_of(slot)
    assert refused(lambda: version_of(slot, request_key="6f1c1a58-5c8e-4b52-8e0b-1c5a3f3f2b12"))
    assert refused(lambda: version_of(slot, number=2))  # the same request key
    assert refused(lambda: LabelVersion.objects.filter(pk=version.pk).update(label="I"))


def test_only_a_label_has_a_label(slot: Slot) -> None:
    assert refused(lambda: version_of(slot, label=""))
    assert refused(lambda: version_of(slot, action="undo", label="C"))


def test_an_item_is_what_its_kind_says_once_and_with_a_probability(slot: Slot) -> None:
    items = Item.objects.filter(pk=slot.item_id)
    assert refused(copy_of(items.get()))
    assert refused(lambda: items.update(kind="link"))
    assert refused(lambda: items.update(inclusion_probability=0))
    assert refused(lambda: items.update(inclusion_probability=1.01))


def test_one_person_holds_one_role_in_an_audit(slot: Slot) -> None:
    audit, user = slot.queue.audit, make_user("p")
    second = Queue.objects.create(audit=audit, role="H2")
    Seat.objects.create(audit=audit, queue=slot.queue, user=user)
    assert refused(lambda: Seat.objects.create(audit=audit, queue=second, user=user))


def test_a_seat_is_in_its_own_audits_queue(slot: Slot) -> None:
    other = Audit.objects.create(study=slot.queue.audit.study, name="B", seed=1, plan={}, frame={})
    assert refused(lambda: Seat.objects.create(audit=other, queue=slot.queue, user=make_user("p")))
