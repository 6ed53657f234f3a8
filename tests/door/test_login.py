"""A06, A07: where one gets by logging in, and what happens to sessions."""

from __future__ import annotations

import pytest
from django.conf import LazySettings
from django.conf import settings as django_settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from lseval.door import sessions
from lseval.door.invitations import invite
from lseval.models import Role, Study, User
from tests.factories import make_user

LOGIN = "/login/"
HOSTILE = [
    "//evil.example/x",
    "///evil.example/x",
    "https:evil.example",
    "https:///evil.example",
    "https://evil.example/",
    "/\\evil.example",
    "\\\\evil.example",
    "\x08//evil.example",
    "\t//evil.example",
    "java\nscript:alert(1)",
    "javascript:alert(1)",
    "http://testserver@evil.example/",
    "//testserver:80@evil.example/",
]


def log_in(client: Client, username: str = "lead", password: str = "pw", **more: str):
    return client.post(LOGIN, {"username": username, "password": password, **more})


@pytest.mark.parametrize("hostile", HOSTILE)
def test_login_stays_on_this_site(client: Client, lead: User, hostile: str) -> None:
    assert log_in(client, next=hostile).url == reverse("studies")
    client.logout()
    response = client.post(f"{LOGIN}?next=/studies/", {"username": "lead", "password": "pw", "next": hostile})
    assert response.url == reverse("studies")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_next_in_the_address_stays_on_this_site(client: Client, lead: User, hostile: str) -> None:
    page = client.get(LOGIN, {"next": hostile})
    assert b"evil.example" not in page.content
    assert b"alert(1)" not in page.content
    client.force_login(lead)
    assert client.get(LOGIN, {"next": hostile}).url == reverse("studies")  # who is signed in is sent on
    assert client.post(reverse("logout"), {"next": hostile}).url == reverse("login")


def test_login_goes_where_one_was_going(client: Client, lead: User, study: Study) -> None:
    page = reverse("outcome", args=[study.slug])
    asked = client.get(page)
    assert asked.url == f"{LOGIN}?next={page}"
    assert log_in(client, next=page).url == page


@pytest.mark.parametrize(
    "path", ["//evil.example", "//evil.example/studies", "/\\evil.example", "//evil.example/%2e%2e"]
)
def test_an_address_that_looks_like_another_site_leads_nowhere(client: Client, lead: User, path: str) -> None:
    client.force_login(lead)
    response = client.get("/", PATH_INFO=path)
    assert response.status_code in (301, 404)
    if response.status_code == 301:
        assert not response.url.startswith(("//", "/\\", "http"))


def test_session_id_is_new_after_login(client: Client, lead: User, study: Study) -> None:
    _, token = invite(study, Role.ANNOTATOR, lead)
    client.get(reverse("invitation_link", args=[token]))  # an anonymous session
    before = client.cookies[django_settings.SESSION_COOKIE_NAME].value
    assert before
    log_in(client)
    after = client.cookies[django_settings.SESSION_COOKIE_NAME].value
    assert after != before
    assert not Session.objects.filter(session_key=before).exists()
    intruder = Client()
    intruder.cookies[django_settings.SESSION_COOKIE_NAME] = before
    assert intruder.get(reverse("studies")).status_code == 302


def test_password_change_ends_all_other_sessions(lead: User) -> None:
    here, elsewhere = Client(), Client()
    for client in (here, elsewhere):
        log_in(client)
        assert client.get(reverse("studies")).status_code == 200
    before = here.cookies[django_settings.SESSION_COOKIE_NAME].value
    response = here.post(
        reverse("password_change"),
        {"old_password": "pw", "new_password1": "blue-harbour-71", "new_password2": "blue-harbour-71"},
    )
    assert response.url == reverse("account")
    assert here.get(reverse("studies")).status_code == 200
    assert here.cookies[django_settings.SESSION_COOKIE_NAME].value != before
    assert elsewhere.get(reverse("studies")).status_code == 302
    assert log_in(Client()).status_code == 200  # the old password no longer lets in


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"old_password": "wrong"}, "present password"),
        ({"new_password2": "another-71-x"}, "didn"),
        ({"new_password1": "short1", "new_password2": "short1"}, "too short"),
        ({"new_password1": "password", "new_password2": "password"}, "too common"),
        ({"new_password1": "7391640285", "new_password2": "7391640285"}, "numeric"),
    ],
)
def test_password_is_not_changed_by(client: Client, lead: User, given: dict[str, str], said: str) -> None:
    client.force_login(lead)
    right = {"old_password": "pw", "new_password1": "blue-harbour-71", "new_password2": "blue-harbour-71"}
    response = client.post(reverse("password_change"), {**right, **given})
    assert response.status_code == 200
    assert said in response.content.decode()
    lead.refresh_from_db()
    assert lead.check_password("pw")


def test_session_is_its_own_persons_whoever_is_read_along_with_it(client: Client, lead: User) -> None:
    """Another process may have known the session as someone else's, and a person may be gone."""
    log_in(client)
    other = make_user("other")
    for guess in (other.pk, 2**40):
        sessions._people[client.session.session_key] = guess
        assert client.get(reverse("studies")).context["user"] == lead
    assert client.get(reverse("studies")).context["user"] == lead


@pytest.mark.parametrize("key", ["aaaaaaaaaaaa\x00", "x' OR 1=1", "é" * 12, "a" * 5000])
def test_session_key_that_cannot_be_is_none(client: Client, lead: User, key: str) -> None:
    client.cookies["sessionid"] = key
    assert client.get(reverse("studies")).status_code == 302


def test_disabled_login_ends_its_sessions(client: Client, lead: User) -> None:
    log_in(client)
    User.objects.filter(pk=lead.pk).update(is_active=False)
    assert client.get(reverse("studies")).status_code == 302
    assert log_in(client).status_code == 200


def test_simulated_labeler_cannot_log_in_with_a_right_password(client: Client, db: None) -> None:
    user = make_user("simulated-h1")
    User.objects.filter(pk=user.pk).update(is_simulated=True)
    assert log_in(client, "simulated-h1").status_code == 200
    assert client.get(reverse("studies")).status_code == 302


def test_logout_tells_the_browser_to_forget_its_pages(client: Client, lead: User) -> None:
    log_in(client)
    page = client.get(reverse("studies"))
    assert "no-store" in page["Cache-Control"]
    assert client.post(reverse("logout"))["Clear-Site-Data"] == '"cache"'


def test_session_cookies_are_out_of_reach_of_scripts_and_other_sites(client: Client, lead: User) -> None:
    cookie = log_in(client).cookies[django_settings.SESSION_COOKIE_NAME]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


@pytest.mark.parametrize("is_configured", [True, False])
def test_login_page_offers_a_new_password_only_where_mail_is_configured(
    client: Client, db: None, settings: LazySettings, is_configured: bool
) -> None:
    settings.MAIL_IS_CONFIGURED = is_configured
    assert (reverse("password_reset") in client.get(LOGIN).content.decode()) is is_configured
