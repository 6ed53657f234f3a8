"""Tables of the whole study: design-weighted agreement, corrected scores of models, and the planner."""

from __future__ import annotations

from typing import Any

from agreement.presenting.study import DESIGN_NAMES, ESTIMATOR_NAMES
from agreement.stats.documents import Outside, Table
from agreement.stats.render import estimate_text, number, reasons, value_text
from agreement.stats.scores import LABELS

MEASURES = {"as": "AS", "ap": "AP", "upper": "Upper", "ugr": "UGR"}


def tables(report: dict[str, Any]) -> list[Table]:
    """The models by every estimator, agreement over the study, human means, the estimated matrix, and plans."""
    whole = report["whole_study"]
    found = [_models(whole, measure) for measure in MEASURES]
    found += [_agreement(whole), _matrix(whole), _human_scores(whole)]
    return [*found, _plans(report["planner"])] if "planner" in report else found


def _models(whole: dict[str, Any], measure: str) -> Table:
    columns = [key for key in ESTIMATOR_NAMES if measure in ("ap", "ugr") or key != "rogan_gladen"]
    rows: list[list[str]] = []
    notes: list[str] = []
    named: dict[str, dict[str, Any]] = {}
    for model in whole["models"]:
        found = model[measure]
        audited = f"{model['audited']} of {model['runs'] + model['empty']}"
        tuning = found["ppi_tuned"]["lambda"]
        cells = [estimate_text(found[key]) for key in columns]
        rows.append([Outside(model["model"]), audited, *cells, "" if tuning is None else number(tuning, 2)])
        named |= {f"{model['model']}, {ESTIMATOR_NAMES[key]}": found[key] for key in columns}
        if model["unscored"]:
            notes.append(f"{model['model']}: {model['unscored']} runs with an unjudged group left out.")
    if whole["models"]:
        first = whole["models"][0][measure]
        notes = [
            f"{ESTIMATOR_NAMES[key]}: {first[key]['estimand']}." for key in columns if "estimand" in first[key]
        ] + notes
    notes += reasons(named)
    titles = [ESTIMATOR_NAMES[key] for key in columns]
    return Table(f"Whole study, {MEASURES[measure]}", ["Model", "Audited runs", *titles, "λ"], rows, notes)


def _agreement(whole: dict[str, Any]) -> Table:
    designs = {title: whole["agreement"][name] for name, title in DESIGN_NAMES.items()}
    names = {"observed": "Observed agreement", "kappa": "Cohen's kappa"}
    rows = [[term, *(estimate_text(design[key]) for design in designs.values())] for key, term in names.items()]
    rows += [
        [
            f"Share that people call {label}",
            *(estimate_text(design["human_share"][label]) for design in designs.values()),
        ]
        for label in LABELS
    ]
    notes = [
        f"{whole['audited_groups']} of {whole['drawn_groups']} drawn groups have both labels.",
        "Weights are 1 / inclusion probability; intervals by leaving out one task at a time.",
    ]
    for title, design in designs.items():
        notes += reasons({f"{title}, {term}": design[key] for key, term in names.items()})
    unmet = whole["agreement"]["post_stratified"]["unmet"]
    notes += (
        [f"Post-stratified numbers leave out labels that the audit never met: {', '.join(unmet)}."] if unmet else []
    )
    return Table("Agreement over the study, automatic against H1", ["Number", *designs], rows, notes)


def _matrix(whole: dict[str, Any]) -> Table:
    matrix = whole["agreement"]["post_stratified"]["matrix"]
    rows = [
        [label, *(number(count, 1) for count in row), number(sum(row), 1)]
        for label, row in zip(LABELS, matrix, strict=True)
    ]
    columns = [sum(column) for column in zip(*matrix, strict=True)]
    rows.append(["Total", *(number(count, 1) for count in columns), number(sum(columns), 1)])
    title = "Labels estimated for the study, post-stratified: automatic in rows, people in columns"
    return Table(title, ["Automatic / Human", *LABELS, "Total"], rows)


def _human_scores(whole: dict[str, Any]) -> Table:
    rows, notes = [], []
    for score, found in whole["human_scores"].items():
        scale = 100.0 if score == "ap" else 1.0
        term = MEASURES[score] + (", per cent" if score == "ap" else "")
        rows.append([term, estimate_text(found["human"], scale), value_text(found["automatic"], scale)])
        notes += reasons({term: found["human"]})
    notes.insert(0, "Of responses that supplied a group; design-weighted.")
    return Table(
        "Mean human scores over the study", ["Score", "Human, estimated", "Automatic, all runs"], rows, notes
    )


def _plans(planner: dict[str, Any]) -> Table:
    rows, notes = [], []
    for entry in planner["plans"]:
        plan, digits = entry["plan"], 2 if entry["unit"] == "points" else 4
        if "undefined" in plan:
            rows.append([entry["what"], *["undefined"] * 6])
            notes.append(f"{entry['what']}: undefined, {plan['undefined']}.")
            continue
        widths = [number(plan["half_width_now"], digits), number(plan["half_width_then"], digits)]
        counts = [str(plan[key]) for key in ("more_tasks", "more_labels", "tasks", "labels")]
        rows.append([entry["what"], *widths, *counts])
        notes.append(f"{entry['what']}: if {plan['assumes']}.")
    wanted = planner["wanted"]
    title = f"Plans for intervals of ±{wanted['share']:g} (shares) and ±{wanted['points']:g} points (scores)"
    header = ["Number", "± now", "± then", "More tasks", "More labels", "Tasks in all", "Labels in all"]
    return Table(title, header, rows, notes)
