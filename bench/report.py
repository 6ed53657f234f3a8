"""The whole report of a study of the paper's size, and the pages of its tables, its home and its comparison.

1,600 runs, about 43,000 rounds, 84,000 tool calls, an audit of 200 responses with simulated labels. The report is
written as `manage.py report` does, in this process; beside the time by the clock stands this process's processor
time, which a busy machine stretches less. Everything is rolled back.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")
REPORT_BAR_S, PAGE_BAR_MS, REPEATS = 30.0, 500.0, 5
_PAGES = (
    ("tables", "?part=outcome"),
    ("tables", "?part=process"),
    ("tables", "?part=people"),
    ("tables", "?part=setup"),
    ("study_home", ""),
    ("compare", "?with=judge:second"),
)


def run() -> Iterator[dict[str, Any]]:
    """Seconds of the report, and milliseconds of each page (median of five)."""
    django.setup()
    from django.core.management import call_command
    from django.db import connection, transaction

    from bench._report.data import make_study

    call_command("migrate", verbosity=0)
    with transaction.atomic():
        study = make_study()
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        yield from measure(study)
        transaction.set_rollback(True)


def measure(study: Any) -> Iterator[dict[str, Any]]:
    """The figures of a study that is there."""
    from django.test import Client

    yield _report(study)
    client = Client(headers={"host": "localhost"})
    client.force_login(_reader(study))
    for name, query in _PAGES:
        yield _page(client, study, name, query)


def _report(study: Any) -> dict[str, Any]:
    from lseval.site.report_set import write_report

    with tempfile.TemporaryDirectory() as folder:
        begin, begin_busy = time.perf_counter(), time.process_time()
        manifest = write_report(study, Path(folder) / "report")
        took, busy = time.perf_counter() - begin, time.process_time() - begin_busy
    return {
        "name": "report.whole",
        "value": round(took, 2),
        "unit": "s",
        "processor_s": round(busy, 2),
        "rounds": manifest["data"]["rounds"]["rows"],
        "files": len(manifest["files"]) + 1,
        "identities": len(manifest["identities"]),
        "ok": took < REPORT_BAR_S and all(identity["holds"] for identity in manifest["identities"]),
    }


def _page(client: Any, study: Any, name: str, query: str) -> dict[str, Any]:
    from django.urls import reverse

    address = f"{reverse(name, args=[study.slug])}{query}"
    times, busy = [], []
    for _ in range(REPEATS + 1):
        begin, begin_busy = time.perf_counter(), time.process_time()
        status = client.get(address).status_code
        times.append((time.perf_counter() - begin) * 1000)
        busy.append((time.process_time() - begin_busy) * 1000)
        if status != 200:
            raise RuntimeError(f"{address} answered {status}")
    took = sorted(times[1:])[REPEATS // 2]
    return {
        "name": f"report.{name}{query}",
        "value": round(took, 1),
        "unit": "ms",
        "processor_ms": round(sorted(busy[1:])[REPEATS // 2], 1),
        "ok": took < PAGE_BAR_MS,
    }


def _reader(study: Any) -> Any:
    from lseval.models import Membership, Role, User

    user, _ = User.objects.get_or_create(username="bench-report-reader")
    Membership.objects.get_or_create(study=study, user=user, defaults={"role": Role.RESEARCHER})
    return user
