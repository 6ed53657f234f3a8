"""A report as one long list of numbers: every number of its JSON, one row each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agreement.stats.scores import LABELS

NUMBER_COLUMNS = (
    "path", "point", "low", "high", "undefined", "n", "k", "clusters", "level", "method", "resamples", "degenerate",
    "seed",
)  # fmt: skip
_ALTERNATIVES = ("interval", "cluster_robust", "wilson")
"""The interval of an estimate: the first of these that it has. Others are rows of their own."""
_ENDS = (*_ALTERNATIVES, "z_interval", "t_interval", "clopper_pearson", "bootstrap", "bca", "rank_interval")
_IN_ROW = {*NUMBER_COLUMNS, "agreeing", "of"}


def numbers(report: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """The rows: `path` says where the number stands in the JSON, and an estimate is one row with its interval.

    Cells of a matrix are named by their labels, row first; members of lists by what they are about. What is
    undefined has an empty `point` and the reason in `undefined`. Texts other than a method are left out.
    """
    if isinstance(report, bool | str) or report is None:
        return
    if isinstance(report, dict):
        yield from _of_dict(report, path)
    elif isinstance(report, list | tuple):
        yield from _of_list(report, path, None)
    else:
        yield _row(path, point=report)


def _of_dict(report: dict[str, Any], path: str) -> Iterator[dict[str, Any]]:
    if set(report) == {"undefined"}:
        yield _row(path, undefined=report["undefined"])
        return
    used: set[str] = set()
    if "point" in report:
        interval = next((name for name in _ALTERNATIVES if name in report), "")
        yield _estimate(report, interval, path)
        used = {*_IN_ROW, interval}
    labels = report.get("categories", report.get("labels"))
    for key, entry in report.items():
        if key in used:
            continue
        below = f"{path}/{key}" if path else str(key)
        if key in _ENDS and isinstance(entry, list | tuple):
            yield _row(below, low=entry[0], high=entry[1])
        elif isinstance(entry, list | tuple):
            yield from _of_list(entry, below, labels if isinstance(labels, list) else None)
        else:
            yield from numbers(entry, below)


def _of_list(entries: Any, path: str, labels: list[str] | None) -> Iterator[dict[str, Any]]:
    is_table = bool(entries) and all(isinstance(entry, list | tuple | int | float) for entry in entries)
    if labels is None and is_table and len(entries) == len(LABELS):
        labels = list(LABELS)
    for place, entry in enumerate(entries):
        name = labels[place] if is_table and labels and len(labels) == len(entries) else _about(entry, place)
        if isinstance(entry, list | tuple):
            yield from _of_list(entry, f"{path}/{name}", labels)
        else:
            yield from numbers(entry, f"{path}/{name}")


def _about(entry: Any, place: int) -> str:
    """What a member of a list is about, or its place."""
    if not isinstance(entry, dict):
        return str(place)
    keys = ("model", "rater", "person", "role", "kind", "first", "second", "what", "reason")
    return " – ".join(str(entry[key]) for key in keys if isinstance(entry.get(key), str)) or str(place)


def _estimate(estimate: dict[str, Any], interval: str, path: str) -> dict[str, Any]:
    point, ends = estimate["point"], estimate.get(interval)
    row = {key: estimate.get(key) for key in NUMBER_COLUMNS}
    low, high = ends if isinstance(ends, list | tuple) else (None, None)
    row |= {"path": path, "low": low, "high": high, "undefined": ""}
    if isinstance(ends, dict):
        row["undefined"] = f"no interval: {ends['undefined']}"
    if isinstance(point, dict):
        row |= {"point": None, "undefined": point["undefined"]}
    if "agreeing" in estimate:
        row |= {"k": estimate["agreeing"], "n": estimate["of"]}
    return row


def _row(path: str, **fields: Any) -> dict[str, Any]:
    return {**dict.fromkeys(NUMBER_COLUMNS), "undefined": "", "path": path, **fields}
