"""`manage.py show_study STUDY`: what a study is made of; with --toml, the file that would make it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from lseval.errors import LsevalError
from lseval.pipeline.import_runs import counts_of
from lseval.pipeline.studies import find_study
from lseval.pipeline.study_files.writing import study_toml
from lseval.site.management.base import PagelessCommand


class Command(PagelessCommand):
    help = "Show a study: its counts, or with --toml the study file that describes it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("--toml", action="store_true", help="write it as a study file")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = find_study(options["study"])
            if options["toml"]:
                self.stdout.write(study_toml(study), ending="")
                return
        except LsevalError as error:
            raise CommandError(str(error), returncode=1) from error
        self.stdout.write(f"study {study.slug}: {study.name}")
        for name, number in counts_of(study).items():
            self.stdout.write(f"  {name.replace('_', ' '):<24}{number:>10,}")
