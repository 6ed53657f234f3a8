"""`manage.py evaluate STUDY`: both stages of the automatic evaluation."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from lseval.models import Study
from lseval.pipeline.evaluation import STAGES, evaluate
from lseval.pipeline.judges import stage1_name, stage2_name
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand
from lseval.site.progress import bar


class Command(PagelessCommand):
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
        self.stdout.write(f"judges: {'; '.join(_judges(study, stages))}")
        for title, counts in result.items():
            self.stdout.write(f"{title}: " + (", ".join(f"{name} {n}" for name, n in counts.items()) or "none"))


def _judges(study: Study, stages: tuple[str, ...]) -> list[str]:
    """The judges in use for those stages, with their versions."""
    names = []
    if "1" in stages:
        names += [stage1_name(study), stage1_name(study, "stage1_second")]
    if "2" in stages:
        names += [stage2_name(study, "A"), stage2_name(study, "B")]
    return [f"{name.name}, version {name.version}" for name in names if name is not None]
