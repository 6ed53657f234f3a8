"""The OpenAPI document: valid, complete, true of the answers, and no request gets a server error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.urls import get_resolver
from drf_spectacular.validation import validate_schema
from hypothesis import HealthCheck, Phase, given, settings
from rest_framework.views import APIView
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from lseval.site.api.reference import endpoint_table, endpoints
from lseval.site.api.schema import document
from tests.api.conftest import Program
from tests.site.building import World
from tests.site.test_every_route import _named_patterns

ROLES = ("lead", "researcher", "annotator", "outsider", "superuser", "anonymous")
EXAMPLES, WRONG_EXAMPLES = 4, 2
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXPECTED = {
    "lead": {200, 404},
    "researcher": {200, 404},
    "superuser": {200, 404},
    "annotator": {200, 403, 404},
    "outsider": {200, 404},
    "anonymous": {401},
}
"""What each role is given now and then; without these the requests would not reach what they are to try."""
_SETTINGS = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "api.md"

schema = schemathesis.openapi.from_dict(document())
schema.app = get_wsgi_application()


def test_document_is_valid_openapi_3() -> None:
    validate_schema(document())


def test_document_has_every_address_of_the_api() -> None:
    patterns = list(_named_patterns(get_resolver().url_patterns))
    addresses = {name for name, address in patterns if address.startswith("api/") and name != "api"}
    assert len(addresses) == sum(len(group) for group in endpoints(document()).values())
    assert len({operation["get"]["operationId"] for operation in document()["paths"].values()}) == len(addresses)


def test_reference_has_the_endpoints_of_the_document() -> None:
    table = endpoint_table(document())
    assert table in REFERENCE.read_text(), f"docs/api.md: put this in place of its table of addresses:\n{table}"


def test_document_names_no_django_view_without_its_description() -> None:
    for path, operations in document()["paths"].items():
        assert operations["get"]["description"].strip(), path
        assert operations["get"]["description"] != APIView.__doc__


@pytest.fixture
def _kept_connection() -> Iterator[None]:
    """A request ends without closing the connection that the test's transaction is on, as in Django's client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def _program_of(role: str, world: World) -> Program:
    if role == "superuser":
        world.outsider.is_superuser = True
        world.outsider.save()
        return Program(world.outsider)
    return Program(getattr(world, role, None))


@pytest.mark.usefixtures("_kept_connection")
@pytest.mark.parametrize("role", ROLES)
def test_no_request_gets_a_server_error_or_what_the_document_does_not_say(world: World, role: str) -> None:
    program = _program_of(role, world)
    headers = {name.title(): value for name, value in program.headers.items()}
    seen: Counter[int] = Counter()

    def ask(case: schemathesis.Case) -> None:
        _put_real_ids(case, world)
        seen[case.call_and_validate(headers=headers, checks=CHECKS).status_code] += 1

    def ask_wrongly(case: schemathesis.Case) -> None:
        # What is no address at all is answered by a page, so only the status can be relied on here.
        case.call_and_validate(headers=headers, checks=[not_a_server_error])

    for found in schema.get_all_operations():
        operation = found.ok()
        _SETTINGS(given(case=operation.as_strategy())(ask))()
        if operation.query or operation.path_parameters:
            wrong = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
            settings(_SETTINGS, max_examples=WRONG_EXAMPLES)(given(case=wrong)(ask_wrongly))()
    assert seen.keys() >= EXPECTED[role], seen


def _put_real_ids(case: schemathesis.Case, world: World) -> None:
    """Most of what is asked for is there: made-up names and ids would only ever give 404."""
    asked: dict[str, Any] = case.path_parameters or {}
    if "slug" in asked and len(str(asked["slug"])) % 4:
        asked["slug"] = world.study.slug
    if "row_id" in asked and isinstance(asked["row_id"], int) and asked["row_id"] % 2 == 0:
        asked["row_id"] = world.run.pk
