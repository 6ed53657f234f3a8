"""Tables of the process: Table 2, the counts of Table A6, and the use of tools in Table A7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lseval.domain.trajectory import TOOLS
from lseval.site.quantities import counted
from lseval.site.selectors.process import ModelProcess, Process
from lseval.site.selectors.scores import ModelRow
from lseval.site.tables import cells
from lseval.site.tables.activity import Activity
from lseval.site.tables.cells import Cell
from lseval.site.tables.outcome import NO_TRAJECTORY
from lseval.site.tables.table import Column, Table

EARLY_DIGITS: Final = 1
_FLAGS_NOTE: Final = "Nodes are candidate flags of automatic judges, not established causes."
_TOOL_TITLES: Final = dict(zip(TOOLS, ("Search", "Open", "Read", "Find", "Extract"), strict=True))


def table_2(process: Process) -> Table:
    """Candidate-node diagnostics; a line that has two numbers in the paper is two rows."""
    lines = [
        ("All automatically flagged candidate nodes", cells.whole(process.nodes)),
        ("Linked candidate nodes", _part(process.linked_nodes, process.nodes)),
        ("Unlinked candidate nodes", _part(process.unlinked_nodes, process.nodes)),
        ("Typed candidate nodes", _part(process.typed, process.nodes)),
        ("Unassigned candidate nodes", _part(process.unassigned, process.nodes)),
        (
            "Unlinked incorrect final-answer groups",
            _part(process.unlinked_incorrect_groups, process.incorrect_groups),
        ),
        ("Runs with at least one linked candidate node", _part(process.runs_with_link, process.runs)),
    ]
    lines += [
        (f"Earliest association by round {number}", _early(cells.share(share, EARLY_DIGITS)))
        for number, share in process.earliest
    ]
    columns = (
        Column("diagnostic", "Process diagnostic", align="left"),
        Column("result", "Result"),
        Column("of", "Of", align="left"),
    )
    denominators = [
        f"{process.accounting.evaluable:,} evaluable rounds",
        *[f"{process.nodes:,} nodes"] * 4,
        f"{process.incorrect_groups:,} incorrect groups",
        f"{process.runs:,} runs",
        *[
            f"{process.runs_with_link:,} runs with a retained link; {share.count:,} of them"
            for _, share in process.earliest
        ],
    ]
    rows = [
        [cells.text(words), cell, cells.text(denominator)]
        for (words, cell), denominator in zip(lines, denominators, strict=True)
    ]
    naming = "both judges name" if process.link_policy == "both" else "either judge names"
    return Table(
        "2",
        "2",
        "Automatic candidate-node diagnostics under the filter of Stage 1-incorrect groups.",
        columns,
        rows,
        [f"A node is linked to an incorrect group that {naming}. {_FLAGS_NOTE}"],
    )


def _part(count: int, of: int) -> Cell:
    return Cell(f"{count:,}", count, count=count, of=of)


def _early(share: Cell) -> Cell:
    return share if share.is_undefined else Cell(f"{share.text}%", share.value, count=share.count, of=share.of)


_TABLE_A6: Final = (
    Column("model", "Model", align="left"),
    Column("runs", "Runs"),
    Column("rounds", "All rounds"),
    Column("evaluable", "Evaluable rounds"),
    Column("flagged", "Flagged nodes"),
    Column("runs_with_flag", "Runs with flag"),
    Column("linked_nodes", "Linked nodes"),
    Column("runs_with_link", "Runs with link"),
)


def table_a6(models: Sequence[ModelRow], process: Process) -> Table:
    """Raw counts of the process by model, in the models' order, with their sums."""
    by_name = {model.name: model for model in process.models}
    rows = [[cells.name(model.name), *map(cells.whole, _counts(by_name[model.name]))] for model in models]
    sums = [sum(column) for column in zip(*(_counts(by_name[model.name]) for model in models), strict=True)]
    total = [cells.text("Total"), *map(cells.whole, sums or [0] * (len(_TABLE_A6) - 1))]
    return Table(
        "a6",
        "A6",
        "Raw process counts by model.",
        _TABLE_A6,
        [*rows, total],
        [
            "Evaluable rounds have an error or non-error consensus; final skips are left out. Linked nodes and "
            "runs "
            f"use the retained intersection with Stage 1-incorrect groups. {_FLAGS_NOTE}"
        ],
        totals=1,
    )


def _counts(model: ModelProcess) -> list[int]:
    return [
        model.runs,
        model.accounting.rounds,
        model.accounting.evaluable,
        model.nodes,
        model.runs_with_node,
        model.linked_nodes,
        model.runs_with_link,
    ]


def table_a7(models: Sequence[ModelRow], activity: Mapping[int, Activity]) -> Table:
    """Mean use of each tool and mean number of rounds, over runs with a recorded trajectory."""
    has_other = any(_other(done) for done in activity.values())
    columns = [
        Column("model", "Model", align="left"),
        Column("trajectories", "Trajectories"),
        *(Column(tool, _TOOL_TITLES[tool]) for tool in TOOLS),
        Column("tools", "Tools"),
        *([Column("other", "Other tools")] if has_other else []),
        Column("rounds", "Rounds"),
    ]
    rows = []
    for model in models:
        done = activity.get(model.model_id, Activity())
        totals = [done.tools.get(tool, 0) for tool in TOOLS]
        totals += [sum(totals), *([_other(done)] if has_other else []), done.rounds]
        rows.append(
            [
                cells.name(model.name),
                cells.whole(done.recorded),
                *(cells.mean(total, done.recorded, reason=NO_TRAJECTORY) for total in totals),
            ]
        )
    notes = [
        "Means over runs with a recorded trajectory. Tools is the sum of the five categories before rounding; "
        "rounds "
        "are counted apart from tool calls."
    ]
    if has_other:
        others = sum(_other(done) for done in activity.values())
        notes.append(f"Other tools: {counted(others, 'call')} of tools that correspond to none of the five.")
    return Table("a7", "A7", "Mean tool use and normalized length by model.", columns, rows, notes)


def _other(done: Activity) -> int:
    return sum(count for tool, count in done.tools.items() if tool not in TOOLS)
