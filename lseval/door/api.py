"""The API's first addresses: who asks, and the studies they belong to.

An annotator gets what the page of studies shows them. Counts would tell of other people's work, so these come only
with the roles that see results.
"""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest
from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from lseval.access import require_access
from lseval.door.models import ApiToken
from lseval.errors import InputError
from lseval.models import Role, User
from lseval.query_parameters import LARGEST_PAGE, page_number
from lseval.site.api.asked import Parameter
from lseval.site.api.strict import StrictView
from lseval.site.selectors.studies import StudyCounts, StudyRow, study_row, study_rows


class TokenSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    expires_at = serializers.DateTimeField(allow_null=True)


class MeSerializer(serializers.Serializer[Any]):
    username = serializers.CharField()
    is_superuser = serializers.BooleanField()
    token = TokenSerializer(allow_null=True, help_text="null for who is logged in by a browser")


class StudyCountsSerializer(serializers.Serializer[Any]):
    runs = serializers.IntegerField()
    answer_groups = serializers.IntegerField()
    judged_groups = serializers.IntegerField()
    labels_by_people = serializers.IntegerField()
    simulated_labels = serializers.IntegerField()


class StudySerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    url = serializers.URLField()
    counts = StudyCountsSerializer(required=False, help_text="for leads and researchers only")


class StudiesSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    results = StudySerializer(many=True)


class Me(StrictView):
    """Who asks, and by which token."""

    tag, operation = "about", "me"

    def answer(self) -> Any:
        return MeSerializer

    def get(self, request: Request) -> Response:
        user = cast(User, request.user)
        token = request.auth if isinstance(request.auth, ApiToken) else None
        named = {"name": token.name, "expires_at": token.expiry} if token is not None else None
        return Response({"username": user.username, "is_superuser": user.is_superuser, "token": named})


class Studies(StrictView):
    """The studies of the person who asks, newest first, a page at a time."""

    operation = "studies"
    asked = (Parameter("page", "which page", "number", least=1, most=LARGEST_PAGE, default=1),)

    def answer(self) -> Any:
        return StudiesSerializer

    def get(self, request: Request) -> Response:
        number = page_number(request.query_params)
        rows = study_rows(cast(User, request.user), str(number))
        pages = rows.paginator.num_pages
        if number > pages:
            raise InputError(f"There is no page {number}: the last one is {pages}.")
        results = [_study(request, row) for row in rows.object_list]
        return Response({"count": rows.paginator.count, "page": number, "pages": pages, "results": results})


class OneStudy(StrictView):
    """One study, with its counts for leads and researchers; 404 for whoever does not belong to it."""

    operation = "study"

    def answer(self) -> Any:
        return StudySerializer

    def get(self, request: Request, slug: str) -> Response:
        access = require_access(cast(HttpRequest, request), slug)
        return Response(_study(request, study_row(access)))


def _study(request: Request, row: StudyRow) -> dict[str, Any]:
    told = {
        "slug": row.study.slug,
        "name": row.study.name,
        "description": row.study.description,
        "role": row.role,
        "url": request.build_absolute_uri(reverse("api_study", args=[row.study.slug])),
    }
    return told if row.counts is None else {**told, "counts": _counts(row.counts)}


def _counts(counts: StudyCounts) -> dict[str, int]:
    return {
        "runs": counts.runs,
        "answer_groups": counts.groups,
        "judged_groups": counts.judged.count,
        "labels_by_people": counts.labels,
        "simulated_labels": counts.simulated_labels,
    }
