"""The agreement of labels: heat maps, coefficients, classes, symmetry, and the human ceiling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agreement.presenting.intervals import (
    axis_around_zero,
    bounds_text,
    coefficient_axis,
    interval_view,
    number,
    reason_of,
    value_text,
)
from agreement.stats.classes import MEASURES

BLOCK_TITLES = {"auto_h1": ("Automatic – H1", "Automatic", "H1"), "h1_h2": ("H1 – H2", "H1", "H2")}
"""The comparisons of a report in order: title, what is in the rows, what is in the columns."""

MAIN_COEFFICIENTS = {
    "observed": "Observed agreement",
    "kappa": "Cohen's kappa",
    "alpha": "Krippendorff's alpha",
    "ac1": "Gwet's AC1",
}
MORE_COEFFICIENTS = {
    "pi": "Scott's pi",
    "brennan_prediger": "Brennan–Prediger",
    "pabak": "PABAK, two-label form",
    "linear_kappa": "Weighted kappa, linear",
    "quadratic_kappa": "Weighted kappa, quadratic",
    "macro_f1": "Macro F1",
    "weighted_f1": "Weighted F1",
    "balanced_accuracy": "Balanced accuracy",
    "mcc": "Matthews' correlation",
}
COEFFICIENT_NAMES = MAIN_COEFFICIENTS | MORE_COEFFICIENTS
LABEL_NAMES = {"C": "Correct", "I": "Incorrect", "U": "Unverifiable"}
_TEST_NAMES = {
    "bowker": "Bowker, symmetry",
    "stuart_maxwell": "Stuart–Maxwell, marginals",
    "bhapkar": "Bhapkar, marginals",
}
_HEAT_STEPS = 9

CellAddress = Callable[[str, str], str]


def heatmap(
    matrix: list[list[int]],
    labels: list[str],
    title: str,
    row_title: str,
    column_title: str,
    unit: str = "answer groups",
    names: dict[str, str] | None = None,
    address: CellAddress | None = None,
) -> dict[str, Any]:
    """A confusion matrix for `agreement/_heatmap.html`: counts, shares of all, and how dark each cell is.

    `names` gives words for labels that have no chip; with `address(row label, column label)` a cell that holds
    something is a link.
    """
    total = sum(map(sum, matrix))
    most = max(max(row) for row in matrix) or 1
    heads = [{"label": "" if names else label, "text": (names or {}).get(label, label)} for label in labels]
    rows = []
    for i, row in enumerate(matrix):
        cells = [
            {
                "count": count,
                "heat": round(_HEAT_STEPS * count / most),
                "is_diagonal": i == j,
                "share": f"{100 * count / total:.1f}%" if total else "",
                "url": address(labels[i], labels[j]) if address and count else "",
                "means": f"{row_title} {heads[i]['text']}, {column_title} {heads[j]['text']}",
            }
            for j, count in enumerate(row)
        ]
        rows.append({**heads[i], "cells": cells, "total": sum(row)})
    return {
        "title": title,
        "note": f"{total:,} {unit}",
        "row_title": row_title,
        "column_title": column_title,
        "columns": heads,
        "rows": rows,
        "column_totals": [sum(column) for column in zip(*matrix, strict=True)],
        "total": total,
    }


def label_heatmap(block: dict[str, Any], key: str, address: CellAddress | None = None) -> dict[str, Any]:
    """The label matrix of one comparison of a report (one half of the paper's Table A8)."""
    return heatmap(block["matrix"], block["categories"], *BLOCK_TITLES[key], address=address)


def coefficient_table(blocks: dict[str, dict[str, Any]], names: dict[str, str]) -> dict[str, Any]:
    """`rows`, one per coefficient with its estimate in each comparison, all on one `axis`."""
    found = {name: [block["nominal"][name] for block in blocks.values()] for name in names}
    axis = coefficient_axis(estimate for estimates in found.values() for estimate in estimates)
    rows = [
        {"term": names[name], "cells": [interval_view(estimate, axis, names[name]) for estimate in estimates]}
        for name, estimates in found.items()
    ]
    return {"rows": rows, "axis": axis.text}


def exact_rows(blocks: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Every coefficient of each comparison with both kinds of interval, to four decimals."""
    return [
        {
            "title": BLOCK_TITLES[key][0],
            "rows": [_exact_row(title, block["nominal"][name]) for name, title in COEFFICIENT_NAMES.items()],
            "shares": _agreement_shares(block),
            "null_se": value_text(block["nominal"]["kappa"]["analytic"]["null_se"], 4),
        }
        for key, block in blocks.items()
    ]


def _exact_row(title: str, estimate: dict[str, Any]) -> dict[str, Any]:
    analytic = estimate.get("analytic", {})
    return {
        "term": title,
        "point": value_text(estimate["point"], 4),
        "reason": reason_of(estimate["point"]) or reason_of(estimate["interval"]),
        "bootstrap": bounds_text(estimate["interval"], 4),
        "degenerate": estimate["degenerate"],
        "se": value_text(analytic.get("se"), 4),
        "z": bounds_text(analytic.get("z_interval"), 4),
        "t": bounds_text(analytic.get("t_interval"), 4),
    }


def _agreement_shares(block: dict[str, Any]) -> list[dict[str, str]]:
    """The share of agreement with each of its intervals."""
    analytic = block["nominal"]["observed"]["analytic"]
    names = {"wilson": "Wilson", "clopper_pearson": "Clopper–Pearson", "cluster_robust": "Cluster-robust"}
    return [
        {"term": title, "text": bounds_text(analytic[name], 4), "reason": reason_of(analytic[name])}
        for name, title in names.items()
    ]


def class_table(blocks: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Per comparison (`parts`) precision, recall and F1 of each label, the second source taken for the truth."""
    axis = coefficient_axis(
        measures[name]
        for block in blocks.values()
        for measures in block["class_intervals"].values()
        for name in MEASURES
    )
    parts = []
    for key, block in blocks.items():
        title, first, second = BLOCK_TITLES[key]
        rows = [
            {
                "label": label,
                "first": block["classes"][label]["first"],
                "second": block["classes"][label]["second"],
                "cells": [interval_view(measures[name], axis, f"{name} of {label}") for name in MEASURES],
            }
            for label, measures in block["class_intervals"].items()
        ]
        parts.append({"title": title, "first": first, "second": second, "rows": rows})
    return {"parts": parts, "axis": axis.text}


def symmetry_rows(blocks: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The tests of symmetry and of equal marginals, a cell per comparison."""
    return [
        {"term": title, "cells": [_test_cell(block["symmetry"][name]) for block in blocks.values()]}
        for name, title in _TEST_NAMES.items()
    ]


def _test_cell(test: dict[str, Any]) -> dict[str, str]:
    if "undefined" in test:
        return {"text": "", "reason": test["undefined"]}
    return {"text": f"χ² {number(test['chi2'], 2)}, {test['df']} df, {p_text(test['p'])}", "reason": ""}


def p_text(p: Any) -> str:
    """`p = 0.034`, or `p < 0.001`."""
    if isinstance(p, dict):
        return "p undefined"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def ceiling_table(ceiling: dict[str, Any]) -> dict[str, Any]:
    """The machine beside the human ceiling on the same `n` items: each side on one `axis`, and the difference."""
    axis = coefficient_axis(entry[side] for entry in ceiling.values() for side in BLOCK_TITLES)
    apart = axis_around_zero((entry["difference"] for entry in ceiling.values()), 3)
    rows = []
    for name, entry in ceiling.items():
        cells = [interval_view(entry[side], axis, COEFFICIENT_NAMES[name]) for side in BLOCK_TITLES]
        difference = interval_view(entry["difference"], apart, "Difference")
        rows.append({"term": COEFFICIENT_NAMES[name], "cells": [*cells, difference], "verdict": _verdict(entry)})
    return {"rows": rows, "n": ceiling["kappa"]["n"], "axis": axis.text, "apart": apart.text}


def _verdict(entry: dict[str, Any]) -> str:
    interval = entry["difference"]["interval"]
    if isinstance(interval, dict):
        return "cannot be told"
    if interval[0] > 0:
        return "the machine agrees with H1 more than H2 does"
    if interval[1] < 0:
        return "the machine agrees with H1 less than H2 does"
    return "no difference shown"
