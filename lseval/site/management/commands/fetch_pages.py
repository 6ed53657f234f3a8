"""`manage.py fetch_pages STUDY`: snapshots of the pages that responses cite and no run has read."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from lseval.pipeline.cited_pages import THREADS, cited_in_vain, cited_without_snapshot, fetch_citations
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand
from lseval.site.progress import bar


class Command(PagelessCommand):
    help = (
        "Fetch the pages that a study's responses cite and of which there is no snapshot. With --again, those "
        "whose "
        "snapshot says that they could not be had at the time. What was read is never fetched again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument("--again", action="store_true", help="try again what was unavailable or timed out")
        parser.add_argument(
            "--threads", type=int, default=THREADS, help="pages fetched at a time (default %(default)s)"
        )
        parser.add_argument("--json", action="store_true", help="print the result as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        urls = cited_in_vain(study) if options["again"] else cited_without_snapshot(study)
        with bar("pages fetched", len(urls), quiet=options["json"]) as steps:
            counted = fetch_citations(
                study, urls, steps.advance, again=options["again"], threads=max(1, options["threads"])
            )
        if options["json"]:
            self.stdout.write(json.dumps({"study": study.slug, "outcomes": counted}))
            return
        told = ", ".join(f"{outcome} {count}" for outcome, count in counted.most_common()) or "nothing to fetch"
        self.stdout.write(f"pages of {study.slug}: {told}")
