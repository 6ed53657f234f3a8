"""`manage.py export STUDY WHAT OUT`: labels, verdicts, links or runs of one moment, with count and digest."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.transfers import CSV, JSONL
from lseval.pipeline.studies import find_study
from lseval.site.api.exports import EXPORTS, FILE_FORMATS, Tally, export_lines
from lseval.whole_files import NotWrittenError, write_whole


class Command(BaseCommand):
    help = (
        "Write all labels, verdicts, links or runs of a study, as they were at one moment, and say how many rows "
        "and which SHA-256 the file has. The file is written whole or not at all. CSV puts a quote before text "
        "that a spreadsheet would take for a formula; JSONL holds it as it is."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("what", choices=tuple(EXPORTS))
        parser.add_argument("out", type=Path, help="the file to write")
        parser.add_argument(
            "--format", choices=FILE_FORMATS, help="default: by the file's name; jsonl where that does not tell"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study, out = find_study(options["study"]), options["out"]
        file_format = options["format"] or (CSV if out.suffix.lower() == ".csv" else JSONL)
        told: list[Tally] = []
        try:
            with closing(export_lines(study, options["what"], file_format, told.append)) as lines:
                write_whole(out, lines)
        except NotWrittenError as error:
            raise CommandError(str(error)) from error
        tally = told[0]
        # The line is one that `sha256sum --check` reads.
        self.stdout.write(f"{tally.digest.hex()}  {out}")
        rows = f"{tally.rows:,} row{'' if tally.rows == 1 else 's'}"
        self.stderr.write(f"{rows}, {tally.size:,} bytes, as of {tally.moment.isoformat()}")
