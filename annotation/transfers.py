"""Labels of a study as rows for other programs: one row per item, rater and version."""

from __future__ import annotations

import csv
import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import BooleanField, Case, F, Q, QuerySet, Value, When

from annotation.models import Audit, LabelVersion
from lseval.csv_cells import escaped_cell
from lseval.models import Study

CSV, JSONL = "csv", "jsonl"
FILE_FORMATS: Final = (CSV, JSONL)
CONTENT_TYPES: Final = {CSV: "text/csv; charset=utf-8", JSONL: "application/x-ndjson; charset=utf-8"}

_CHUNK: Final = 2000

COLUMNS: Final = (
    "study",
    "audit",
    "item_id",
    "kind",
    "task_key",
    "model",
    "run_id",
    "group_number",
    "round_number",
    "role",
    "is_simulated",
    "labeler",
    "version",
    "action",
    "label",
    "error_type",
    "comment",
    "is_in_force",
    "is_late",
    "codebook_version",
    "evidence_digest",
    "seconds_on_task",
    "draw",
    "inclusion_probability",
    "source",
    "created_at",
)
"""The columns of a file of labels, in order. `is_in_force` marks the version that counts now."""

_PATHS: Final = {
    "study": "slot__queue__audit__study__slug",
    "audit": "slot__queue__audit__name",
    "item_id": "slot__item_id",
    "kind": "slot__item__kind",
    "task_key": "slot__item__run__task__key",
    "model": "slot__item__run__model__name",
    "run_id": "slot__item__run_id",
    "group_number": "slot__item__group__number",
    "round_number": "slot__item__round__number",
    "role": "slot__queue__role",
    "labeler": "user__username",
    "version": "number",
    "draw": "slot__item__draw",
    "inclusion_probability": "slot__item__inclusion_probability",
}


def label_rows(study: Study, audit: Audit | None = None) -> Generator[tuple[Any, ...], None, None]:
    """Every label version of a study or of one of its audits, as values of `COLUMNS`, by audit, queue and position.

    One statement read through a cursor of the database, so that the rows are of one moment and never all in memory.
    """
    with transaction.atomic():
        yield from _versions(study, audit).iterator(chunk_size=_CHUNK)


def label_lines(study: Study, audit: Audit | None, file_format: str) -> Iterator[str]:
    """The file of labels in pieces: CSV with a line of names, or one JSON object a line."""
    rows = label_rows(study, audit)
    with closing(rows):
        yield from _csv_lines(rows) if file_format == CSV else _json_lines(rows)


def count_versions(study: Study, audit: Audit | None = None) -> int:
    """How many rows `label_rows` gives."""
    return _of(study, audit).count()


def _versions(study: Study, audit: Audit | None) -> QuerySet[LabelVersion, tuple[Any, ...]]:
    # The sort is done before the first row comes, so the server may plan for all of them.
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL cursor_tuple_fraction = 1")
    in_force = Case(
        When(number=F("slot__version"), is_late=False, then=Value(True)),
        default=Value(False),
        output_field=BooleanField(),
    )
    return (
        _of(study, audit)
        .annotate(is_in_force=in_force)
        .order_by("slot__queue__audit_id", "slot__queue_id", "slot__position", "number")
        .values_list(*(_PATHS.get(name, name) for name in COLUMNS))
    )


def _of(study: Study, audit: Audit | None) -> QuerySet[LabelVersion]:
    where = Q(slot__queue__audit__study=study)
    return LabelVersion.objects.filter(where & Q(slot__queue__audit=audit) if audit else where)


class _Echo:
    """A file for `csv.writer` that hands back what is written."""

    def write(self, text: str) -> str:
        return text


def _csv_lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow(COLUMNS)
    for row in rows:
        yield writer.writerow([_cell(value) for value in row])


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return escaped_cell(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime) else value


def _json_lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False, default=_json_value) + "\n"


def _json_value(value: datetime) -> str:
    return value.isoformat()
