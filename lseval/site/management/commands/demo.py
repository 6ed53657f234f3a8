"""`manage.py demo`: a small study from trajectories to agreement."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandParser
from django.db import connection

from agreement.text import report_text
from lseval.site.demo.build import Demo, build_demo, summary
from lseval.site.demo.sizes import SIZES, demo_size
from lseval.site.management.base import PagelessCommand
from lseval.site.progress import bar
from lseval.site.selectors.scores import model_rows, scored_runs


class Command(PagelessCommand):
    help = (
        "Make the demo study: simulated agents on a made-up web whose truth is known, both stages, an audit with "
        "simulated labels, and the queues of H1 and H2 open to try. A second call finds it as it is."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--size",
            default="small",
            choices=list(SIZES),
            help="small (default), or paper: 16 models on 100 tasks, which takes minutes",
        )
        parser.add_argument(
            "--fresh", action="store_true", help="delete the demo, labels included, and make it anew"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", verbosity=0)
        demo = build_demo(
            demo_size(options["size"]), fresh=options["fresh"], watch=partial(bar, quiet=options["json"])
        )
        with connection.cursor() as cursor:
            # PostgreSQL would look at what is new by itself, and plan badly for the minute until then.
            cursor.execute("ANALYZE")
        found = summary(demo)
        if options["json"]:
            self.stdout.write(json.dumps(found))
            return
        self._print(demo, found)

    def _print(self, demo: Demo, found: dict[str, Any]) -> None:
        counts = ", ".join(
            f"{found[name]} {name.replace('_', ' ')}" for name in ("runs", "rounds", "answer_groups")
        )
        self.stdout.write(f"{demo.study.name}: {counts}")
        self.stdout.write(f"\n{'model':<18}{'AS':>8}{'AP %':>8}{'Upper':>8}{'runs':>6}")
        for row in model_rows(scored_runs(demo.study)):
            scores = (row.answer_score, row.answer_precision, row.upper_score)
            texts = "".join(f"{score.text.rstrip('%'):>8}" for score in scores)
            self.stdout.write(f"{row.name:<18}{texts}{row.scored:>6}")
        self.stdout.write("\n" + report_text(found["agreement"]))
        waiting = ", ".join(f"{queue} {number}" for queue, number in found["open_items"].items())
        self.stdout.write(f"\nItems open to try: {waiting}")
