"""The API: who asks, and the studies they belong to, as JSON.

An annotator gets what the page of studies shows them. Counts would tell of other people's work, so these come only
with the roles that see results.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from django.http import HttpRequest
from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lseval.access import require_access
from lseval.door.models import ApiToken
from lseval.errors import InputError
from lseval.models import User
from lseval.query_parameters import page_number, require_known
from lseval.site.selectors.studies import StudyCounts, StudyRow, study_row, study_rows


class StrictView(APIView):
    """A view that refuses every query parameter that it does not know."""

    parameters: Collection[str] = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        require_known(request.query_params, self.parameters)


class Me(StrictView):
    """Who asks, and by which token."""

    def get(self, request: Request) -> Response:
        user = cast(User, request.user)
        token = request.auth if isinstance(request.auth, ApiToken) else None
        named = {"name": token.name, "expires_at": token.expiry} if token is not None else None
        return Response({"username": user.username, "is_superuser": user.is_superuser, "token": named})


class Studies(StrictView):
    """The studies of the person who asks, newest first, a page at a time."""

    parameters = ("page",)

    def get(self, request: Request) -> Response:
        number = page_number(request.query_params)
        rows = study_rows(cast(User, request.user), str(number))
        pages = rows.paginator.num_pages
        if number > pages:
            raise InputError(f"There is no page {number}: the last one is {pages}.")
        results = [_study(request, row) for row in rows.object_list]
        return Response({"count": rows.paginator.count, "page": number, "pages": pages, "results": results})


class OneStudy(StrictView):
    """One study; 404 for whoever does not belong to it."""

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
