"""`manage.py migrate`, one process at a time."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate
from django.db import connection

_LOCK = 0x15E7A1  # any number, the same in every process


class Command(migrate.Command):
    """Django's own, under a lock: `make serve` and `make demo` at once would create the tables twice."""

    def handle(self, *args: Any, **options: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        try:
            super().handle(*args, **options)
        finally:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])
