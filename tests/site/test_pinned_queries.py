"""Pages and lists that have no test of their own for it: as many queries for a large study as for a small one."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from annotation.sampling import Plan
from annotation.services import create_audit
from lseval.models import Call, Phase
from lseval.site.api.resources import LISTS
from tests.factories import give_verdict, make_run
from tests.site.building import World, give_judgements, give_label, give_second_verdict, make_world, signed_in

pytestmark = pytest.mark.django_db

_PAGES = {
    "collection": 9,
    "costs": 6,
    "evaluation": 8,
    "import_runs": 2,
    "compare": 4,
    "draw_audit": 3,
    "codebook": 4,
    "api_progress": 15,
    "api_agreement": 7,
    "api_reports": 2,
    "api_exports": 2,
}
_LISTS = {
    "tasks": 3,
    "models": 3,
    "runs": 3,
    "rounds": 5,
    "groups": 4,
    "verdicts": 3,
    "second-verdicts": 3,
    "judgements": 4,
    "nodes": 3,
    "links": 3,
    "audits": 3,
    "labels": 3,
}
"""Queries by address: session with user, and study with role among them."""


@pytest.fixture
def world() -> World:
    made = make_world()
    give_label(made)
    give_second_verdict(made)
    _spend(made, "m1")
    return made


def _spend(world: World, model: str) -> None:
    Call.objects.create(
        study=world.study,
        phase=Phase.COLLECTION,
        model=world.study.models.get(name=model),
        digest=model,
        provider="test",
        asked_model=model,
        request={},
        reply={},
    )


def _grow(world: World) -> None:
    """Five more tasks and models, judged by both stages, with a call each."""
    for number in range(5):
        run = make_run(world.study, f"x{number}", f"y{number}")
        give_verdict(run, "C", "I")
        last = run.rounds.order_by("number").last()
        assert last is not None
        give_judgements(run, last.number, "error", "error", error_type="wrong_entity", groups=[2])
        _spend(world, f"y{number}")


@pytest.mark.parametrize(("name", "queries"), _PAGES.items())
def test_page_asks_as_often_for_many_runs_as_for_few(
    world: World, name: str, queries: int, django_assert_num_queries: Any
) -> None:
    _assert_pinned(world, reverse(name, args=["s1"]), queries, django_assert_num_queries)


@pytest.mark.parametrize(("name", "queries"), _LISTS.items())
def test_list_asks_as_often_for_many_rows_as_for_few(
    world: World, name: str, queries: int, django_assert_num_queries: Any
) -> None:
    _assert_pinned(world, f"/api/studies/s1/{name}/", queries, django_assert_num_queries)


def _assert_pinned(world: World, address: str, queries: int, django_assert_num_queries: Any) -> None:
    client = signed_in(world.lead)
    with django_assert_num_queries(queries):
        assert client.get(address).status_code == 200
    _grow(world)
    with django_assert_num_queries(queries):
        assert client.get(address).status_code == 200


def test_every_list_is_pinned() -> None:
    assert _LISTS.keys() == LISTS.keys()


def test_audit_page_asks_as_often_for_a_long_queue_as_for_a_short_one(
    world: World, django_assert_num_queries: Any
) -> None:
    client = signed_in(world.lead)
    address = reverse("audit", args=["s1"])
    _grow(world)
    world.audit.delete()
    create_audit(world.study, Plan(tasks=1, responses_per_task=1), 1, "short", None)
    with django_assert_num_queries(19):
        client.get(address)
    world.study.audits.all().delete()
    create_audit(world.study, Plan(), 1, "long", None)
    with django_assert_num_queries(19):
        client.get(address)
