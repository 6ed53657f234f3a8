"""Tables of the people: every pair, each person, their work, and drift."""

from __future__ import annotations

from typing import Any

from agreement.stats.documents import Outside, Table
from agreement.stats.render import estimate_text, interval_text, number, value_text

_COEFFICIENTS = {
    "observed": "Observed",
    "kappa": "Cohen's kappa",
    "alpha": "Krippendorff's alpha",
    "ac1": "Gwet's AC1",
}
_REFERENCES = {"automatic": "automatic labels", "others": "other people"}


def tables(report: dict[str, Any]) -> list[Table]:
    """Every pair of raters, profiles, work by kind of item, and agreement by order and time."""
    people = report["people"]
    return [_pairs(people), _profiles(people), _work(people), _drift(people)]


def _pairs(people: dict[str, Any]) -> Table:
    rows = [
        [
            Outside(pair["first"]),
            Outside(pair["second"]),
            str(pair["n"]),
            *(estimate_text(pair[key]) for key in _COEFFICIENTS),
        ]
        for pair in people["pairs"]
    ]
    alpha = people["alpha"]
    notes = [
        f"Krippendorff's alpha of all people: {estimate_text(alpha)}, {alpha['n']} groups with two labels or more.",
        f"Adjudicated groups: {people['adjudicated']}; an adjudicator is never a rater.",
        f"Brackets: 95% percentiles of {people['resamples']} task-cluster resamples, seed {people['seed']}.",
    ]
    return Table("Rater by rater", ["First", "Second", "Groups", *_COEFFICIENTS.values()], rows, notes)


def _profiles(people: dict[str, Any]) -> Table:
    rows = [
        [
            Outside(entry["rater"]),
            entry["role"],
            str(entry["items"]),
            *(f"{count} ({_share(entry['shares'][label])})" for label, count in entry["labels"].items()),
            _agreement(entry["with_automatic"], "wilson"),
            _agreement(entry["agreement"], "wilson"),
            _seconds(entry["median_seconds"]),
        ]
        for entry in people["profiles"]
    ]
    header = ["Person", "Role", "Groups", "C", "I", "U", "Agrees with automatic", "Agrees with others", "Median s"]
    return Table("Profiles", header, rows, ["Agreement with Wilson intervals."])


def _share(share: Any) -> str:
    return "undefined" if isinstance(share, dict) else f"{share:.1%}"


def _agreement(found: dict[str, Any], interval: str) -> str:
    if isinstance(found["point"], dict):
        return "undefined"
    return f"{found['agreeing']} of {found['of']}, {value_text(found['point'])} {interval_text(found[interval])}"


def _seconds(seconds: Any) -> str:
    return "not recorded" if seconds is None or isinstance(seconds, dict) else number(seconds, 1)


def _work(people: dict[str, Any]) -> Table:
    rows = [
        [
            Outside(entry["person"]),
            entry["role"].upper() if len(entry["role"]) == 2 else entry["role"],
            entry["kind"],
            str(entry["labels"]),
            str(entry["timed"]),
            _seconds(entry["median_seconds"]),
            number(entry["seconds"], 0) if entry["timed"] else "not recorded",
        ]
        for entry in people["work"]
    ]
    header = ["Person", "Role", "Kind", "Labels", "With a time", "Median s", "Seconds in all"]
    return Table("Labels and time by kind of item", header, rows)


def _drift(people: dict[str, Any]) -> Table:
    rows = [
        [
            Outside(entry["rater"]),
            title,
            *(_agreement(part, "cluster_robust") for part in entry[key]["by_order"]),
            estimate_text(entry[key]["order_trend"]),
            estimate_text(entry[key]["speed_trend"]),
        ]
        for entry in people["drift"]
        for key, title in _REFERENCES.items()
        if entry[key]["n"]
    ]
    header = [
        "Person", "Agreement with", "First quarter", "Second", "Third", "Last", "Trend with order",
        "Trend with time",
    ]  # fmt: skip
    notes = [
        "Shares with cluster-robust intervals. A trend is tau-b of agreement with the order, or with the seconds "
        "on task, with its delete-one-task jackknife interval."
    ]
    return Table("Drift", header, rows, notes)
