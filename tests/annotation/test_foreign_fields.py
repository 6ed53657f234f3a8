"""What a form of the workplace says besides its own fields (A02), and of rows that are not the person's (A01)."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation import adjudication
from annotation.models import Audit, Flag, LabelVersion, Lease, Queue, Seat, Slot
from annotation.sampling import Plan
from tests.annotation.making import Made, give, make_audit, next_slot, submit

pytestmark = pytest.mark.django_db
TWICE = Plan(h2_tasks=3, link_trajectories=0, round_trajectories=0)


@pytest.fixture
def made() -> Made:
    return make_audit(TWICE)


def besides(made: Made, other: Made) -> dict[str, Any]:
    """Every field that somebody could hope to set besides a form's own."""
    return {
        "is_staff": "1",
        "is_superuser": "1",
        "is_simulated": "1",
        "is_late": "1",
        "role": "H2",
        "annotator": made.second.pk,
        "user": made.second.pk,
        "user_id": made.second.pk,
        "project": other.study.pk,
        "study": other.study.pk,
        "audit": other.audit.pk,
        "queue": other.h1.pk,
        "queue_id": other.h1.pk,
        "item": 1,
        "item_id": 1,
        "number": 99,
        "version": 99,
        "status": "skipped",
        "action": "undo",
        "codebook_version": "99",
        "evidence_digest": "x",
        "visible": "{}",
        "source": "elsewhere",
        "created_at": "2001-01-01T00:00:00Z",
        "expires_at": "2099-01-01T00:00:00Z",
    }


def test_labelers_forms_set_nothing_but_their_own_fields(client: Client, made: Made) -> None:
    """A02."""
    other = make_audit(TWICE, slug="s2")
    client.force_login(made.first)
    extra = besides(made, other)

    def post(route: str, **given: Any) -> int:
        sent = {**extra, "request_key": str(uuid.uuid4()), "base_version": 0, **given}
        return client.post(reverse(route, args=[made.h1.pk]), sent).status_code

    slot = next_slot(made.h1, made.first)
    assert post("label_flag", slot=slot.pk, note="look") == 302
    assert post("label", slot=slot.pk, label="C") == 302
    skipped = next_slot(made.h1, made.first)
    assert post("label_heartbeat", slot=skipped.pk) == 200
    assert Lease.objects.get(slot=skipped).expires_at.year < 2099
    assert post("label_skip", slot=skipped.pk, reason="why not") == 302
    label, skip = LabelVersion.objects.order_by("pk")
    for version, kind in ((label, "label"), (skip, "skip")):
        assert (version.user, version.action, version.number) == (made.first, kind, 1)
        assert (version.is_simulated, version.is_late) == (False, False)
        assert (version.codebook_version, version.source) == ("1", "")
        assert version.visible
        assert version.evidence_digest not in ("", "x")
        assert version.created_at.year > 2001
    assert Flag.objects.get().user == made.first
    made.first.refresh_from_db()
    assert (made.first.is_staff, made.first.is_superuser, made.first.is_simulated) == (False, False, False)
    assert Seat.objects.get(user=made.first).queue == made.h1
    assert not LabelVersion.objects.filter(slot__queue__audit=other.audit).exists()


def test_leads_forms_set_nothing_but_their_own_fields(client: Client, made: Made) -> None:
    """A02."""
    other = make_audit(TWICE, slug="s2")
    client.force_login(made.lead)
    extra = besides(made, other)
    plan = {"name": "B", "seed": 7, "tasks": 2, "responses_per_task": 1, "trajectories": 1}
    address = reverse("draw_audit", args=["s1"])
    shown = client.post(address, {**extra, **plan})
    digest = shown.context["frame"]["digest"]
    sent = {**extra, **plan, "confirm": digest, "created_by": made.second.pk}
    assert client.post(address, sent).status_code == 302
    drawn = Audit.objects.get(name="B")
    assert (drawn.study, drawn.created_by) == (made.study, made.lead)
    assert (drawn.status, drawn.codebook_version) == ("open", "1")
    assert set(drawn.queues.values_list("role", "is_simulated")) == {("H1", False), ("H2", False)}
    client.post(reverse("seat_labeler", args=["s1", drawn.pk]), {**extra, "user": made.second.pk, "role": "H2"})
    assert Seat.objects.get(audit=drawn).queue.role == "H2"
    assert Audit.objects.filter(study=other.study).count() == 1


def differing(made: Made) -> tuple[Made, Queue]:
    for slot in made.h2.slots.all()[:2]:
        submit(give(slot, made.second), made.second, "C")
        submit(give(made.h1.slots.get(item=slot.item_id), made.first), made.first, "I")
    adjudication.rebuild_queue(made.audit, made.lead)
    adjudication.seat_adjudicator(made.audit, made.lead, made.lead)
    return made, made.audit.queues.get(role="adjudicator")


def test_adjudicators_forms_change_no_row_of_another_study(client: Client, made: Made) -> None:
    """A01: the ids of another study's slots, in the body and in the address, and of its items in a parameter."""
    _, queue = differing(made)
    other, others_queue = differing(make_audit(TWICE, slug="s2"))
    slot = give(others_queue.slots.first(), made.lead)
    client.force_login(made.lead)
    before = list(Slot.objects.order_by("pk").values_list("pk", "status", "version"))
    sent = {"slot": slot.pk, "request_key": str(uuid.uuid4()), "base_version": 0, "pair": "1 2", "label": "C"}
    sent |= {"comment": "x", "reason": "x"}
    for place in (queue, others_queue):
        for route in ("adjudicate", "adjudicate_skip", "adjudicate_undo", "adjudicate_heartbeat"):
            reply = client.post(reverse(route, args=[place.pk]), sent)
            # The undo of the own queue is of no slot, and there is nothing to undo.
            assert reply.status_code == (302 if route == "adjudicate_undo" and place == queue else 404), route
        assert client.get(reverse("adjudicate", args=[place.pk]), {"slot": slot.pk}).status_code == 404
        assert client.get(reverse("adjudicate_page", args=[place.pk, slot.pk, 1])).status_code == 404
    for item in (slot.item_id, other.audit.items.last().pk):
        assert client.get(reverse("publish_codebook", args=["s1"]), {"example": item}).status_code == 404
    assert client.get(reverse("adjudication", args=["s1", other.audit.pk])).status_code == 404
    assert list(Slot.objects.order_by("pk").values_list("pk", "status", "version")) == before
