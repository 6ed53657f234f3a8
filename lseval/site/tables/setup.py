"""Tables of how the study was made: controls (A3), stability of the rubrics (A4), tokens and dollars (A11)."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from lseval.domain.controls import MOST_SEARCH_RESULTS
from lseval.pipeline.costs import Costs, Spent
from lseval.site.quantities import Share, counted
from lseval.site.tables import cells
from lseval.site.tables.cells import Cell
from lseval.site.tables.facts import ControlCoverage
from lseval.site.tables.rubrics import FIELDS, RubricStability
from lseval.site.tables.table import Column, Table

_MILLION: Final = 10**6


def table_a3(coverage: ControlCoverage) -> Table:
    """The rules of collection as they are in force."""
    rules = coverage.controls
    lines = [
        ("Maximum ReAct budget", f"{rules.iterations:,} iterations"),
        ("Early-stopping method", rules.early_stopping),
        ("web_search results", f"Default {rules.search_results:,}; hard cap {MOST_SEARCH_RESULTS:,}"),
        ("read_page characters", f"Default {rules.read_chars:,}; hard cap {rules.read_chars_cap:,}"),
        ("LLM request timeout", f"{_seconds(rules.llm_timeout_s)} per attempt"),
        (
            "web_search timeout",
            f"{rules.search_connect_s:g}-second connect; {rules.search_read_s:g}-second read",
        ),
        ("Watchdog of a run", _seconds(rules.watchdog_s)),
        (
            "Search stagnation",
            f"Warning after {rules.stagnation_warn:,} searches without anything new; web_search taken away after "
            f"{rules.stagnation_cut:,}",
        ),
    ]
    columns = (Column("control", "Control", align="left"), Column("value", "Effective value", align="left"))
    rest = coverage.runs - coverage.stating
    notes = [
        f"The study's settings as they are now. Of {counted(coverage.runs, 'run')}, {coverage.stating:,} keep the "
        f"controls they were made under, {coverage.same:,} of these the same ones"
        + (f"; {rest:,} came from elsewhere and state none." if rest else ".")
    ]
    return Table(
        "a3",
        "A3",
        "Collection controls.",
        columns,
        [[cells.text(control), cells.text(value)] for control, value in lines],
        notes,
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f} seconds" if seconds == int(seconds) else f"{seconds:g} seconds"


def table_a4(stability: RubricStability) -> Table:
    """Field-level agreement among the stored rubrics of each task."""
    columns = (
        Column("field", "Field", align="left"),
        Column("modal", "Modal coverage"),
        Column("modal_percent", "Share", "%"),
        Column("tied_tasks", "Tied tasks"),
        Column("median_unique_mode", "Median unique-mode count"),
        Column("unique_mode_tasks", "Tasks with a unique mode"),
        Column("distinct_range", "Distinct values/task"),
    )
    rows = []
    for key, (words, _) in FIELDS.items():
        found = stability.fields[key]
        modal = Share(found.modal, found.rubrics, "there is no rubric")
        rows.append(
            [
                cells.text(words),
                Cell(f"{found.modal:,}/{found.rubrics:,}", found.modal, count=found.modal, of=found.rubrics),
                cells.share(modal),
                cells.whole(found.tied_tasks),
                _median(found.median_unique_mode, stability.most),
                cells.whole(len(found.unique_modes)),
                _range(found.distinct),
            ]
        )
    notes = [
        f"{counted(stability.rubrics, 'rubric')} of {counted(stability.tasks, 'task')}, up to {stability.most:,} a "
        "task. Each run keeps its own rubric for scoring. Grouping rules are compared without case and punctuation."
    ]
    if stability.given:
        notes.append(
            f"{stability.given:,} of them were given with their task, and agree because they are one and the same."
        )
    return Table("a4", "A4", "Field-level agreement among the stored rubrics of each task.", columns, rows, notes)


def _median(median: float | None, most: int) -> Cell:
    if median is None:
        return cells.undefined("no task has a single most frequent value")
    return Cell(f"{median:g}/{most:,}", median, of=most)


def _range(distinct: tuple[int, ...]) -> Cell:
    if not distinct:
        return cells.undefined("there is no rubric")
    low, high = min(distinct), max(distinct)
    return Cell(str(low) if low == high else f"{low}–{high}", f"{low}-{high}", low, high)


def table_a11(costs: Costs) -> Table:
    """Tokens and dollars by phase; the last row is summed before anything is rounded."""
    columns = (
        Column("phase", "Phase", align="left"),
        Column("calls", "Calls"),
        Column("input_mtok", "Input", "M"),
        Column("output_mtok", "Output", "M"),
        Column("upper_usd", "Upper scenario", "USD"),
        Column("usd", "With cached prices", "USD"),
        Column("unpriced", "Unpriced calls"),
    )
    rows = [[cells.text(row.label.capitalize()), *_spent(row.spent)] for row in (*costs.phases, costs.total)]
    notes = [
        "M is one million tokens. All recorded calls, failed tries included, at the prices of the study's file; "
        "the "
        "upper scenario has no discount for cached tokens. Totals are computed before rounding."
    ]
    if not costs.total.spent.calls:
        notes.append("No call is recorded: the runs were imported and the embedded judges cost nothing.")
    return Table("a11", "A11", "Token workload and API cost.", columns, rows, notes, totals=1)


def _spent(spent: Spent) -> list[Cell]:
    return [
        cells.whole(spent.calls),
        million(spent.input_tokens),
        million(spent.output_tokens),
        _dollars(spent.upper_cost_usd, spent),
        _dollars(spent.cost_usd, spent),
        cells.whole(spent.unpriced),
    ]


def million(tokens: int) -> Cell:
    """Tokens in millions, two decimals."""
    return cells.decimal(Decimal(tokens) / _MILLION, 2, grouped=True)


def _dollars(amount: Decimal, spent: Spent) -> Cell:
    if spent.paid and not spent.is_priced:
        return cells.undefined("no call has a price")
    return cells.decimal(amount, 2, grouped=True)
