"""The people page: who agrees with whom, how each labels, and whether that changes."""

from __future__ import annotations

from typing import Any

from agreement.people_report import AUTOMATIC
from agreement.presenting.intervals import (
    DASH,
    bounds_text,
    coefficient_axis,
    interval_view,
    number,
    reason_of,
    value_text,
)

KIND_NAMES = {"group": "Answer groups", "link": "Links", "round": "Rounds"}
_PAIR_COEFFICIENTS = ("observed", "kappa", "alpha", "ac1")
_HEAT_STEPS = 9


def rater_square(people: dict[str, Any]) -> dict[str, Any]:
    """Every rater against every other, the automatic labels first: observed agreement above, kappa below.

    A cell is `{text, heat, note, means}`, or empty on the diagonal.
    """
    raters = [AUTOMATIC, *people["raters"]]
    pairs = {(pair["first"], pair["second"]): pair for pair in people["pairs"]}
    rows = []
    for i, first in enumerate(raters):
        cells: list[dict[str, Any] | None] = []
        for j, second in enumerate(raters):
            if i == j:
                cells.append(None)
                continue
            pair = pairs[(first, second) if i < j else (second, first)]
            cells.append(_square_cell(pair, "observed" if i < j else "kappa", first, second))
        rows.append({"name": first, "cells": cells})
    return {"names": raters, "rows": rows}


def _square_cell(pair: dict[str, Any], name: str, first: str, second: str) -> dict[str, Any]:
    point = pair[name]["point"]
    words = "observed agreement" if name == "observed" else "kappa"
    return {
        "text": value_text(point),
        "heat": 0 if isinstance(point, dict) else max(0, min(_HEAT_STEPS, int(point * (_HEAT_STEPS + 1)))),
        "note": f"n {pair['n']:,}",
        "means": f"{first} and {second}, {words}",
        "reason": reason_of(point),
    }


def pair_table(people: dict[str, Any]) -> dict[str, Any]:
    """`rows`: each pair of raters that met an item, with its coefficients drawn on one `axis`."""
    met = [pair for pair in people["pairs"] if pair["n"]]
    axis = coefficient_axis(pair[name] for pair in met for name in _PAIR_COEFFICIENTS)
    rows = [
        {
            "first": pair["first"],
            "second": pair["second"],
            "n": pair["n"],
            "cells": [interval_view(pair[name], axis, name) for name in _PAIR_COEFFICIENTS],
        }
        for pair in met
    ]
    return {"rows": rows, "axis": axis.text}


def profile_rows(people: dict[str, Any]) -> list[dict[str, Any]]:
    """Each person: how much, which labels, agreement with the machine and with other people, and pace."""
    return [
        {
            "person": entry["rater"],
            "role": entry["role"],
            "items": entry["items"],
            "parts": label_parts(entry["labels"]),
            "counts": " / ".join(str(count) for count in entry["labels"].values()),
            "shares": " / ".join(_per_cent(share) for share in entry["shares"].values()),
            "with_automatic": agreement_cell(entry["with_automatic"]),
            "with_others": agreement_cell(entry["agreement"]),
            "pace": seconds_text(entry["median_seconds"]),
        }
        for entry in people["profiles"]
    ]


def _per_cent(share: Any) -> str:
    return DASH if isinstance(share, dict) else f"{100 * share:.0f}%"


def label_parts(counts: dict[str, int]) -> list[dict[str, Any]]:
    """The pieces of a label bar, in per cent of its width."""
    total = sum(counts.values())
    parts, before = [], 0
    for label, count in counts.items():
        if count:
            parts.append(
                {
                    "label": label,
                    "count": count,
                    "start": round(100 * before / total, 3),
                    "width": round(100 * count / total, 3),
                }
            )
        before += count
    return parts


def agreement_cell(found: dict[str, Any], interval: str = "wilson") -> dict[str, Any]:
    """A share of agreement drawn with an interval, and its counts."""
    view = interval_view({"point": found["point"], "interval": found[interval]}, label="Agreement")
    return {**view, "counts": f"{found['agreeing']:,} of {found['of']:,}"}


def seconds_text(seconds: Any) -> str:
    """`48 s`, `3 min 20 s`, `2 h 5 min`, or a dash."""
    if seconds is None or isinstance(seconds, dict):
        return DASH
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def work_rows(people: dict[str, Any]) -> list[dict[str, Any]]:
    """Labels and time of each person by role and kind of item."""
    return [
        {
            **entry,
            "role": entry["role"].capitalize(),
            "kind": KIND_NAMES[entry["kind"]],
            "total": seconds_text(entry["seconds"] if entry["timed"] else None),
            "median": seconds_text(entry["median_seconds"]),
        }
        for entry in people["work"]
    ]


def drift_rows(people: dict[str, Any]) -> list[dict[str, Any]]:
    """Per person and reference: agreement in each quarter of the work, and its trends with order and time."""
    names = {"automatic": "automatic labels", "others": "other people"}
    rows = []
    for entry in people["drift"]:
        for key, title in names.items():
            found = entry[key]
            if not found["n"]:
                continue
            rows.append(
                {
                    "person": entry["rater"],
                    "reference": title,
                    "parts": [agreement_cell(part, "cluster_robust") for part in found["by_order"]],
                    "order": _trend(found["order_trend"]),
                    "speed": _trend(found["speed_trend"], "no time was recorded"),
                }
            )
    return rows


def _trend(estimate: dict[str, Any], without: str = "nothing to compare") -> dict[str, str]:
    """Tau-b with its interval, and a word for what it says; `without` says what is missing where nothing counts."""
    point, interval = estimate["point"], estimate["interval"]
    if isinstance(point, dict):
        return {"text": DASH, "bounds": "", "word": point["undefined"] if estimate["n"] else without}
    word = "no trend shown"
    if isinstance(interval, dict):
        word = "no interval"
    elif interval[0] > 0:
        word = "rises"
    elif interval[1] < 0:
        word = "falls"
    return {
        "text": number(point, 2),
        "bounds": "" if isinstance(interval, dict) else bounds_text(interval, 2),
        "word": word,
    }
