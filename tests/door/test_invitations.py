"""Invitations let one person in, once, for a while, in the role that the lead said."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from lseval.door import invitations
from lseval.door.invitations import InvitationEndedError, accept, invite, open_invitation
from lseval.door.members import change_role, remove_member
from lseval.door.models import Invitation, RoleChange
from lseval.errors import ConflictError
from lseval.models import Membership, Role, Study, User
from tests.factories import make_study, make_user

CHOSEN = {"username": "newcomer", "email": "n@people.example", "password1": "blue-harbour-71"}
CHOSEN["password2"] = CHOSEN["password1"]
JOIN = "/invitation/"


def opened(token: str, client: Client | None = None) -> Client:
    """A browser in which the link has been followed."""
    client = client or Client()
    assert client.get(reverse("invitation_link", args=[token])).url == JOIN
    return client


def role_of(study: Study, username: str) -> str | None:
    return study.memberships.filter(user__username=username).values_list("role", flat=True).first()


def test_lead_gets_a_link_once_and_a_stranger_joins_by_it(client: Client, study: Study, lead: User) -> None:
    client.force_login(lead)
    page = client.post(reverse("invite", args=[study.slug]), {"role": "annotator", "note": "second labeler"})
    assert page.status_code == 200
    link = page.context["new_link"]
    assert link in page.content.decode()
    token = link.rstrip("/").rpartition("/")[2]
    assert token not in client.get(reverse("members", args=[study.slug])).content.decode()
    stranger = opened(token)
    shown = stranger.get(JOIN).content.decode()
    assert "Study s1" in shown
    assert "lead invites you" in shown
    assert token not in shown
    response = stranger.post(JOIN, CHOSEN, follow=True)
    assert response.redirect_chain[-1][0] == reverse("audit", args=[study.slug])
    assert role_of(study, "newcomer") == "annotator"
    user = User.objects.get(username="newcomer")
    assert user.check_password("blue-harbour-71")
    assert RoleChange.objects.get(user=user).by == lead
    assert "accepted by newcomer" in client.get(reverse("members", args=[study.slug])).content.decode()


def test_token_is_kept_as_a_digest_only(study: Study, lead: User) -> None:
    made, token = invite(study, Role.ANNOTATOR, lead)
    assert len(token) >= 4 + 43  # 32 random bytes
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(i)::text FROM lseval_door_invitation i")
        stored = cursor.fetchone()[0]
    assert token not in stored
    assert token[4:20] not in stored
    assert made.digest in stored


def test_link_works_once(study: Study, lead: User) -> None:
    _, token = invite(study, Role.ANNOTATOR, lead)
    first, second = opened(token), opened(token)
    assert first.post(JOIN, CHOSEN).status_code == 302
    response = second.post(JOIN, {**CHOSEN, "username": "another"})
    assert response.status_code == 404
    assert not User.objects.filter(username="another").exists()
    assert Client().get(reverse("invitation_link", args=[token])).status_code == 404


@pytest.mark.parametrize("change", ["expired", "revoked", "unknown", "study gone"])
def test_ended_invitation_lets_nobody_in(study: Study, lead: User, change: str) -> None:
    made, token = invite(study, Role.RESEARCHER, lead)
    client = opened(token)
    if change == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif change == "revoked":
        invitations.revoke(study, made.pk)
    elif change == "study gone":
        study.delete()
    else:
        Invitation.objects.update(digest="0" * 64)
    assert client.post(JOIN, CHOSEN).status_code == 404
    assert client.get(JOIN).status_code == 404
    assert not User.objects.filter(username="newcomer").exists()


@pytest.mark.parametrize("token", ["lsi_", "lsi_" + "a" * 42, "lsi_" + "a" * 43, "x" * 47, "lsi_" + "é" * 43, "\0"])
def test_what_is_no_token_opens_nothing(db: None, token: str) -> None:
    with pytest.raises(InvitationEndedError):
        open_invitation(token)


def test_invitation_lasts_seven_days(study: Study, lead: User) -> None:
    made, _ = invite(study, Role.ANNOTATOR, lead)
    assert abs(made.expires_at - timezone.now() - timedelta(days=7)) < timedelta(minutes=1)


def test_person_with_a_login_accepts_by_signing_in(study: Study, lead: User) -> None:
    _, token = invite(study, Role.RESEARCHER, lead)
    make_user("colleague", make_study("other"), Role.LEAD)
    client = opened(token)
    assert f"/login/?next={JOIN}" in client.get(JOIN).content.decode()
    response = client.post("/login/", {"username": "colleague", "password": "pw", "next": JOIN})
    assert response.url == JOIN
    assert "Accept as colleague" in client.get(JOIN).content.decode()
    assert role_of(study, "colleague") is None  # to look is not to accept
    assert client.post(JOIN).url == reverse("study_home", args=[study.slug])
    assert role_of(study, "colleague") == "researcher"


def test_a_member_cannot_change_their_role_by_an_invitation(study: Study, lead: User, annotator: User) -> None:
    _, token = invite(study, Role.LEAD, lead)
    client = Client()
    client.force_login(annotator)
    response = opened(token, client).post(JOIN)
    assert response.status_code == 409
    assert "is an annotator of Study s1 already" in response.content.decode()
    assert role_of(study, "h1") == "annotator"
    assert open_invitation(token)  # and it is still there for whom it was meant


def test_who_has_seen_verdicts_cannot_come_back_as_annotator(study: Study, lead: User) -> None:
    researcher = make_user("r", study, Role.RESEARCHER)
    remove_member(study, study.memberships.get(user=researcher).pk, lead)
    _, token = invite(study, Role.ANNOTATOR, lead)
    with pytest.raises(ConflictError, match="would not be blind"):
        accept(token, researcher)
    assert role_of(study, "r") is None


def test_a_taken_name_uses_nothing_up(study: Study, lead: User) -> None:
    _, token = invite(study, Role.ANNOTATOR, lead)
    client = opened(token)
    for taken in ("lead", "LEAD"):
        response = client.post(JOIN, {**CHOSEN, "username": taken})
        assert response.status_code == 400
        assert "already exists" in response.content.decode()
    with pytest.raises(ConflictError, match="called lead already"):
        invitations.join(token, "lead", "blue-harbour-71")
    assert client.post(JOIN, CHOSEN).status_code == 302


@pytest.mark.parametrize("password", ["short", "password", "newcomer1", "83920184756"])
def test_weak_password_is_refused(study: Study, lead: User, password: str) -> None:
    _, token = invite(study, Role.ANNOTATOR, lead)
    response = opened(token).post(JOIN, {**CHOSEN, "password1": password, "password2": password})
    assert response.status_code == 400
    assert not User.objects.filter(username="newcomer").exists()


@pytest.mark.parametrize("end", ["demoted", "removed"])
def test_links_of_a_former_lead_end(study: Study, lead: User, end: str) -> None:
    second = make_user("second", study, Role.LEAD)
    _, token = invite(study, Role.LEAD, second)
    member = study.memberships.get(user=second)
    if end == "demoted":
        change_role(study, member.pk, Role.RESEARCHER, lead)
    else:
        remove_member(study, member.pk, lead)
    with pytest.raises(InvitationEndedError):
        open_invitation(token)


def test_revoking_twice_says_so(client: Client, study: Study, lead: User) -> None:
    made, _ = invite(study, Role.ANNOTATOR, lead)
    client.force_login(lead)
    address = reverse("invitation_revoke", args=[study.slug, made.pk])
    assert "is revoked" in client.post(address, follow=True).content.decode()
    assert "accepted or revoked already" in client.post(address, follow=True).content.decode()


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_gets_in() -> None:
    study = make_study()
    lead = make_user("lead", study, Role.LEAD)
    people = [make_user(f"p{number}") for number in range(6)]
    _, token = invite(study, Role.ANNOTATOR, lead)
    barrier = threading.Barrier(len(people))
    ended = []

    def use(user: User) -> None:
        barrier.wait()
        try:
            accept(token, user)
        except InvitationEndedError as error:
            ended.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=use, args=[user]) for user in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ended) == len(people) - 1
    assert Membership.objects.filter(study=study, role=Role.ANNOTATOR).count() == 1
