"""`manage.py validity STUDY`: how right the pipeline is, on a study whose truth is known."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from agreement.stats.documents import as_markdown
from agreement.stats.undefined import plain
from lseval.errors import LsevalError
from lseval.pipeline.studies import find_study
from lseval.sandbox.truth import record_truth
from lseval.site.management.base import PagelessCommand
from lseval.site.validity.presenting import tables_of, text_of
from lseval.site.validity.selectors import validity_of


class Command(PagelessCommand):
    help = (
        "Measure verdicts, failure nodes and links against what was planted in a sandbox study's runs. "
        "docs/sandbox.md tells what the figures mean and what they do not."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print one JSON object")
        form.add_argument("--markdown", action="store_true", help="print nodes and links as Markdown tables")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = find_study(options["study"])
            record_truth(study)
        except LsevalError as error:
            raise CommandError(str(error), returncode=1) from error
        found = validity_of(study)
        if not found.runs:
            raise CommandError(
                f"study {study.slug} has no runs yet: `manage.py collect {study.slug}` makes them.", returncode=1
            )
        if options["json"]:
            self.stdout.write(
                json.dumps(
                    {
                        "study": study.slug,
                        "runs": found.runs,
                        "unmatched": found.unmatched,
                        "lost_errors": found.lost_errors,
                        "waiting": found.waiting,
                        "judges": [judge.as_dict() for judge in found.judges],
                        **plain(found.report),
                    }
                )
            )
            return
        if options["markdown"]:
            self.stdout.write("\n\n".join(as_markdown(table) for table in tables_of(study.slug, found)))
            return
        self.stdout.write(text_of(study.slug, found))
