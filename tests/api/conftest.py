"""A study with something of everything, and who asks."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from lseval.door.tokens import create_token
from lseval.models import User
from tests.site.building import World, give_label, give_second_verdict, make_world


@pytest.fixture
def world(db: None) -> World:
    made = make_world()
    give_label(made)
    give_second_verdict(made)
    return made


class Program:
    """A program that asks in a person's name; nobody's where None."""

    def __init__(self, user: User | None) -> None:
        self.token = create_token(user, "test", 30)[1] if user else ""
        self.headers = {"authorization": f"Bearer {self.token}"} if user else {}

    def get(self, address: str, **headers: str) -> Any:
        return Client().get(address, headers={**self.headers, **headers})


@pytest.fixture
def lead(world: World) -> Program:
    return Program(world.lead)


@pytest.fixture
def annotator(world: World) -> Program:
    return Program(world.annotator)
