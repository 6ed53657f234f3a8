"""One comparison of two sources of labels on the same answer groups: the labels, and the scores they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agreement.stats.bootstrap import Resampling
from agreement.stats.cells import ALL_STATISTICS, PairCells, points, recode
from agreement.stats.draws import Draw
from agreement.stats.groups import SOURCE_NAMES, GroupTable
from agreement.stats.label_block import label_block, label_part
from agreement.stats.scores import LABELS, SCORES, pair_part
from agreement.stats.tasks import task_indices
from agreement.stats.undefined import plain

Ints: TypeAlias = NDArray[np.int64]

UNITS = {"as": "points from 0 to 100", "ap": "share from 0 to 1", "upper": "points from 0 to 100"}


@dataclass(frozen=True, slots=True)
class ScorePairs:
    """The responses that both sources scored (indices in the table), each score's cells, and which are left out."""

    responses: Ints
    cells: dict[str, PairCells]
    left_out: list[dict[str, Any]]


def score_pairs(table: GroupTable, first: str, second: str) -> ScorePairs:
    """The pairs of scores of the responses all of whose groups both sources labelled.

    A response that supplied no group has nothing to label and is left out, as is one with no required count; the
    first reason that applies is the one counted.
    """
    supplied = table.supplied
    reasons = [("it supplied no answer group, so there is nothing to label", supplied == 0)]
    for source in (first, second):
        labelled, name = table.labelled(source), SOURCE_NAMES[source]
        reasons.append((f"none of its groups has an {name}", labelled == 0))
        reasons.append((f"some of its groups lack an {name}", labelled < supplied))
    reasons.append(("its required count is unknown", table.required == 0))
    kept = np.ones(table.n_responses, dtype=bool)
    left_out = []
    for reason, applies in reasons:
        if count := int((kept & applies).sum()):
            left_out.append({"reason": reason, "count": count})
        kept &= ~applies
    x, y = table.scores(first), table.scores(second)
    cells = {score: recode(x[score][kept], y[score][kept]) for score in SCORES}
    return ScorePairs(np.flatnonzero(kept), cells, left_out)


def compare(
    table: GroupTable,
    first: str,
    second: str,
    how: Resampling,
    names: Sequence[str] = ALL_STATISTICS,
    bca: bool = False,
) -> dict[str, Any]:
    """The JSON-able block of a report for two sources; the first is in the rows, and bias is first minus second.

    One draw serves the matrix and all scores: of the tasks in which both labelled some group, or of their responses
    where `how.unit` is `row`.
    """
    a, b = table.labels[first], table.labels[second]
    both = (a >= 0) & (b >= 0)
    response = table.response[both]
    pairs = score_pairs(table, first, second)
    unit_of = table.task if how.unit == "task" else np.arange(table.n_responses)
    unit, n_units = task_indices(unit_of[response].tolist())
    unit_index = np.zeros(len(unit_of), dtype=np.int64)
    unit_index[unit_of[response]] = unit
    score_unit = unit_index[unit_of[pairs.responses]]

    labels = label_part(a[both] * len(LABELS) + b[both], unit, LABELS)
    scores = [pair_part(score, pairs.cells[score], score_unit, names) for score in SCORES]
    draw = Draw.of([labels, *scores], n_units, how, bca)
    n, clusters = len(pairs.responses), len(np.unique(score_unit))
    return {
        "first": first,
        "second": second,
        "categories": list(LABELS),
        "n": len(response),
        "tasks": len(np.unique(table.task[response])),
        "left_out": _rows_left_out(table, first, second),
        **label_block(labels, LABELS, draw),
        "score_pairs": {
            "responses": n,
            "tasks": len(np.unique(table.task[pairs.responses])),
            "left_out": pairs.left_out,
        },
        "scores": {
            score: {
                "unit": UNITS[score],
                **{
                    name: plain(draw.estimate(score, name, value, n, clusters))
                    for name, value in points(pairs.cells[score], names).items()
                },
            }
            for score in SCORES
        },
    }


def _rows_left_out(table: GroupTable, first: str, second: str) -> list[dict[str, Any]]:
    a, b = table.labels[first] < 0, table.labels[second] < 0
    one, other = SOURCE_NAMES[first], SOURCE_NAMES[second]
    reasons = [
        (f"neither an {one} nor an {other}", int((a & b).sum())),
        (f"without an {one}", int((a & ~b).sum())),
        (f"without an {other}", int((~a & b).sum())),
    ]
    out = [{"reason": reason, "count": count} for reason, count in reasons if count]
    if first == "auto" and table.unjudged:
        out.append({"reason": "of these, the automatic verdict is unjudged", "count": table.unjudged})
    return out
