"""The leaderboard page: means with intervals, ranks with intervals, and paired differences."""

from __future__ import annotations

from typing import Any

from agreement.presenting.intervals import DASH, Axis, axis_around_zero, axis_within, interval_view, number
from agreement.presenting.labels import p_text

ALPHA = 0.05


def model_table(board: dict[str, Any], scale: float) -> dict[str, Any]:
    """`rows`: the models in order, each with its mean drawn on one `axis` and its ranks on another."""
    models = board["models"]
    axis = axis_within((entry["mean"] for entry in models), 0, 100, 2, scale)
    ranks = Axis(1, max(len(models), 2), 0)
    rows = [
        {
            "model": entry["model"],
            "tasks": entry["tasks"],
            "unscored": entry["unscored"],
            "mean": interval_view(entry["mean"], axis, f"Mean of {entry['model']}"),
            "rank": DASH if isinstance(entry["rank"], dict) else entry["rank"],
            "ranks": interval_view(
                {"point": entry["rank"], "interval": entry["rank_interval"]}, ranks, f"Rank of {entry['model']}"
            ),
        }
        for entry in models
    ]
    return {"rows": rows, "axis": axis.text, "ranks": ranks.text}


def difference_square(board: dict[str, Any], scale: float) -> list[dict[str, Any]]:
    """Row model less column model, in the order of the board; `told` marks what the corrected tests tell apart."""
    names = [entry["model"] for entry in board["models"]]
    found: dict[tuple[str, str], tuple[Any, Any]] = {}
    for pair in board["pairs"]:
        point = pair["difference"]["point"]
        found[pair["first"], pair["second"]] = (point, pair["p_holm"])
        opposite = point if isinstance(point, dict) else -point
        found[pair["second"], pair["first"]] = (opposite, pair["p_holm"])
    return [
        {"model": name, "cells": [_square_cell(found.get((name, other)), scale) for other in names]}
        for name in names
    ]


def _square_cell(found: tuple[Any, Any] | None, scale: float) -> dict[str, Any] | None:
    if found is None:
        return None
    point, p = found
    if isinstance(point, dict):
        return {"text": DASH, "told": False, "better": False, "p": point["undefined"]}
    sign = "+" if point > 0 else ""
    is_told = not isinstance(p, dict) and p < ALPHA
    return {"text": f"{sign}{number(point * scale, 1)}", "told": is_told, "better": point > 0, "p": p_text(p)}


def pair_rows(board: dict[str, Any], scale: float) -> list[dict[str, Any]]:
    """Every pair with its paired difference drawn, and both p-values; the smallest corrected p first."""
    axis = axis_around_zero((pair["difference"] for pair in board["pairs"]), 2, scale)
    ordered = sorted(board["pairs"], key=lambda pair: 2.0 if isinstance(pair["p_holm"], dict) else pair["p_holm"])
    return [
        {
            "first": pair["first"],
            "second": pair["second"],
            "n": pair["difference"]["n"],
            "difference": interval_view(pair["difference"], axis, f"{pair['first']} less {pair['second']}"),
            "p": p_text(pair["p"]),
            "p_holm": p_text(pair["p_holm"]),
            "told": not isinstance(pair["p_holm"], dict) and pair["p_holm"] < ALPHA,
        }
        for pair in ordered
    ]
