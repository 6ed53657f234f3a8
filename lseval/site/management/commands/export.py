"""`manage.py export STUDY WHAT OUT`: labels, runs, verdicts and more of one moment, with count and digest."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.transfers import CSV, JSONL
from lseval.errors import InputError
from lseval.models import Study
from lseval.pipeline.evaluation_import.files import DIGESTS
from lseval.pipeline.export_runs import one_moment
from lseval.pipeline.studies import find_study
from lseval.pipeline.study_files.writing import study_toml
from lseval.site.api.exports import EXPORTS, FILE_FORMATS, Tally, export_lines
from lseval.site.management.base import PagelessCommand
from lseval.whole_files import NotWrittenError, write_whole

ALL = "all"
STUDY_FILE = "study.toml"


class Command(PagelessCommand):
    help = (
        "Write all rows of a kind of a study, as they were at one moment, and say how many there are and which "
        "SHA-256 the file has. The file is written whole or not at all. CSV puts a quote before text that a "
        "spreadsheet would take for a formula; JSONL holds it as it is. `all` writes every kind into a folder, all "
        "of the same moment, with the study's file and a list of the digests."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("what", choices=(*EXPORTS, ALL))
        parser.add_argument("out", type=Path, help="the file to write; for `all` a folder, which is made")
        parser.add_argument(
            "--format", choices=FILE_FORMATS, help="default: by the file's name; jsonl where that does not tell"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study, what, out = find_study(options["study"]), options["what"], options["out"]
        if what == ALL:
            self._write_all(study, out, options["format"] or JSONL)
            return
        file_format = options["format"] or (CSV if out.suffix.lower() == ".csv" else JSONL)
        self._tell(out, _written(study, what, out, file_format))

    def _write_all(self, study: Study, folder: Path, file_format: str) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(f"{folder} cannot be made: {error.strerror}.") from error
        digests = []
        with one_moment():
            self._write_study(study, folder / STUDY_FILE)
            for what in EXPORTS:
                # Runs as CSV are a table to read; only as JSONL do they hold everything.
                out = folder / f"{what}.{JSONL if what == 'runs' else file_format}"
                tally = _written(study, what, out, JSONL if what == "runs" else file_format)
                self._tell(out, tally)
                digests.append(f"{tally.digest.hex()}  {out.name}\n")
        try:
            write_whole(folder / DIGESTS, digests)
        except NotWrittenError as error:
            raise CommandError(str(error)) from error

    def _write_study(self, study: Study, out: Path) -> None:
        """The study's file beside the rows; a study that no file can describe goes without, and that is told."""
        try:
            write_whole(out, [study_toml(study)])
        except InputError as error:
            self.stderr.write(f"{out.name} is left out: {error}")
        except NotWrittenError as error:
            raise CommandError(str(error)) from error

    def _tell(self, out: Path, tally: Tally) -> None:
        # The line is one that `sha256sum --check` reads.
        self.stdout.write(f"{tally.digest.hex()}  {out}")
        rows = f"{tally.rows:,} row{'' if tally.rows == 1 else 's'}"
        self.stderr.write(f"{rows}, {tally.size:,} bytes, as of {tally.moment.isoformat()}")


def _written(study: Study, what: str, out: Path, file_format: str) -> Tally:
    told: list[Tally] = []
    try:
        with closing(export_lines(study, what, file_format, told.append)) as lines:
            write_whole(out, lines)
    except NotWrittenError as error:
        raise CommandError(str(error)) from error
    return told[0]
