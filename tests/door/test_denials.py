"""Every refusal leaves one line that says who, what and when, and holds no secret; A10: no line can be forged."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from io import StringIO

import pytest
from django.test import Client
from django.urls import reverse

from lseval.door.invitations import invite
from lseval.door.log_lines import OneLine
from lseval.models import Role
from tests.site.building import World, make_world, signed_in


@pytest.fixture
def world(db: None) -> World:
    return make_world()


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The lines of the log of denials, as the program writes them."""
    caplog.set_level(logging.INFO, logger="lseval.denials")
    formatter = OneLine("%(asctime)s %(levelname)s %(name)s %(message)s")
    return lambda: [formatter.format(record) for record in caplog.records if record.name == "lseval.denials"]


@pytest.fixture
def console() -> Iterator[StringIO]:
    """What the program writes on standard error, at the levels and in the form that the settings give."""
    handler = next(known for known in logging.getLogger().handlers if isinstance(known.formatter, OneLine))
    assert isinstance(handler, logging.StreamHandler)
    written = StringIO()
    before = handler.setStream(written)
    yield written
    handler.setStream(before)


def test_a_foreign_study_is_logged(world: World, lines) -> None:
    signed_in(world.outsider).get(reverse("outcome", args=["s1"]) + "?task=secret", REMOTE_ADDR="192.0.2.4")
    (line,) = lines()
    assert re.match(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} WARNING lseval.denials denied=404 ", line)
    assert 'who="s1-outsider" from=192.0.2.4 method="GET" path="/studies/s1/outcome/"' in line
    assert "no member of the study" in line
    assert "secret" not in line


def test_a_role_that_does_not_allow_it_is_logged(world: World, lines) -> None:
    signed_in(world.annotator).get(reverse("outcome", args=["s1"]))
    (line,) = lines()
    assert 'denied=403 who="s1-annotator"' in line
    assert "annotator of s1, but this is for lead or researcher" in line


def test_a_foreign_queue_and_a_foreign_row_are_logged(world: World, lines) -> None:
    signed_in(world.outsider).get(reverse("label", args=[world.queue.pk]))
    signed_in(world.lead).get(reverse("run", args=["s1", 10**9]))
    assert [line.split("denied=")[1][:3] for line in lines()] == ["404", "404"]


def test_failed_logins_and_the_lock_are_logged(world: World, lines) -> None:
    for _ in range(6):
        Client().post("/login/", {"username": "s1-lead", "password": "sesame-sesame"}, REMOTE_ADDR="192.0.2.4")
    written = lines()
    assert [re.search(r"denied=(\w+)", line)[1] for line in written] == ["login"] * 4 + ["429"] * 2  # one a try
    assert all('who="s1-lead" from=192.0.2.4' in line for line in written)
    assert not any("sesame" in line for line in written)


def test_forged_form_is_logged(world: World, lines) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.lead)
    assert client.post(reverse("invite", args=["s1"]), {"role": "lead"}).status_code == 403
    (line,) = lines()
    assert 'denied=403 who="s1-lead"' in line
    assert "forged or expired form" in line


def test_api_without_a_token_is_logged(world: World, lines) -> None:
    Client().get("/api/me/?token=lst_" + "a" * 64)
    (line,) = lines()
    assert 'denied=401 who="nobody"' in line
    assert "lst_" not in line


def test_what_is_allowed_or_leads_nowhere_is_not_logged(world: World, lines) -> None:
    signed_in(world.lead).get(reverse("outcome", args=["s1"]))
    Client().get(reverse("login"))
    Client().get("/wp-login.php")
    for address in ("/healthz/", "/static/lseval/css/lseval.css", "/static/nothing.css", "/favicon.ico"):
        Client().get(address)
    signed_in(world.annotator).get(reverse("study_home", args=["s1"]))
    assert lines() == []


def test_a_stranger_who_is_sent_to_the_login_is_logged(world: World, lines) -> None:
    for method, address in (("get", reverse("outcome", args=["s1"])), ("post", reverse("invite", args=["s1"]))):
        reply = getattr(Client(), method)(address + "?audit=lst_" + "a" * 64, REMOTE_ADDR="192.0.2.4")
        assert reply.status_code == 302
        assert f'denied=302 who="nobody" from=192.0.2.4 method="{method.upper()}" path="{address}"' in lines()[-1]
        assert "not logged in" in lines()[-1]
        assert " INFO lseval.denials " in lines()[-1]
    assert len(lines()) == 2
    assert not any("lst_a" in line for line in lines())


def test_a_local_run_tells_refusals_and_not_who_has_yet_to_log_in(world: World, console: StringIO) -> None:
    """The terminal of a demo: each visit before the log-in would be a line of its own."""
    Client().get(reverse("outcome", args=["s1"]))
    assert console.getvalue() == ""
    Client().post("/login/", {"username": "s1-lead", "password": "wrong"})
    Client().get("/api/me/")
    signed_in(world.outsider).get(reverse("outcome", args=["s1"]))
    signed_in(world.annotator).get(reverse("outcome", args=["s1"]))
    written = console.getvalue().splitlines()
    assert all(" WARNING lseval.denials " in line for line in written)
    assert [re.search(r"denied=(\w+)", line)[1] for line in written] == ["login", "401", "404", "403"]


def test_a_filter_that_a_page_does_not_have_is_refused_and_logged(world: World, lines) -> None:
    url = reverse("label", args=[world.queue.pk])
    assert signed_in(world.annotator).get(f"{url}?h1_label__value=C").status_code == 400
    (line,) = lines()
    assert 'denied=400 who="s1-annotator"' in line
    assert "a parameter that the address does not know" in line
    assert "h1_label" not in line
    # Nobody's mistyped address at the log-in is a denial.
    assert Client().get("/login/?utm_source=x").status_code == 400
    assert len(lines()) == 1


def test_a_used_link_is_logged_without_its_token(world: World, lines) -> None:
    _, token = invite(world.study, Role.ANNOTATOR, world.lead)
    world.study.invitations.all().delete()
    Client().get(reverse("invitation_link", args=[token]))
    (line,) = lines()
    assert "denied=404" in line
    assert "lsi_***" in line
    assert token[4:] not in line


HOSTILE = [
    "/studies/x%0aWARNING lseval.denials denied=0/outcome/",
    "/studies/s1/outcome/%0d%0a2026-01-01 forged",
    "/studies/%1b[31mred/outcome/",
    "/studies/%e2%80%a8line/outcome/",
    "/studies/%e2%80%aeright-to-left/",
    "/studies/%c2%9b31m/",
    '/studies/" who="root/',
    "/queues/1%0a/label/",
    "/studies/s1/audit/1/labels.x%0d%0aWARNING lseval.denials denied=0",
    '/studies/s1/audit/1/labels.%1b[31m%e2%80%a8%e2%80%ae" who="root',
]


@pytest.mark.parametrize("path", HOSTILE)
def test_line_ends_and_escapes_in_an_address_stay_in_their_line(world: World, console: StringIO, path: str) -> None:
    signed_in(world.outsider).get(path)
    written = console.getvalue()
    assert len(written.splitlines()) == ("/labels." in path)  # the others lead nowhere
    assert written.count(' who="') == ("/labels." in path)
    assert "\x1b" not in written
    for line in written.splitlines():
        assert re.match(r"20\d\d-", line), line


def test_hostile_name_and_path_in_one_line(lines) -> None:
    record = logging.LogRecord("x", logging.WARNING, "f", 1, "%s", ("a\nb\r\x1b[0m\u2028\u202e\x9b\x7f",), None)
    assert OneLine("%(message)s").format(record) == r"a\nb\r\x1b[0m\u2028\u202e\x9b\x7f"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("GET /invitations/lsi_abcdefghijk-_/", "GET /invitations/lsi_***/"),
        ("/reset/MQ/d1a2b3-0123456789abcdef/", "/reset/MQ/***/"),
        ("/reset/MQ/set-password/", "/reset/MQ/set-password/"),
        ("Bearer lst_0123456789abcdef0", "Bearer lst_***"),
        ("false_lst_x and the list", "false_lst_x and the list"),
    ],
)
def test_secrets_are_blotted_out(text: str, left: str) -> None:
    record = logging.LogRecord("x", logging.WARNING, "f", 1, "%s", (text,), None)
    assert OneLine("%(message)s").format(record) == left


def test_quotes_cannot_end_a_field(world: World, lines) -> None:
    signed_in(world.outsider).get("/studies/s1/outcome/", PATH_INFO='/api/studies/x" who="root/')
    Client().post("/login/", {"username": 'x" who="root', "password": "x"})
    for line in lines():
        assert line.count(' who="') == 1
