"""The one place that turns errors into answers of the API: `{"code", "message"}` and a status."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from rest_framework.exceptions import APIException, NotFound
from rest_framework.response import Response
from rest_framework.views import exception_handler

from lseval.errors import LsevalError
from lseval.site.middleware import status_of


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
