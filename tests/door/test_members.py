"""A lead says who belongs to a study; nobody takes a role that was not given (A02)."""

from __future__ import annotations

import threading
import uuid

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.adjudication import rebuild_queue, seat_adjudicator
from annotation.administration import close_audit
from annotation.labels import submit_label
from annotation.leases import claim_next
from annotation.models import LabelVersion, Queue, Seat
from annotation.sampling import Plan
from annotation.services import create_audit, queue_of, seat
from lseval.door.invitations import invite
from lseval.door.members import change_role, remove_member
from lseval.errors import ConflictError
from lseval.models import Membership, Role, Study, User
from tests.factories import make_run, make_study, make_user

EXTRA = {
    "is_staff": "1",
    "is_superuser": "1",
    "is_active": "0",
    "is_simulated": "1",
    "id": "1",
    "pk": "1",
    "study": "1",
    "study_id": "1",
    "project": "1",
    "user": "1",
    "user_id": "1",
    "created_by": "1",
    "annotator": "1",
    "groups": "1",
    "user_permissions": "1",
}


def member(study: Study, user: User) -> Membership:
    return study.memberships.get(user=user)


def roles(study: Study) -> dict[str, str]:
    return dict(study.memberships.values_list("user__username", "role"))


def test_lead_sees_everybody_and_changes_a_role(client: Client, study: Study, lead: User, annotator: User) -> None:
    client.force_login(lead)
    make_run(study)
    audit = create_audit(study, Plan(), 1, "A", None)
    seat(queue_of(audit, "H1"), annotator)
    page = client.get(reverse("members", args=[study.slug])).content.decode()
    assert "H1 in A" in page
    assert "the only one" in page
    address = reverse("member_role", args=[study.slug, member(study, annotator).pk])
    assert "h1 is researcher now" in client.post(address, {"role": "researcher"}, follow=True).content.decode()
    assert roles(study) == {"lead": "lead", "h1": "researcher"}
    assert "annotator to researcher" in client.get(reverse("members", args=[study.slug])).content.decode()


def test_change_of_role_holds_from_the_next_request(client: Client, study: Study, lead: User) -> None:
    researcher = make_user("r", study, Role.RESEARCHER)
    client.force_login(researcher)
    page = client.get(reverse("outcome", args=[study.slug]))
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    remove_member(study, member(study, researcher).pk, lead)
    assert client.get(reverse("outcome", args=[study.slug])).status_code == 404


class TestPlaces:
    """A place in an audit ends with the membership, or the role, that allowed it."""

    @pytest.fixture
    def queue(self, study: Study, annotator: User) -> Queue:
        make_run(study)
        queue = queue_of(create_audit(study, Plan(), 1, "A", None), "H1")
        seat(queue, annotator)
        return queue

    def test_removal_frees_what_was_held_and_keeps_labels(
        self, client: Client, study: Study, lead: User, annotator: User, queue: Queue
    ) -> None:
        labeled = claim_next(queue, annotator)
        submit_label(labeled.pk, annotator, "C", request_key=uuid.uuid4(), base_version=0)
        held = claim_next(queue, annotator)
        client.force_login(lead)
        address = reverse("member_remove", args=[study.slug, member(study, annotator).pk])
        page = client.post(address, follow=True).content.decode()
        assert "h1 is no member any more. Their place as H1 in A has ended; what they labeled stays." in page
        assert not Seat.objects.filter(user=annotator).exists()
        assert LabelVersion.objects.get().user == annotator
        other = make_user("h3", study, Role.ANNOTATOR)
        seat(queue, other)
        assert claim_next(queue, other) == held
        audit = client.get(reverse("audit", args=[study.slug])).content.decode()
        assert "ended the place of h1 as H1; items back in the queue: 1" in audit

    @pytest.mark.parametrize("role", ["lead", "researcher"])
    def test_role_that_sees_verdicts_ends_a_labelers_place(
        self, study: Study, lead: User, annotator: User, queue: Queue, role: str
    ) -> None:
        change_role(study, member(study, annotator).pk, role, lead)
        assert not Seat.objects.filter(user=annotator).exists()

    def test_lead_who_adjudicates_keeps_that_place_only_as_lead(
        self, study: Study, lead: User, queue: Queue
    ) -> None:
        other = make_user("second", study, Role.LEAD)
        rebuild_queue(queue.audit, lead)
        for person in (lead, other):
            seat_adjudicator(queue.audit, person, lead)
        change_role(study, member(study, other).pk, Role.RESEARCHER, lead)
        assert list(Seat.objects.filter(queue__role="adjudicator").values_list("user", flat=True)) == [lead.pk]

    def test_closed_audit_stays_as_it_is(self, study: Study, lead: User, annotator: User, queue: Queue) -> None:
        close_audit(queue.audit, lead)
        removed = remove_member(study, member(study, annotator).pk, lead)
        assert removed.places == ()
        assert Seat.objects.filter(user=annotator).exists()
        assert not study.memberships.filter(user=annotator).exists()

    def test_other_studies_are_left_alone(self, study: Study, lead: User, annotator: User, queue: Queue) -> None:
        elsewhere = make_study("s2")
        make_run(elsewhere)
        elsewhere.memberships.create(user=annotator, role=Role.ANNOTATOR)
        seat(queue_of(create_audit(elsewhere, Plan(), 1, "A", None), "H2"), annotator)
        remove_member(study, member(study, annotator).pk, lead)
        assert list(Seat.objects.filter(user=annotator).values_list("audit__study__slug", flat=True)) == ["s2"]

    def test_command_that_sets_a_role_ends_them_too(self, study: Study, annotator: User, queue: Queue) -> None:
        call_command("add_member", "s1", "h1", "researcher")
        assert not Seat.objects.filter(user=annotator).exists()


@pytest.mark.parametrize("route", ["member_role", "member_remove"])
def test_the_last_lead_stays(client: Client, study: Study, lead: User, route: str) -> None:
    client.force_login(lead)
    address = reverse(route, args=[study.slug, member(study, lead).pk])
    page = client.post(address, {"role": "researcher"}, follow=True)
    assert "is the only lead of Study s1" in page.content.decode()
    assert roles(study) == {"lead": "lead"}


def test_a_disabled_lead_does_not_count_as_another(study: Study, lead: User) -> None:
    make_user("gone", study, Role.LEAD)
    User.objects.filter(username="gone").update(is_active=False)
    with pytest.raises(ConflictError, match="only lead"):
        remove_member(study, member(study, lead).pk, lead)


def test_a_lead_who_leaves_is_sent_where_they_may_be(client: Client, study: Study, lead: User) -> None:
    make_user("second", study, Role.LEAD)
    client.force_login(lead)
    own = member(study, lead).pk
    response = client.post(reverse("member_role", args=[study.slug, own]), {"role": "researcher"})
    assert response.url == reverse("study_home", args=[study.slug])
    client.force_login(User.objects.get(username="second"))
    make_user("third", study, Role.LEAD)
    response = client.post(reverse("member_remove", args=[study.slug, member(study, client_user("second")).pk]))
    assert response.url == reverse("studies")


def client_user(username: str) -> User:
    return User.objects.get(username=username)


@pytest.mark.parametrize("role", ["lead", "researcher"])
def test_who_sees_verdicts_cannot_become_annotator(study: Study, lead: User, role: str) -> None:
    other = make_user("other", study, role)
    with pytest.raises(ConflictError, match="would not be blind"):
        change_role(study, member(study, other).pk, Role.ANNOTATOR, lead)
    assert roles(study)["other"] == role


def test_command_sets_any_role_and_records_it(study: Study, lead: User) -> None:
    make_user("r", study, Role.RESEARCHER)
    call_command("add_member", "s1", "r", "annotator")  # who runs the program may overrule
    assert roles(study)["r"] == "annotator"
    change = study.role_changes.get()
    assert (change.old_role, change.new_role, change.by) == ("researcher", "annotator", None)
    call_command("add_member", "s1", "r", "annotator")
    assert study.role_changes.count() == 1


@pytest.mark.parametrize("role", ["", "owner", "LEAD", "lead ", "annotator\0", "a" * 5000])
def test_an_unknown_role_changes_nothing(
    client: Client, study: Study, lead: User, annotator: User, role: str
) -> None:
    client.force_login(lead)
    client.post(reverse("member_role", args=[study.slug, member(study, annotator).pk]), {"role": role})
    assert client.post(reverse("invite", args=[study.slug]), {"role": role}).status_code == 400
    assert roles(study) == {"lead": "lead", "h1": "annotator"}
    assert not study.invitations.exists()


def test_joining_takes_no_right_that_was_not_given(study: Study, lead: User) -> None:
    _, token = invite(study, Role.ANNOTATOR, lead)
    client = Client()
    client.get(reverse("invitation_link", args=[token]))
    chosen = {"username": "new", "password1": "blue-harbour-71", "password2": "blue-harbour-71"}
    client.post("/invitation/", {**EXTRA, "role": "lead", **chosen})
    user = User.objects.get(username="new")
    assert (user.is_staff, user.is_superuser, user.is_active, user.is_simulated) == (False, False, True, False)
    assert list(user.memberships.values_list("study__slug", "role")) == [("s1", "annotator")]
    assert not user.groups.exists()


def test_other_forms_take_no_right_either(client: Client, study: Study, lead: User, annotator: User) -> None:
    other = make_study("other")
    extra = {**EXTRA, "study": str(other.pk), "study_id": str(other.pk)}
    client.force_login(annotator)
    posted = [
        (
            "password_change",
            {"old_password": "pw", "new_password1": "blue-harbour-71", "new_password2": "blue-harbour-71"},
        ),
        ("account_email", {"email": "h1@people.example", "old_password": "blue-harbour-71"}),
        ("token_create", {"name": "t", "lifetime_days": "30"}),
    ]
    for route, given in posted:
        client.post(reverse(route), {**extra, "role": "lead", "username": "lead2", **given})
    annotator.refresh_from_db()
    assert annotator.email == "h1@people.example"
    assert annotator.username == "h1"
    assert (annotator.is_staff, annotator.is_superuser, annotator.is_active) == (False, False, True)
    assert annotator.auth_token_set.count() == 1
    assert roles(study)["h1"] == "annotator"
    client.force_login(lead)
    client.post(reverse("invite", args=[study.slug]), {**extra, "role": "annotator"})
    made = study.invitations.get()
    assert (made.created_by, made.role) == (lead, "annotator")
    assert not other.invitations.exists()
    client.post(
        reverse("member_role", args=[study.slug, member(study, annotator).pk]), {**extra, "role": "researcher"}
    )
    assert roles(study)["h1"] == "researcher"
    assert not other.memberships.exists()


def test_list_of_members_costs_as_many_queries_however_many_there_are(
    client: Client, study: Study, lead: User, django_assert_num_queries
) -> None:
    client.force_login(lead)
    address = reverse("members", args=[study.slug])
    for round_number in range(2):
        for number in range(5):
            made = make_user(f"m{round_number}-{number}", study)
            invite(study, Role.ANNOTATOR, lead, made.username)
        # session with person, study with role; members, their places, who has seen verdicts, invitations, changes
        with django_assert_num_queries(7):
            assert client.get(address).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_two_leads_who_end_each_other_at_once_leave_one() -> None:
    study = make_study()
    leads = [make_user(f"l{number}", study, Role.LEAD) for number in range(2)]
    barrier = threading.Barrier(2)

    def end(by: User, other: User) -> None:
        pk = member(study, other).pk
        barrier.wait()
        try:
            remove_member(study, pk, by)
        except (ConflictError, Membership.DoesNotExist):
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=end, args=pair) for pair in (leads, leads[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(roles(study).values()) == ["lead"]
