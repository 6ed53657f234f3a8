"""`manage.py report STUDY --out DIR`: every table and figure of a study, in every form, with methods and
manifest."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from agreement.stats.bootstrap import DEFAULT_RESAMPLES, DEFAULT_SEED, Resampling
from lseval.errors import LsevalError
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand
from lseval.site.progress import bar
from lseval.site.report_set import STEPS, write_report


class Command(PagelessCommand):
    help = (
        "Write every table and figure of a study as it is at one moment, with a methods text and a manifest, into "
        "a "
        "folder whose index.html needs no server. docs/write-the-paper.md tells what is in it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument(
            "--out", type=Path, required=True, help="the folder; an earlier report there is replaced"
        )
        parser.add_argument(
            "--resamples", type=int, default=DEFAULT_RESAMPLES, help="of tasks; default: %(default)s"
        )
        parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of the resampled tasks")
        parser.add_argument("--json", action="store_true", help="print the manifest as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        out: Path = options["out"]
        try:
            study = find_study(options["study"])
            how = Resampling(options["resamples"], options["seed"])
            with bar(f"report of {study.slug}", STEPS, quiet=options["json"]) as progress:
                manifest = write_report(study, out, how, progress.advance)
        except LsevalError as error:
            raise CommandError(str(error), returncode=1) from error
        if options["json"]:
            self.stdout.write(json.dumps({"out": str(out), **manifest}))
            return
        took = time.monotonic() - started
        self.stdout.write(f"{len(manifest['files']) + 1} files written to {out} in {took:.1f} s.")
        self.stdout.write(f"Open {out / 'index.html'}.")
