"""The people behind an audit's labels, with the machine beside them: agreement, profiles, drift."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from agreement.people_selectors import automatic_labels, peoples_work
from agreement.stats.bootstrap import Resampling
from agreement.stats.people import Labelling, drift, independent, people_report, profile
from agreement.stats.raters import rater_matrix
from agreement.stats.scores import LABELS
from agreement.stats.undefined import plain
from annotation.models import Audit

AUTOMATIC = "automatic labels"
"""No person can have this name: user names hold no blank."""
PAIR_RESAMPLES = 2_000
"""Fewer than for the study's main numbers, since there may be many people. An interval's end then has a Monte-Carlo
error of about a fiftieth of the interval's width."""


def people_of(audit: Audit, source: str) -> dict[str, Any]:
    """Everything that the people page shows, JSON-able. Two queries.

    `raters`, `alpha` and `profiles` as in `stats.people.people_report`, with `with_automatic` (agreement with the
    automatic labels) in each profile; `pairs` also has the automatic labels as the first of the raters; `drift`
    has for each person agreement by order and time with the automatic labels and with the others; `work` counts
    labels and time by person and kind, adjudicators included; `adjudicated` groups are in none of the others.
    `groups` have a label of some rater, `without_automatic` of them no automatic one.
    """
    found, automatic = peoples_work(audit, source), automatic_labels(audit)
    own = independent(found.labellings)
    how = Resampling(PAIR_RESAMPLES)
    report = people_report(own, LABELS, how)
    by_rater = {name: {e.item: e.label for e in own if e.rater == name} for name in report["raters"]}
    tasks = {entry.item: entry.task for entry in own}
    machine = {item: automatic[item] for item in tasks if item in automatic}
    report["pairs"] = rater_matrix({AUTOMATIC: machine, **by_rater}, tasks, LABELS, how) if by_rater else []
    for entry in report["profiles"]:
        entry["role"] = _roles(own, entry["rater"])
        entry["with_automatic"] = _with_automatic(own, entry["rater"], machine, tasks)
    return {
        **report,
        "groups": len(tasks),
        "without_automatic": len(tasks) - len(machine),
        "drift": [_drift(own, rater, by_rater, automatic) for rater in by_rater],
        "work": [asdict(work) for work in found.work],
        "adjudicated": found.adjudicated,
        "resamples": PAIR_RESAMPLES,
        "seed": how.seed,
    }


def _roles(labellings: list[Labelling], rater: str) -> str:
    return ", ".join(sorted({entry.role.upper() for entry in labellings if entry.rater == rater}))


def _with_automatic(
    labellings: list[Labelling], rater: str, machine: dict[str, str], tasks: dict[str, str]
) -> dict[str, Any]:
    """The person's agreement with the machine alone, as `stats.people.profile` counts it."""
    own = [entry for entry in labellings if entry.rater == rater]
    beside = [Labelling(item, tasks[item], AUTOMATIC, "", label) for item, label in machine.items()]
    found: dict[str, Any] = profile([*own, *beside], rater, LABELS)["agreement"]
    return found


def _drift(
    labellings: list[Labelling], rater: str, by_rater: dict[str, dict[str, str]], automatic: dict[str, str]
) -> dict[str, Any]:
    own = [entry for entry in labellings if entry.rater == rater]
    others: dict[str, str] = {}
    for name, labels in by_rater.items():
        if name != rater:
            others = labels | others
    references = {"automatic": automatic, "others": others}
    return {"rater": rater, **{name: plain(drift(own, labels)) for name, labels in references.items()}}
