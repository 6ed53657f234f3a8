"""The audit page: leads, researchers and annotators each see theirs."""

from __future__ import annotations

import uuid
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import labels, services
from annotation.models import Audit, Seat
from annotation.simulation import simulate_labels
from lseval.errors import InputError
from lseval.models import Membership, Role, User
from tests.annotation.making import GROUPS_ONLY, Made, make_audit, next_slot, submit
from tests.factories import make_run, make_study, make_user

pytestmark = pytest.mark.django_db

PLAN = {"name": "B", "seed": 7, "tasks": 2, "responses_per_task": 1, "trajectories": 1, "with_rounds": "on"}


@pytest.fixture
def made() -> Made:
    return make_audit()


def text_of(client: Client, user: User, slug: str = "s1") -> str:
    client.force_login(user)
    return unescape(client.get(reverse("audit", args=[slug])).content.decode())


def test_lead_sees_queues_and_people(client: Client, made: Made) -> None:
    submit(next_slot(made.h1, made.first), made.first)
    slot = next_slot(made.h1, made.first)
    labels.skip(slot.pk, made.first, "unsure", request_key=uuid.uuid4(), base_version=0)
    next_slot(made.h1, made.first)
    text = text_of(client, made.lead)
    row = text[text.index("<strong>H1</strong>") : text.index("<strong>H2</strong>")]
    # Labeled 1, skipped 1, flagged 0, late, open 10 of 12, in work 1, items/h; then the only person's.
    cells = [cell.split("</td>")[0] for cell in row.split('<td class="num">')[1:]]
    assert cells == ["1", "1", "0", "", "10", "1", "", "1", "1", "0", "0", ""]
    assert "2 of 12" in row
    assert made.first.username in row


def test_simulated_queue_is_marked(client: Client, made: Made) -> None:
    simulate_labels(made.audit, "H1", lambda item: "C", 1)
    text = text_of(client, made.lead)
    assert "simulated" in text
    assert "are no evidence" in text


def test_researcher_sees_progress_and_cannot_change_it(client: Client, made: Made) -> None:
    text = text_of(client, make_user("researcher", made.study, Role.RESEARCHER))
    assert "0 of 12" in text
    assert "Give a place" not in text
    assert "Draw another audit" not in text


def test_annotator_sees_own_queues_only(client: Client, made: Made) -> None:
    text = text_of(client, made.first)
    assert "Start labeling" in text
    assert reverse("label", args=[made.h1.pk]) in text
    for hidden in (reverse("label", args=[made.h2.pk]), made.second.username, "seed", "Frame"):
        assert hidden not in text


def test_one_who_becomes_a_lead_no_longer_labels(client: Client, made: Made) -> None:
    client.force_login(made.first)
    url = reverse("label", args=[made.h1.pk])
    assert client.get(url).status_code == 200
    Membership.objects.filter(user=made.first).update(role=Role.LEAD)
    assert client.get(url).status_code == 403
    with pytest.raises(InputError, match="sees the verdicts"):
        services.seat(made.h1, made.lead)


def test_lead_gives_a_place(client: Client, made: Made) -> None:
    person = make_user("third", made.study)
    client.force_login(made.lead)
    url = reverse("seat_labeler", args=["s1", made.audit.pk])
    reply = client.post(url, {"user": person.pk, "role": "H2"}, follow=True)
    assert "third labels as H2" in reply.content.decode()
    assert Seat.objects.get(user=person).queue == made.h2


def test_one_person_never_holds_both_roles(client: Client, made: Made) -> None:
    client.force_login(made.lead)
    url = reverse("seat_labeler", args=["s1", made.audit.pk])
    reply = client.post(url, {"user": made.first.pk, "role": "H2"}, follow=True)
    assert "never holds two roles" in reply.content.decode()
    assert Seat.objects.get(user=made.first).queue == made.h1


def test_only_labelers_of_the_study_can_be_seated(client: Client, made: Made) -> None:
    client.force_login(made.lead)
    url = reverse("seat_labeler", args=["s1", made.audit.pk])
    for user in (make_user("stranger"), make_user("researcher", made.study, Role.RESEARCHER)):
        client.post(url, {"user": user.pk, "role": "H1"})
        assert not Seat.objects.filter(user=user).exists()


def test_audit_of_another_study_cannot_be_reached_through_ones_own(client: Client, made: Made) -> None:
    other = make_audit(slug="s2")
    client.force_login(made.lead)
    url = reverse("seat_labeler", args=["s1", other.audit.pk])
    assert client.post(url, {"user": made.first.pk, "role": "H1"}).status_code == 404


class TestDraw:
    """Asking for a draw, seeing it, confirming it."""

    def test_draw_is_shown_before_it_is_stored(self, client: Client, made: Made) -> None:
        client.force_login(made.lead)
        url = reverse("draw_audit", args=["s1"])
        assert "Audit 1" in client.get(url).content.decode()
        text = client.post(url, PLAN).content.decode()
        drawing = services.preview_draw(made.study, plan_of_form(), 7)
        assert drawing.frame["digest"] in text
        assert f'<td class="num">{drawing.sample.counts("H1")["group"]}</td>' in text
        assert Audit.objects.count() == 1

    def test_confirmed_draw_is_the_one_that_was_shown(self, client: Client, made: Made) -> None:
        client.force_login(made.lead)
        url = reverse("draw_audit", args=["s1"])
        drawing = services.preview_draw(made.study, plan_of_form(), 7)
        reply = client.post(url, {**PLAN, "confirm": drawing.frame["digest"]})
        assert reply.url == reverse("audit", args=["s1"])
        audit = Audit.objects.get(name="B")
        assert audit.created_by == made.lead
        assert list(audit.items.order_by("pk").values_list("group_id", "round_id")) == [
            (item.group, item.round) for item in drawing.sample.items
        ]

    def test_frame_that_changed_since_is_shown_again(self, client: Client, made: Made) -> None:
        client.force_login(made.lead)
        drawing = services.preview_draw(made.study, plan_of_form(), 7)
        make_run(made.study, "t9", "m1")
        reply = client.post(reverse("draw_audit", args=["s1"]), {**PLAN, "confirm": drawing.frame["digest"]})
        assert reply.status_code == 409
        assert Audit.objects.count() == 1

    def test_taken_name_is_told(self, client: Client, made: Made) -> None:
        client.force_login(made.lead)
        reply = client.post(reverse("draw_audit", args=["s1"]), {**PLAN, "name": "A"})
        assert reply.status_code == 409
        assert "There is an audit named A already" in reply.content.decode()

    @pytest.mark.parametrize(
        "wrong", [{"tasks": 0}, {"seed": -1}, {"seed": 2**63}, {"name": ""}, {"trajectories": "x"}]
    )
    def test_impossible_plan_is_refused_on_the_page(self, client: Client, made: Made, wrong: dict) -> None:
        client.force_login(made.lead)
        assert client.post(reverse("draw_audit", args=["s1"]), {**PLAN, **wrong}).status_code == 400

    def test_study_with_nothing_to_label_says_so(self, client: Client) -> None:
        study = make_study("empty")
        client.force_login(make_user("lead", study, Role.LEAD))
        reply = client.post(reverse("draw_audit", args=["empty"]), PLAN)
        assert reply.status_code == 400
        assert "Import runs" in reply.content.decode()


def plan_of_form() -> services.Plan:
    return services.Plan(tasks=2, responses_per_task=1, link_trajectories=1, round_trajectories=1)


ROUTES = {
    # name: (arguments, method, roles that get in); the rest get 403, strangers 404.
    "audit": ("study", "get", {"lead", "researcher", "first", "unseated"}),
    "draw_audit": ("study", "get", {"lead"}),
    "seat_labeler": ("audit", "post", {"lead"}),
    "audit_progress": ("audit", "get", {"lead", "researcher"}),
    "change_audit": ("change", "post", {"lead"}),
    "release_lease": ("lease", "post", {"lead"}),
    "reassign_seat": ("audit", "post", {"lead"}),
    "extend_audit": ("audit", "get", {"lead"}),
    "export_labels": ("export", "get", {"lead", "researcher"}),
    "codebook": ("study", "get", {"lead", "researcher"}),
    "publish_codebook": ("study", "get", {"lead"}),
    "label": ("queue", "get", {"first"}),
    "label_skip": ("queue", "post", {"first"}),
    "label_undo": ("queue", "post", {"first"}),
    "label_heartbeat": ("queue", "post", {"first"}),
    "label_page": ("page", "get", {"first"}),
    "label_recent": ("queue", "get", {"first"}),
    "guidelines": ("queue", "get", {"first"}),
}


@pytest.mark.parametrize("name", ROUTES)
@pytest.mark.parametrize("who", ["lead", "researcher", "first", "second", "unseated", "stranger", "anonymous"])
def test_every_route_as_every_role(client: Client, made: Made, name: str, who: str) -> None:
    """A queue is not there at all for whoever has no seat in it, a lead included."""
    people = {
        "lead": made.lead,
        "researcher": make_user("researcher", made.study, Role.RESEARCHER),
        "first": made.first,
        "second": made.second,
        "unseated": make_user("unseated", made.study),
        "stranger": make_audit(slug="s2").first,
    }
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first)
    slot.refresh_from_db()
    kind, method, allowed = ROUTES[name]
    arguments = {
        "study": ["s1"],
        "audit": ["s1", made.audit.pk],
        "change": ["s1", made.audit.pk, "pause"],
        "lease": ["s1", made.audit.pk, slot.pk],
        "export": ["s1", made.audit.pk, "csv"],
        "queue": [made.h1.pk],
        "page": [made.h1.pk, slot.pk, 1],
    }
    if who != "anonymous":
        client.force_login(people[who])
    given = {"slot": slot.pk, "request_key": str(uuid.uuid4()), "base_version": 1, "reason": "x"}
    reply = getattr(client, method)(reverse(name, args=arguments[kind]), given if method == "post" else None)
    if who == "anonymous":
        assert (reply.status_code, reply.url.split("?")[0]) == (302, reverse("login"))
    elif who in allowed or (who == "second" and name == "audit"):
        assert reply.status_code in {200, 302, 409}
        assert "no-store" in reply.headers["Cache-Control"]
    elif kind not in ("queue", "page") and who != "stranger":
        assert reply.status_code == 403
    else:
        assert reply.status_code == 404


def test_seat_without_membership_opens_nothing(client: Client, made: Made) -> None:
    Membership.objects.filter(user=made.first).delete()
    client.force_login(made.first)
    assert client.get(reverse("label", args=[made.h1.pk])).status_code == 404


def test_seat_of_one_who_sees_results_now_opens_nothing(client: Client, made: Made) -> None:
    Membership.objects.filter(user=made.first).update(role=Role.RESEARCHER)
    client.force_login(made.first)
    assert client.get(reverse("label", args=[made.h1.pk])).status_code == 403


@pytest.mark.parametrize("name", ["label_skip", "label_undo", "label_heartbeat", "seat_labeler"])
def test_changing_routes_refuse_get_and_need_the_token(made: Made, name: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(made.lead if name == "seat_labeler" else made.first)
    url = reverse(name, args=["s1", made.audit.pk] if name == "seat_labeler" else [made.h1.pk])
    assert client.get(url).status_code == 405
    assert client.post(url, {"slot": 1}).status_code == 403


def queries(client: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def test_audit_page_takes_the_same_number_of_queries_however_much_there_is(client: Client, made: Made) -> None:
    client.force_login(made.lead)
    url = reverse("audit", args=["s1"])
    few = queries(client, url)
    for number in range(3):
        audit = services.create_audit(made.study, GROUPS_ONLY, number, f"More {number}", made.lead)
        queue = audit.queues.get(role="H1")
        for person in range(2):
            services.seat(queue, make_user(f"p{number}{person}", made.study))
        simulate_labels(audit, "H1", lambda item: "C", 1)
    assert queries(client, url) == few
    assert few <= AUDIT_QUERIES


def test_label_page_takes_a_fixed_number_of_queries(client: Client, made: Made) -> None:
    client.force_login(made.first)
    url = reverse("label", args=[made.h1.pk])
    queries(client, url)
    few = queries(client, url)
    for _ in range(5):
        submit(next_slot(made.h1, made.first), made.first)
    assert queries(client, url) <= LABEL_QUERIES
    assert few <= LABEL_QUERIES


AUDIT_QUERIES = 24
LABEL_QUERIES = 19
