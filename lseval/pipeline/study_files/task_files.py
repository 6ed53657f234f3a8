"""Tasks in a file of their own, JSONL or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lseval.formats.strict_json import JsonError, parse_json
from lseval.pipeline.study_files.checking import problems_of
from lseval.pipeline.study_files.errors import Problem, StudyFileError
from lseval.pipeline.study_files.schema import TaskEntry

LARGEST_BYTES = 100 * 2**20


def read_tasks(path: Path) -> list[TaskEntry]:
    """The tasks of a `.jsonl` or `.csv` file, in order.

    A line of JSONL, and a row of CSV under a first row of names, has key and question, and may have topic,
    language, gold and rubric (in CSV as a JSON object). Raises StudyFileError that names each line that is wrong.
    """
    kind = path.suffix.lower()
    if kind not in (".jsonl", ".ndjson", ".csv"):
        raise StudyFileError([Problem(path.name, None, "", "must be a .jsonl or a .csv file")])
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StudyFileError([Problem(path.name, None, "", f"cannot be read: {error.strerror}")]) from error
    if len(data) > LARGEST_BYTES:
        raise StudyFileError([Problem(path.name, None, "", "is larger than 100 MB")])
    problems: list[Problem] = []
    tasks: list[TaskEntry] = []
    rows = _csv_rows(data, path.name, problems) if kind == ".csv" else _json_rows(data, path.name, problems)
    for line, row in rows:
        try:
            tasks.append(TaskEntry.model_validate(row))
        except ValidationError as error:
            problems += problems_of(error, TaskEntry, path.name, {}, line)
    if problems:
        raise StudyFileError(problems)
    return tasks


def _json_rows(data: bytes, name: str, problems: list[Problem]) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            yield number, parse_json(line).value
        except JsonError as error:
            problems.append(Problem(name, number, "", str(error)))


def _csv_rows(data: bytes, name: str, problems: list[Problem]) -> Iterator[tuple[int, Any]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.append(Problem(name, line, "", "is not UTF-8 text"))
        return
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if None in row or None in row.values():
                problems.append(
                    Problem(name, reader.line_num, "", "has another number of columns than the first row")
                )
                continue
            given: dict[str, Any] = {key: value for key, value in row.items() if value != ""}
            if "rubric" in given:
                try:
                    given["rubric"] = parse_json(given["rubric"].encode()).value
                except JsonError as error:
                    problems.append(Problem(name, reader.line_num, "rubric", str(error)))
                    continue
            yield reader.line_num, given
    except csv.Error as error:
        problems.append(Problem(name, reader.line_num, "", f"is no CSV: {error}"))
