"""Lists of a study's rows, a page at a time, and single rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.http import urlencode
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from lseval.access import RESULT_ROLES, StudyAccess, require_access
from lseval.models import Study
from lseval.site.api.asked import Parameter
from lseval.site.api.strict import StrictView

USUAL, MOST = 100, 500
AFTER: Final = Parameter("after", "only rows after the one of this id; `next` holds it", "number", default=0)


def limit_of(usual: int = USUAL, most: int = MOST) -> Parameter:
    """How many rows a page may hold."""
    return Parameter("limit", "rows on a page", "number", least=1, most=most, default=usual)


def page_of(serializer: type[serializers.Serializer[Any]]) -> Any:
    """The shape of a page of rows, for the document."""
    return inline_serializer(
        f"{serializer.__name__.removesuffix('Serializer')}Page",
        {
            "next": serializers.URLField(allow_null=True, help_text="the next page; null on the last one"),
            "results": serializer(many=True),
        },
    )


def next_page(request: Request, after: int) -> str:
    """The address of the page that begins after the row of that id, with everything else as it was asked for."""
    asked: dict[str, Any] = {**request.query_params.dict(), "after": after}
    return request.build_absolute_uri(f"{request.path}?{urlencode(asked)}")


class Rows(StrictView):
    """A page of a study's rows of one kind, in the order of their ids.

    A page is found by the id before it (keyset), so the last page costs no more than the first, and rows that are
    added meanwhile move nothing. `filters` compare by equality.
    """

    row_serializer: type[serializers.Serializer[Any]]
    filters: Sequence[Parameter] = ()
    limit: Parameter = limit_of()

    @property
    def asked(self) -> Sequence[Parameter]:  # type: ignore[override]
        return (*self.filters, AFTER, self.limit)

    def rows(self, study: Study) -> QuerySet[Any]:
        """All rows of the study, with what the serializer reads of others."""
        raise NotImplementedError

    def answer(self) -> Any:
        return page_of(self.row_serializer)

    def get(self, request: Request, slug: str) -> Response:
        access = results_of(request, slug)
        given = self.given(request)
        wanted = {filter_.path: given[filter_.name] for filter_ in self.filters if filter_.name in given}
        limit = given["limit"]
        rows = self.rows(access.study).filter(**wanted, pk__gt=given["after"]).order_by("pk")
        found = list(rows[: limit + 1])
        more = next_page(request, found[limit - 1].pk) if len(found) > limit else None
        return Response({"next": more, "results": self.row_serializer(found[:limit], many=True).data})


class OneRow(StrictView):
    """One row of a study, as its list has it; 404 for the row of another study."""

    of: type[Rows]

    def answer(self) -> Any:
        return self.of.row_serializer

    def get(self, request: Request, slug: str, row_id: int) -> Response:
        access = results_of(request, slug)
        row = get_object_or_404(self.of().rows(access.study), pk=row_id)
        return Response(self.of.row_serializer(row).data)


def one_of(rows: type[Rows], name: str, what: str) -> type[OneRow]:
    """The view of single rows of a list; `what` is one of them in words."""
    made = {
        "of": rows,
        "operation": f"{name}_one",
        "tag": rows.tag,
        "about": f"One {what} of the study, as the list has it.",
    }
    return type(f"One{rows.__name__}", (OneRow,), made)


def results_of(request: Request, slug: str) -> StudyAccess:
    """The study for a person whose role sees results; see `require_access` for everybody else."""
    return require_access(cast(HttpRequest, request), slug, *RESULT_ROLES)


def member_of(request: Request, slug: str) -> StudyAccess:
    """The study for anybody who belongs to it."""
    return require_access(cast(HttpRequest, request), slug)


def address(request: Request, name: str, *args: Any) -> str:
    """The whole address of a route."""
    return request.build_absolute_uri(reverse(name, args=args))
