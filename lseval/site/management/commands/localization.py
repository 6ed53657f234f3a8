"""`manage.py localization STUDY`: how near Stage 2 comes to the steps that people named."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from agreement.stats.bootstrap import DEFAULT_RESAMPLES, DEFAULT_SEED, Resampling
from agreement.stats.documents import as_markdown, as_text
from lseval.errors import LsevalError
from lseval.pipeline.studies import find_study
from lseval.site.localization.presenting import as_dict, tables_of
from lseval.site.localization.selectors import localization_of
from lseval.site.management.base import PagelessCommand


class Command(PagelessCommand):
    help = (
        "Compare the rounds that Stage 2 flags with the steps that people named in reference labels, beside simple "
        "baselines. docs/stage2.md tells what the figures mean."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print one JSON object")
        form.add_argument("--markdown", action="store_true", help="print Markdown tables")
        parser.add_argument(
            "--steps-from",
            type=int,
            default=0,
            choices=(0, 1),
            help="the number that the source gives its first message; default: 0",
        )
        parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of the resampled tasks")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = find_study(options["study"])
            how = Resampling(DEFAULT_RESAMPLES, options["seed"])
            found = localization_of(study, first_step=options["steps_from"], how=how)
        except LsevalError as error:
            raise CommandError(str(error), returncode=1) from error
        if not found.runs:
            raise CommandError(
                f"study {study.slug} has no run with a reference label and a trajectory. Reference labels come "
                "with imported runs (docs/run-format.md).",
                returncode=1,
            )
        if options["json"]:
            self.stdout.write(json.dumps(as_dict(study.slug, found)))
            return
        write = as_markdown if options["markdown"] else as_text
        self.stdout.write("\n\n".join(write(table) for table in tables_of(study.slug, found)))
