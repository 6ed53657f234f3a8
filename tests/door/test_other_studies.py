"""A01, A04 over every address: ids of another study change nothing; no form is taken without its token."""

from __future__ import annotations

import hashlib
import json
import re
import uuid

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.models import Slot
from lseval.models import Role
from tests.factories import make_user
from tests.site.building import World, make_world, signed_in
from tests.site.test_every_route import ADDRESSES, ROUTES

COUNTED_WITHIN_A_STUDY = {"codebook_version"}
"""Addresses whose number is no row's id: every study has a first one."""
OF_A_PERSON = {"token_revoke"}
WITH_ID = [
    name
    for name in ROUTES
    if re.search(r"<(int|uuid):", ADDRESSES[name]) and name not in COUNTED_WITHIN_A_STUDY | OF_A_PERSON
]
UNWATCHED = {"django_session", "axes_accessattempt"}


@pytest.fixture
def worlds(db: None) -> tuple[World, World]:
    """Two studies with the same kinds of rows."""
    return make_world("s1"), make_world("s2")


def everything() -> dict[str, str]:
    """Table name to a digest of its rows, without sessions, log-in attempts and the time of a last log-in."""
    tables = sorted({model._meta.db_table for model in apps.get_models()} - UNWATCHED)
    found = {}
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"SELECT (to_jsonb(t) - 'last_login')::text FROM {table} t ORDER BY 1")
            found[table] = hashlib.sha256(repr(cursor.fetchall()).encode()).hexdigest()
    return found


def others_args(name: str, own: World, other: World) -> list[object]:
    """The address of a row of `other`, asked for under one's own study where the address names a study."""
    args = ROUTES[name].args(other)
    return [own.study.slug, *args[1:]] if "<slug:slug>" in ADDRESSES[name] else args


@pytest.mark.parametrize("person", ["lead", "researcher", "annotator"])
@pytest.mark.parametrize("name", WITH_ID)
def test_a_row_of_another_study_is_not_there(worlds: tuple[World, World], name: str, person: str) -> None:
    own, other = worlds
    client = signed_in(getattr(own, person))
    address = reverse(name, args=others_args(name, own, other))
    before = everything()
    for method in ("get", "post", "put", "delete", "options"):
        given = [{"role": "lead", "user": other.annotator.pk, "slot": other.slot.pk}] if method == "post" else []
        status = getattr(client, method)(address, *given).status_code
        assert status in (403, 404, 405), (method, status)
        if method == ROUTES[name].method:
            # The role may be refused before the row is looked for; the lead's never is.
            assert status == 404 or (status == 403 and person != "lead")
    assert everything() == before


@pytest.mark.parametrize("name", [name for name in ROUTES if "<slug:slug>" in ADDRESSES[name]])
def test_another_study_is_not_there(worlds: tuple[World, World], name: str) -> None:
    own, other = worlds
    address = reverse(name, args=ROUTES[name].args(other))
    before = everything()
    for person in (own.lead, own.researcher, own.annotator):
        assert getattr(signed_in(person), ROUTES[name].method)(address).status_code == 404
    assert everything() == before


def test_ids_of_another_study_in_a_body_change_nothing(worlds: tuple[World, World]) -> None:
    own, other = worlds
    lead, annotator = signed_in(own.lead), signed_in(own.annotator)
    lonely = make_user("lonely", other.study, Role.ANNOTATOR)
    before = everything()
    seat = reverse("seat_labeler", args=[own.study.slug, own.audit.pk])
    lead.post(seat, {"user": lonely.pk, "role": "H1"})
    for route in ("label", "label_skip", "label_heartbeat"):
        given = {
            "slot": other.slot.pk,
            "request_key": str(uuid.uuid4()),
            "base_version": 0,
            "label": "C",
            "reason": "x",
        }
        status = annotator.post(reverse(route, args=[own.queue.pk]), given).status_code
        assert status in (400, 403, 404, 409), route
        given["slot"] = [own.slot.pk, other.slot.pk]
        given["base_version"] = 7
        status = annotator.post(reverse(route, args=[own.queue.pk]), given).status_code
        assert status in (400, 403, 404, 409), route
    assert annotator.get(reverse("label", args=[own.queue.pk]), {"slot": other.slot.pk}).status_code == 404
    assert everything() == before
    assert Slot.objects.get(pk=other.slot.pk).version == 0


POSTS = [name for name, route in ROUTES.items() if route.method == "post"]
FORMS_TOO = ["login", "password_change", "password_reset", "invitation", "draw_audit", "label"]


@pytest.mark.parametrize("name", [*POSTS, *FORMS_TOO])
def test_no_form_is_taken_without_its_token(worlds: tuple[World, World], name: str) -> None:
    own, _ = worlds
    address = reverse(name, args=ROUTES[name].args(own))
    before = everything()
    for person in (own.lead, own.annotator, None):
        client = Client(enforce_csrf_checks=True)
        if person is not None:
            client.force_login(person)
        for content_type in ("text/plain", "application/json", "multipart/form-data; boundary=x"):
            body = json.dumps({"username": "s1-lead", "password": "pw", "role": "lead", "slot": own.slot.pk})
            response = client.post(address, body, content_type=content_type)
            assert response.status_code == 403, content_type
    assert everything() == before


def test_login_of_an_attacker_needs_the_token_too(worlds: tuple[World, World]) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post("/login/", {"username": "s1-lead", "password": "pw"}).status_code == 403
    client.get("/login/")
    token = client.cookies["csrftoken"].value
    wrong = client.post(
        "/login/", {"username": "s1-lead", "password": "pw", "csrfmiddlewaretoken": "a" * len(token)}
    )
    assert wrong.status_code == 403
    given = {"username": "s1-lead", "password": "pw", "csrfmiddlewaretoken": token}
    elsewhere = client.post("/login/", given, headers={"origin": "https://evil.example"})
    assert elsewhere.status_code == 403
    assert client.post("/login/", given).status_code == 302
