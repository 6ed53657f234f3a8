"""The report's numbers in the shapes that the page's templates take."""

from __future__ import annotations

from typing import Any

STATISTIC_NAMES = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall_b": "Kendall tau-b",
    "mae": "MAE",
    "bias": "Bias",
}
SCORE_NAMES = {"as": "AS", "ap": "AP", "upper": "Upper"}
COEFFICIENT_NAMES = {
    "observed": "Observed agreement",
    "kappa": "Cohen's kappa",
    "alpha": "Krippendorff's alpha",
    "pi": "Scott's pi",
    "ac1": "Gwet's AC1",
    "brennan_prediger": "Brennan–Prediger",
}
_DASH = "–"
_HEAT_STEPS = 9


def matrix_view(block: dict[str, Any], title: str, row_title: str, column_title: str) -> dict[str, Any]:
    """A confusion matrix for `_confusion_matrix.html`: counts, shares of all, and how dark each cell is."""
    matrix, labels = block["matrix"], block["categories"]
    total = sum(map(sum, matrix))
    most = max(max(row) for row in matrix) or 1
    rows = []
    for i, row in enumerate(matrix):
        cells = [
            {
                "count": count,
                "heat": round(_HEAT_STEPS * count / most),
                "is_diagonal": i == j,
                "share": f"{100 * count / total:.1f}%" if total else "",
            }
            for j, count in enumerate(row)
        ]
        rows.append({"label": labels[i], "cells": cells, "total": sum(row)})
    return {
        "title": title,
        "note": f"{total} answer groups",
        "row_title": row_title,
        "column_title": column_title,
        "columns": [{"label": label} for label in labels],
        "rows": rows,
        "column_totals": [sum(column) for column in zip(*matrix, strict=True)],
        "total": total,
    }


BLOCK_TITLES = {"auto_h1": ("Automatic – H1", "Automatic", "H1"), "h1_h2": ("H1 – H2", "H1", "H2")}
"""The comparisons of a report in order: title, what is in the rows, what is in the columns."""


def report_view(report: dict[str, Any]) -> dict[str, Any]:
    """The parts of an audit's report that both its own page and the study's report show."""
    blocks = {key: report[key] for key in BLOCK_TITLES}
    return {
        "matrices": [matrix_view(blocks[key], *titles) for key, titles in BLOCK_TITLES.items()],
        "coefficients": coefficient_rows(blocks),
        "scores": score_rows(blocks),
        "links": link_view(report["links"]),
        "round_matrix": round_view(report["rounds"]),
        "left_out": left_out_rows(blocks),
    }


def interval_view(
    estimate: dict[str, Any], low: float, high: float, *, digits: int = 3, scale: float = 1
) -> dict[str, Any]:
    """An estimate for `_interval.html`, drawn on an axis from `low` to `high`."""
    point, interval = estimate["point"], estimate.get("interval")
    if isinstance(point, dict):
        return {"undefined_reason": point["undefined"]}
    view: dict[str, Any] = {
        "point": f"{point * scale:.{digits}f}",
        "point_at": _place(point * scale, low, high),
        "axis_min": f"{low:g}",
        "axis_max": f"{high:g}",
    }
    if interval is None or isinstance(interval, dict):
        view["no_interval"] = interval["undefined"] if interval else ""
        return view
    view["low"], view["high"] = (f"{end * scale:.{digits}f}" for end in interval)
    view["low_at"], view["high_at"] = (_place(end * scale, low, high) for end in interval)
    return view


def _place(value: float, low: float, high: float) -> float:
    """Where a value lies on the axis, in per cent of its length, kept on the axis."""
    return round(min(max((value - low) / (high - low), 0.0), 1.0) * 100, 2)


def coefficient_rows(blocks: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per coefficient with its estimate in each comparison, all on one axis."""
    rows = []
    for name, title in COEFFICIENT_NAMES.items():
        estimates = [block["nominal"].get(name) for block in blocks.values()]
        if any(estimates):
            rows.append({"term": title, "intervals": [interval_view(found, 0, 1) for found in estimates if found]})
    return rows


def score_rows(blocks: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the paper's Table A9: each statistic, for AS, AP and Upper, in each comparison.

    Errors of AP are shown in percentage points, as in the paper.
    """
    rows = []
    for statistic, title in STATISTIC_NAMES.items():
        cells = [
            score_cell(block["scores"][score][statistic], score, statistic)
            for block in blocks.values()
            for score in SCORE_NAMES
        ]
        rows.append({"term": title, "cells": cells})
    return rows


def score_cell(estimate: dict[str, Any], score: str, statistic: str) -> dict[str, str]:
    """A point above its interval, as text; a dash with the reason where it is undefined."""
    if isinstance(estimate["point"], dict):
        return {"point": _DASH, "interval": "", "reason": estimate["point"]["undefined"]}
    scale = 100 if score == "ap" and statistic in ("mae", "bias") else 1
    interval = estimate["interval"]
    if isinstance(interval, dict):
        return {"point": f"{estimate['point'] * scale:.4f}", "interval": "", "reason": interval["undefined"]}
    low, high = (end * scale for end in interval)
    return {
        "point": f"{estimate['point'] * scale:.4f}",
        "interval": f"[{low:.4f}, {high:.4f}]",
        "reason": "",
    }


def link_view(links: dict[str, Any]) -> dict[str, Any]:
    """Link precision with its count, and both intervals drawn on an axis from 0 to 1."""
    found = links["overall"]
    return {
        **found,
        "wilson_interval": interval_view({"point": found["point"], "interval": found["wilson"]}, 0, 1),
        "cluster_interval": interval_view({"point": found["point"], "interval": found["cluster_robust"]}, 0, 1),
    }


def round_view(rounds: dict[str, Any]) -> dict[str, Any] | None:
    """The cross-tabulation of labeled rounds (the paper's Table A10); None where no round is labeled."""
    if not rounds["rounds"]:
        return None
    names = [name.replace("_", "-").capitalize() for name in rounds["labels"]]
    view = matrix_view({"matrix": rounds["matrix"], "categories": names}, "Rounds", "H1", "Automatic")
    view["note"] = f"{rounds['rounds']} rounds"
    view["columns"] = [{"text": name} for name in names]
    for row, name in zip(view["rows"], names, strict=True):
        row["label"], row["text"] = "", name
    view["shares"] = [
        {"term": f"{measure.capitalize()} of error", **score_share(rounds[measure]["error"])}
        for measure in ("recall", "precision")
    ]
    return view


def score_share(share: dict[str, Any]) -> dict[str, str]:
    """A share as `k of n` with its value, or the reason why it has none."""
    if isinstance(share["point"], dict):
        return {"text": _DASH, "reason": share["point"]["undefined"]}
    return {"text": f"{share['k']} of {share['n']}, {share['point']:.3f}", "reason": ""}


def left_out_rows(blocks: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What each comparison leaves out, groups and responses, with the reason and the count."""
    names = {"auto_h1": "Automatic – H1", "h1_h2": "H1 – H2"}
    return [
        {"comparison": names[key], "unit": unit, **entry}
        for key, block in blocks.items()
        for unit, entries in (("answer groups", block["left_out"]), ("responses", block["score_pairs"]["left_out"]))
        for entry in entries
    ]
