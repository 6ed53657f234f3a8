"""The page that shows the API to people: every address, what it takes, what it gives, and how to try it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from lseval.query_parameters import require_known
from lseval.site.api.reference import endpoints
from lseval.site.api.schema import document


@require_safe
def api_page(request: HttpRequest) -> HttpResponse:
    """The endpoints by group, from the OpenAPI document; the same for everybody who is signed in."""
    require_known(request.GET)  # below /api/ each view says for itself what it takes
    groups = [(title, found) for title, found in endpoints(document()).items() if found]
    return render(request, "site/api.html", {"groups": groups, "base": request.build_absolute_uri("/").rstrip("/")})
