"""The whole-study page: design-weighted agreement, corrected scores of models, and the planner."""

from __future__ import annotations

from typing import Any

from agreement.presenting.intervals import (
    Axis,
    axis_within,
    coefficient_axis,
    headline_number,
    interval_view,
    number,
    value_text,
)
from agreement.presenting.labels import LABEL_NAMES, heatmap
from agreement.presenting.scores import LONG_SCORE_NAMES
from agreement.stats.scores import LABELS
from agreement.stats.study_scores import SCORE_ESTIMANDS, UGR_ESTIMANDS

DESIGN_NAMES = {
    "as_drawn": "Audited groups alone",
    "design_weighted": "Design-weighted",
    "post_stratified": "Post-stratified",
}
ESTIMATOR_NAMES = {
    "naive": "Naive",
    "human": "Audited runs only",
    "ppi": "PPI",
    "ppi_tuned": "PPI++, tuned",
    "rogan_gladen": "Rogan–Gladen",
}
_MEASURES = {
    "as": "Answer Score",
    "ap": "Answer Precision",
    "ugr": "Unverifiable group rate",
    "upper": "Upper Score",
}
_SHORT = {"as": "AS", "ap": "AP", "ugr": "UGR", "upper": "Upper"}


def headline(whole: dict[str, Any]) -> list[dict[str, str]]:
    """The numbers to read first: agreement over the study, people's mean Answer Score, and what they rest on."""
    found, score = whole["agreement"]["post_stratified"], whole["human_scores"]["as"]
    return [
        headline_number("Observed agreement, study", found["observed"], 3, "post-stratified, automatic – H1"),
        headline_number("Cohen's kappa, study", found["kappa"], 3, "post-stratified, automatic – H1"),
        headline_number(
            "People's mean AS, study",
            score["human"],
            2,
            f"design-weighted; automatic {value_text(score['automatic'], 2)}",
        ),
        _count("Audited groups", whole["audited_groups"], f"of {whole['drawn_groups']:,} drawn have both labels"),
        _count("Audited runs", whole["audited_runs"], f"of {whole['labelable_runs']:,} scored runs with a group"),
    ]


def _count(term: str, count: int, note: str) -> dict[str, str]:
    return {"term": term, "value": f"{count:,}", "reason": "", "interval": "", "note": note}


def agreement_table(whole: dict[str, Any]) -> dict[str, Any]:
    """`rows`: observed agreement, kappa and the share of each human label, a column per design, on one `axis`."""
    designs = [whole["agreement"][name] for name in DESIGN_NAMES]
    rows = [
        ("Observed agreement", [design["observed"] for design in designs]),
        ("Cohen's kappa", [design["kappa"] for design in designs]),
    ]
    rows += [
        (f"Share that people call {LABEL_NAMES[label].lower()}", [d["human_share"][label] for d in designs])
        for label in LABELS
    ]
    axis = coefficient_axis(estimate for _, estimates in rows for estimate in estimates)
    return {
        "rows": [
            {"term": term, "cells": [interval_view(estimate, axis, term) for estimate in estimates]}
            for term, estimates in rows
        ],
        "axis": axis.text,
    }


def study_matrix(whole: dict[str, Any]) -> dict[str, Any]:
    """The estimated counts of the study, post-stratified: automatic in rows, people in columns."""
    counts = [[round(count) for count in row] for row in whole["agreement"]["post_stratified"]["matrix"]]
    return heatmap(counts, list(LABELS), "Estimated for the study", "Automatic", "Human", "groups, rounded")


def human_score_rows(whole: dict[str, Any]) -> list[dict[str, Any]]:
    """The design-weighted human mean of each score beside the automatic mean of the same responses."""
    rows = []
    for score, title in LONG_SCORE_NAMES.items():
        found = whole["human_scores"][score]
        scale = 100.0 if score == "ap" else 1.0
        axis = Axis(0, 100, 2, scale)
        automatic = found["automatic"]
        rows.append(
            {
                "term": title + (", per cent" if score == "ap" else ""),
                "human": interval_view(found["human"], axis, title),
                "automatic": value_text(automatic if isinstance(automatic, dict) else automatic * scale, 2),
            }
        )
    return rows


def model_tables(whole: dict[str, Any]) -> list[dict[str, Any]]:
    """One table per measure: models in rows, estimators in columns, everything on one axis."""
    tables = []
    for measure, title in _MEASURES.items():
        names = [name for name in ESTIMATOR_NAMES if measure in ("ap", "ugr") or name != "rogan_gladen"]
        estimates = {model["model"]: [model[measure][name] for name in names] for model in whole["models"]}
        scale = 1.0 if measure in ("as", "upper") else 100.0
        axis = axis_within((one for found in estimates.values() for one in found), 0, 100, 1, scale)
        tables.append(
            {
                "key": measure,
                "title": title,
                "short": _SHORT[measure],
                "unit": "points" if measure in ("as", "upper") else "per cent",
                "axis": axis.text,
                "columns": [ESTIMATOR_NAMES[name] for name in names],
                "rows": [
                    {
                        "model": model["model"],
                        "audited": model["audited"],
                        "runs": model["runs"] + model["empty"],
                        "tuning": value_text(model[measure]["ppi_tuned"]["lambda"], 2),
                        "cells": [interval_view(one, axis, title) for one in estimates[model["model"]]],
                    }
                    for model in whole["models"]
                ],
            }
        )
    return tables


def estimands() -> list[dict[str, str]]:
    """What each estimator estimates, of scores and of the rate of unverifiable groups."""
    return [
        {"name": title, "score": SCORE_ESTIMANDS[name], "rate": UGR_ESTIMANDS[name]}
        for name, title in ESTIMATOR_NAMES.items()
    ]


def plan_rows(plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each plan as texts; one that cannot be made says why."""
    rows = []
    for entry in plans:
        plan, digits = entry["plan"], 1 if entry["unit"] == "points" else 3
        if "undefined" in plan:
            rows.append({"what": entry["what"], "reason": plan["undefined"]})
            continue
        rows.append(
            {
                "what": entry["what"],
                "reason": "",
                "now": value_text(plan["half_width_now"], digits),
                "then": number(plan["half_width_then"], digits),
                "tasks": plan["tasks"],
                "more_tasks": plan["more_tasks"],
                "labels": plan["labels"],
                "more_labels": plan["more_labels"],
                "assumes": plan["assumes"],
            }
        )
    return rows
