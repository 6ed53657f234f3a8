"""Figures of the process: types (3, A5), accounting of rounds (A3), links and markers (A6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from lseval.domain.taxonomy import UNASSIGNED, ErrorType
from lseval.site.figures import style
from lseval.site.figures.style import records
from lseval.site.quantities import Share, percent
from lseval.site.selectors.process import Process
from lseval.site.selectors.report import Markers
from lseval.site.selectors.scores import ModelRow
from lseval.site.tables import cells
from lseval.site.tables.activity import Associations
from lseval.site.tables.cells import Cell
from lseval.site.tables.table import Column, Table

TYPE_NAMES: Final = {str(kind): kind.display_name for kind in ErrorType}
_UNASSIGNED_NAME: Final = "Unassigned"


def data_3(models: Sequence[ModelRow], process: Process) -> Table:
    """Each model's typed nodes by type, as counts and shares of the model's own typed nodes."""
    by_name = {model.name: model for model in process.models}
    rows = []
    for model in models:
        found = by_name[model.name]
        for code, words in TYPE_NAMES.items():
            share = Share(found.types.get(code, 0), found.typed, "the model has no typed node")
            rows.append([cells.name(model.name), cells.text(words), cells.whole(share.count), cells.share(share)])
    columns = (
        Column("model", "Model", align="left"),
        Column("type", "Type", align="left"),
        Column("nodes", "Nodes"),
        Column("share", "Share of typed nodes", "%"),
    )
    caption = (
        f"Diagnostic type composition of {process.typed:,} automatically flagged and typed candidate nodes. Each "
        "model "
        f"is normalized by its own typed-node count; {process.unassigned:,} unassigned nodes remain in "
        "localization "
        "totals but not in type denominators."
    )
    return Table("figure-3", "", caption, columns, rows)


def draw_3(table: Table) -> Any:
    """Stacked bars to 100%, a bar a model."""
    return style.dressed(
        style.stacked(
            records(table), "model", "type", "share", "Share of typed nodes (%)", list(TYPE_NAMES.values())
        )
    )


_FLOW: Final = "a"
_COMPOSITION: Final = "b"


def data_a3(process: Process) -> Table:
    """Panel a: where rounds went, as counts; panel b: what is kept of all rounds, as shares."""
    found = process.accounting
    flow = [
        ("All rounds", found.rounds),
        ("Pre-skipped", found.pre_skipped),
        ("Dual-judged", found.dual_judged),
        ("Evaluable", found.evaluable),
        ("Post-judging skips", found.post_skipped),
        ("Final skips", found.final_skipped),
    ]
    kept = [
        ("Pre-skipped summaries", found.pre_skipped),
        ("Detailed evaluable records", found.evaluable),
        ("Post-judge summaries", found.post_skipped),
    ]
    for words, count in (("Unjudged", found.unjudged), ("Waiting", found.waiting)):
        if count:
            flow.append((words, count))
            kept.append((words, count))
    rows = [
        [cells.text(panel), cells.text(words), cells.whole(count), cells.share(found.share(count))]
        for panel, lines in ((_FLOW, flow), (_COMPOSITION, kept))
        for words, count in lines
    ]
    columns = (
        Column("panel", "Panel", align="left"),
        Column("part", "Rounds", align="left"),
        Column("count", "Count"),
        Column("share", "Share of all rounds", "%"),
    )
    caption = (
        f"Stage 2 round accounting across {process.runs:,} runs. (a) The {found.dual_judged:,} dual-judged rounds "
        "yield "
        f"{found.evaluable:,} evaluable records and {found.post_skipped:,} post-judging skips; the latter combine "
        "with "
        f"{found.pre_skipped:,} pre-skipped rounds to give {found.final_skipped:,} final skips. (b) Composition "
        "of the "
        f"records over all {found.rounds:,} rounds."
    )
    return Table("figure-a3", "", caption, columns, rows)


def draw_a3(table: Table) -> Any:
    """Counts as bars above, one bar of shares below."""
    flow = style.bars(records(table, panel=_FLOW), "part", "count", "Rounds").properties(
        title=style.panel_title("(a) Where rounds went")
    )
    kept = records(table, panel=_COMPOSITION)
    parts = [row["part"] for row in kept]
    whole = style.stacked(
        [{**row, "all": "All rounds"} for row in kept], "all", "part", "share", "Share of all rounds (%)", parts
    ).properties(title=style.panel_title("(b) Records kept"))
    return style.dressed(alt.vconcat(flow, whole, spacing=24).resolve_scale(color="independent"))


def data_a5(process: Process) -> Table:
    """Panel a: typed nodes by type, most frequent first; panel b: typed and unassigned nodes of all flagged."""
    totals: Counter[str] = Counter()
    for model in process.models:
        totals.update(model.types)
    kinds = sorted(TYPE_NAMES.items(), key=lambda entry: -totals[entry[0]])
    lines = [("a", words, Share(totals[code], process.typed, "there is no typed node")) for code, words in kinds]
    lines += [
        ("b", words, Share(count, process.nodes, "there is no flagged node"))
        for words, count in (("Typed", process.typed), (_UNASSIGNED_NAME, process.unassigned))
    ]
    columns = (
        Column("panel", "Panel", align="left"),
        Column("type", "Nodes", align="left"),
        Column("count", "Count"),
        Column("share", "Share of the panel's nodes", "%"),
    )
    rows = [
        [cells.text(panel), cells.text(words), cells.whole(share.count), cells.share(share)]
        for panel, words, share in lines
    ]
    typed = percent(process.typed, process.nodes)
    caption = (
        f"Diagnostic-type composition and assignment coverage. (a) Counts over {process.typed:,} typed candidate "
        "nodes. "
        f"(b) Among {process.nodes:,} automatically flagged nodes, {process.typed:,} ({typed}%) have a type and "
        f"{process.unassigned:,} ({percent(process.unassigned, process.nodes)}%) remain unassigned."
    )
    return Table("figure-a5", "", caption, columns, rows)


def draw_a5(table: Table) -> Any:
    """Bars by type above, one bar of coverage below."""
    types = style.bars(records(table, panel="a"), "type", "count", "Candidate nodes").properties(
        title=style.panel_title("(a) Typed nodes")
    )
    coverage = [{**row, "all": "Flagged nodes"} for row in records(table, panel="b")]
    whole = style.stacked(
        coverage, "all", "type", "share", "Share of flagged nodes (%)", ["Typed", _UNASSIGNED_NAME]
    ).properties(title=style.panel_title("(b) Assignment coverage"))
    return style.dressed(alt.vconcat(types, whole, spacing=24).resolve_scale(color="independent"))


def data_a6(process: Process, associations: Associations, markers: Markers) -> Table:
    """Panel a: nodes by type, linked and not; b: runs whose earliest association is at a round; c: markers."""
    names = {**TYPE_NAMES, UNASSIGNED: _UNASSIGNED_NAME}
    rows: list[list[Cell]] = []
    for code, words in names.items():
        linked, unlinked = associations.types.get(code, (0, 0))
        for state, count in (("Linked", linked), ("Unlinked", unlinked)):
            share = Share(count, linked + unlinked, "there is no such node")
            rows.append(_line("a", words, state, share))
    reached = 0
    for number, runs in sorted(Counter(associations.firsts).items()):
        reached += runs
        share = Share(reached, len(associations.firsts), "no run has a link")
        rows.append([*_line("b", number, "Runs", share)[:3], cells.whole(runs), cells.share(share)])
    rows += [_line("c", words, "Runs", share) for words, share in markers.lines]
    columns = (
        Column("panel", "Panel", align="left"),
        Column("term", "Type, round or marker", align="left"),
        Column("state", "What is counted", align="left"),
        Column("count", "Count"),
        Column("share", "Share; in panel b of the runs so far", "%"),
    )
    totals = ", ".join(f"{share.count:,} {words[0].lower()}{words[1:]}" for words, share in markers.lines)
    caption = (
        f"Extended trajectory and execution diagnostics for {process.runs:,} retained runs. (a) Linked and "
        "unlinked "
        f"candidate nodes, unassigned types included. (b) Earliest association among {len(associations.firsts):,} "
        "runs "
        f"with links. (c) Separately recorded, overlapping execution markers: {totals}."
    )
    return Table("figure-a6", "", caption, columns, rows)


def _line(panel: str, term: str | int, state: str, share: Share) -> list[Cell]:
    head = cells.whole(term) if isinstance(term, int) else cells.text(term)
    return [cells.text(panel), head, cells.text(state), cells.whole(share.count), cells.share(share)]


def draw_a6(table: Table) -> Any:
    """Three panels below each other."""
    linked = style.stacked(
        records(table, panel="a"), "term", "state", "count", "Candidate nodes", ["Linked", "Unlinked"]
    ).properties(title=style.panel_title("(a) Linked and unlinked nodes"))
    firsts = (
        alt.Chart(alt.Data(values=records(table, panel="b")))
        .mark_line(
            interpolate="step-after", color=style.FIRST, point=alt.OverlayMarkDef(size=14, color=style.FIRST)
        )
        .encode(
            x=alt.X("term:Q", title="Earliest linked round", axis=style.axis(tickCount=8, format="d")),
            y=alt.Y(
                "share:Q",
                title="Runs with a link (%)",
                scale=alt.Scale(domain=[0, 100]),
                axis=style.axis(tickCount=5),
            ),
        )
        .properties(width=style.WIDTH, height=160, title=style.panel_title("(b) Earliest association, cumulated"))
    )
    markers = style.bars(records(table, panel="c"), "term", "count", "Runs", style.SECOND).properties(
        title=style.panel_title("(c) Execution markers")
    )
    return style.dressed(alt.vconcat(linked, firsts, markers, spacing=24).resolve_scale(color="independent"))
