"""Reports on labels and scores as tables for people."""

from __future__ import annotations

import re
from typing import Any

from agreement.stats.classes import MEASURES
from agreement.stats.documents import Table, document

STATISTIC_NAMES = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall_b": "Kendall tau-b",
    "mae": "MAE",
    "bias": "Bias",
    "rmse": "RMSE",
    "icc_2_1": "ICC(2,1)",
    "limit_low": "Lower limit of agreement",
    "limit_high": "Upper limit of agreement",
}
COEFFICIENT_NAMES = {
    "observed": "Observed agreement",
    "kappa": "Cohen's kappa",
    "pi": "Scott's pi",
    "alpha": "Krippendorff's alpha",
    "ac1": "Gwet's AC1",
    "brennan_prediger": "Brennan-Prediger",
    "pabak": "PABAK (two-category form)",
    "linear_kappa": "Weighted kappa, linear",
    "quadratic_kappa": "Weighted kappa, quadratic",
    "macro_f1": "Macro F1",
    "weighted_f1": "Weighted F1",
    "balanced_accuracy": "Balanced accuracy",
    "mcc": "MCC",
}
SCORE_NAMES = {"as": "AS", "ap": "AP", "upper": "Upper"}
SOURCE_NAMES = {"auto": "Automatic", "h1": "H1", "h2": "H2"}
TEST_NAMES = {
    "bowker": "Bowker, symmetry",
    "stuart_maxwell": "Stuart-Maxwell, marginals",
    "bhapkar": "Bhapkar, marginals",
}
SHARE_INTERVALS = {"wilson": "Wilson", "clopper_pearson": "Clopper-Pearson", "cluster_robust": "cluster-robust"}
BLOCKS = ("auto_h1", "h1_h2")
_IN_SCORE_UNITS = ("mae", "bias", "rmse", "limit_low", "limit_high")


def number(value: float, digits: int = 4) -> str:
    """A number with a fixed count of decimals, minus zero written as zero."""
    text = f"{value:.{digits}f}"
    return text[1:] if re.fullmatch(r"-0\.?0*", text) else text


def value_text(value: Any, scale: float = 1.0) -> str:
    """A bare value of a report: the number, or `undefined`."""
    return "undefined" if isinstance(value, dict) else number(value * scale)


def p_text(p: Any) -> str:
    """A p-value with four decimals, or in scientific notation where those would say too little."""
    if isinstance(p, dict):
        return "undefined"
    return f"{p:.1e}" if p < 0.001 else f"{p:.4f}"


def interval_text(interval: Any, scale: float = 1.0) -> str:
    """`[0.8496, 0.9519]`, or that there is none."""
    if isinstance(interval, dict):
        return "no interval"
    return f"[{number(interval[0] * scale)}, {number(interval[1] * scale)}]"


def estimate_text(estimate: dict[str, Any], scale: float = 1.0) -> str:
    """An estimate of a report as `0.9054 [0.8496, 0.9519]`."""
    point = value_text(estimate["point"], scale)
    if isinstance(estimate["point"], dict):
        return point
    if isinstance(estimate["interval"], dict):
        return f"{point} [no interval]"
    return f"{point} {interval_text(estimate['interval'], scale)}"


def reasons(estimates: dict[str, dict[str, Any]]) -> list[str]:
    """Notes on the estimates that lack a point or an interval, have degenerate resamples, or are out of range.

    One note for all that have the same to say of them.
    """
    found: dict[str, list[str]] = {}
    for name, estimate in estimates.items():
        for said in _said_of(estimate):
            found.setdefault(said, []).append(name)
    return [f"{'; '.join(names)}: {said}." for said, names in found.items()]


def _said_of(estimate: dict[str, Any]) -> list[str]:
    said = []
    if isinstance(estimate["point"], dict):
        said.append(f"undefined, {estimate['point']['undefined']}")
    elif isinstance(estimate["interval"], dict):
        said.append(f"no interval, {estimate['interval']['undefined']}")
    elif estimate.get("degenerate"):
        said.append(f"{estimate['degenerate']} of {estimate['resamples']} resamples had no value")
    return said + ([estimate["remark"]] if "remark" in estimate else [])


def tables(report: dict[str, Any]) -> list[Table]:
    """The tables of a report of either kind."""
    if report["kind"] == "pairs":
        return [pairs_table(report)]
    found = [label_table(report[block]) for block in BLOCKS]
    found += [coefficient_table(report), score_table(report), class_table(report), symmetry_table(report)]
    found += [analytic_table(report[block]) for block in BLOCKS]
    if report.get("is_simulated"):
        found[0].notes.insert(0, "The labels are SIMULATED: no person gave them.")
    return found


def label_table(block: dict[str, Any]) -> Table:
    """The label matrix with its totals, as one half of the paper's Table A8."""
    first, second = SOURCE_NAMES[block["first"]], SOURCE_NAMES[block["second"]]
    categories, matrix = block["categories"], block["matrix"]
    rows = [[label, *map(str, row), str(sum(row))] for label, row in zip(categories, matrix, strict=True)]
    columns = [sum(column) for column in zip(*matrix, strict=True)]
    rows.append(["Total", *map(str, columns), str(sum(columns))])
    return Table(
        f"Labels: {first} in rows, {second} in columns ({block['n']} groups, {block['tasks']} tasks)",
        [f"{first} / {second}", *categories, "Total"],
        rows,
        [f"Left out: {entry['count']} groups, {entry['reason']}." for entry in block["left_out"]],
    )


def coefficient_table(report: dict[str, Any]) -> Table:
    """Every coefficient of both comparisons with its interval."""
    rows, notes = [], []
    for key, name in COEFFICIENT_NAMES.items():
        rows.append([name, *(estimate_text(report[block]["nominal"][key]) for block in BLOCKS)])
    for block in BLOCKS:
        named = {
            f"{_title(report[block])}, {name}": report[block]["nominal"][key]
            for key, name in COEFFICIENT_NAMES.items()
        }
        notes += reasons(named)
    return Table("Agreement of the labels", ["Coefficient", *(_title(report[b]) for b in BLOCKS)], rows, notes)


def score_table(report: dict[str, Any]) -> Table:
    """The paper's Table A9: response scores of both comparisons; errors of AP are in percentage points."""
    shown = [name for name in STATISTIC_NAMES if name in report[BLOCKS[0]]["scores"]["as"]]
    header, notes = ["Metric"], []
    for block in BLOCKS:
        title = _title(report[block])
        header += [f"{title} {score}" for score in SCORE_NAMES.values()]
        pairs = report[block]["score_pairs"]
        notes.append(f"{title}: {pairs['responses']} responses from {pairs['tasks']} tasks.")
        notes += [f"{title}, left out: {out['count']} responses, {out['reason']}." for out in pairs["left_out"]]
        notes += reasons(
            {
                f"{title} {SCORE_NAMES[score]} {STATISTIC_NAMES[name]}": report[block]["scores"][score][name]
                for score in SCORE_NAMES
                for name in shown
            }
        )
    rows = []
    for name in shown:
        cells = [
            estimate_text(
                report[block]["scores"][score][name], 100 if score == "ap" and name in _IN_SCORE_UNITS else 1
            )
            for block in BLOCKS
            for score in SCORE_NAMES
        ]
        rows.append([STATISTIC_NAMES[name], *cells])
    notes.append("AS and Upper errors are points from 0 to 100, AP errors percentage points. " + _how(report))
    return Table("Agreement of the response scores", header, rows, notes)


def class_table(report: dict[str, Any]) -> Table:
    """Precision, recall and F1 of each label with their intervals, the second source taken for the truth."""
    rows: list[list[str]] = []
    named: dict[str, dict[str, Any]] = {}
    for block in BLOCKS:
        found, title = report[block], _title(report[block])
        for label, measures in found["class_intervals"].items():
            counts = found["classes"][label]
            texts = [estimate_text(measures[name]) for name in MEASURES]
            rows.append([title, label, str(counts["first"]), str(counts["second"]), *texts])
            named |= {f"{title}, {name} of {label}": measures[name] for name in MEASURES}
    header = ["Comparison", "Label", "Given by first", "By second", "Precision", "Recall", "F1"]
    return Table("Each label, the second source taken for the truth", header, rows, reasons(named))


def symmetry_table(report: dict[str, Any]) -> Table:
    """The tests of symmetry and of equal marginals, which take the items for independent."""
    rows, notes = [], []
    for block in BLOCKS:
        title = _title(report[block])
        for key, name in TEST_NAMES.items():
            test = report[block]["symmetry"][key]
            if "undefined" in test:
                rows.append([title, name, "undefined", "", ""])
                notes.append(f"{title}, {name}: undefined, {test['undefined']}.")
            else:
                rows.append([title, name, number(test["chi2"]), str(test["df"]), p_text(test["p"])])
    notes.append(
        "A small p says that one of the two gives some label more often. The tests take groups as independent."
    )
    return Table(
        "Tests of symmetry and of equal marginals", ["Comparison", "Test", "Chi-square", "df", "p"], rows, notes
    )


def analytic_table(block: dict[str, Any]) -> Table:
    """Every coefficient with its large-sample intervals, and the share of agreement with each of its own."""
    rows = []
    for key, name in COEFFICIENT_NAMES.items():
        if (found := block["nominal"][key].get("analytic")) is not None:
            ends = [interval_text(found[side]) for side in ("z_interval", "t_interval")]
            rows.append([name, value_text(block["nominal"][key]["point"]), value_text(found["se"]), *ends])
    observed = block["nominal"]["observed"]["analytic"]
    notes = [
        f"Observed agreement, {name}: {interval_text(observed[key])}." for key, name in SHARE_INTERVALS.items()
    ]
    notes.append(f"SE of kappa under independence: {value_text(block['nominal']['kappa']['analytic']['null_se'])}.")
    notes.append(
        "These intervals take the groups as independent, and an end may lie beyond the coefficient's range."
    )
    title = f"Analytic intervals, {_title(block)}"
    return Table(title, ["Coefficient", "Point", "SE", "z interval", "t interval"], rows, notes)


def pairs_table(report: dict[str, Any]) -> Table:
    """The statistics of one pair of scores."""
    shown = [name for name in STATISTIC_NAMES if name in report]
    rows = [[STATISTIC_NAMES[name], estimate_text(report[name])] for name in shown]
    notes = [f"Left out: {out['count']} rows, {out['reason']}." for out in report["left_out"]]
    notes += reasons({STATISTIC_NAMES[name]: report[name] for name in shown})
    notes.append(_how(report))
    x, y = report.get("x", "the first score"), report.get("y", "the second score")
    return Table(
        f"{x} against {y} ({report['n']} pairs, {report['clusters']} clusters)", ["Metric", "Value"], rows, notes
    )


def _title(block: dict[str, Any]) -> str:
    return f"{SOURCE_NAMES[block['first']]}-{SOURCE_NAMES[block['second']]}"


def _how(report: dict[str, Any]) -> str:
    unit = "task-cluster" if report["unit"] == "task" else "row"
    return (
        f"Brackets: {report['level']:.0%} percentile intervals of {report['resamples']} {unit} resamples, "
        f"seed {report['seed']}."
    )


def render(report: dict[str, Any], form: str) -> str:
    """All tables of a report in `text`, `markdown` or `latex`, ending in a newline."""
    return document(tables(report), form)
