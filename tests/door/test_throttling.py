"""A08: wrong passwords are counted, and nothing tells whether a name exists."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from axes.models import AccessAttempt
from django.conf import LazySettings
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from lseval.door.client import address_of
from lseval.door.throttling import LIMITS
from lseval.models import User
from tests.factories import make_user

LOGIN = "/login/"
PER_NAME_AND_PLACE, PER_PLACE, PER_NAME = (limit.failures for limit in LIMITS)


def attempt(username: str = "lead", password: str = "wrong", address: str = "192.0.2.1", **headers: str):
    return Client().post(
        LOGIN, {"username": username, "password": password}, REMOTE_ADDR=address, headers=headers or None
    )


def test_500_wrong_logins_with_forged_addresses_are_throttled(lead: User) -> None:
    statuses = []
    for number in range(500):
        forged = {"x-forwarded-for": f"198.51.100.{number % 250}", "x-real-ip": "203.0.113.9"}
        statuses.append(
            attempt(**forged, **{"user-agent": f"agent {number}", "forwarded": "for=203.0.113.8"}).status_code
        )
    assert statuses == [200] * (PER_NAME_AND_PLACE - 1) + [429] * (500 - PER_NAME_AND_PLACE + 1)
    assert attempt(password="pw").status_code == 429  # the right password does not tell itself either
    assert attempt(password="pw", address="192.0.2.2").status_code == 302  # elsewhere the person gets in


def test_one_place_that_tries_many_names_is_throttled(lead: User) -> None:
    statuses = [attempt(f"name-{number}").status_code for number in range(PER_PLACE + 3)]
    assert statuses == [200] * (PER_PLACE - 1) + [429] * 4
    assert attempt(password="pw").status_code == 429
    assert attempt(password="pw", address="192.0.2.2").status_code == 302


def test_many_places_that_try_one_name_are_throttled(lead: User) -> None:
    statuses = [attempt(address=f"192.0.{number}.1").status_code for number in range(PER_NAME + 3)]
    assert statuses == [200] * (PER_NAME - 1) + [429] * 4


@pytest.mark.parametrize("username", ["lead", "nobody-has-this-name"])
def test_locked_page_says_when_and_lets_in_then(lead: User, username: str) -> None:
    for _ in range(PER_NAME_AND_PLACE):
        page = attempt(username)
    assert page.status_code == 429
    assert 890 < int(page["Retry-After"]) <= 900
    told = datetime.fromisoformat(re.search(r'datetime="([^"]+)"', page.content.decode())[1])
    assert abs((told - timezone.now()) - timedelta(minutes=15)) < timedelta(seconds=10)
    attempt(username)  # a further attempt does not make it longer
    newest = AccessAttempt.objects.latest("attempt_time").attempt_time
    assert newest + timedelta(minutes=15) <= told + timedelta(seconds=1)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=15, seconds=1))
    assert attempt(username).status_code == 200
    assert attempt("lead", "pw").status_code == 302


def test_replies_to_known_and_unknown_names_differ_in_nothing(db: None) -> None:
    names = ("known-person", "person-nobody-has", "disabled-person")
    make_user(names[0])
    make_user(names[2])
    User.objects.filter(username=names[2]).update(is_active=False)
    plain = []
    for username in names:
        replies = [attempt(username, address=f"192.0.2.{len(username)}") for _ in range(PER_NAME_AND_PLACE)]
        for reply in replies:
            content = reply.content.replace(username.encode(), b"NAME")
            reply.content = re.sub(rb'(csrfmiddlewaretoken" value=)"\w+"|<time.*?</time>', b"", content)
        plain.append([(reply.status_code, reply.content, sorted(reply.headers)) for reply in replies])
    assert plain[0] == plain[1] == plain[2]


def test_every_refused_login_costs_one_hashing(
    lead: User, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CVE-2024-39329: without this the time of the reply tells whether a name exists and can log in."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    for username in ("known", "off", "without-password", "simulated"):
        user = User(username=username, is_active=username != "off", is_simulated=username == "simulated")
        user.set_password(None if username == "without-password" else "pw")
        user.save()
    count = 0
    for name in ("encode", "verify"):
        plain = getattr(Argon2PasswordHasher, name)

        def counted(self: Argon2PasswordHasher, *args: str, plain=plain, **kwargs: str):
            nonlocal count
            count += 1
            return plain(self, *args, **kwargs)

        monkeypatch.setattr(Argon2PasswordHasher, name, counted)
    for username in ("known", "nobody-has-this-name", "off", "without-password", "simulated"):
        count = 0
        assert attempt(username).status_code == 200
        assert count == 1, username


def test_a_login_forgets_the_failures_of_its_name_and_place_only(lead: User) -> None:
    for _ in range(PER_NAME_AND_PLACE - 1):
        attempt()
        attempt("other")
    assert attempt(password="pw").status_code == 302
    assert attempt().status_code == 200
    assert attempt("other").status_code == 429


def test_guesses_at_the_present_password_are_throttled_too(client: Client, lead: User) -> None:
    client.force_login(lead)
    given = {"old_password": "guess", "new_password1": "blue-harbour-71", "new_password2": "blue-harbour-71"}
    statuses = [client.post(reverse("password_change"), given).status_code for _ in range(3)]
    statuses += [
        client.post(reverse("account_email"), {"email": "a@b.example", "old_password": "guess"}).status_code
        for _ in range(3)
    ]
    assert statuses == [200, 200, 200, 400, 429, 429]
    assert client.post(reverse("password_change"), {**given, "old_password": "pw"}).status_code == 429
    kept = "".join(AccessAttempt.objects.values_list("post_data", flat=True))
    assert kept
    assert "guess" not in kept
    assert "blue-harbour-71" not in kept


def test_an_operator_can_let_somebody_in_sooner(lead: User, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(PER_NAME_AND_PLACE):
        attempt()
        attempt("other")
    call_command("unlock_login", "lead")
    assert "1 record" in capsys.readouterr().out
    assert attempt(password="pw").status_code == 302
    assert attempt("other").status_code == 429
    call_command("unlock_login", address="192.0.2.1")
    assert attempt("other").status_code == 200


@pytest.mark.parametrize(
    ("behind", "peer", "forwarded", "expected"),
    [
        (False, "192.0.2.1", "203.0.113.5", "192.0.2.1"),
        (False, "2001:db8:1:2:aaaa::1", "", "2001:db8:1:2::"),
        (False, "::ffff:192.0.2.7", "", "192.0.2.7"),
        (False, "", "203.0.113.5", None),
        (True, "192.0.2.1", "203.0.113.5", "203.0.113.5"),
        (True, "192.0.2.1", "1.1.1.1, 203.0.113.5", "203.0.113.5"),  # the first entries are the client's to write
        (True, "192.0.2.1", "203.0.113.5, junk", "192.0.2.1"),
        (True, "192.0.2.1", "", "192.0.2.1"),
        (True, "", "203.0.113.5", "203.0.113.5"),
    ],
)
def test_address_of_the_client(
    rf, settings: LazySettings, behind: bool, peer: str, forwarded: str, expected: str | None
) -> None:
    settings.BEHIND_PROXY = behind
    request = rf.get("/", REMOTE_ADDR=peer, headers={"x-forwarded-for": forwarded} if forwarded else None)
    assert address_of(request) == expected


@pytest.mark.parametrize("username", ["a" * 5000, "nul\0byte", "", "a" * 151, "line\nend", "\x1b[31mred"])
def test_strange_names_are_refused_like_others(db: None, username: str) -> None:
    assert attempt(username).status_code == 200
