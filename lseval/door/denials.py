"""Every refusal leaves one line in the log `lseval.denials`: when, what, who, from where, and why."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.contrib.auth.signals import user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.views.csrf import csrf_failure as django_csrf_failure

from lseval.access import note_denial
from lseval.door.client import address_of
from lseval.door.log_lines import printable, without_secrets
from lseval.models import User

log = logging.getLogger("lseval.denials")
LONGEST_VALUE = 300
_REASONS = {
    401: "no valid log-in or token",
    403: "the role does not allow it",
    404: "no such row, or not theirs",
    429: "too many failed log-ins",
}


def log_denials(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Log each answer of 401, 403 and 429, and each 404 that a page gave, rather than the table of addresses."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        status = response.status_code
        if status in (401, 403, 429) or (status == 404 and request.resolver_match is not None):
            why = getattr(request, "denial", "") or _REASONS[status]
            write_denial(request, str(status), why, getattr(request, "denied_name", ""))
        return response

    return middleware


def write_denial(request: HttpRequest, what: str, why: str, who: str = "") -> None:
    """One line on a refusal. The query string is left out: a secret may have been put there by mistake."""
    user = getattr(request, "user", None)
    name = who or (user.get_username() if user is not None and user.is_authenticated else "nobody")
    log.warning(
        "denied=%s who=%s from=%s method=%s path=%s why=%s",
        what,
        _quoted(name),
        address_of(request) or "unknown",
        _quoted(request.method or ""),
        _quoted(request.path),
        _quoted(why),
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's page for a form without its token, and the reason for the log."""
    note_denial(request, f"forged or expired form: {reason}")
    return django_csrf_failure(request, reason)


@receiver(user_login_failed)
def _note_failed_login(
    sender: object, credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any
) -> None:
    if request is None:
        return
    typed = str(credentials.get("username") or "")
    # A name that nobody has may be a password typed into the wrong field.
    who = typed if User.objects.filter(username=typed).exists() else "unknown name"
    request.denied_name = who  # type: ignore[attr-defined]
    if not getattr(request, "axes_locked_out", False):
        write_denial(request, "login", "wrong name or password", who)


def _quoted(text: str) -> str:
    shown = without_secrets(printable(text[:LONGEST_VALUE].replace("\\", "\\\\").replace('"', '\\"')))
    return f'"{shown}"'
