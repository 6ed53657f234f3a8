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
from django.urls import URLPattern, URLResolver, get_resolver, resolve, reverse

from lseval.domain.web import FetchedPage
from lseval.door.invitations import invite
from lseval.models import PageSource, Role, ToolCall
from lseval.pipeline.snapshots import save_page
from lseval.query_parameters import taken_by
from lseval.site.api.resources import LISTS
from lseval.site.api.rows import Rows
from tests.site.building import World, give_label, give_second_verdict, make_world, signed_in

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


def _kept_page(world: World) -> list[Any]:
    page = FetchedPage(
        "https://ferries.example/kept", "ok", text="Opened in 1962.", content=b"<p>Opened in 1962.</p>"
    )
    save_page(world.study, page, PageSource.FETCHED)
    return [world.study.slug, world.study.pages.get(source=PageSource.FETCHED).pk]


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


def _api(args: Callable[[World], list[Any]] = _study) -> Route:
    """Rows of a study by the API: for leads and researchers only."""
    return Route(200, 200, 403, 404, 401, args)


def _first_of(view: type[Rows]) -> Callable[[World], list[Any]]:
    """The address of the first row of a list; a label and a second verdict are made where there is none yet."""

    def args(world: World) -> list[Any]:
        if view.operation == "labels":
            give_label(world)
        if view.operation == "second_verdicts":
            give_second_verdict(world)
        return [world.study.slug, view().rows(world.study).order_by("pk")[0].pk]

    return args


ROUTES: dict[str, Route] = {
    "studies": Route(200, 200, 200, 200, LOGIN),
    "new_study": Route(403, 403, 403, 403, LOGIN),
    "login": Route(302, 302, 302, 302, 200),
    "logout": Route(302, 302, 302, 302, 302, method="post"),
    "healthz": Route(200, 200, 200, 200, 200),
    "styleguide": Route(200, 200, 200, 200, 200),
    "study_home": Route(200, 200, 302, 404, LOGIN, _study),
    "import_runs": Route(200, 403, 403, 404, LOGIN, _study),
    "collection": _results(),
    "collection_progress": Route(302, 302, 403, 404, LOGIN, _study),
    "collection_act": Route(302, 403, 403, 404, LOGIN, _study, "post"),
    "costs": _results(),
    "evaluation": _results(),
    "evaluation_progress": Route(302, 302, 403, 404, LOGIN, _study),
    "evaluation_act": Route(302, 403, 403, 404, LOGIN, _study, "post"),
    "run_group": _results(lambda world: [*_run(world), 1]),
    "judge_group_again": Route(302, 302, 403, 404, LOGIN, lambda world: [*_run(world), 1], "post"),
    "outcome": _results(),
    "run": _results(_run),
    "run_round": _results(lambda world: [*_run(world), 2]),
    "observation": _results(_call),
    "page": _results(_page),
    "page_layout": _results(_kept_page),
    "process": _results(),
    "validity": _results(),
    "tables": _results(),
    "table_file": _results(lambda world: [world.study.slug, "a6", "csv"]),
    "figure_file": _results(lambda world: [world.study.slug, "a3", "svg"]),
    "compare": _results(),
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
    "api": Route(200, 200, 200, 200, LOGIN),
    "api_schema": Route(200, 200, 200, 200, 401),
    **{f"api_{view.operation}": _api() for view, _ in LISTS.values()},
    **{f"api_{view.operation}_one": _api(_first_of(view)) for view, _ in LISTS.values()},
    "api_progress": _api(),
    "api_own_progress": Route(200, 200, 200, 404, 401, _study),
    "api_own_labels": Route(200, 200, 200, 404, 401, _study),
    "api_agreement": _api(),
    "api_reports": _api(),
    "api_report": _api(lambda world: [world.study.slug, "study"]),
    "api_exports": _api(),
    "api_export": _api(lambda world: [world.study.slug, "links", "csv"]),
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
    "label_ahead": _queue(200),
    "label_heartbeat": _queue(404, "post"),
    "label_recent": _queue(200),
    "label_page": Route(404, 404, 302, 404, LOGIN, _source),
    "guidelines": _queue(200),
    "revealed_verdict": Route(404, 404, 404, 404, LOGIN, lambda world: [world.queue.pk, world.slot.pk]),
    # adjudication; nobody of this world sits there
    "adjudication": _results(_audit),
    "rebuild_adjudication": Route(302, 403, 403, 404, LOGIN, _audit, "post"),
    "seat_adjudicator": Route(302, 403, 403, 404, LOGIN, _audit, "post"),
    "adjudicate": Route(404, 404, 404, 404, LOGIN, lambda world: [world.queue.pk]),
    "adjudicate_skip": Route(404, 404, 404, 404, LOGIN, lambda world: [world.queue.pk], "post"),
    "adjudicate_undo": Route(404, 404, 404, 404, LOGIN, lambda world: [world.queue.pk], "post"),
    "adjudicate_heartbeat": Route(404, 404, 404, 404, LOGIN, lambda world: [world.queue.pk], "post"),
    "adjudicate_page": Route(404, 404, 404, 404, LOGIN, _source),
    # the agreement app
    "agreement": _results(),
    "agreement_file": _results(lambda world: [world.study.slug, "all", "json"]),
    "agreement_groups": _results(),
    "agreement_people": _results(),
    "agreement_process": _results(),
    "agreement_study": _results(),
    "agreement_leaderboard": _results(),
    "agreement_items": _results(),
    "agreement_responses": Route(400, 400, 403, 404, LOGIN, _study),
    "agreement_figure": _results(lambda world: [world.study.slug, "intervals", "svg"]),
    "agreement_leaderboard_figure": _results(lambda world: [world.study.slug, "as", "svg"]),
}
FORMS = {
    "import_runs",
    "new_study",
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
        if name == "page_layout" and response.status_code == 200:  # made for a frame of the snapshot's page
            assert "script-src" not in policy
            assert "sandbox" in policy
            assert "frame-ancestors 'self'" in policy
            continue
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


@pytest.mark.parametrize(
    "name",
    ["run", "page", "page_layout", "observation", *(name for name in ROUTES if re.fullmatch("api_.*_one", name))],
)
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


@pytest.mark.parametrize("name", ROUTES)
def test_a_parameter_that_no_page_knows_is_refused(world: World, name: str) -> None:
    """B02: nothing can be filtered or ordered by a column; what is not known is refused and never ignored."""
    route = ROUTES[name]
    address = reverse(name, args=route.args(world))
    for person in PEOPLE:
        for query in ("h1_label__value=C&zzz=1", "ordering=auto_conf"):
            client = signed_in(getattr(world, person, None))
            response = getattr(client, route.method)(f"{address}?{query}")
            expected = getattr(route, person)
            if expected == LOGIN or (name == "logout" and person == "anonymous"):
                assert response.status_code == 302
            elif expected == 401:
                assert response.status_code == 401
            else:
                assert response.status_code == 400
                assert b"does not know" in response.content


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if route.method == "get"])
def test_a_parameter_that_a_page_knows_is_given_once(world: World, name: str) -> None:
    if name.startswith("api_"):
        return
    address = reverse(name, args=ROUTES[name].args(world))
    for known in taken_by(resolve(address).func):
        response = signed_in(world.lead).get(f"{address}?{known}=1&{known}=2")
        assert response.status_code == 400
        assert b"may be given once only" in response.content


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
