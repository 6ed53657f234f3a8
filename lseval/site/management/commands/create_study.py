"""`manage.py create_study study.toml`: a study, its tasks, models and rules, from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from lseval.errors import LsevalError
from lseval.pipeline.study_files.reading import read_study_file
from lseval.pipeline.study_files.saving import check_study, save_study
from lseval.site.management.base import PagelessCommand
from lseval.site.sandbox_tasks import with_sandbox_tasks


class Command(PagelessCommand):
    help = (
        "Make a study from a TOML file, or bring it up to date with the file. Safe to repeat: the same file "
        "changes nothing the second time, and nothing is ever removed. What the file may say: docs/study-file.md."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the study file, such as study.toml")
        parser.add_argument("--check", action="store_true", help="say what it would do and change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            file = with_sandbox_tasks(read_study_file(options["file"]))
            saved = check_study(file) if options["check"] else save_study(file)
        except LsevalError as error:
            raise CommandError(f"{error}\nNothing was changed.", returncode=1) from error
        for line in saved.lines():
            self.stdout.write(line)
        if options["check"]:
            self.stdout.write("The file is good. Nothing was changed (--check).")
