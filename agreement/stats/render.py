"""Reports as tables for people: plain text, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

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
    "macro_f1": "Macro F1",
    "balanced_accuracy": "Balanced accuracy",
    "mcc": "MCC",
}
SCORE_NAMES = {"as": "AS", "ap": "AP", "upper": "Upper"}
SOURCE_NAMES = {"auto": "Automatic", "h1": "H1", "h2": "H2"}
BLOCKS = ("auto_h1", "h1_h2")
_IN_SCORE_UNITS = ("mae", "bias", "rmse", "limit_low", "limit_high")


@dataclass(slots=True)
class Table:
    """A table of text cells; `notes` go below it."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)


def number(value: float, digits: int = 4) -> str:
    """A number with a fixed count of decimals, minus zero written as zero."""
    text = f"{value:.{digits}f}"
    return text[1:] if re.fullmatch(r"-0\.?0*", text) else text


def value_text(value: Any, scale: float = 1.0) -> str:
    """A bare value of a report: the number, or `undefined`."""
    return "undefined" if isinstance(value, dict) else number(value * scale)


def estimate_text(estimate: dict[str, Any], scale: float = 1.0) -> str:
    """An estimate of a report as `0.9054 [0.8496, 0.9519]`."""
    point = value_text(estimate["point"], scale)
    interval = estimate["interval"]
    if isinstance(interval, dict):
        return point if isinstance(estimate["point"], dict) else f"{point} [no interval]"
    return f"{point} [{number(interval[0] * scale)}, {number(interval[1] * scale)}]"


def reasons(estimates: dict[str, dict[str, Any]]) -> list[str]:
    """One note per estimate that lacks a point or an interval, or of which some resamples were degenerate."""
    notes = []
    for name, estimate in estimates.items():
        if isinstance(estimate["point"], dict):
            notes.append(f"{name}: undefined, {estimate['point']['undefined']}.")
        elif isinstance(estimate["interval"], dict):
            notes.append(f"{name}: no interval, {estimate['interval']['undefined']}.")
        elif estimate["degenerate"]:
            notes.append(f"{name}: {estimate['degenerate']} of {estimate['resamples']} resamples had no value.")
    return notes


def tables(report: dict[str, Any]) -> list[Table]:
    """The tables of a report of either kind."""
    if report["kind"] == "pairs":
        return [pairs_table(report)]
    return [label_table(report[block]) for block in BLOCKS] + [coefficient_table(report), score_table(report)]


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


def as_text(table: Table) -> str:
    """Columns padded with spaces, for a terminal."""
    grid = [table.header, *table.rows]
    widths = [max(len(row[column]) for row in grid) for column in range(len(table.header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in grid]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([table.title, "", *lines, *_after(table.notes, "  {}")])


def as_markdown(table: Table) -> str:
    """A pipe table with the title as a heading and the notes as a list."""
    lines = [_pipe(row) for row in (table.header, ["---"] * len(table.header), *table.rows)]
    return "\n".join([f"### {table.title}", "", *lines, *_after(map_all(table.notes, _markdown_cell), "- {}")])


def as_latex(table: Table) -> str:
    """A `table` with booktabs rules; needs `\\usepackage{booktabs}` and nothing else."""
    columns = "l" + "r" * (len(table.header) - 1)
    body = [" & ".join(map_all(row, latex_text)) + r" \\" for row in table.rows]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(table.title)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(map_all(table.header, latex_text)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\footnotesize {latex_text(note)}" for note in table.notes),
            r"\end{table}",
        ]
    )


def map_all(cells: Sequence[str], change: Callable[[str], str]) -> list[str]:
    """`change` applied to each cell."""
    return [change(cell) for cell in cells]


def latex_text(text: str) -> str:
    """The text with LaTeX's special characters escaped."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {character: f"\\{character}" for character in "&%$#_{}"}
    return "".join(special.get(character, character) for character in text)


def _markdown_cell(text: str) -> str:
    return re.sub(r"([\\|`*_<>\[\]])", r"\\\1", text).replace("\n", " ")


def _pipe(cells: Sequence[str]) -> str:
    escaped = [cell.replace("|", "\\|").replace("\n", " ") for cell in cells]
    return "| " + " | ".join(escaped) + " |"


def _after(notes: Sequence[str], form: str) -> list[str]:
    return ["", *(form.format(note) for note in notes)] if notes else []


FORMATS: dict[str, Callable[[Table], str]] = {"text": as_text, "markdown": as_markdown, "latex": as_latex}


def render(report: dict[str, Any], form: str) -> str:
    """All tables of a report in `text`, `markdown` or `latex`, ending in a newline."""
    return "\n\n".join(FORMATS[form](table) for table in tables(report)) + "\n"
