"""Tables of the validation with people: Table 3, the matrices of Table A8, Table A9, and Table A10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agreement.presenting.process import ROUND_NAMES
from agreement.stats.scores import LABELS
from lseval.site.quantities import counted
from lseval.site.tables import cells
from lseval.site.tables.cells import Cell
from lseval.site.tables.facts import People
from lseval.site.tables.table import Column, Table

NOBODY: Final = "Nobody has labeled an item yet."
_BLOCKS: Final = {"auto_h1": "Automatic–H1", "h1_h2": "H1–H2"}
_SCORES: Final = {"as": "AS", "ap": "AP", "upper": "Upper"}
_CORRELATIONS: Final = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
_METRICS: Final = {**_CORRELATIONS, "mae": "MAE", "bias": "Bias"}


def table_3(people: People | None) -> Table:
    """Correlations of automatic and H1's scores."""
    columns = (
        Column("score", "Score", align="left"),
        *(Column(key, title) for key, title in _CORRELATIONS.items()),
    )
    rows = [
        [
            cells.text(title),
            *(cells.estimate(people.labels["auto_h1"]["scores"][score][key]) for key in _CORRELATIONS),
        ]
        for score, title in (("as", "Answer Score"), ("ap", "Answer Precision"))
        if people
    ]
    notes = [_pairs_note(people.labels["auto_h1"]), _how(people)] if people else [NOBODY]
    caption = "Score correlations of automatic labels and H1."
    return Table("3", "3", caption, columns, rows, notes, is_simulated=_is_simulated(people))


def table_a8(people: People | None) -> Table:
    """Both matrices of labels side by side, with their totals."""
    columns = [Column("label", "Row label", align="left")]
    for block, title in _BLOCKS.items():
        group = f"{title} ({people.labels[block]['n']:,} groups)" if people else title
        columns += [Column(f"{block}_{label}", label, group=group) for label in (*LABELS, "Total")]
    rows = matrix_rows([people.labels[block]["matrix"] for block in _BLOCKS], LABELS) if people else []
    notes = ["Rows are the first member of each comparison, columns the second."] if people else [NOBODY]
    if people:
        for block, title in _BLOCKS.items():
            notes += [
                f"{title}, left out: {entry['count']:,} groups, {entry['reason']}."
                for entry in people.labels[block]["left_out"]
            ]
    caption = "Label matrices of supplied groups: C correct, I incorrect, U unverifiable."
    return Table("a8", "A8", caption, columns, rows, notes, len(rows[:1]), _is_simulated(people))


def matrix_rows(matrices: Sequence[Sequence[Sequence[int]]], labels: Sequence[str]) -> list[list[Cell]]:
    """The rows of matrices set side by side, each with its total, and the totals of the columns."""
    rows: list[list[Cell]] = []
    for place, label in enumerate(labels):
        row = [cells.text(label)]
        for matrix in matrices:
            row += [*map(cells.whole, matrix[place]), cells.whole(sum(matrix[place]))]
        rows.append(row)
    total = [cells.text("Total")]
    for matrix in matrices:
        sums = [sum(column) for column in zip(*matrix, strict=True)]
        total += [*map(cells.whole, sums), cells.whole(sum(sums))]
    return [*rows, total]


def table_a9(people: People | None) -> Table:
    """Agreement of response scores in both comparisons, each number with its interval."""
    columns = [Column("metric", "Metric", align="left")]
    for block, title in _BLOCKS.items():
        columns += [Column(f"{block}_{key}", short, group=title) for key, short in _SCORES.items()]
    rows = [
        [
            cells.text(title),
            *(
                cells.estimate(
                    people.labels[block]["scores"][score][metric],
                    scale=100.0 if score == "ap" and metric in ("mae", "bias") else 1.0,
                )
                for block in _BLOCKS
                for score in _SCORES
            ),
        ]
        for metric, title in _METRICS.items()
        if people
    ]
    notes = [NOBODY]
    if people:
        notes = [f"{title}: {_pairs_note(people.labels[block])}" for block, title in _BLOCKS.items()]
        notes.append(
            "AS and Upper errors are points from 0 to 100, AP errors percentage points. Bias is the first member "
            "less the second. " + _how(people)
        )
    caption = "Agreement of response scores, with 95% intervals."
    return Table("a9", "A9", caption, columns, rows, notes, is_simulated=_is_simulated(people))


def table_a10(people: People | None) -> Table:
    """Rounds: people in rows, the automatic labels in columns."""
    rounds: Mapping[str, Any] = people.process["rounds"] if people else {"rounds": 0}
    columns = [
        Column("human", "Human / Automatic", align="left"),
        *(Column(label, title) for label, title in ROUND_NAMES.items()),
        Column("total", "Total"),
    ]
    rows = []
    if people and rounds["rounds"]:
        rows = matrix_rows([rounds["matrix"]], [ROUND_NAMES[label] for label in rounds["labels"]])
        notes = [f"{counted(rounds['rounds'], 'round')} of {counted(rounds['tasks'], 'task')}."]
        notes += [f"Left out: {entry['count']:,}, {entry['reason']}." for entry in rounds["left_out"]]
        notes.append("The two sets of labels are made for different ends.")
    else:
        notes = ["Nobody has labeled a round yet."]
    caption = "Complete cross-tabulation of labeled rounds."
    return Table("a10", "A10", caption, columns, rows, notes, len(rows[:1]), _is_simulated(people))


def validation_table(people: People | None) -> Table:
    """The two headline figures with what they rest on: agreement on groups, and the precision of links."""
    columns = (
        Column("number", "Number", align="left"),
        Column("count", "Count"),
        Column("of", "Of"),
        Column("value", "Share", "%"),
    )
    rows: list[list[Cell]] = []
    if people:
        for block, title in _BLOCKS.items():
            found = people.labels[block]
            agreeing = sum(row[place] for place, row in enumerate(found["matrix"]))
            cell = cells.estimate(found["nominal"]["observed"], 2, 100.0)
            rows.append(
                [cells.text(f"Agreement on groups, {title}"), cells.whole(agreeing), cells.whole(found["n"]), cell]
            )
        links = people.process["links"]["overall"]
        estimate = {**links, "interval": links["cluster_robust"]}
        rows.append(
            [
                cells.text("Correspondence precision of links"),
                cells.whole(links["k"]),
                cells.whole(links["n"]),
                cells.estimate(estimate, 2, 100.0),
            ]
        )
    notes = [_how(people) + " Of links: the cluster-robust interval over tasks."] if people else [NOBODY]
    caption = "Human validation of labels and links."
    return Table("validation", "", caption, columns, rows, notes, is_simulated=_is_simulated(people))


def _pairs_note(block: Mapping[str, Any]) -> str:
    pairs = block["score_pairs"]
    note = f"{counted(pairs['responses'], 'response pair')} from {counted(pairs['tasks'], 'task')}."
    for out in pairs["left_out"]:
        note += f" Left out: {out['count']:,}, {out['reason']}."
    return note


def _how(people: People) -> str:
    report = people.labels
    return (
        f"Brackets: {report['level']:.0%} percentile intervals of {report['resamples']:,} task-cluster resamples, "
        f"seed {report['seed']}."
    )


def _is_simulated(people: People | None) -> bool:
    return people is not None and people.is_simulated
