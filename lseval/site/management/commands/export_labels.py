"""`manage.py export_labels STUDY`: every version of every label, for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Audit
from annotation.transfers import CSV, FILE_FORMATS, label_lines
from lseval.models import Study
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand
from lseval.whole_files import NotWrittenError, write_whole


class Command(PagelessCommand):
    help = (
        "Write a study's labels, one row per item, rater and version, as CSV or JSONL. CSV puts a quote before "
        "text that a spreadsheet would take for a formula; JSONL holds it as it is."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("--audit", default="", help="only the audit of this name; default: all")
        parser.add_argument("--format", choices=FILE_FORMATS, default=CSV, help="default: %(default)s")
        parser.add_argument("--out", type=Path, help="the file to write; default: standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        audit = find_audit(study, options["audit"]) if options["audit"] else None
        lines = label_lines(study, audit, options["format"])
        out: Path | None = options["out"]
        if out is None:
            written = sum(1 for line in lines if self.stdout.write(line, ending="") is None)
        else:
            try:
                written = write_whole(out, lines)
            except NotWrittenError as error:
                raise CommandError(str(error)) from error
        rows = written - (options["format"] == CSV)
        where = f" to {out}" if out else ""
        self.stderr.write(f"{rows:,} label version{'' if rows == 1 else 's'} written{where}")


def find_audit(study: Study, name: str) -> Audit:
    """The study's audit of that name; the newest where none is given. Raises CommandError where there is none."""
    audits = study.audits.order_by("-id")
    found = (audits.filter(name=name) if name else audits).first()
    if found is None:
        known = ", ".join(audits.values_list("name", flat=True)) or "none"
        raise CommandError(f"{study.slug} has no audit {name!r}. It has: {known}.")
    return found
