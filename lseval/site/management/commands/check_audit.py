"""`manage.py check_audit STUDY`: whether audits are what their histories say."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.history import Checked, check_audit
from annotation.models import Audit
from lseval.pipeline.export_runs import one_moment
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand
from lseval.site.management.commands.export_labels import find_audit

_LOOKED_AT = ("slots", "versions", "seats", "draws", "events", "flags", "reveals", "redrawn")


class Command(PagelessCommand):
    help = (
        "Replay the label versions and the log of a study's audits and compare with what is stored: slots, "
        "settings, people's places, draws, flags. It changes nothing, and ends with 1 where something differs."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("--audit", default="", help="only the audit of this name; default: all")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        audits = [find_audit(study, options["audit"])] if options["audit"] else list(study.audits.all())
        if not audits:
            raise CommandError(f"{study.slug} has no audit. `manage.py draw_audit` draws one.")
        differing = []
        for audit in audits:
            with one_moment():
                checked = check_audit(audit)
            self._print(audit, checked)
            differing += [audit.name] if checked.differences else []
        if differing:
            raise CommandError(f"not what their histories say: {', '.join(differing)}", returncode=1)

    def _print(self, audit: Audit, checked: Checked) -> None:
        numbers = ", ".join(f"{name} {checked.numbers[name]:,}" for name in _LOOKED_AT)
        found = len(checked.differences)
        said = f"{found} difference{'' if found == 1 else 's'}" if found else "all as the history says"
        self.stdout.write(f"{audit.name}: {said} ({numbers})")
        for difference in checked.differences:
            self.stdout.write(f"  {difference}")
        for name in dict.fromkeys(checked.untold):
            self.stdout.write(f"  cannot be told, as the log is older: {name}")
