"""`manage.py measure_judge --wice FOLDER [--study STUDY]`: how often a Stage 1 judge is right."""

from __future__ import annotations

import json
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from lseval.judging.embedded import STAGE1_NAME, VERSION
from lseval.judging.embedded.measuring import DEGREES, Measured, degree, read_wice
from lseval.pipeline.judge_measuring import measure_model_judge
from lseval.pipeline.judges import stage1_name
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand
from lseval.site.progress import bar


class Command(PagelessCommand):
    help = (
        "Compare a Stage 1 judge with people on WiCE: the embedded one, or with --study the model that the study "
        "names for Stage 1. A model is asked through the study's ledger and budget, so a second time is free."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--wice", type=Path, required=True, metavar="FOLDER", help="with claim.dev.jsonl")
        parser.add_argument("--study", help="measure this study's Stage 1 model; default: the embedded judge")
        parser.add_argument("--most", type=int, help="only the first so many claims")
        parser.add_argument("--threads", type=int, default=8, help="requests at once; default 8")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            rows = list(islice(read_wice(options["wice"]), options["most"]))
        except OSError as error:
            raise CommandError(f"WiCE cannot be read: {error}") from error
        unjudged: dict[str, int] = {}
        with bar("claims judged", len(rows), quiet=options["json"]) as steps:
            if options["study"]:
                study = find_study(options["study"])
                found, reasons = measure_model_judge(
                    study, rows, threads=options["threads"], advance=partial(steps.advance, 1)
                )
                unjudged = dict(reasons)
                name = stage1_name(study)
                judge = f"{name.name}, version {name.version}" if name else ""
            else:
                judge = f"{STAGE1_NAME}, version {VERSION}"
                found = Measured.of(_pairs(rows, steps.advance))
        figures = _figures(found, bool(options["study"]))
        if options["json"]:
            head = {"judge": judge, "claims": len(rows), "unjudged": unjudged}
            self.stdout.write(json.dumps({**head, **figures}))
            return
        self.stdout.write(f"{judge}: {found.rows} of {len(rows)} claims judged")
        for reason, count in unjudged.items():
            self.stdout.write(f"unjudged, {reason}: {count}")
        for figure, value in figures.items():
            self.stdout.write(f"{figure}: {'undefined' if value is None else f'{value:.4f}'}")


def _pairs(rows: list[dict[str, Any]], advance: Any) -> list[tuple[str, str]]:
    pairs = []
    for row in rows:
        pairs.append((str(row["label"]), degree(row["claim"], "\n".join(row["evidence"]))))
        advance()
    return pairs


def _figures(found: Measured, is_two_way: bool) -> dict[str, float | None]:
    """The figures by name. A model's verdict has no degree in between, so it has no three-way figures."""
    two_way = {
        "two_way_accuracy": found.two_way_accuracy,
        "two_way_balanced_accuracy": found.two_way_balanced_accuracy,
        "two_way_kappa": found.two_way_kappa,
        "two_way_macro_f1": found.two_way_macro_f1,
    }
    if is_two_way:
        return two_way
    return {
        **two_way,
        "three_way_accuracy": found.three_way_accuracy,
        "three_way_kappa": found.three_way_kappa,
        "three_way_macro_f1": found.macro_f1,
        **{f"f1_{name}": found.f1(name) for name in DEGREES},
    }
