"""The agreement of response scores: the paper's Tables 3 and A9, and what goes with them."""

from __future__ import annotations

from typing import Any

from agreement.presenting.intervals import (
    DASH,
    Axis,
    axis_around_zero,
    axis_from_zero,
    coefficient_axis,
    interval_view,
    value_text,
)

SCORE_NAMES = {"as": "AS", "ap": "AP", "upper": "Upper"}
LONG_SCORE_NAMES = {"as": "Answer Score", "ap": "Answer Precision", "upper": "Upper Score"}
STATISTIC_NAMES = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall_b": "Kendall tau-b",
    "mae": "MAE",
    "bias": "Bias",
}
MORE_STATISTICS = {
    "rmse": "RMSE",
    "icc_2_1": "ICC(2,1)",
    "limit_low": "Lower limit of agreement",
    "limit_high": "Upper limit of agreement",
}
_SIGNED = ("bias", "limit_low", "limit_high")
_IN_SCORE_UNITS = ("mae", "rmse", *_SIGNED)


def score_rows(blocks: dict[str, dict[str, Any]], names: dict[str, str]) -> list[dict[str, Any]]:
    """Rows laid out as the paper's Table A9: each statistic for AS, AP and Upper in each comparison.

    All cells of a row share an axis. Errors of AP are percentage points, as in the paper.
    """
    rows = []
    for statistic, title in names.items():
        cells = [(score, block["scores"][score][statistic]) for block in blocks.values() for score in SCORE_NAMES]
        axis = _axis(statistic, cells)
        rows.append(
            {
                "term": title,
                "axis": axis.text,
                "cells": [
                    interval_view(_in_points(estimate, score, statistic), axis, f"{title} of {SCORE_NAMES[score]}")
                    for score, estimate in cells
                ],
            }
        )
    return rows


def _axis(statistic: str, cells: list[tuple[str, dict[str, Any]]]) -> Axis:
    estimates = [_in_points(estimate, score, statistic) for score, estimate in cells]
    if statistic not in _IN_SCORE_UNITS:
        return coefficient_axis(estimates, 4)
    return axis_around_zero(estimates, 4) if statistic in _SIGNED else axis_from_zero(estimates, 4)


def _in_points(estimate: dict[str, Any], score: str, statistic: str) -> dict[str, Any]:
    """Errors of AP times 100; everything else as it is."""
    if score != "ap" or statistic not in _IN_SCORE_UNITS:
        return estimate
    point, interval = estimate["point"], estimate["interval"]
    return {
        "point": point if isinstance(point, dict) else point * 100,
        "interval": interval if isinstance(interval, dict) else [end * 100 for end in interval],
    }


def correlation_rows(block: dict[str, Any]) -> list[dict[str, Any]]:
    """The paper's Table 3: the correlations of AS and AP, automatic against H1."""
    return [
        {
            "term": LONG_SCORE_NAMES[score],
            "cells": [
                value_text(block["scores"][score][name]["point"], 4)
                for name in ("pearson", "spearman", "kendall_b")
            ],
        }
        for score in ("as", "ap")
    ]


def score_cell(estimate: dict[str, Any], score: str, statistic: str) -> dict[str, str]:
    """A point and its interval as text; a dash with the reason where it is undefined."""
    found = _in_points(estimate, score, statistic)
    point, interval = found["point"], found["interval"]
    if isinstance(point, dict):
        return {"point": DASH, "interval": "", "reason": point["undefined"]}
    if isinstance(interval, dict):
        return {"point": f"{point:.4f}", "interval": "", "reason": interval["undefined"]}
    return {"point": f"{point:.4f}", "interval": f"[{interval[0]:.4f}, {interval[1]:.4f}]", "reason": ""}
