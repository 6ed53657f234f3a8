"""How many wrong passwords there may be, and for how long the door is then shut."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone


@dataclass(frozen=True)
class Limit:
    """So many failures of one combination of `fields` shut the door for it."""

    fields: tuple[str, ...]
    failures: int


LIMITS = (
    Limit(("username", "ip_address"), 5),
    Limit(("ip_address",), 50),  # one place that tries many names
    Limit(("username",), 100),  # many places that try one name
)


class Throttle(AxesDatabaseHandler):
    """Axes' counting by the limits above. A failure counts until the cool-off time after it."""

    def get_failures(self, request: Any, credentials: dict[str, Any] | None = None) -> int:
        return settings.AXES_FAILURE_LIMIT if locked_until(request, credentials) is not None else 0


def locked_until(request: HttpRequest, credentials: dict[str, Any] | None = None) -> datetime | None:
    """When the door opens again for this name from this place; None where it is open.

    The same for names that somebody has and names that nobody has.
    """
    client = {
        "username": get_client_username(request, credentials),
        "ip_address": request.axes_ip_address,  # type: ignore[attr-defined]
    }
    ends = [_limit_ends(limit, {field: client[field] for field in limit.fields}) for limit in LIMITS]
    return max((end for end in ends if end is not None), default=None)


def locked_page(request: HttpRequest, response: HttpResponse, credentials: dict[str, Any] | None) -> HttpResponse:
    """The page that says when to try again, with the same time in `Retry-After`."""
    now = timezone.now()
    until = locked_until(request, credentials) or now
    seconds = max(1, math.ceil((until - now).total_seconds()))
    context = {"until": now + timedelta(seconds=seconds), "minutes": math.ceil(seconds / 60)}
    page = render(request, "door/locked.html", context, status=429)
    page["Retry-After"] = str(seconds)
    return page


def _limit_ends(limit: Limit, client: dict[str, Any]) -> datetime | None:
    if client.get("ip_address", "") is None and "username" not in client:
        return None  # over a Unix socket nobody has an address; all would share one limit
    cool_off: timedelta = settings.AXES_COOLOFF_TIME
    recent = AccessAttempt.objects.filter(**client, attempt_time__gte=timezone.now() - cool_off)
    rows = list(recent.order_by("attempt_time").values_list("attempt_time", "failures_since_start"))
    failures = sum(count for _, count in rows)
    end = None
    for at, count in rows:  # the oldest are forgotten first
        if failures < limit.failures:
            break
        end, failures = at + cool_off, failures - count
    return end
