"""`manage.py import_runs STUDY PATH...`: other tools' runs into a study."""

from __future__ import annotations

import gc
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import CommandError, CommandParser
from django.db import OperationalError

from lseval.database.server import EmbeddedServerError
from lseval.door.log_lines import printable
from lseval.errors import InputError
from lseval.formats import FORMATS, ReadError, RowResult, detect_format, iter_sources, read_runs
from lseval.models import Study
from lseval.pipeline.import_runs import CREATED, FURTHER, UNCHANGED, ImportedRun, import_run
from lseval.pipeline.studies import find_or_create_study
from lseval.site.management.base import PagelessCommand
from lseval.site.progress import Bar, bar

_SHOWN_PROBLEMS = 20
_LARGE_ROW_BYTES = 2**20
_COUNTED = {
    "rounds": "rounds",
    "groups": "answer groups",
    "citations": "citations",
    "dangling": "dangling markers",
    "pages": "pages",
}
FAILED = "failed"


class Command(PagelessCommand):
    help = (
        "Import runs into a study, which is made if there is none of that name. Safe to repeat: a run that is "
        "already there is left alone. A row that cannot be read is reported and the others are imported."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name: a-z, 0-9 and -")
        parser.add_argument("paths", nargs="+", type=Path, help="files or folders")
        parser.add_argument("--format", default="auto", choices=["auto", *FORMATS], help="default: told by content")
        parser.add_argument("--model", default=None, help="the model's name, for sources that do not state it")
        parser.add_argument(
            "--report", type=Path, help="write what became of each row to this file, one JSON a line"
        )
        parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        sources = iter_sources(options["paths"])
        if not sources.files:
            raise CommandError("there is nothing to import in " + ", ".join(map(str, options["paths"])))
        if options["report"] and options["report"].resolve() in {path.resolve() for path in sources.files}:
            raise CommandError(f"{options['report']} is one of the files to import: report to another file.")
        study, is_new = find_or_create_study(options["study"])
        report = options["report"].open("w", encoding="utf-8") if options["report"] else None
        tally = Tally()
        try:
            total = sum(path.stat().st_size for path in sources.files)
            with bar("importing", total, in_bytes=True, quiet=options["json"]) as shown:
                for path in sources.files:
                    self._import_file(study, path, options, tally, report, shown)
        finally:
            if report is not None:
                report.close()
        for skipped in sources.skipped:
            tally.note(str(skipped))
        if options["json"]:
            self.stdout.write(json.dumps(tally.as_dict(study.slug)))
        else:
            self._print(study, is_new, tally)
        if tally.rows[FAILED]:
            raise CommandError(
                f"{tally.rows[FAILED]} of {tally.rows.total()} rows could not be imported. "
                "Mend those rows and run the same command again.",
                returncode=1,
            )

    def _import_file(
        self,
        study: Study,
        path: Path,
        options: dict[str, Any],
        tally: Tally,
        report: TextIO | None,
        shown: Bar,
    ) -> None:
        before = tally.bytes_done
        read = 0
        source_format = format_of(path, options["format"])
        for row in read_runs(path, options["format"], default_model=options["model"]):
            outcome = import_row(study, row, source_format)
            tally.count(row, outcome, source_format)
            if report is not None:
                report.write(json.dumps(_row_report(row, outcome), ensure_ascii=False) + "\n")
            shown.move_to(before + row.bytes_read)
            if row.bytes_read - read > _LARGE_ROW_BYTES:
                gc.collect()  # model instances refer to each other, so a large row would stay until much later
            read = row.bytes_read
        tally.bytes_done = before + path.stat().st_size
        shown.move_to(tally.bytes_done)

    def _print(self, study: Study, is_new: bool, tally: Tally) -> None:
        for line in tally.problems[:_SHOWN_PROBLEMS]:
            self.stderr.write(printable(line))
        if len(tally.problems) > _SHOWN_PROBLEMS:
            self.stderr.write(
                f"... and {len(tally.problems) - _SHOWN_PROBLEMS} more; --report FILE keeps all of them"
            )
        self.stdout.write(f"study {study.slug}" + (" (new)" if is_new else ""))
        for status in (CREATED, UNCHANGED, FURTHER, FAILED):
            self.stdout.write(f"  runs {status:<23}{tally.rows[status]:>8}")
        for name, number in tally.counts.items():
            self.stdout.write(f"  new {_COUNTED[name]:<24}{number:>8}")


def format_of(path: Path, asked: str) -> str:
    """The format that a file is read in; `unknown` where its content does not tell."""
    if asked != "auto":
        return asked
    try:
        return detect_format(path)
    except ReadError:
        return "unknown"


def import_row(study: Study, row: RowResult, source_format: str) -> ImportedRun:
    """Save one row, or say why it could not be read or saved."""
    if row.record is None:
        return ImportedRun(FAILED, message=row.message)
    place = f"{row.source}:{row.position}"
    try:
        outcome = import_run(study, row.record, source_format=source_format, source_name=row.source.name)
    except InputError as error:
        return ImportedRun(FAILED, message=f"{place}: {error}")
    except (OperationalError, EmbeddedServerError) as error:
        told = str(error).splitlines()[0]
        raise CommandError(
            f"the database went away at {place} ({told}). What was imported stays; run the same command again."
        ) from error
    return replace(outcome, message=f"{place}: {outcome.message}") if outcome.message else outcome


class Tally:
    """What became of the rows so far."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()
        self.counts = dict.fromkeys(_COUNTED, 0)
        self.formats: Counter[str] = Counter()
        self.problems: list[str] = []
        self.bytes_done = 0

    def count(self, row: RowResult, outcome: ImportedRun, source_format: str) -> None:
        """Take in one row."""
        self.rows[outcome.status] += 1
        self.formats[source_format] += 1
        for name, number in outcome.counts.items():
            self.counts[name] += number
        if outcome.message:
            self.note(f"{outcome.status}: {outcome.message}")
        for warning in row.warnings:
            self.note(f"warning: {warning}")
        for warning in outcome.warnings:
            self.note(f"warning: {row.source}:{row.position}: {warning}")

    def note(self, line: str) -> None:
        """Keep a line for people."""
        self.problems.append(line)

    def as_dict(self, slug: str) -> dict[str, Any]:
        """The summary as JSON."""
        runs = {status: self.rows[status] for status in (CREATED, UNCHANGED, FURTHER, FAILED)}
        return {"study": slug, "runs": runs, "new": self.counts, "formats": self.formats, "notes": self.problems}


def _row_report(row: RowResult, outcome: ImportedRun) -> dict[str, Any]:
    return {
        "source": str(row.source),
        "position": row.position,
        "status": outcome.status,
        "code": row.error,
        "message": outcome.message,
        "warnings": [*row.warnings, *outcome.warnings],
        "run": outcome.run_id,
        **outcome.counts,
    }
