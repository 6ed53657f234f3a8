"""`manage.py evaluate STUDY`: both stages of the automatic evaluation."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from lseval.judging.embedded import STAGE1_NAME, STAGE2_A_NAME, STAGE2_B_NAME, VERSION
from lseval.pipeline.evaluation import STAGES, evaluate
from lseval.pipeline.studies import find_study
from lseval.site.progress import bar


class Command(BaseCommand):
    help = (
        "Verify the answer groups (Stage 1) and audit the rounds (Stage 2) of a study. Continues where it was "
        "stopped; what is judged already is left alone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument("--stage", choices=STAGES, help="only this stage; default: both")
        parser.add_argument("--again", action="store_true", help="judge also what is judged already")
        parser.add_argument("--json", action="store_true", help="print the result as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        stages = (options["stage"],) if options["stage"] else STAGES
        result = evaluate(study, stages, again=options["again"], watch=partial(bar, quiet=options["json"]))
        if options["json"]:
            self.stdout.write(json.dumps(result))
            return
        self.stdout.write(f"judges, version {VERSION}: {STAGE1_NAME}; {STAGE2_A_NAME}; {STAGE2_B_NAME}")
        for title, counts in result.items():
            self.stdout.write(f"{title}: " + (", ".join(f"{name} {n}" for name, n in counts.items()) or "none"))
