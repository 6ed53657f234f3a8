"""Studies and people at the door."""

from __future__ import annotations

import pytest
from django.test import Client

from lseval.models import Role, Study, User
from tests.factories import make_study, make_user


@pytest.fixture
def study(db: None) -> Study:
    return make_study()


@pytest.fixture
def lead(study: Study) -> User:
    return make_user("lead", study, Role.LEAD)


@pytest.fixture
def annotator(study: Study) -> User:
    return make_user("h1", study, Role.ANNOTATOR)


@pytest.fixture
def strict_client() -> Client:
    """A browser from which forms without their token are refused, as they are outside tests."""
    return Client(enforce_csrf_checks=True)
