"""Whole reports, JSON-able: what `python -m agreement` prints and the pages show.

A statistic with no value comes out in place as `{"undefined": reason}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from agreement.stats.bootstrap import Resampling
from agreement.stats.cells import ALL_STATISTICS
from agreement.stats.compare import compare
from agreement.stats.groups import GroupRow, group_table
from agreement.stats.scores import pair_statistics
from agreement.stats.undefined import plain

COMPARISONS = {"auto_h1": ("auto", "h1"), "h1_h2": ("h1", "h2")}
"""The blocks of a groups report: the first source is in the matrix's rows. A third person is never a rater."""


def groups_report(
    rows: Iterable[GroupRow],
    how: Resampling | None = None,
    names: Sequence[str] = ALL_STATISTICS,
    bca: bool = False,
) -> dict[str, Any]:
    """Agreement on answer groups and on the response scores that follow from them.

    `auto_h1` and `h1_h2` each hold `matrix`, bare coefficients (`observed`, `kappa`, `alpha`, `ac1`, ...), the same
    with intervals under `nominal`, `classes`, `symmetry`, and `scores.<as|ap|upper>.<statistic>` with `point` and
    `interval`; `left_out` and `score_pairs.left_out` say which groups and responses are not in it and why. Raises
    `groups.RowError` for a row that cannot be used. No rows give a report in which everything is undefined.
    """
    how = how or Resampling()
    table = group_table(rows)
    blocks = {key: compare(table, *sources, how, names, bca) for key, sources in COMPARISONS.items()}
    for block in blocks.values():
        for statistics in block["scores"].values():
            _add_paper_name(statistics)
    return {
        "kind": "groups",
        "groups": len(table.response),
        "responses": table.n_responses,
        "tasks": int(table.task.max(initial=-1)) + 1,
        **_drawn_how(how),
        **blocks,
    }


def pairs_report(
    first: Sequence[float | Fraction],
    second: Sequence[float | Fraction],
    clusters: Sequence[object],
    how: Resampling | None = None,
    names: Sequence[str] = ALL_STATISTICS,
    bca: bool = False,
) -> dict[str, Any]:
    """Agreement of two numeric scores: one entry per statistic, with `point` and `interval`, and the counts.

    NaN marks a missing score; `n` pairs are complete and `left_out` counts the rest.
    """
    how = how or Resampling()
    estimates = pair_statistics(first, second, clusters, how, names, bca)
    missing_first, missing_second = (np.isnan(np.array([float(v) for v in side])) for side in (first, second))
    reasons = [
        ("neither score", int((missing_first & missing_second).sum())),
        ("no first score", int((missing_first & ~missing_second).sum())),
        ("no second score", int((~missing_first & missing_second).sum())),
    ]
    complete = ~(missing_first | missing_second)
    report: dict[str, Any] = {
        "kind": "pairs",
        "rows": len(complete),
        "n": int(complete.sum()),
        "clusters": len({cluster for cluster, whole in zip(clusters, complete, strict=True) if whole}),
        "left_out": [{"reason": reason, "count": count} for reason, count in reasons if count],
        **_drawn_how(how),
        **plain(estimates),
    }
    _add_paper_name(report)
    return report


def _drawn_how(how: Resampling) -> dict[str, Any]:
    return {"level": how.level, "resamples": how.resamples, "seed": how.seed, "unit": how.unit}


def _add_paper_name(statistics: dict[str, Any]) -> None:
    """The paper's tables say Kendall, without the b; both names lead to the same estimate."""
    if "kendall_b" in statistics:
        statistics["kendall"] = statistics["kendall_b"]
