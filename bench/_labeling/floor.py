"""The floor: a Django site with one view, which claims a row past others' locks and returns a line of HTML."""

from __future__ import annotations

import os
import uuid

from django.http import HttpRequest, HttpResponse
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench._labeling.floor_settings")

_CLAIM = """
UPDATE bench_floor SET claimed_by = %s, claimed_at = statement_timestamp()
WHERE id = (SELECT id FROM bench_floor WHERE claimed_by IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id
"""


def claim(request: HttpRequest) -> HttpResponse:
    """Claim the first free row."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, [uuid.uuid4().hex])
        row = cursor.fetchone()
    line = f"<p>Item {row[0] if row else 'none'}</p>"
    return HttpResponse(line, headers={"Content-Length": str(len(line))})


urlpatterns = [path("claim/", claim)]


def application(environ, start_response):  # type: ignore[no-untyped-def]
    """The site as gunicorn calls it, made at the first request."""
    global _application
    if _application is None:
        from django.core.wsgi import get_wsgi_application

        _application = get_wsgi_application()
    return _application(environ, start_response)


_application = None
