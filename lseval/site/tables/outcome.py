"""Tables of the outcome: Table 1, the units of Table A1, the inventory of Table A2, and paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lseval.site.quantities import Share, counted, fixed
from lseval.site.selectors.process import Process
from lseval.site.selectors.scores import ModelRow
from lseval.site.tables import cells
from lseval.site.tables.activity import Activity
from lseval.site.tables.cells import Cell
from lseval.site.tables.intervals import ScoreIntervals
from lseval.site.tables.table import Column, Table

NO_TRAJECTORY: Final = "no run of the model has a recorded trajectory"
_QUALITY, _SEARCH, _EVIDENCE, _ROBUST = "Outcome quality", "Search behavior", "Evidence use", "Execution robustness"

_TABLE_1: Final = (
    Column("model", "Model", align="left"),
    Column("answer_score", "AS", group=_QUALITY),
    Column("answer_precision", "AP", "%", group=_QUALITY),
    Column("upper_score", "Upper", group=_QUALITY),
    Column("unverifiable_group_rate", "UGR", "%", group=_QUALITY),
    Column("mean_rounds", "Avg. rounds", group=_SEARCH),
    Column("mean_searches", "Avg. searches", group=_SEARCH),
    Column("mean_domains", "Avg. domains", group=_SEARCH),
    Column("mean_read_kchars", "Read kChars", group=_EVIDENCE),
    Column("mean_final_urls", "Final URLs", group=_EVIDENCE),
    Column("valid_final", "Valid", "%", group=_ROBUST),
    Column("premature", "Prem.", "%", group=_ROBUST),
)


def table_1(models: Sequence[ModelRow], intervals: ScoreIntervals, activity: Mapping[int, Activity]) -> Table:
    """Outcome quality with intervals, search behavior, evidence use and execution robustness, a row a model."""
    valid, premature = (
        whole_percents([model.valid_final for model in models]),
        whole_percents([model.premature for model in models]),
    )
    rows = [
        [
            cells.name(model.name),
            *_quality(model, intervals),
            *_behavior(activity.get(model.model_id, Activity())),
            valid[place],
            premature[place],
        ]
        for place, model in enumerate(models)
    ]
    return Table(
        "1",
        "1",
        "Outcome quality, search behavior, evidence use, and execution robustness by model.",
        _TABLE_1,
        rows,
        [
            "AS, AP and Upper are means over a model's scored runs, UGR pools their groups. "
            + _scored_note(models),
            "Rounds, searches, domains and characters are means over runs with a recorded trajectory, URLs and "
            "Valid "
            "over all runs. Domains are the hosts of the pages that a run opened; Read kChars the characters that "
            "read_page showed, in thousands; Final URLs the distinct pages that the response cites.",
            intervals.note,
        ],
    )


def _quality(model: ModelRow, intervals: ScoreIntervals) -> list[Cell]:
    averages = {
        "answer_score": model.answer_score,
        "answer_precision": model.answer_precision,
        "upper_score": model.upper_score,
    }
    found = [
        cells.average(average, *intervals.of(model.model_id, measure)) for measure, average in averages.items()
    ]
    rate = cells.with_counts(cells.share(model.unverifiable))
    return [*found, cells.with_interval(rate, *intervals.of(model.model_id, "unverifiable"))]


def _behavior(done: Activity) -> list[Cell]:
    recorded = [(done.rounds, 1), (done.tools.get("web_search", 0), 1), (done.domains, 1), (done.read_chars, 1000)]
    found = [cells.mean(total, done.recorded, scale=scale, reason=NO_TRAJECTORY) for total, scale in recorded]
    return [*found, cells.mean(done.urls, done.runs)]


def whole_percents(shares: Sequence[Share]) -> list[Cell]:
    """The shares in per cent: whole numbers where all of them are, as with 100 runs a model, else two decimals."""
    are_whole = all(not share.of or 100 * share.count % share.of == 0 for share in shares)
    return [cells.with_counts(cells.share(share, 0 if are_whole else 2)) for share in shares]


def _scored_note(models: Sequence[ModelRow]) -> str:
    runs, scored = sum(model.runs for model in models), sum(model.scored for model in models)
    empty = sum(model.empty for model in models)
    note = f"{scored:,} of {counted(runs, 'run')} scored; {empty:,} of them supplied no group and score 0."
    if runs > scored:
        note += f" {runs - scored:,} with a group without a label are left out, not scored as wrong."
    return note


def table_a1(counts: Mapping[str, int], process: Process) -> Table:
    """The units that the other tables count, each with its own denominator."""
    possible = counts["tasks"] * counts["models"]
    without = process.runs - process.runs_with_link
    lines: list[tuple[str, int, str]] = [
        ("Task", counts["tasks"], "Task IDs, the clusters of every interval."),
        (
            "Retained run",
            counts["runs"],
            f"Of {possible:,} model–task cells. Retries and resumes do not add samples.",
        ),
        (
            "Answer group",
            counts["answer_groups"],
            "Supplied groups. AS, AP and Upper are scores of runs, averaged over a model's tasks; UGR pools "
            "groups.",
        ),
        (
            "Normalized round",
            process.accounting.rounds,
            "Ordered units; distinct from raw controller iterations and single tool calls.",
        ),
        (
            "Flagged node",
            process.nodes,
            f"Rounds that both judges call an error, {process.unassigned:,} of them without an assigned type.",
        ),
        (
            "Retained edge",
            process.links,
            f"Distinct run–round–incorrect-group triples: they connect {counted(process.linked_nodes, 'node')} to "
            f"{counted(process.linked_groups, 'group')}.",
        ),
        (
            "Earliest association",
            process.runs_with_link,
            f"Runs with an edge: the least linked round. The other {without:,} have none.",
        ),
    ]
    columns = (
        Column("unit", "Unit", align="left"),
        Column("count", "Count"),
        Column("meaning", "Meaning and aggregation", align="left"),
    )
    rows = [[cells.text(unit), cells.whole(count), cells.text(meaning)] for unit, count, meaning in lines]
    return Table("a1", "A1", "Evaluation units and their separate denominators.", columns, rows)


def table_a2(models: Sequence[ModelRow], tasks: int) -> Table:
    """The families with their models and trajectories."""
    families: dict[str, list[ModelRow]] = {}
    for model in models:
        families.setdefault(model.family or "(no family)", []).append(model)
    rows = [
        [
            cells.name(family),
            cells.name("; ".join(model.name for model in members)),
            cells.whole(len(members)),
            cells.whole(sum(model.runs for model in members)),
        ]
        for family, members in families.items()
    ]
    total = [
        cells.text("Total"),
        cells.text(counted(len(families), "family", "families")),
        cells.whole(len(models)),
        cells.whole(sum(model.runs for model in models)),
    ]
    columns = (
        Column("family", "Family", align="left"),
        Column("models", "Evaluated models", align="left"),
        Column("model_count", "Models"),
        Column("trajectories", "Trajectories"),
    )
    caption = f"Evaluation inventory across {counted(tasks, 'task')}; a model has one retained run on a task."
    return Table("a2", "A2", caption, columns, [*rows, total], totals=1)


def differences_table(board: Mapping[str, Any]) -> Table:
    """Every model's mean AS less every other's, on the tasks that both have a score for, with its test."""
    rows = []
    for pair in board["pairs"]:
        found = pair["difference"]
        cell = cells.estimate(found, 2)
        drawn = found["bootstrap"]
        rows.append(
            [
                cells.name(pair["first"]),
                cells.name(pair["second"]),
                cells.whole(found["n"]),
                cell,
                _ends(cell, drawn),
                _p(pair["p_holm"]),
            ]
        )
    columns = (
        Column("first", "First", align="left"),
        Column("second", "Second", align="left"),
        Column("tasks", "Tasks"),
        Column("difference", "Difference of AS, t interval"),
        Column("bootstrap", "Task bootstrap"),
        Column("p_holm", "p, Holm"),
    )
    note = (
        f"First less second, paired by task. Student's interval and test; beside them the percentiles of "
        f"{board['resamples']:,} resamples of tasks, seed {board['seed']}. The p-values are corrected for all "
        "pairs."
    )
    return Table("differences", "", "Paired differences of the Answer Score between models.", columns, rows, [note])


def _ends(cell: Cell, drawn: Any) -> Cell:
    if cell.is_undefined:
        return cell
    if isinstance(drawn, dict):
        return cells.undefined(drawn["undefined"])
    low, high = drawn
    return Cell(f"[{fixed(low, 2)}, {fixed(high, 2)}]", cell.value, low, high)


def _p(p: Any) -> Cell:
    if isinstance(p, dict):
        return cells.undefined(p["undefined"])
    return Cell(f"{p:.1e}" if p < 0.001 else fixed(p, 4), p)
