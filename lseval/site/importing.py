"""Runs out of one file that a person gave to a page, all of them or none."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from lseval.errors import InputError
from lseval.formats import ReadError, RowResult, detect_format, read_runs
from lseval.models import Study
from lseval.pipeline.import_runs import CREATED, FURTHER, UNCHANGED, import_run

LARGEST_BYTES = 10_000_000
MOST_RUNS = 500
FAILED = "failed"

_ODD = re.compile(r"[^\w.\- ]+")
_SHOWN = 50


@dataclass(slots=True)
class FileReport:
    """What became of a file: how many runs by status, and the lines for people, of which only the first are kept.

    `is_kept` is False where nothing was saved, since a row is at fault or only a check was asked for.
    """

    format: str
    rows: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    further_problems: int = 0
    is_kept: bool = False

    @property
    def failed(self) -> int:
        return self.rows[FAILED]

    @property
    def created(self) -> int:
        return self.rows[CREATED]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """The statuses in the words of the page, with how many runs have each."""
        words = (
            (CREATED, "new"),
            (UNCHANGED, "already there"),
            (FURTHER, "another run of the model on the task is there, which was kept"),
            (FAILED, "cannot be read or saved"),
        )
        return [(label, self.rows[status]) for status, label in words if self.rows[status] or status == CREATED]

    def note(self, line: str) -> None:
        """Keep a line for people, or count it."""
        if len(self.problems) < _SHOWN:
            self.problems.append(line)
        else:
            self.further_problems += 1


def import_file(
    study: Study,
    name: str,
    chunks: Iterable[bytes],
    *,
    asked_format: str = "auto",
    default_model: str = "",
    leave_out_faulty: bool = False,
    only_check: bool = False,
) -> FileReport:
    """Import a file's runs into the study in one transaction; where a row is at fault nothing is saved.

    With `leave_out_faulty` the other rows are saved all the same. With `only_check` everything is tried and taken
    back. Raises InputError where the file holds more than `MOST_RUNS` runs.
    """
    with tempfile.TemporaryDirectory(prefix="lseval-import-") as folder:
        path = Path(folder, safe_name(name))
        with path.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
        report = FileReport(_format_of(path, asked_format))
        with transaction.atomic():
            for row in read_runs(path, asked_format, default_model=default_model or None):
                if report.rows.total() >= MOST_RUNS:
                    raise InputError(
                        f"The file holds more than {MOST_RUNS} runs; none was imported. Use manage.py import_runs."
                    )
                _take(study, row, report)
            report.is_kept = not only_check and (leave_out_faulty or not report.failed)
            transaction.set_rollback(not report.is_kept)
        return report


def safe_name(name: str) -> str:
    """A file's name without its folders and without what could mean something to a shell or a file system."""
    base = _ODD.sub("-", Path(name.replace("\\", "/")).name).strip(". ")
    return base[-120:] or "runs.jsonl"


def _format_of(path: Path, asked: str) -> str:
    if asked != "auto":
        return asked
    try:
        return detect_format(path)
    except ReadError:
        return "unknown"


def _take(study: Study, row: RowResult, report: FileReport) -> None:
    place = f"{row.source.name}:{row.position}"
    folder = f"{row.source.parent}/"
    for warning in row.warnings:
        report.note(f"warning: {warning.replace(folder, '')}")
    if row.record is None:
        report.rows[FAILED] += 1
        report.note(row.message.replace(folder, ""))
        return
    try:
        outcome = import_run(study, row.record, source_format=report.format, source_name=row.source.name)
    except InputError as error:
        report.rows[FAILED] += 1
        report.note(f"{place}: {error}")
        return
    report.rows[outcome.status] += 1
    for text in (outcome.message, *(f"warning: {warning}" for warning in outcome.warnings)):
        if text:
            report.note(f"{place}: {text}")
