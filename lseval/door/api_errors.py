"""The one place that turns errors into answers of the API: `{"code", "message"}` and a status."""

from __future__ import annotations

from typing import Any, Final

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.defaults import page_not_found
from rest_framework.exceptions import APIException, NotFound
from rest_framework.response import Response
from rest_framework.views import exception_handler

from lseval.errors import LsevalError
from lseval.site.middleware import status_of

API_ROOT: Final = "/api/"


def as_problem(error: Exception, context: dict[str, Any]) -> Response | None:
    """The answer to an error, or None for one that nobody foresaw."""
    if isinstance(error, LsevalError):
        return Response({"code": error.code, "message": str(error)}, status=status_of(error))
    if isinstance(error, Http404):
        error = NotFound()  # what was looked for is not told
    response = exception_handler(error, context)
    if response is None:
        return None
    code = error.default_code if isinstance(error, APIException) else "not_permitted"
    detail = response.data.get("detail") if isinstance(response.data, dict) else None
    response.data = {"code": code, "message": str(detail or error)}
    return response


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The answer to an address that leads nowhere: of the API as of its other errors, else the site's page."""
    if request.path_info.startswith(API_ROOT):
        return JsonResponse({"code": NotFound.default_code, "message": str(NotFound.default_detail)}, status=404)
    return page_not_found(request, exception)
