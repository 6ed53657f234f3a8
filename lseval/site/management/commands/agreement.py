"""`manage.py agreement STUDY`: how well people and the automatic labels agree."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from agreement.reporting import audit_report, choose_audit, full_report
from agreement.selectors import LABEL_SOURCES
from agreement.stats.bootstrap import DEFAULT_RESAMPLES, DEFAULT_SEED, Resampling
from agreement.tables import report_document
from agreement.text import report_text
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand


class Command(PagelessCommand):
    help = "Confusion matrices, kappa, score correlations with task-cluster bootstrap intervals, link precision."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument("--audit", default="", help="default: the newest")
        parser.add_argument(
            "--labels",
            default="",
            choices=["", *LABEL_SOURCES],
            help="default: people's, or simulated if there are no others",
        )
        parser.add_argument("--resamples", type=int, default=DEFAULT_RESAMPLES)
        parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_const", dest="form", const="json", help="everything as JSON")
        form.add_argument(
            "--markdown", action="store_const", dest="form", const="markdown", help="tables in Markdown"
        )
        form.add_argument("--latex", action="store_const", dest="form", const="latex", help="tables in LaTeX")

    def handle(self, *args: Any, **options: Any) -> None:
        audit, source = choose_audit(find_study(options["study"]), options["audit"], options["labels"])
        how = Resampling(options["resamples"], options["seed"])
        if options["form"] is None:
            self.stdout.write(report_text(audit_report(audit, source, how)))
        elif options["form"] == "json":
            self.stdout.write(json.dumps(full_report(audit, source, how), allow_nan=False))
        else:
            self.stdout.write(report_document(full_report(audit, source, how), options["form"]))
