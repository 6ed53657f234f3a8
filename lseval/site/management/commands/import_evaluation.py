"""`manage.py import_evaluation STUDY PATH...`: an exported evaluation back into a study."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.audit_imports import import_audits
from lseval.door.log_lines import printable
from lseval.formats.evaluation_rows import ROW_TYPES
from lseval.formats.row_files import long_cells
from lseval.models import Study
from lseval.pipeline.evaluation_import import OUTCOMES, EvaluationReport
from lseval.pipeline.evaluation_import.files import AUDITS, LABELS, MEMBERS, open_files
from lseval.pipeline.evaluation_import.service import Watch, import_files
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand
from lseval.site.moved_members import import_members
from lseval.site.progress import bar

_SHOWN_PROBLEMS = 20
_READ = (*ROW_TYPES, MEMBERS, AUDITS, LABELS)


class Command(PagelessCommand):
    help = (
        "Bring back what `manage.py export` wrote: pages, answers, verdicts, second verdicts, judgements, calls, "
        "and audits with their labels; links and members are compared. Runs come first, by import_runs. Safe to "
        "repeat: what is there is left alone. A run or an audit of which a row is refused is left as it was, the "
        "others are stored."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("paths", nargs="+", type=Path, help="exported files, or the folder that holds them")
        parser.add_argument(
            "--replace", action="store_true", help="let rows take the place of what differs from them here"
        )
        parser.add_argument(
            "--members", action="store_true", help="give the exported members who have a login here their role"
        )
        parser.add_argument("--report", type=Path, help="write every problem to this file, one a line")
        parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        if options["report"]:
            _require_writable(options["report"])
        watch = partial(bar, quiet=options["json"])
        report = _import_all(
            study, options["paths"], watch, replace=options["replace"], makes_members=options["members"]
        )
        if options["report"]:
            options["report"].write_text("".join(f"{line}\n" for line in report.problems), encoding="utf-8")
        if options["json"]:
            self.stdout.write(json.dumps(_as_dict(study.slug, report)))
        else:
            self._print(study.slug, report)
        if report.refused:
            stored = sum(count for (_, outcome), count in report.rows.items() if outcome in OUTCOMES[:2])
            raise CommandError(
                f"{report.refused} rows were refused; "
                + (f"{stored} others were stored. " if stored else "nothing was stored. ")
                + "Mend what is told above and run the same command again.",
                returncode=1,
            )

    def _print(self, slug: str, report: EvaluationReport) -> None:
        for line in report.problems[:_SHOWN_PROBLEMS]:
            self.stderr.write(printable(line))
        if len(report.problems) > _SHOWN_PROBLEMS:
            self.stderr.write(
                f"... and {len(report.problems) - _SHOWN_PROBLEMS} more; --report FILE keeps all of them"
            )
        self.stdout.write(f"study {slug}")
        for what in _READ:
            for outcome in OUTCOMES:
                if count := report.rows[what, outcome]:
                    self.stdout.write(f"  {what:<16}{outcome:<24}{count:>8}")
        for note in report.notes:
            self.stdout.write(f"  {printable(note)}")
        if report.forgotten:
            self.stdout.write(f"  runs that wait for Stage 2, since their verdicts changed {report.forgotten:>7}")


def _require_writable(path: Path) -> None:
    """Before anything is stored: afterwards it would be too late to say so."""
    try:
        path.touch()
    except OSError as error:
        raise CommandError(f"the report cannot be written: {error}.") from error


def _import_all(
    study: Study, paths: list[Path], watch: Watch, *, replace: bool, makes_members: bool
) -> EvaluationReport:
    """The evaluation first, then the members, then the audits, which rest on both, with their labels."""
    with long_cells():
        files = open_files(paths, also=(MEMBERS, AUDITS, LABELS))
    audits, labels = files.pop(AUDITS, None), files.pop(LABELS, None)
    members = files.pop(MEMBERS, None)
    report = import_files(study, files, replace=replace, watch=watch)
    if members:
        report.add(import_members(study, members, makes_them=makes_members))
    if audits or labels:
        report.add(import_audits(study, audits, labels))
    return report


def _as_dict(slug: str, report: EvaluationReport) -> dict[str, Any]:
    rows = {what: {outcome: report.rows[what, outcome] for outcome in OUTCOMES} for what in _READ}
    told = {"forgotten": report.forgotten, "notes": report.notes, "problems": report.problems}
    return {"study": slug, "rows": rows, **told}
