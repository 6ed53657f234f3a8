"""Search over the made-up web."""

from __future__ import annotations

import pytest

from lseval.sandbox.pages import DEAD, OFFICIAL, url_of
from lseval.sandbox.search import Index
from lseval.sandbox.world import World, make_world


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(31, 4)


@pytest.fixture(scope="module")
def index(world: World) -> Index:
    return Index(world)


def test_a_name_finds_its_own_pages_first(world: World, index: Index) -> None:
    for task in world.tasks:
        thing = task.eligible[0]
        hits = index.search(f"{thing.name} {task.kind.a.label}", 10)
        assert url_of(task, OFFICIAL, thing) in {hit.url for hit in hits}
        assert thing.name in hits[0].title


def test_results_are_as_many_as_asked_for_and_always_in_the_same_order(world: World, index: Index) -> None:
    query = f"{world.tasks[0].kind.plural} {world.tasks[0].region}"
    hits = index.search(query, 7)
    assert len(hits) == 7
    assert hits == index.search(query, 7) == Index(world).search(query, 7)
    assert hits[:3] == index.search(query, 3)


def test_pages_of_equal_score_stand_in_the_order_of_their_addresses(world: World, index: Index) -> None:
    hits = index.search("members Gazette", 50)
    assert len(hits) > 5
    by_text = {}
    for hit in hits:
        by_text.setdefault((len(hit.title), hit.snippet), []).append(hit.url)
    assert index.search("members Gazette", 5) == hits[:5]


def test_unknown_words_find_nothing(index: Index) -> None:
    assert index.search("qwertyuiop", 10) == ()
    assert index.search("", 10) == ()
    assert index.search("lake", 0) == ()


def test_dead_pages_are_not_in_the_index(world: World, index: Index) -> None:
    thing = world.tasks[0].eligible[0]
    urls = {hit.url for hit in index.search(thing.name, 50)}
    assert url_of(world.tasks[0], DEAD, thing) not in urls
