"""Rows of labels out of a file, CSV or JSONL, each read or refused by itself."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from annotation.codebook import LONGEST_COMMENT
from annotation.labels import LONGEST_TIME_ON_TASK_S
from annotation.models import ItemKind, LabelAction
from annotation.transfers import CSV, JSONL
from lseval.csv_cells import plain_cell
from lseval.errors import InputError
from lseval.formats.errors import ReadError
from lseval.formats.lines import open_binary, read_lines
from lseval.formats.row_files import RowFile, long_cells
from lseval.formats.strict_json import parse_json

LONGEST_CELL: Final = 2**20
_LONGEST_LINE: Final = 2**20
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_WHOLE_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_TRUTHS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A row that can be read. What the file does not say is None or empty.

    `line` is where it stands in the file, from 1; `warnings` name what was mended in it.
    """

    line: int
    kind: str
    item_id: int | None
    task_key: str
    model: str
    group_number: int | None
    round_number: int | None
    audit: str
    role: str
    is_simulated: bool | None
    labeler: str
    version: int | None
    action: str
    label: str
    error_type: str
    comment: str
    is_late: bool
    codebook_version: str
    evidence_digest: str
    seconds_on_task: float | None
    created_at: datetime | None
    source: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row that cannot be used, and why."""

    line: int
    message: str


def read_label_rows(path: Path, file_format: str = "") -> Iterator[LabelRow | RowProblem]:
    """Every row of a file of labels, in order; the format follows from the file's name where none is given.

    The columns are those of `annotation.transfers.COLUMNS`; others are passed over. A row needs an item (`item_id`,
    or `task_key` and `model` with `group_number`, `round_number` or both) and a `label`.

    Raises InputError for a file that cannot be read at all: not UTF-8, no line of names, a cell of more than a
    mebibyte.
    """
    if not file_format:
        file_format = JSONL if path.suffix.lower() in (".jsonl", ".ndjson", ".json") else CSV
    for line, values, problem in _csv_rows(path) if file_format == CSV else _json_rows(path):
        try:
            yield RowProblem(line, problem) if problem else _row(line, values)
        except InputError as error:
            yield RowProblem(line, str(error))


_Raw = tuple[int, Mapping[str, Any], str]


def _csv_rows(path: Path) -> Iterator[_Raw]:
    with long_cells(LONGEST_CELL):
        for raw in RowFile(path, is_csv=True).rows():
            yield raw.line, {name: plain_cell(cell) for name, cell in raw.values.items()}, raw.problem


def _json_rows(path: Path) -> Iterator[_Raw]:
    with open_binary(path) as stream:
        for line in read_lines(stream, _LONGEST_LINE):
            if line.data is not None and not line.data.strip():
                continue
            if line.data is None:
                yield line.number, {}, "the line is longer than a mebibyte"
                continue
            try:
                value = parse_json(line.data).value
            except ReadError as error:
                yield line.number, {}, str(error)
                continue
            is_object = isinstance(value, Mapping)
            yield line.number, value if is_object else {}, "" if is_object else "a row should be a JSON object"


def _row(line: int, values: Mapping[str, Any]) -> LabelRow:
    warnings: list[str] = []

    def text(name: str, longest: int) -> str:
        return _text(name, values.get(name), longest, warnings)

    def known(name: str, read: Callable[[str, Any], Any]) -> Any:
        value = values.get(name)
        return None if value is None or value == "" else read(name, value)

    group, round_ = known("group_number", _number), known("round_number", _number)
    item_id, task_key, model = known("item_id", _number), text("task_key", 200), text("model", 200)
    if item_id is None and not (task_key and model and (group or round_)):
        raise InputError("it names no item: give item_id, or task_key and model with group_number or round_number")
    kind = text("kind", 5) or _kind(group, round_)
    if kind and kind not in ItemKind.values:
        raise InputError(f"kind {kind!r} is none of {', '.join(ItemKind.values)}")
    action = text("action", 5) or LabelAction.LABEL.value
    if action not in LabelAction.values:
        raise InputError(f"action {action!r} is none of {', '.join(LabelAction.values)}")
    digest = text("evidence_digest", 64)
    if digest and not _DIGEST.fullmatch(digest):
        raise InputError("evidence_digest is no SHA-256 in small hexadecimal digits")
    return LabelRow(
        line=line,
        kind=kind,
        item_id=item_id,
        task_key=task_key,
        model=model,
        group_number=group,
        round_number=round_,
        audit=text("audit", 200),
        role=text("role", 20),
        is_simulated=known("is_simulated", _truth),
        labeler=text("labeler", 150),
        version=known("version", _number),
        action=action,
        label=text("label", 40),
        error_type=text("error_type", 80),
        comment=text("comment", LONGEST_COMMENT),
        is_late=bool(known("is_late", _truth)),
        codebook_version=text("codebook_version", 40),
        evidence_digest=digest,
        seconds_on_task=known("seconds_on_task", _seconds),
        created_at=known("created_at", _time),
        source=text("source", 200),
        warnings=tuple(warnings),
    )


def _kind(group: int | None, round_: int | None) -> str:
    if group and round_:
        return ItemKind.LINK.value
    return ItemKind.GROUP.value if group else ItemKind.ROUND.value if round_ else ""


def _text(name: str, value: Any, longest: int, warnings: list[str]) -> str:
    if value is None:
        return ""
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise InputError(f"{name} is no text")
    found = str(value)
    if len(found) > longest:
        raise InputError(f"{name} has {len(found):,} characters; {longest:,} fit")
    if _UNSTORABLE.search(found):
        warnings.append(f"{name}: NUL or a lone surrogate replaced by U+FFFD")
        found = _UNSTORABLE.sub("\ufffd", found)
    return found


def _number(name: str, value: Any) -> int:
    written = str(value)
    if isinstance(value, bool) or not _WHOLE_NUMBER.fullmatch(written) or int(written) < 1:
        raise InputError(f"{name} {written[:40]!r} is no whole number from 1")
    return int(written)


def _truth(name: str, value: Any) -> bool:
    found = _TRUTHS.get(str(value).lower())
    if found is None:
        raise InputError(f"{name} {str(value)[:40]!r} is neither true nor false")
    return found


def _seconds(name: str, value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if isinstance(value, bool) or not 0 <= seconds <= LONGEST_TIME_ON_TASK_S:
        raise InputError(f"{name} {str(value)[:40]!r} is no time between 0 and {LONGEST_TIME_ON_TASK_S:g} s")
    return seconds


def _time(name: str, value: Any) -> datetime:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        found = None  # type: ignore[assignment]
    if found is None or found.tzinfo is None:
        raise InputError(f"{name} {str(value)[:40]!r} is no time in ISO 8601 with its zone")
    return found
