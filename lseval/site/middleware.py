"""What every response gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from lseval.access import note_denial
from lseval.errors import ConflictError, InputError, LsevalError, NotPermittedError
from lseval.query_parameters import require_known, taken_by

_STATUS = {InputError: 400, NotPermittedError: 403, ConflictError: 409}


def status_of(error: LsevalError) -> int:
    """The HTTP status that tells of an error raised on purpose."""
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


def no_store(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Pages depend on who asks, so no cache may keep them, the browser's own included."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Cache-Control", "no-store, private")
        return response

    return middleware


_POLICY_OF_ITS_OWN: Final = ("_csp_config", "_csp_update", "_csp_replace", "_csp_exempt")


class SitePolicyMiddleware(CSPMiddleware):
    """django-csp's, which puts the policy together anew for each response: nearly all of them have the site's."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        super().__init__(get_response)
        self._policy = build_policy()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_own = any(hasattr(response, name) for name in _POLICY_OF_ITS_OWN) or hasattr(request, "_csp_nonce")
        if settings.DEBUG or is_own or HEADER in response:
            return super().process_response(request, response)
        response[HEADER] = self._policy
        return response


class errors_as_pages:
    """The one place that turns the errors raised on purpose into pages."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "%00" in request.META.get("QUERY_STRING", "") and not request.path.startswith("/api/"):
            # PostgreSQL knows no NUL, so nothing of ours can be asked for with one. The API says so in JSON itself.
            return self._problem(request, InputError("the address holds a NUL character: ask without it."))
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: object, kwargs: object
    ) -> HttpResponse | None:
        """Refuse what the view has not said that it may be asked for; after the log-in, before anything is read."""
        if request.path.startswith("/api/"):
            return None  # its views say so in JSON themselves
        try:
            require_known(request.GET, taken_by(view))
        except InputError as error:
            note_denial(request, "a parameter that the address does not know")
            return self._problem(request, error)
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, LsevalError):
            return None
        return self._problem(request, exception)

    def _problem(self, request: HttpRequest, error: LsevalError) -> HttpResponse:
        context = {"message": str(error), "code": error.code}
        return render(request, "problem.html", context, status=status_of(error))
