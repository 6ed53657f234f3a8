"""`manage.py process STUDY`: what Stage 2 found, as the identities of Figure A3 and Table 2."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from agreement.stats.documents import as_markdown, as_text
from lseval.errors import LsevalError
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand
from lseval.site.process_tables import process_and_details, process_as_dict, process_tables


class Command(PagelessCommand):
    help = (
        "Count where rounds ended up, failure nodes and links, and how far the two judges agree. docs/stage2.md "
        "tells what the figures mean."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print one JSON object")
        form.add_argument("--markdown", action="store_true", help="print Markdown tables")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = find_study(options["study"])
        except LsevalError as error:
            raise CommandError(str(error), returncode=1) from error
        process, details = process_and_details(study)
        if not process.accounting.rounds:
            raise CommandError(
                f"study {study.slug} has no rounds yet. Rounds come with runs that have a trajectory: "
                f"`manage.py import_runs {study.slug} PATH` or `manage.py collect {study.slug}`.",
                returncode=1,
            )
        if options["json"]:
            self.stdout.write(json.dumps(process_as_dict(study.slug, process, details)))
            return
        write = as_markdown if options["markdown"] else as_text
        self.stdout.write("\n\n".join(write(table) for table in process_tables(study.slug, process, details)))
