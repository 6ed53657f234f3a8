"""Importing the demo's trajectories, beside saving the same rows one at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")
LAKES = Path(__file__).resolve().parent / "tarn_lakes"
REPEATS = 3


def run() -> Iterator[dict[str, Any]]:
    """Runs imported a second (median of three), and as a ratio to one INSERT a row. Leaves nothing behind."""
    django.setup()
    from django.core.management import call_command
    from django.db.models import QuerySet

    call_command("migrate", verbosity=0)

    def one_by_one(rows: QuerySet, objects: Any, *args: Any, **kwargs: Any) -> list:
        saved = list(objects)
        for row in saved:
            row.save(force_insert=True)
        return saved

    bulk = _median(nullcontext())
    naive = _median(patch.object(QuerySet, "bulk_create", one_by_one))
    yield {
        "name": "import_runs",
        "value": round(bulk, 1),
        "unit": "runs/s",
        "baseline": round(naive, 1),
        "baseline_is": "the same rows with one INSERT each",
        "ratio": round(bulk / naive, 2),
    }


def _median(patched: AbstractContextManager[Any]) -> float:
    with patched:
        return sorted(_runs_per_second() for _ in range(REPEATS))[REPEATS // 2]


def _runs_per_second() -> float:
    from django.db import transaction

    from lseval.formats import read_runs
    from lseval.models import Study
    from lseval.pipeline.import_runs import import_run

    records = [row.record for row in read_runs(LAKES / "runs.jsonl") if row.record is not None]
    with transaction.atomic():
        study = Study.objects.create(slug="bench-import", name="Bench")
        begin = time.perf_counter()
        for record in records:
            import_run(study, record, source_format="lseval")
        took = time.perf_counter() - begin
        transaction.set_rollback(True)
    return len(records) / took
