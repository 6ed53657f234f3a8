"""`manage.py import_labels STUDY FILE`: labels made elsewhere onto an audit's items."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.label_files import read_label_rows
from annotation.label_imports import OUTCOMES, REFUSED, import_labels
from annotation.services import LABELER_ROLES
from annotation.transfers import FILE_FORMATS
from lseval.door.log_lines import printable
from lseval.models import User
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand
from lseval.site.management.commands.export_labels import find_audit

_SHOWN_PROBLEMS = 20


class Command(PagelessCommand):
    help = (
        "Put labels from a file onto an audit's items. Rows are matched by task_key, model and group_number or "
        "round_number, or by item_id. Safe to repeat. A row that does not fit is reported, the others are stored."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("file", type=Path, help="CSV or JSONL with the columns that export_labels writes")
        parser.add_argument("--audit", default="", help="the audit's name; default: the newest")
        parser.add_argument("--role", required=True, choices=[str(role) for role in LABELER_ROLES])
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("--labeler", metavar="USERNAME", help="whose labels they are: an annotator of the study")
        whose.add_argument("--simulated", action="store_true", help="they are a program's, and stay marked as such")
        parser.add_argument("--format", default="", choices=["", *FILE_FORMATS], help="default: by the file's name")
        parser.add_argument("--report", type=Path, help="write every problem to this file, one a line")
        parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        audit = find_audit(study, options["audit"])
        labeler = None if options["simulated"] else User.objects.filter(username=options["labeler"]).first()
        if labeler is None and not options["simulated"]:
            raise CommandError(
                f"There is no user {options['labeler']}. "
                "`manage.py add_member STUDY USERNAME annotator --create` makes one."
            )
        path: Path = options["file"]
        rows = read_label_rows(path, options["format"])
        report = import_labels(audit, options["role"], rows, labeler, path.name)
        if options["report"]:
            options["report"].write_text("".join(f"{line}\n" for line in report.problems), encoding="utf-8")
        if options["json"]:
            rows_by = {outcome: report.rows[outcome] for outcome in OUTCOMES}
            self.stdout.write(json.dumps({"audit": audit.name, "rows": rows_by, "problems": report.problems}))
        else:
            self._print(audit.name, report.rows, report.problems)
        if report.rows[REFUSED]:
            raise CommandError(
                f"{report.rows[REFUSED]} rows were refused; the others were stored. "
                "Mend those rows and run the same command again.",
                returncode=1,
            )

    def _print(self, audit: str, rows: Any, problems: list[str]) -> None:
        for line in problems[:_SHOWN_PROBLEMS]:
            self.stderr.write(printable(line))
        if len(problems) > _SHOWN_PROBLEMS:
            self.stderr.write(f"... and {len(problems) - _SHOWN_PROBLEMS} more; --report FILE keeps all of them")
        self.stdout.write(f"audit {audit}")
        for outcome in OUTCOMES:
            self.stdout.write(f"  rows {outcome:<16}{rows[outcome]:>8}")
