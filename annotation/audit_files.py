"""Audits as rows of a file: how they were drawn, their items, and the order of each queue."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from django.db.models import Case, Count, JSONField, OuterRef, QuerySet, Subquery, TextField, When
from django.db.models.expressions import Func
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce

from annotation.audit_rows import (
    AUDIT,
    CODEBOOK,
    COLUMNS,
    DRAW,
    EVENT,
    FLAG,
    ITEM,
    QUEUE,
    REVEAL,
    ROW_TYPES,
    RUN,
    SLOT,
    read_audit_row,
)
from annotation.models import (
    Audit,
    AuditEvent,
    CodebookVersion,
    Extension,
    Flag,
    Item,
    LabelVersion,
    Queue,
    Reveal,
    Slot,
)
from lseval.formats.row_files import RawRow
from lseval.models import Run, Study
from lseval.pipeline.row_expressions import RoundDigest, TextDigest

DONE_BY: Final = "by"
"""Stands in an event that was moved here with who did it elsewhere, where this server knows nobody of that name."""


class _SnapshotsTold(Func):
    """An item's snapshots, each page by what it is known by outside this database and its digest now."""

    template = (
        "(SELECT coalesce(jsonb_agg(jsonb_build_object('url', e.entry->>'url', 'source', p.source,"
        " 'canonical_key', p.canonical_key, 'text_digest', p.text_digest) ORDER BY e.place), '[]'::jsonb)"
        " FROM jsonb_array_elements(%(expressions)s) WITH ORDINALITY AS e(entry, place)"
        " LEFT JOIN lseval_page p ON p.id = (e.entry->>'page')::bigint)"
    )
    output_field = JSONField()


def _counted(rows: QuerySet[Any], of_audit: str) -> Coalesce:
    counted = rows.filter(**{of_audit: OuterRef("pk")}).order_by().values(of_audit).annotate(number=Count("pk"))
    return Coalesce(Subquery(counted.values("number")), 0)


_AT_RUN: Final = {"task_key": "run__task__key", "model": "run__model__name"}
_OF_PERSON: Final = {
    "audit": "slot__queue__audit__name",
    "role": "slot__queue__role",
    "is_simulated": "slot__queue__is_simulated",
    "position": "slot__position",
    "labeler": "user__username",
    "at": "created_at",
}
_PATHS: Final[dict[str, dict[str, Any]]] = {
    CODEBOOK: {"number": "number", "text": "text", "note": "note", "at": "published_at"},
    RUN: {"run_id": "pk", "task_key": "task__key", "model": "model__name", "at": "imported_at"},
    AUDIT: {
        "audit": "name",
        **{
            name: name
            for name in ("seed", "plan", "frame", "status", "reveal_after_submission", "codebook_version")
        },
        "at": "created_at",
        "items": _counted(Item.objects.all(), "audit"),
        "slots": _counted(Slot.objects.all(), "queue__audit"),
        "labels": _counted(LabelVersion.objects.all(), "slot__queue__audit"),
        "flags": _counted(Flag.objects.all(), "slot__queue__audit"),
        "reveals": _counted(Reveal.objects.all(), "slot__queue__audit"),
        "events": _counted(AuditEvent.objects.all(), "audit"),
    },
    DRAW: {
        "audit": "audit__name", "draw": "number", "seed": "seed", "plan": "plan", "frame": "frame",
        "at": "created_at",
    },
    QUEUE: {"audit": "audit__name", "role": "role", "is_simulated": "is_simulated"},
    ITEM: {
        "audit": "audit__name",
        "item_id": "pk",
        "kind": "kind",
        "run_id": "run_id",
        **_AT_RUN,
        "group_number": "group__number",
        "round_number": "round__number",
        "group_text_digest": TextDigest("group__text"),
        "round_digest": Case(When(round__isnull=False, then=RoundDigest("round_id"))),
        "draw": "draw",
        "inclusion_probability": "inclusion_probability",
        "snapshots": _SnapshotsTold("snapshots"),
    },
    SLOT: {
        "audit": "queue__audit__name",
        "role": "queue__role",
        "is_simulated": "queue__is_simulated",
        "position": "position",
        "item_id": "item_id",
        "between": "disagreement__between",
        "is_settled": "disagreement__is_settled",
    },
    FLAG: {**_OF_PERSON, "number": "number", "is_raised": "is_raised", "note": "note"},
    REVEAL: {**_OF_PERSON, "number": "version"},
    EVENT: {
        "audit": "audit__name",
        "action": "action",
        "by": Coalesce("by__username", KT(f"detail__{DONE_BY}"), output_field=TextField()),
        "detail": "detail",
        "at": "at",
    },
}  # fmt: skip
_CHUNK: Final = 2000


def audit_rows(study: Study, audit: Audit | None = None) -> Iterator[tuple[Any, ...]]:
    """The audits of a study, or one of them, as values of `COLUMNS`; by kind of row, then in the order of ids.

    A study without audits has no row of its runs either. The number of queries does not depend on how much there
    is.
    """
    audits = Audit.objects.filter(study=study) if audit is None else Audit.objects.filter(pk=audit.pk)
    runs = Run.objects.filter(study=study) if audits.exists() else Run.objects.none()
    rows: dict[str, QuerySet[Any]] = {
        CODEBOOK: CodebookVersion.objects.filter(study=study).order_by("number"),
        RUN: runs.order_by("task__key", "model__name"),
        AUDIT: audits.order_by("pk"),
        DRAW: Extension.objects.filter(audit__in=audits).order_by("audit", "number"),
        QUEUE: Queue.objects.filter(audit__in=audits).order_by("audit", "pk"),
        ITEM: Item.objects.filter(audit__in=audits).order_by("audit", "pk"),
        SLOT: Slot.objects.filter(queue__audit__in=audits).order_by("queue__audit", "queue", "position"),
        FLAG: Flag.objects.filter(slot__queue__audit__in=audits).order_by("slot__queue__audit", "pk"),
        REVEAL: Reveal.objects.filter(slot__queue__audit__in=audits).order_by("slot__queue__audit", "pk"),
        EVENT: AuditEvent.objects.filter(audit__in=audits).order_by("audit", "pk"),
    }
    for kind, found in rows.items():
        yield from _rows(kind, found)


def _rows(kind: str, found: QuerySet[Any]) -> Iterator[tuple[Any, ...]]:
    paths = _PATHS[kind]
    values = found.values_list(*paths.values())
    places = {name: place for place, name in enumerate(paths)}
    for row in values.iterator(chunk_size=_CHUNK):
        yield tuple(kind if name == "row" else row[places[name]] if name in places else None for name in COLUMNS)


def of_its_kind(row: Sequence[Any]) -> dict[str, Any]:
    """A row of `audit_rows` with the columns of its kind only."""
    columns = {"row", "audit", *ROW_TYPES[row[0]].model_fields}
    return {name: value for name, value in zip(COLUMNS, row, strict=True) if name in columns}


def rows_of_audit(audit: Audit) -> list[Any]:
    """The rows of an audit as models of `ROW_TYPES`, as a file would give them back."""
    found = []
    for row in audit_rows(audit.study, audit):
        told = json.loads(json.dumps(of_its_kind(row), default=lambda value: value.isoformat()))
        if told["row"] not in (CODEBOOK, RUN):
            found.append(read_audit_row(RawRow(0, told, 0, 0), is_csv=False))
    return found
