"""A full report as tables for a paper, in Markdown or LaTeX, and as one long list of numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from agreement.presenting.intervals import bounds_text, value_text
from agreement.presenting.process import ROUND_NAMES, TYPE_NAMES
from agreement.presenting.study import ESTIMATOR_NAMES
from agreement.stats.render import FORMATS, Table, tables

Name = Callable[[str], str]
NUMBER_COLUMNS = (
    "path", "point", "low", "high", "undefined", "n", "k", "clusters", "level", "method", "resamples", "degenerate",
    "seed",
)  # fmt: skip
_SPLITS = {"by_type": "type", "by_model": "model", "by_judge_setting": "judge setting"}


def report_document(report: dict[str, Any], form: str) -> str:
    """Every table of a full report in `markdown` or `latex`; names from outside cannot become markup."""
    name: Name = _as_markdown_text if form == "markdown" else _unchanged
    simulated = "SIMULATED labels: no person gave them" if report["is_simulated"] else "people's labels"
    head = f"Audit {report['audit']} of study {report['study']}, {simulated}."
    every = [*tables(report), _links(report["links"], name), _rounds(report["rounds"])]
    if "whole_study" in report:
        every += [_models(report["whole_study"], score, name) for score in ("as", "ap", "upper", "ugr")]
        every.append(_leaderboard(report["leaderboard"]["as"], name))
    every[0].notes.insert(0, head)
    return "\n\n".join(FORMATS[form](table) for table in every) + "\n"


def _as_markdown_text(text: str) -> str:
    """A name from outside with Markdown's signs escaped, but for the bar, which every cell's writer escapes."""
    return re.sub(r"([\\`*_\[\]<>#~&])", r"\\\1", " ".join(text.split()))


def _unchanged(text: str) -> str:
    """LaTeX's signs are escaped in every cell."""
    return text


def _links(links: dict[str, Any], name: Name) -> Table:
    rows = [_link_row("Overall", links["overall"])]
    for key, title in _SPLITS.items():
        rows += [
            _link_row(f"{title} {name(TYPE_NAMES.get(label, label))}", found) for label, found in links[key].items()
        ]
    return Table("Link precision", ["Links", "k of n", "Precision", "Wilson", "By tasks", "Cannot tell"], rows)


def _link_row(term: str, found: dict[str, Any]) -> list[str]:
    return [
        term,
        f"{found['k']} of {found['n']}",
        value_text(found["point"], 4),
        bounds_text(found["wilson"], 4),
        bounds_text(found["cluster_robust"], 4),
        str(found["cannot_tell"]),
    ]


def _rounds(rounds: dict[str, Any]) -> Table:
    """The paper's Table A10 with recall and precision below."""
    names = [ROUND_NAMES[label] for label in rounds["labels"]]
    rows = [
        [title, *map(str, row), str(total)]
        for title, row, total in zip(names, rounds["matrix"], rounds["human_totals"], strict=True)
    ]
    rows.append(["Total", *map(str, rounds["automatic_totals"]), str(rounds["rounds"])])
    notes = []
    for measure in ("recall", "precision"):
        for label, title in zip(rounds["labels"], names, strict=True):
            share = rounds[measure][label]
            value = (
                f"undefined, {share['point']['undefined']}"
                if isinstance(share["point"], dict)
                else (f"{value_text(share['point'], 4)} ({share['k']} of {share['n']})")
            )
            notes.append(f"{measure.capitalize()} of {title}: {value}.")
    return Table("Rounds: human in rows, automatic in columns", ["Human / Automatic", *names, "Total"], rows, notes)


def _models(whole: dict[str, Any], measure: str, name: Name) -> Table:
    columns = [key for key in ESTIMATOR_NAMES if measure in ("ap", "ugr") or key != "rogan_gladen"]
    rows = [
        [
            name(model["model"]),
            f"{model['audited']} of {model['runs'] + model['empty']}",
            *(_estimate(model[measure][key]) for key in columns),
        ]
        for model in whole["models"]
    ]
    notes = [f"{ESTIMATOR_NAMES[key]}: {found}." for key in columns if (found := _estimand(whole, measure, key))]
    titles = [ESTIMATOR_NAMES[key] for key in columns]
    return Table(f"Whole study, {measure.upper()}", ["Model", "Audited runs", *titles], rows, notes)


def _estimand(whole: dict[str, Any], measure: str, estimator: str) -> str:
    return str(whole["models"][0][measure][estimator].get("estimand", "")) if whole["models"] else ""


def _leaderboard(board: dict[str, Any], name: Name) -> Table:
    rows = [
        [
            name(entry["model"]),
            _estimate(entry["mean"]),
            _span(entry["rank_interval"]),
            _span(entry["rank_by_tests"]),
        ]
        for entry in board["models"]
    ]
    return Table("Leaderboard by AS", ["Model", "Mean", "Rank interval", "Rank by tests"], rows)


def _estimate(found: dict[str, Any]) -> str:
    return f"{value_text(found['point'], 4)} {bounds_text(found['interval'], 4)}"


def _span(ranks: Any) -> str:
    return "undefined" if isinstance(ranks, dict) else f"{ranks[0]} to {ranks[1]}"


def numbers(report: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Every estimate of a report, one row each: where it stands in the JSON, and its fields."""
    if isinstance(report, list):
        for place, entry in enumerate(report):
            yield from numbers(entry, f"{path}/{_key(entry, place)}")
        return
    if not isinstance(report, dict):
        return
    if "point" in report:
        yield _number(report, path)
    for key, entry in report.items():
        if isinstance(entry, dict | list):
            yield from numbers(entry, f"{path}/{key}" if path else str(key))


def _key(entry: Any, place: int) -> str:
    """What a member of a list is about, or its place."""
    if not isinstance(entry, dict):
        return str(place)
    names = [str(entry[key]) for key in ("model", "rater", "person", "first", "second") if key in entry]
    return " – ".join(names) or str(place)


def _number(estimate: dict[str, Any], path: str) -> dict[str, Any]:
    point = estimate["point"]
    interval = next(
        (
            estimate[key]
            for key in ("interval", "cluster_robust", "wilson")
            if isinstance(estimate.get(key), list | tuple)
        ),
        (None, None),
    )
    row = {key: estimate.get(key) for key in NUMBER_COLUMNS}
    row |= {"path": path, "low": interval[0], "high": interval[1], "undefined": ""}
    if isinstance(point, dict):
        row |= {"point": None, "undefined": point["undefined"]}
    if "agreeing" in estimate:
        row |= {"k": estimate["agreeing"], "n": estimate["of"]}
    return row
