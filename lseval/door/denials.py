"""Every refusal leaves one line in the log `lseval.denials`: when, what, who, from where, and why.

A refusal is a warning. A stranger who is sent to the log-in is told of at INFO: a page opened before the log-in is
everybody's first step. A deployment writes both, a local run only the refusals.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.contrib.auth.signals import user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.csrf import csrf_failure as django_csrf_failure

from lseval.access import note_denial
from lseval.door.client import address_of
from lseval.door.log_lines import printable, without_secrets
from lseval.models import User

log = logging.getLogger("lseval.denials")
LONGEST_VALUE = 300
_REASONS = {
    302: "not logged in",
    401: "no valid log-in or token",
    403: "the role does not allow it",
    404: "no such row, or not theirs",
    429: "too many failed log-ins",
}


def log_denials(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Log each answer of 401, 403 and 429, and each 404 that a page gave, rather than the table of addresses.

    Also each redirect of a stranger to the log-in, and what a page of a signed-in person may not be asked for.
    Files, the health check and addresses that lead nowhere never come to that, so they cannot fill the log.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if _is_denial(request, response):
            why = getattr(request, "denial", "") or _REASONS[response.status_code]
            level = logging.INFO if response.status_code == 302 else logging.WARNING
            write_denial(request, str(response.status_code), why, getattr(request, "denied_name", ""), level)
        return response

    return middleware


def _is_denial(request: HttpRequest, response: HttpResponse) -> bool:
    status = response.status_code
    if status == 404:
        return request.resolver_match is not None
    if status == 302:
        return not _is_signed_in(request) and response["Location"].startswith(f"{reverse('login')}?next=")
    if status == 400:
        return _is_signed_in(request) and bool(getattr(request, "denial", ""))
    return status in (401, 403, 429)


def _is_signed_in(request: HttpRequest) -> bool:
    user = getattr(request, "user", None)
    return user is not None and user.is_authenticated


def write_denial(request: HttpRequest, what: str, why: str, who: str = "", level: int = logging.WARNING) -> None:
    """One line on a refusal. The query string is left out: a secret may have been put there by mistake."""
    name = who or (request.user.get_username() if _is_signed_in(request) else "nobody")
    log.log(
        level,
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
