"""A study's labels, runs, pages, verdicts and all that follows as one file each, of one moment and of any size.

Rows come from a cursor of the database and go out one by one, so memory does not grow with them. Everything is
read in one transaction that sees the database as it was when it began, whatever is written meanwhile.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from django.db import connection
from django.db.models import QuerySet, Value

from annotation.audit_files import audit_rows, of_its_kind
from annotation.audit_rows import COLUMNS as AUDIT_COLUMNS
from annotation.transfers import CSV, JSONL, label_lines
from lseval.csv_cells import escaped_cell
from lseval.formats import write_run
from lseval.formats.evaluation_rows import BYTES_PREFIX
from lseval.models import AnyCall, Judgement, Link, Membership, Page, Run, SecondVerdict, Study, Verdict
from lseval.pipeline.export_runs import one_moment, run_records
from lseval.pipeline.row_expressions import (
    ANSWER_COLUMNS,
    JUDGED_GROUP_DIGEST,
    NAMED_GROUPS,
    PagesTold,
    RoundDigest,
)

_CHUNK: Final = 2000
_FEW: Final = 10
"""A page may hold megabytes, so few are held at a time."""

Columns = dict[str, Any]

_WHERE: Final[Columns] = {"task_key": "task__key", "model": "model__name"}
VERDICT_COLUMNS: Final[Columns] = {
    "run_id": "group__run_id",
    **{name: f"group__run__{path}" for name, path in _WHERE.items()},
    "group_number": "group__number",
    "title": "group__title",
    "group_text_digest": JUDGED_GROUP_DIGEST,
    "is_second": Value(False),
    "label": "label",
    "reason": "reason",
    "code": "code",
    "judge": "judge",
    "judge_version": "judge_version",
    "repeat": "repeat",
    "judged_at": "judged_at",
    "flags": "flags",
    "claims": "claims",
    "pages": PagesTold("pages"),
}
SECOND_VERDICT_COLUMNS: Final[Columns] = {**VERDICT_COLUMNS, "is_second": Value(True)}
JUDGEMENT_COLUMNS: Final[Columns] = {
    "run_id": "round__run_id",
    **{name: f"round__run__{path}" for name, path in _WHERE.items()},
    "round_number": "round__number",
    "round_digest": RoundDigest("round_id"),
    "judge_role": "judge_role",
    "verdict": "verdict",
    "error_type": "error_type",
    "explanation": "explanation",
    "code": "code",
    "flags": "flags",
    "groups": NAMED_GROUPS,
    "judge": "judge",
    "judge_version": "judge_version",
    "judged_at": "judged_at",
}
LINK_COLUMNS: Final[Columns] = {
    "run_id": "run_id",
    **{name: f"run__{path}" for name, path in _WHERE.items()},
    "round_number": "round__number",
    "group_number": "group__number",
    "error_type": "node__error_type",
    "is_type_agreed": "node__is_type_agreed",
}
READING_COLUMNS: Final[Columns] = {"run_id": "pk", **_WHERE, **ANSWER_COLUMNS}
PAGE_COLUMNS: Final[Columns] = {
    "page_id": "pk",
    "run_id": "run_id",
    **{name: f"run__{path}" for name, path in _WHERE.items()},
    **{
        name: name
        for name in (
            "source",
            "url",
            "canonical_key",
            "title",
            "text",
            "text_digest",
            "outcome",
            "detail",
            "final_url",
            "status",
            "hops",
            "headers",
            "content_type",
            "sniffed_type",
            "content_digest",
            "decoder",
            "decoder_source",
            "flags",
            "retrieved_at",
        )
    },
    "content": "content__body",
}
RUN_COLUMNS: Final[Columns] = {
    "run_id": "pk",
    **_WHERE,
    "family": "model__family",
    "required_count": "rubric__required_count",
    "is_valid_final": "is_valid_final",
    "is_premature": "is_premature",
    "is_final_only": "is_final_only",
    "started_at": "started_at",
    "imported_at": "imported_at",
    "input_tokens": "input_tokens",
    "cached_tokens": "cached_tokens",
    "output_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "source_format": "source_format",
    "source_digest": "source_digest",
    "final_answer": "final_answer",
}
CALL_COLUMNS: Final[Columns] = {
    "phase": "phase",
    "kind": "kind",
    **_WHERE,
    **{
        name: name
        for name in (
            "role",
            "digest",
            "repeat",
            "attempt",
            "provider",
            "asked_model",
            "error_code",
            "input_tokens",
            "cached_tokens",
            "output_tokens",
            "reasoning_tokens",
            "cost_usd",
            "upper_cost_usd",
            "latency_s",
            "called_at",
        )
    },
}
MEMBER_COLUMNS: Final[Columns] = {"username": "user__username", "role": "role"}
"""Columns of the files by name, each with where its value stands."""


def _label_lines(study: Study, file_format: str) -> Iterator[str]:
    return label_lines(study, None, file_format)


def _audit_lines(study: Study, file_format: str) -> Iterator[str]:
    if file_format == CSV:
        yield row_line(AUDIT_COLUMNS, AUDIT_COLUMNS, CSV)
    for row in audit_rows(study):
        told = dict(zip(AUDIT_COLUMNS, row, strict=True)) if file_format == CSV else of_its_kind(row)
        yield row_line(told, tuple(told.values()), file_format)


def _verdict_lines(study: Study, file_format: str) -> Iterator[str]:
    rows = Verdict.objects.filter(group__run__study=study).order_by("group__run_id", "group__number")
    return _lines(rows, VERDICT_COLUMNS, file_format)


def _second_verdict_lines(study: Study, file_format: str) -> Iterator[str]:
    rows = SecondVerdict.objects.filter(group__run__study=study).order_by("group__run_id", "group__number")
    return _lines(rows, SECOND_VERDICT_COLUMNS, file_format)


def _judgement_lines(study: Study, file_format: str) -> Iterator[str]:
    rows = Judgement.objects.filter(round__run__study=study)
    return _lines(rows.order_by("round__run_id", "round__number", "judge_role"), JUDGEMENT_COLUMNS, file_format)


def _page_lines(study: Study, file_format: str) -> Iterator[str]:
    return _lines(Page.objects.filter(study=study).order_by("pk"), PAGE_COLUMNS, file_format, _FEW)


def _answer_lines(study: Study, file_format: str) -> Iterator[str]:
    rows = Run.objects.filter(study=study, rubric__isnull=False).order_by("task__key", "model__name")
    return _lines(rows, READING_COLUMNS, file_format)


def _link_lines(study: Study, file_format: str) -> Iterator[str]:
    rows = Link.objects.filter(run__study=study).order_by("run_id", "round__number", "group__number")
    return _lines(rows, LINK_COLUMNS, file_format)


def _call_lines(study: Study, file_format: str) -> Iterator[str]:
    rows = AnyCall.objects.filter(study=study).order_by("called_at", "digest", "repeat", "attempt")
    return _lines(rows, CALL_COLUMNS, file_format)


def _member_lines(study: Study, file_format: str) -> Iterator[str]:
    return _lines(Membership.objects.filter(study=study).order_by("user__username"), MEMBER_COLUMNS, file_format)


def _run_lines(study: Study, file_format: str) -> Iterator[str]:
    if file_format == JSONL:
        return (f"{write_run(record)}\n" for record in run_records(study))
    return _lines(Run.objects.filter(study=study).order_by("task__key", "model__name"), RUN_COLUMNS, file_format)


EXPORTS: Final[dict[str, Callable[[Study, str], Iterator[str]]]] = {
    "labels": _label_lines,
    "verdicts": _verdict_lines,
    "links": _link_lines,
    "runs": _run_lines,
    "pages": _page_lines,
    "answers": _answer_lines,
    "second_verdicts": _second_verdict_lines,
    "judgements": _judgement_lines,
    "audits": _audit_lines,
    "calls": _call_lines,
    "members": _member_lines,
}
"""What can be exported, each with what gives its lines."""


@dataclass(slots=True)
class Tally:
    """What has been written of an export: rows, SHA-256 and size in bytes, and the moment that it shows."""

    moment: datetime
    rows: int = 0
    size: int = 0
    _digest: Any = field(default_factory=hashlib.sha256)

    @property
    def digest(self) -> bytes:
        """SHA-256 of what has been written."""
        found: bytes = self._digest.digest()
        return found

    def add(self, line: str, *, is_row: bool) -> None:
        """Count one more line."""
        data = line.encode()
        self._digest.update(data)
        self.size += len(data)
        self.rows += is_row


def export_lines(study: Study, what: str, file_format: str, tell: Callable[[Tally], None]) -> Generator[str]:
    """The lines of an export, in order. `tell` is given its tally at the first line, which is final after the last.

    Close the generator where it is not read to its end, so that its transaction ends.
    """
    with one_moment():
        with connection.cursor() as cursor:
            cursor.execute("SELECT transaction_timestamp()")
            tally = Tally(cursor.fetchone()[0])
        tell(tally)
        with closing(_generator(EXPORTS[what](study, file_format))) as lines:
            for number, line in enumerate(lines):
                tally.add(line, is_row=bool(number) or file_format == JSONL)
                yield line


def _generator(lines: Iterable[str]) -> Generator[str]:
    yield from lines


class _Echo:
    """A file for `csv.writer` that hands back what is written."""

    def write(self, text: str) -> str:
        return text


_WRITER: Final = csv.writer(_Echo())


def row_line(names: Iterable[str], row: Sequence[Any], file_format: str) -> str:
    """A row as a line of a file, or in CSV as lines where a cell holds line ends."""
    if file_format == JSONL:
        return json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, default=_json_value) + "\n"
    line: str = _WRITER.writerow(_cells(row))
    return line


def _lines(rows: QuerySet[Any], columns: Columns, file_format: str, chunk: int = _CHUNK) -> Iterator[str]:
    if file_format == CSV:
        yield row_line(columns, tuple(columns), CSV)
    for row in rows.values_list(*columns.values()).iterator(chunk_size=chunk):
        yield row_line(columns, row, file_format)


def _cells(row: Sequence[Any]) -> list[Any]:
    return [_cell(value) for value in row]


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return escaped_cell(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return _json_value(value) if isinstance(value, datetime | Decimal | bytes | memoryview) else value


def _json_value(value: datetime | Decimal | bytes | memoryview) -> str:
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value.isoformat() if isinstance(value, datetime) else BYTES_PREFIX + base64.b64encode(value).decode()


FILE_FORMATS: Final = (JSONL, CSV)
