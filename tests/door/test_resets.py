"""Links to a new password: mailed where mail is configured, printed where it is not; once each."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from lseval.door.models import ApiToken, ResetMail
from lseval.door.tokens import create_token
from lseval.errors import InputError, SettingsError
from lseval.mail import read_mail
from lseval.models import User
from tests.factories import make_user

NEW = {"new_password1": "blue-harbour-71", "new_password2": "blue-harbour-71"}
FORGOTTEN = "/password/forgotten/"


def printed_path(capsys: pytest.CaptureFixture[str], username: str) -> str:
    call_command("reset_link", username)
    link = capsys.readouterr().out.strip()
    assert link.startswith("http://localhost:8000/reset/")
    return link.removeprefix("http://localhost:8000")


def follow(path: str, client: Client | None = None) -> tuple[Client, str]:
    """A browser that has opened the link, and the address of its form, which holds no token any more."""
    client = client or Client()
    response = client.get(path)
    assert response.status_code == 302
    assert response.url.endswith("/set-password/")
    return client, response.url


def test_printed_link_gives_a_new_password_once(lead: User, capsys: pytest.CaptureFixture[str]) -> None:
    signed_in = Client()
    signed_in.force_login(lead)
    create_token(lead, "t", 30)
    path = printed_path(capsys, "lead")
    client, form = follow(path)
    assert client.post(form, NEW).url == reverse("login")
    lead.refresh_from_db()
    assert lead.check_password("blue-harbour-71")
    assert signed_in.get(reverse("studies")).status_code == 302
    assert not ApiToken.objects.exists()
    assert Client().get(path).status_code == 200  # the page that says that it works no more
    assert b"works no more" in Client().get(path).content
    assert client.post(form, NEW).status_code == 200


def test_reset_lets_a_locked_person_in_at_once(lead: User, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(6):
        refused = Client().post("/login/", {"username": "lead", "password": "x"})
    assert refused.status_code == 429
    client, form = follow(printed_path(capsys, "lead"))
    client.post(form, NEW)
    assert Client().post("/login/", {"username": "lead", "password": "blue-harbour-71"}).status_code == 302


def test_link_ends_after_a_day(lead: User, capsys: pytest.CaptureFixture[str], settings: LazySettings) -> None:
    path = printed_path(capsys, "lead")
    assert settings.PASSWORD_RESET_TIMEOUT == 24 * 3600
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert b"works no more" in Client().get(path).content


def test_link_ends_with_a_login(lead: User, capsys: pytest.CaptureFixture[str]) -> None:
    path = printed_path(capsys, "lead")
    Client().post("/login/", {"username": "lead", "password": "pw"})
    assert b"works no more" in Client().get(path).content


@pytest.mark.parametrize("kind", ["nobody", "off", "simulated"])
def test_no_link_for(db: None, kind: str) -> None:
    make_user("off")
    User.objects.filter(username="off").update(is_active=False)
    make_user("simulated")
    User.objects.filter(username="simulated").update(is_simulated=True)
    with pytest.raises(InputError):
        call_command("reset_link", kind)


def test_link_of_a_person_disabled_since_opens_nothing(lead: User, capsys: pytest.CaptureFixture[str]) -> None:
    path = printed_path(capsys, "lead")
    User.objects.update(is_active=False)
    assert b"works no more" in Client().get(path).content


def test_link_with_the_address_of_the_site(lead: User, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("reset_link", "lead", base_url="https://eval.example/")
    assert capsys.readouterr().out.startswith("https://eval.example/reset/")


def mailed(count: int) -> list[str]:
    """The bodies of the mails, once there are so many; they are sent beside the request."""
    deadline = time.monotonic() + 5
    while len(mail.outbox) < count and time.monotonic() < deadline:
        time.sleep(0.01)
    return [message.body for message in mail.outbox]


@pytest.fixture
def _with_mail(settings: LazySettings) -> None:
    settings.MAIL_IS_CONFIGURED = True


@pytest.mark.usefixtures("_with_mail")
@pytest.mark.django_db(transaction=True)
def test_mailed_link_gives_a_new_password() -> None:
    user = make_user("lead")
    User.objects.update(email="lead@people.example")
    response = Client().post(FORGOTTEN, {"email": "lead@people.example"})
    assert response.url == reverse("password_reset_done")
    (body,) = mailed(1)
    assert mail.outbox[0].to == ["lead@people.example"]
    link = re.search(r"http://testserver(/reset/\S+)", body)[1]
    client, form = follow(link)
    assert client.post(form, NEW).url == reverse("login")
    user.refresh_from_db()
    assert user.check_password("blue-harbour-71")


@pytest.mark.usefixtures("_with_mail")
@pytest.mark.django_db(transaction=True)
def test_mail_is_sent_once_in_five_minutes_and_never_to_strangers() -> None:
    for name, change in (("lead", {}), ("off", {"is_active": False}), ("simulated", {"is_simulated": True})):
        make_user(name)
        User.objects.filter(username=name).update(email=f"{name}@people.example", **change)
    answers = set()
    for name in ("lead", "off", "simulated", "nobody", "lead", "lead"):
        response = Client().post(FORGOTTEN, {"email": f"{name}@people.example"})
        answers.add((response.status_code, response.url, response.content))
    assert len(answers) == 1
    mailed(1)
    time.sleep(0.2)
    assert [message.to for message in mail.outbox] == [["lead@people.example"]]
    ResetMail.objects.update(sent_at=timezone.now() - timedelta(minutes=5, seconds=1))
    Client().post(FORGOTTEN, {"email": "lead@people.example"})
    assert len(mailed(2)) == 2


def test_without_mail_the_page_says_whom_to_ask(client: Client, db: None) -> None:
    assert "Whoever runs it" in client.get(FORGOTTEN).content.decode()
    assert client.post(FORGOTTEN, {"email": "lead@people.example"}).status_code == 404


def test_address_is_changed_with_the_password_only(client: Client, lead: User) -> None:
    client.force_login(lead)
    address = reverse("account_email")
    assert client.post(address, {"email": "a@people.example", "old_password": "no"}).status_code == 400
    assert client.post(address, {"email": "a\n@people.example", "old_password": "pw"}).status_code == 400
    lead.refresh_from_db()
    assert lead.email == ""
    assert client.post(address, {"email": "a@people.example", "old_password": "pw"}).status_code == 302
    lead.refresh_from_db()
    assert lead.email == "a@people.example"


FROM = {"LSEVAL_EMAIL_FROM": "eval@people.example"}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://u%40x:p%3Aw@mail.example", ("mail.example", 587, "u@x", "p:w", False, True)),
        ("smtps://mail.example", ("mail.example", 465, "", "", True, False)),
        ("smtp://mail.example:25?tls=0", ("mail.example", 25, "", "", False, False)),
    ],
)
def test_mail_by_smtp(url: str, expected: tuple[object, ...]) -> None:
    found = read_mail({"LSEVAL_EMAIL_URL": url, **FROM}, is_local=False)
    assert found.is_configured
    assert expected == (
        found.host,
        found.port,
        found.user,
        found.password,
        found.is_tls_from_start,
        found.is_starttls,
    )
    assert found.sender == "eval@people.example"


def test_mail_on_this_machine(tmp_path: Path) -> None:
    assert read_mail({"LSEVAL_EMAIL_URL": "console:"}, is_local=True).backend.endswith("console.EmailBackend")
    kept = read_mail({"LSEVAL_EMAIL_URL": f"file://{tmp_path}"}, is_local=True)
    assert (kept.is_configured, kept.folder) == (True, str(tmp_path))
    assert not read_mail({}, is_local=True).is_configured


@pytest.mark.parametrize(
    "url",
    ["mail.example", "http://mail.example", "smtp://", "smtp://h:99999", "smtp://h?tls=2", "file:", "smtp://[::1"],
)
def test_unusable_mail_address_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(SettingsError, match="LSEVAL_EMAIL_URL") as caught:
        read_mail({"LSEVAL_EMAIL_URL": url.replace("smtp://h", "smtp://u:sesame@h"), **FROM}, is_local=True)
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize("url", ["console:", "file:///tmp/x"])
def test_deployment_does_not_print_links(url: str) -> None:
    with pytest.raises(SettingsError, match="smtp"):
        read_mail({"LSEVAL_EMAIL_URL": url, **FROM}, is_local=False)


def test_deployment_names_the_sender() -> None:
    with pytest.raises(SettingsError, match="LSEVAL_EMAIL_FROM"):
        read_mail({"LSEVAL_EMAIL_URL": "smtp://mail.example"}, is_local=False)
