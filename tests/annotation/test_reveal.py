"""The automatic verdict after submission: off by default, never before, and the label is final then."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import labels, reveals, services
from annotation.administration import close_audit
from annotation.models import Audit, Reveal, Slot
from annotation.sampling import Plan
from lseval.errors import ConflictError
from lseval.models import Verdict
from tests.annotation.making import GROUPS_ONLY, Made, add_link, give, make_audit, next_slot, submit
from tests.annotation.test_blinding import FORBIDDEN_TABLES
from tests.factories import give_verdict, make_run, make_study, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("as_written")]
CANARY = "canary-of-the-verdict"


@pytest.fixture
def made() -> Made:
    made = make_audit()
    for run in made.study.runs.all():
        give_verdict(run, "I", "U")
    Verdict.objects.update(reason=CANARY)
    Audit.objects.update(reveal_after_submission=True)
    return made


def address(slot: Slot) -> str:
    return reverse("revealed_verdict", args=[slot.queue_id, slot.pk])


def test_it_is_off_unless_the_lead_chose_it_at_the_draw() -> None:
    study = make_study()
    make_run(study)
    assert not services.create_audit(study, GROUPS_ONLY, 1, "A", None).reveal_after_submission
    assert services.create_audit(
        study, GROUPS_ONLY, 1, "B", None, reveal_after_submission=True
    ).reveal_after_submission


def test_choice_is_on_the_page_of_the_draw(client: Client, made: Made) -> None:
    client.force_login(made.lead)
    url = reverse("draw_audit", args=["s1"])
    plan = {"name": "C", "seed": 3, "tasks": 1, "responses_per_task": 1, "trajectories": 0}
    shown = client.post(url, {**plan, "reveal_after_submission": "on"})
    digest = shown.context["frame"]["digest"]
    client.post(url, {**plan, "reveal_after_submission": "True", "confirm": digest})
    assert made.study.audits.get(name="C").reveal_after_submission


def test_where_it_is_off_nothing_is_shown_read_or_offered(client: Client, made: Made) -> None:
    Audit.objects.update(reveal_after_submission=False)
    client.force_login(made.first)
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first)
    earlier = client.get(reverse("label", args=[made.h1.pk]) + f"?slot={slot.pk}")
    assert address(slot) not in earlier.content.decode()
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address(slot)).status_code == 404
        assert client.post(address(slot)).status_code == 404
    no_opinion_is_read(captured)
    slot.refresh_from_db()
    with pytest.raises(reveals.NotRevealedError):
        reveals.revealed(made.first.seats.get(), slot)
    assert not Reveal.objects.exists()


def test_where_it_is_on_nothing_comes_before_the_persons_own_label(client: Client, made: Made) -> None:
    other = make_user("third", made.study)
    services.seat(made.h1, other)
    held = next_slot(made.h1, made.first)
    others = give(made.h1.slots.exclude(run=held.run_id).first(), other)
    submit(others, other)
    skipped = give(made.h1.slots.exclude(run__in=[held.run_id, others.run_id]).first(), made.first)
    labels.skip(skipped.pk, made.first, "unsure", request_key=uuid.uuid4(), base_version=0)
    client.force_login(made.first)
    with CaptureQueriesContext(connection) as captured:
        for slot in (held, others, skipped, made.h2.slots.first()):
            for ask in (client.get, client.post):
                reply = ask(address(slot))
                assert reply.status_code == 404
                assert CANARY not in reply.content.decode()
        assert CANARY not in client.get(reverse("label", args=[made.h1.pk])).content.decode()
    no_opinion_is_read(captured)
    assert not Reveal.objects.exists()


def test_page_asks_first_and_shows_it_after_the_post(client: Client, made: Made) -> None:
    client.force_login(made.first)
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first, "C")
    with CaptureQueriesContext(connection) as captured:
        asked = client.get(address(slot)).content.decode()
    no_opinion_is_read(captured)
    assert CANARY not in asked
    assert "your label of this item is final" in asked
    shown = client.post(address(slot), follow=True).content.decode()
    assert CANARY in shown
    row = Reveal.objects.get()
    assert (row.slot, row.user, row.version) == (slot, made.first, 1)
    client.post(address(slot))
    assert Reveal.objects.count() == 1


def test_label_is_final_once_the_verdict_was_seen(client: Client, made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first, "C")
    reveals.reveal(made.first.seats.get(), slot)
    slot.refresh_from_db()
    with pytest.raises(ConflictError, match="seen the automatic verdict"):
        submit(slot, made.first, "I")
    with pytest.raises(ConflictError, match="seen the automatic verdict"):
        labels.undo_last(made.h1, made.first, request_key=uuid.uuid4())
    slot.refresh_from_db()
    assert (slot.status, slot.version) == ("labeled", 1)
    client.force_login(made.first)
    page = client.get(reverse("label", args=[made.h1.pk]) + f"?slot={slot.pk}").content.decode()
    assert "your label there is final" in page
    assert 'name="label"' not in page


def test_version_keeps_whether_the_audit_reveals(made: Made) -> None:
    assert submit(next_slot(made.h1, made.first), made.first).version.visible["reveal_after_submission"] is True


def test_verdict_of_a_group_waits_for_the_links_that_it_would_tell_of() -> None:
    study = make_study()
    add_link(make_run(study))
    audit = services.create_audit(study, Plan(), 1, "A", None, reveal_after_submission=True)
    queue, user = audit.queues.get(role="H1"), make_user("first", study)
    seat = services.seat(queue, user)
    words = {"group": "C", "round": "non_error", "link": "corresponds"}
    linked = queue.slots.get(item__kind="group", item__group__number=1)
    submit(give(linked, user), user)
    with pytest.raises(ConflictError, match="still to be labeled"):
        reveals.reveal(seat, linked)
    for slot in queue.slots.filter(status="open"):
        submit(give(slot, user), user, words[slot.item.kind])
    shown = {}
    for slot in queue.slots.all():
        reveals.reveal(seat, slot)
        found = reveals.revealed(seat, slot)
        shown.setdefault(slot.item.kind, []).append((found.label, found.error_type))
    assert shown["group"] == [("I", ""), ("I", "")]
    assert shown["link"] == [("corresponds", "")]
    # No judge's consensus was stored for the rounds; the second is a failure node.
    assert shown["round"] == [("", ""), ("", "wrong_entity")]


def test_closed_audit_shows_nothing_new(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first)
    seat = made.first.seats.get()
    close_audit(made.audit, made.lead)
    with pytest.raises(ConflictError, match="closed"):
        reveals.reveal(seat, slot)


def no_opinion_is_read(captured: CaptureQueriesContext) -> None:
    statements = [query["sql"] for query in captured.captured_queries]
    assert statements
    assert not [sql for sql in statements if any(table in sql for table in FORBIDDEN_TABLES)]
