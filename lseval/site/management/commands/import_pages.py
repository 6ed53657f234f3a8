"""`manage.py import_pages STUDY FOLDER`: a folder of saved pages as a study's snapshots."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from lseval.door.log_lines import printable
from lseval.errors import InputError
from lseval.models import PageSource
from lseval.pipeline.snapshots import save_page
from lseval.pipeline.studies import find_study
from lseval.providers.extract import default_extractor
from lseval.providers.saved_pages import read_manifest, read_saved
from lseval.site.management.base import PagelessCommand
from lseval.site.progress import bar

CREATED, UNCHANGED, FAILED = "created", "unchanged", "failed"
_SHOWN_PROBLEMS = 20


class Command(PagelessCommand):
    help = (
        "Import a folder of saved pages as snapshots of a study. The folder has a list of them: pages.tsv or "
        "pages.csv "
        "with the columns url and file, pages.jsonl, or pages.json. Safe to repeat: a page that is there is "
        "left alone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument("folder", type=Path)
        parser.add_argument("--report", type=Path, help="write what became of each page here, one JSON a line")
        parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        folder = options["folder"]
        try:
            saved_files = read_manifest(folder)
        except InputError as error:
            raise CommandError(
                f"{error} (`manage.py import_evaluation` reads the pages that `manage.py export` wrote.)"
            ) from error
        report = options["report"].open("w", encoding="utf-8") if options["report"] else None
        counted: Counter[str] = Counter()
        outcomes: Counter[str] = Counter()
        problems: list[str] = []
        try:
            with bar("importing pages", len(saved_files), quiet=options["json"]) as steps:
                for saved in saved_files:
                    outcome, problem = "", ""
                    try:
                        page = read_saved(folder, saved, default_extractor())
                        outcome = str(page.outcome)
                        state = CREATED if save_page(study, page, PageSource.SAVED) else UNCHANGED
                    except InputError as error:
                        state, problem = FAILED, str(error)
                        problems.append(f"line {saved.line}: {problem}")
                    counted[state] += 1
                    outcomes[outcome] += bool(outcome)
                    if report is not None:
                        row = {"line": saved.line, "url": saved.url, "file": saved.file, "status": state}
                        report.write(json.dumps({**row, "outcome": outcome, "message": problem}) + "\n")
                    steps.advance()
        finally:
            if report is not None:
                report.close()
        self._print(study.slug, counted, +outcomes, problems, as_json=options["json"])
        if counted[FAILED]:
            raise CommandError(
                f"{counted[FAILED]} of {counted.total()} pages could not be imported. Mend them and run the same "
                "command again.",
                returncode=1,
            )

    def _print(
        self, slug: str, counted: Counter[str], outcomes: Counter[str], problems: list[str], *, as_json: bool
    ) -> None:
        states = {state: counted[state] for state in (CREATED, UNCHANGED, FAILED)}
        if as_json:
            summary = {"study": slug, "pages": states, "outcomes": outcomes, "problems": problems}
            self.stdout.write(json.dumps(summary))
            return
        self.stdout.write(f"pages of {slug}: " + ", ".join(f"{count} {state}" for state, count in states.items()))
        self.stdout.write(
            "outcomes: " + (", ".join(f"{name} {count}" for name, count in outcomes.items()) or "none")
        )
        for problem in problems[:_SHOWN_PROBLEMS]:
            self.stderr.write(printable(problem))
        if len(problems) > _SHOWN_PROBLEMS:
            self.stderr.write(f"and {len(problems) - _SHOWN_PROBLEMS} more; --report FILE has them all")
