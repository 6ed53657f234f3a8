"""The two judges of Stage 2 beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, FilteredRelation, Q

from lseval.domain.labels import UNJUDGED, RoundLabel
from lseval.models import FailureNode, Round, Study
from lseval.site.quantities import Share, heat_of

PAIR_VERDICTS = (RoundLabel.ERROR, RoundLabel.NON_ERROR, RoundLabel.SKIPPED, UNJUDGED)


@dataclass(frozen=True, slots=True)
class JudgePairs:
    """How often the two judges said what of the same round, and how their types compare.

    `by_task[task, a, b]` counts rounds of a task that A calls a and B calls b.
    """

    by_task: Mapping[tuple[int, str, str], int]
    same_type: int
    nodes: int

    @property
    def counts(self) -> Mapping[tuple[str, str], int]:
        """The same of all tasks: by A's verdict and B's."""
        found: Counter[tuple[str, str]] = Counter()
        for (_, a, b), count in self.by_task.items():
            found[a, b] += count
        return found

    @property
    def judged(self) -> int:
        """Rounds with both judgements."""
        return sum(self.counts.values())

    @property
    def agreed(self) -> Share:
        """Rounds of which both judges say the same."""
        same = sum(count for (a, b), count in self.counts.items() if a == b)
        return Share(same, self.judged, "no round has both judgements")

    @property
    def split(self) -> int:
        """Rounds that one judge calls an error and the other not."""
        return sum(self.counts.get(pair, 0) for pair in (("error", "non_error"), ("non_error", "error")))

    @property
    def types_agreed(self) -> Share:
        """Failure nodes of which both judges name the same type."""
        return Share(self.same_type, self.nodes, "there is no failure node")

    @property
    def verdicts(self) -> list[str]:
        """The verdicts that occur, in the order of the matrix; the first two always."""
        seen = {verdict for pair, count in self.counts.items() if count for verdict in pair}
        return [str(verdict) for verdict in PAIR_VERDICTS if verdict in seen or verdict in PAIR_VERDICTS[:2]]

    @property
    def matrix(self) -> dict[str, Any]:
        """The counts as the confusion matrix component takes them: judge A down, judge B across."""
        shown, counts = self.verdicts, self.counts
        cells = {(a, b): counts.get((a, b), 0) for a in shown for b in shown}
        return {
            "row_title": "Judge A",
            "column_title": "Judge B",
            "columns": [{"text": verdict_words(b)} for b in shown],
            "rows": [
                {
                    "text": verdict_words(a),
                    "cells": [
                        {
                            "count": cells[a, b],
                            "share": Share(cells[a, b], self.judged).text if self.judged else "",
                            "heat": heat_of(100 * cells[a, b] / self.judged if self.judged else None),
                            "is_diagonal": a == b,
                        }
                        for b in shown
                    ],
                    "total": sum(cells[a, b] for b in shown),
                }
                for a in shown
            ],
            "column_totals": [sum(cells[a, b] for a in shown) for b in shown],
            "total": self.judged,
        }

    def as_dict(self) -> dict[str, Any]:
        """JSON-able counts, keyed `A/B`."""
        return {
            "rounds": self.judged,
            "pairs": {f"{a}/{b}": count for (a, b), count in sorted(self.counts.items())},
            "same_verdict": self.agreed.as_dict(),
            "split": self.split,
            "same_type": self.types_agreed.as_dict(),
        }


def verdict_words(verdict: str) -> str:
    """A round's verdict as a reader sees it."""
    return {"error": "Error", "non_error": "No error", "skipped": "Skipped"}.get(verdict, "No opinion")


def judge_pairs_of(study: Study) -> JudgePairs:
    """The two judges beside each other. Two queries."""
    nodes = FailureNode.objects.filter(run__study=study).aggregate(
        every=Count("id"), agreed=Count("id", filter=Q(is_type_agreed=True))
    )
    return JudgePairs(judge_pairs_by_task(study), nodes["agreed"], nodes["every"])


def judge_pairs_by_task(study: Study) -> dict[tuple[int, str, str], int]:
    """How many rounds of a task have each pair of judge A's and judge B's verdicts. One query."""
    rows = (
        Round.objects.filter(run__study=study)
        .annotate(
            a=FilteredRelation("judgements", condition=Q(judgements__judge_role="A")),
            b=FilteredRelation("judgements", condition=Q(judgements__judge_role="B")),
        )
        .filter(a__isnull=False, b__isnull=False)
        .values_list("run__task_id", "a__verdict", "b__verdict")
        .annotate(count=Count("id"))
        .order_by()
    )
    return {(task, a, b): count for task, a, b, count in rows}
