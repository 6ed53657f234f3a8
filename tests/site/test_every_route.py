"""Every address of the program, tried as everybody.

`ROUTES` is the access table: a route that is not in it fails `test_every_route_is_in_the_table`. Add a line when
you add a route.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from lseval.door.invitations import invite
from lseval.models import Role, ToolCall
from tests.site.building import World, make_world, signed_in

NO_TOKEN = "00000000-0000-4000-8000-000000000000"
LOGIN = "login"
"""Stands for a redirect to the login page."""


@dataclass(frozen=True)
class Route:
    """What each kind of person gets: a status, or LOGIN. `args` are the address's, in a given world."""

    lead: int
    researcher: int
    annotator: int
    outsider: int
    anonymous: int | str
    args: Callable[[World], list[Any]] = lambda world: []
    method: str = "get"


def _study(world: World) -> list[Any]:
    return [world.study.slug]


def _run(world: World) -> list[Any]:
    return [world.study.slug, world.run.pk]


def _call(world: World) -> list[Any]:
    return [world.study.slug, world.run.pk, ToolCall.objects.filter(turn__run=world.run).first().pk]


def _page(world: World) -> list[Any]:
    return [world.study.slug, world.run.pages.first().pk]


def _audit(world: World) -> list[Any]:
    return [world.study.slug, world.audit.pk]


def _queue(annotator: int, method: str = "get") -> Route:
    """A page of a queue, for the annotator who sits in it; what they get for asking without a form."""
    return Route(404, 404, annotator, 404, LOGIN, lambda world: [world.queue.pk], method)


def _source(world: World) -> list[Any]:
    return [world.queue.pk, world.slot.pk, 1]


def _member(world: World) -> list[Any]:
    member, _ = world.study.memberships.get_or_create(user=world.researcher, defaults={"role": Role.RESEARCHER})
    return [world.study.slug, member.pk]


def _invitation(world: World) -> list[Any]:
    return [world.study.slug, invite(world.study, Role.ANNOTATOR, world.lead)[0].pk]


def _results(args: Callable[[World], list[Any]] = _study) -> Route:
    """A page with verdicts: for leads and researchers only."""
    return Route(200, 200, 403, 404, LOGIN, args)


ROUTES: dict[str, Route] = {
    "studies": Route(200, 200, 200, 200, LOGIN),
    "login": Route(302, 302, 302, 302, 200),
    "logout": Route(302, 302, 302, 302, 302, method="post"),
    "healthz": Route(200, 200, 200, 200, 200),
    "styleguide": Route(200, 200, 200, 200, 200),
    "study_home": Route(200, 200, 302, 404, LOGIN, _study),
    "outcome": _results(),
    "run": _results(_run),
    "observation": _results(_call),
    "page": _results(_page),
    "process": _results(),
    "report": _results(),
    "report_json": _results(),
    "report_md": _results(),
    # the door
    "account": Route(200, 200, 200, 200, LOGIN),
    "account_email": Route(400, 400, 400, 400, LOGIN, method="post"),
    "token_create": Route(400, 400, 400, 400, LOGIN, method="post"),
    "token_revoke": Route(404, 404, 404, 404, LOGIN, lambda world: [NO_TOKEN], "post"),
    "password_change": Route(200, 200, 200, 200, LOGIN),
    "password_reset": Route(200, 200, 200, 200, 200),
    "password_reset_done": Route(200, 200, 200, 200, 200),
    "password_reset_confirm": Route(200, 200, 200, 200, 200, lambda world: ["MQ", "no-token"]),
    "invitation": Route(404, 404, 404, 404, 404),
    "invitation_link": Route(404, 404, 404, 404, 404, lambda world: ["lsi_no-token"]),
    "members": Route(200, 403, 403, 404, LOGIN, _study),
    "member_role": Route(302, 403, 403, 404, LOGIN, _member, "post"),
    "member_remove": Route(302, 403, 403, 404, LOGIN, _member, "post"),
    "invite": Route(400, 403, 403, 404, LOGIN, _study, "post"),
    "invitation_revoke": Route(302, 403, 403, 404, LOGIN, _invitation, "post"),
    "api_me": Route(200, 200, 200, 200, 401),
    "api_studies": Route(200, 200, 200, 200, 401),
    "api_study": Route(200, 200, 200, 404, 401, _study),
    # the annotation app: a queue opens to those only who sit in it
    "audit": Route(200, 200, 200, 404, LOGIN, _study),
    "draw_audit": Route(200, 403, 403, 404, LOGIN, _study),
    "seat_labeler": Route(302, 403, 403, 404, LOGIN, _audit, "post"),
    "audit_progress": Route(302, 302, 403, 404, LOGIN, _audit),
    "change_audit": Route(302, 403, 403, 404, LOGIN, lambda world: [*_audit(world), "pause"], "post"),
    "release_lease": Route(302, 403, 403, 404, LOGIN, lambda world: [*_audit(world), world.slot.pk], "post"),
    "reassign_seat": Route(302, 403, 403, 404, LOGIN, _audit, "post"),
    "extend_audit": Route(200, 403, 403, 404, LOGIN, _audit),
    "export_labels": _results(lambda world: [*_audit(world), "csv"]),
    "codebook": _results(),
    "codebook_version": _results(lambda world: [world.study.slug, 1]),
    "publish_codebook": Route(200, 403, 403, 404, LOGIN, _study),
    "label": _queue(200),
    "label_skip": _queue(400, "post"),
    "label_undo": _queue(400, "post"),
    "label_flag": _queue(400, "post"),
    "label_ahead": _queue(204),
    "label_heartbeat": _queue(404, "post"),
    "label_page": Route(404, 404, 302, 404, LOGIN, _source),
    "guidelines": _queue(200),
    "revealed_verdict": Route(404, 404, 404, 404, LOGIN, lambda world: [world.queue.pk, world.slot.pk]),
    # adjudication; nobody of this world sits there
    "adjudication": _results(_audit),
    "rebuild_adjudication": Route(302, 403, 403, 404, LOGIN, _audit, "post"),
    "seat_adjudicator": Route(302, 403, 403, 404, LOGIN, _audit, "post"),
    "adjudicate": Route(404, 404, 404, 404, LOGIN, lambda world: [world.queue.pk]),
    "adjudicate_undo": Route(404, 404, 404, 404, LOGIN, lambda world: [world.queue.pk], "post"),
    "adjudicate_heartbeat": Route(404, 404, 404, 404, LOGIN, lambda world: [world.queue.pk], "post"),
    "adjudicate_page": Route(404, 404, 404, 404, LOGIN, _source),
    # the agreement app
    "agreement": _results(),
    "agreement_json": _results(),
    "agreement_groups": _results(),
    "agreement_people": _results(),
    "agreement_process": _results(),
    "agreement_study": _results(),
    "agreement_leaderboard": _results(),
    "agreement_items": _results(),
    "agreement_responses": Route(400, 400, 403, 404, LOGIN, _study),
    "agreement_numbers": _results(),
    "agreement_tables": _results(lambda world: [world.study.slug, "md"]),
    "agreement_figure": _results(lambda world: [world.study.slug, "intervals", "svg"]),
    "agreement_leaderboard_figure": _results(lambda world: [world.study.slug, "as", "svg"]),
}
FORMS = {
    "password_change",
    "password_reset",
    "invitation",
    "password_reset_confirm",
    "login",
    "draw_audit",
    "extend_audit",
    "publish_codebook",
    "revealed_verdict",
    "adjudicate",
    "label",
}
"""Pages whose form is posted to their own address."""

PEOPLE = ("lead", "researcher", "annotator", "outsider", "anonymous")


def _named_patterns(patterns: list[Any], prefix: str = "") -> Iterator[tuple[str | None, str]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _named_patterns(pattern.url_patterns, prefix + str(pattern.pattern))
        elif isinstance(pattern, URLPattern):
            yield pattern.name, prefix + str(pattern.pattern)


ADDRESSES = {name: address for name, address in _named_patterns(get_resolver().url_patterns) if name}


def test_every_route_is_in_the_table() -> None:
    found = list(_named_patterns(get_resolver().url_patterns))
    assert [address for name, address in found if not name] == [], "every route needs a name"
    missing = {name for name, _ in found} - ROUTES.keys()
    assert not missing, f"add to ROUTES who may open: {', '.join(sorted(map(str, missing)))}"
    assert ROUTES.keys() <= {name for name, _ in found}, "the table names a route that is gone"


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def _ask(world: World, name: str, person: str, client: Client | None = None) -> Any:
    route = ROUTES[name]
    client = client or signed_in(getattr(world, person, None))
    return getattr(client, route.method)(reverse(name, args=route.args(world)))


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("name", ROUTES)
def test_route_opens_to_those_only_whom_the_table_names(world: World, name: str, person: str) -> None:
    response = _ask(world, name, person)
    expected = getattr(ROUTES[name], person)
    if expected == LOGIN:
        assert response.status_code == 302
        assert response.url.startswith(reverse("login") + "?next=")
    else:
        assert response.status_code == expected


@pytest.mark.parametrize("name", ROUTES)
def test_every_answer_forbids_scripts_and_frames_of_others_and_is_kept_by_no_cache(world: World, name: str) -> None:
    for person in PEOPLE:
        response = _ask(world, name, person)
        policy = response["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy + ";"
        assert "style-src 'self';" in policy + ";"
        assert "frame-ancestors 'none'" in policy
        assert response["X-Frame-Options"] == "DENY"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert "no-store" in response["Cache-Control"]


_INLINE = re.compile(rb"<script(?![^>]*\bsrc=)|<style|<[a-z][^>]*\s(?:style|on[a-z]+)=|javascript:", re.IGNORECASE)


@pytest.mark.parametrize("name", ROUTES)
def test_no_page_holds_what_its_policy_would_block(world: World, name: str) -> None:
    for person in PEOPLE:
        response = _ask(world, name, person)
        if "html" in response.get("Content-Type", ""):
            assert _INLINE.search(response.content) is None


def _without_token(html: bytes) -> bytes:
    """The page without its token against forged requests, which differs every time."""
    return re.sub(rb'(name="csrfmiddlewaretoken" value=)"[^"]+"', rb"\1", html)


@pytest.mark.parametrize("name", [name for name in ROUTES if "<slug:slug>" in ADDRESSES.get(name, "")])
def test_a_study_that_is_not_there_looks_like_one_of_others(world: World, name: str) -> None:
    args = ROUTES[name].args(world)
    ask = getattr(signed_in(world.outsider), ROUTES[name].method)
    others, nowhere = (ask(reverse(name, args=[slug, *args[1:]])) for slug in (world.study.slug, "no-such-study"))
    assert (others.status_code, nowhere.status_code) == (404, 404)
    assert _without_token(others.content) == _without_token(nowhere.content)


@pytest.mark.parametrize("name", ["run", "page", "observation"])
def test_a_row_of_another_study_is_not_found_under_ones_own(world: World, name: str) -> None:
    other = make_world("s2")
    args = [world.study.slug, *ROUTES[name].args(other)[1:]]
    assert signed_in(world.lead).get(reverse(name, args=args)).status_code == 404


@pytest.mark.parametrize(
    "name", [name for name, route in ROUTES.items() if route.method == "get" and name not in FORMS]
)
def test_a_page_that_reads_accepts_no_post(world: World, name: str) -> None:
    response = signed_in(world.lead).post(reverse(name, args=ROUTES[name].args(world)))
    assert response.status_code == 405


def test_logout_needs_a_post_and_ends_the_session(world: World) -> None:
    client = signed_in(world.lead)
    assert client.get(reverse("logout")).status_code == 405
    assert client.get(reverse("studies")).status_code == 200
    client.post(reverse("logout"))
    assert client.get(reverse("studies")).status_code == 302


def test_superuser_sees_every_study_as_a_lead(world: World) -> None:
    world.outsider.is_superuser = True
    world.outsider.save()
    assert _ask(world, "outcome", "outsider").status_code == 200
