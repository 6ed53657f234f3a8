"""`manage.py costs STUDY`: tokens, dollars and time by phase (Table A11)."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from lseval.pipeline.costs import CostRow, costs_of
from lseval.pipeline.studies import find_study
from lseval.site.management.base import PagelessCommand
from lseval.site.money import dollars, hours

_HEAD = ("", "calls", "failed", "input", "cached", "output", "reasoning", "USD", "upper USD", "unpriced", "time")


class Command(PagelessCommand):
    help = (
        "What the calls of a study came to, by phase and by model: sums over every attempt. Upper USD has no "
        "discount for cached tokens. A call without a price is unpriced and in no sum of dollars."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument("--json", action="store_true", help="print the result as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        found = costs_of(study)
        if options["json"]:
            self.stdout.write(json.dumps({"study": study.slug, **found.as_dict()}))
            return
        self._table("by phase", [*found.phases, found.total])
        if found.models:
            self._table("collection by model", found.models)
        if found.judges:
            self._table("judges", found.judges)

    def _table(self, title: str, rows: list[CostRow]) -> None:
        lines = [_HEAD, *(_cells(row) for row in rows)]
        widths = [max(len(line[place]) for line in lines) for place in range(len(_HEAD))]
        self.stdout.write(title)
        for line in lines:
            first, *rest = (
                cell.ljust(width) if place == 0 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            self.stdout.write("  " + "  ".join([first, *rest]).rstrip())


def _cells(row: CostRow) -> tuple[str, ...]:
    spent = row.spent
    counts = (spent.input_tokens, spent.cached_tokens, spent.output_tokens, spent.reasoning_tokens)
    return (
        row.label,
        f"{spent.calls:,}",
        f"{spent.failed:,}",
        *(f"{count:,}" for count in counts),
        dollars(spent.cost_usd, is_known=spent.is_priced, is_empty=not spent.paid),
        dollars(spent.upper_cost_usd, is_known=spent.is_priced, is_empty=not spent.paid),
        f"{spent.unpriced:,}",
        hours(row.worked_s),
    )
