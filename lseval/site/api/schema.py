"""The OpenAPI document, from what the views say of themselves."""

from __future__ import annotations

from functools import cache
from inspect import getdoc
from typing import Any, Final

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

_PATH: Final = {
    "slug": OpenApiParameter(
        "slug",
        {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"},
        OpenApiParameter.PATH,
        description="the study's short name",
    ),
    "row_id": OpenApiParameter(
        "row_id", {"type": "integer", "minimum": 0}, OpenApiParameter.PATH, description="the row's id"
    ),
}


class Problem(serializers.Serializer[Any]):
    """What every refusal says. `code` is stable; `message` is for people."""

    code = serializers.CharField()
    message = serializers.CharField()


class Described(AutoSchema):  # type: ignore[no-untyped-call, misc]
    """Reads `operation`, `tag`, `about`, `asked`, `path_choices` and `answer()` of our views.

    So a view declares once what it takes and gives, and the document cannot say anything else.
    """

    def get_operation_id(self) -> str:
        return str(self._ours.operation)

    def get_tags(self) -> list[str]:
        return [self._ours.tag]

    def get_summary(self) -> str:
        return self._about().partition("\n")[0].strip()

    def get_description(self) -> str:  # type: ignore[override]
        return self._about()

    @property
    def _ours(self) -> Any:
        """The view, which is a `StrictView`."""
        return self.view

    def _about(self) -> str:
        return self._ours.about or getdoc(type(self.view)) or ""

    def get_auth(self) -> list[dict[str, list[str]]]:
        return [{"token": []}, {"session": []}]

    def get_override_parameters(self) -> list[Any]:
        named = [
            OpenApiParameter(name, {"type": "string", "enum": list(values)}, OpenApiParameter.PATH)
            for name, values in self._ours.path_choices.items()
        ]
        in_path = [parameter for name, parameter in _PATH.items() if f"{{{name}}}" in self.path]
        return [*in_path, *named, *(parameter.described() for parameter in self._ours.asked)]

    def get_request_serializer(self) -> None:
        return None

    def get_response_serializers(self) -> Any:
        answer = self._ours.answer()
        good = answer if isinstance(answer, dict) else {200: answer}
        refusals = {400: "A parameter is unknown, given twice, or has no such value.", 401: "No valid token."}
        if "{slug}" in self.path:
            refusals[403] = "The role does not open this."
        if "{" in self.path:
            refusals[404] = "There is no such row, or no such study of yours."
        return {**good, **{status: OpenApiResponse(Problem, why) for status, why in refusals.items()}, **_COMMON}


_COMMON: Final = {
    405: OpenApiResponse(Problem, "The API only reads."),
    406: OpenApiResponse(Problem, "No such content type."),
}
ANY_OBJECT: Final = OpenApiTypes.OBJECT
"""Stands for an answer whose fields its own page documents."""


@cache
def document() -> dict[str, Any]:
    """The OpenAPI 3 document. It depends on the program only, so it is made once a process."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    found: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found
