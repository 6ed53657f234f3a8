"""Sums that must come out the same in different tables and figures of one study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lseval.domain.trajectory import TOOLS
from lseval.site.tables.cells import Cell
from lseval.site.tables.table import Table


@dataclass(frozen=True, slots=True)
class Identity:
    """Two numbers that must be equal."""

    what: str
    left: int
    right: int

    @property
    def holds(self) -> bool:
        """Whether they are."""
        return self.left == self.right

    def as_dict(self) -> dict[str, Any]:
        """JSON-able fields."""
        return {"what": self.what, "left": self.left, "right": self.right, "holds": self.holds}


def identities_of(tables: Mapping[str, Table], figures: Mapping[str, Table]) -> list[Identity]:
    """The identities of the paper: Table A1's units, Table 2, Table A6, Figures A3, 3 and A6, Tables A7 and A11.

    `tables` and `figures` are a study's, by the keys of the two catalogs.
    """
    return [
        *_nodes(tables, figures),
        *_by_model(tables["a6"], tables),
        *_rounds(tables["a6"], figures["a3"]),
        *_tools(tables["a7"]),
        *_phases(tables["a11"]),
    ]


def _nodes(tables: Mapping[str, Table], figures: Mapping[str, Table]) -> list[Identity]:
    two, units = _lines(tables["2"]), _lines(tables["a1"])
    flagged = two["All automatically flagged candidate nodes"]
    linked, typed = two["Linked candidate nodes"], two["Typed candidate nodes"]
    panel = [row for row in figures["a6"].rows if row[0].text == "a"]
    firsts = [row for row in figures["a6"].rows if row[0].text == "b"]
    with_link = two["Runs with at least one linked candidate node"]
    return [
        Identity(
            "linked and unlinked nodes are the flagged ones", linked + two["Unlinked candidate nodes"], flagged
        ),
        Identity(
            "typed and unassigned nodes are the flagged ones", typed + two["Unassigned candidate nodes"], flagged
        ),
        Identity("flagged nodes of Tables 2 and A1", flagged, units["Flagged node"]),
        Identity("runs with a link of Tables 2 and A1", with_link, units["Earliest association"]),
        Identity("earliest associations of Figure A6 and runs with a link", _sum(firsts, 3), with_link),
        Identity("nodes of Figure A6 and flagged nodes", _sum(panel, 3), flagged),
        Identity(
            "linked nodes of Figure A6 and of Table 2",
            _sum([row for row in panel if row[2].text == "Linked"], 3),
            linked,
        ),
        Identity("nodes of Figure 3 and typed nodes", _sum(figures["3"].rows, 2), typed),
    ]


def _by_model(six: Table, tables: Mapping[str, Table]) -> list[Identity]:
    found = [
        Identity(f"models of Table A6, {column.title}", _sum(six.body, place), _whole(six.foot[0][place]))
        for place, column in enumerate(six.columns)
        if place
    ]
    total = dict(zip((column.key for column in six.columns), six.foot[0], strict=True))
    two, units = _lines(tables["2"]), _lines(tables["a1"])
    return [
        *found,
        Identity("rounds of Tables A6 and A1", _whole(total["rounds"]), units["Normalized round"]),
        Identity("runs of Tables A6 and A1", _whole(total["runs"]), units["Retained run"]),
        Identity(
            "flagged nodes of Tables A6 and 2",
            _whole(total["flagged"]),
            two["All automatically flagged candidate nodes"],
        ),
        Identity("linked nodes of Tables A6 and 2", _whole(total["linked_nodes"]), two["Linked candidate nodes"]),
    ]


def _rounds(six: Table, figure: Table) -> list[Identity]:
    flow = {row[1].text: _whole(row[2]) for row in figure.rows if row[0].text == "a"}
    kept = [row for row in figure.rows if row[0].text == "b"]
    every, before, dual = flow["All rounds"], flow["Pre-skipped"], flow["Dual-judged"]
    after = flow["Post-judging skips"]
    return [
        Identity("pre-skipped, dual-judged and waiting rounds", before + dual + flow.get("Waiting", 0), every),
        Identity(
            "evaluable, post-skipped and unjudged rounds", flow["Evaluable"] + after + flow.get("Unjudged", 0), dual
        ),
        Identity("skips before and after judging are the final ones", before + after, flow["Final skips"]),
        Identity("records kept of all rounds", _sum(kept, 2), every),
        Identity("evaluable rounds of Figure A3 and Table A6", flow["Evaluable"], _whole(six.foot[0][3])),
    ]


def _tools(seven: Table) -> list[Identity]:
    places = {column.key: place for place, column in enumerate(seven.columns)}
    return [
        Identity(
            f"tools of Table A7, {row[0].text}",
            sum(row[places[tool]].count or 0 for tool in TOOLS),
            row[places["tools"]].count or 0,
        )
        for row in seven.rows
    ]


def _phases(eleven: Table) -> list[Identity]:
    """Calls, tokens and dollars: whole millionths of the table's units, since it sums before it rounds."""
    return [
        Identity(
            f"{column.title.lower()} of all phases of Table A11",
            round(sum(_millionths(row[place]) for row in eleven.body)),
            round(_millionths(eleven.foot[0][place])),
        )
        for place, column in enumerate(eleven.columns)
        if place
    ]


def _millionths(cell: Cell) -> Fraction:
    return 1_000_000 * Fraction(cell.value) if isinstance(cell.value, int | float) else Fraction(0)


def _lines(table: Table) -> dict[str, int]:
    return {row[0].text: _whole(row[1]) for row in table.rows if not isinstance(row[1].value, float)}


def _sum(rows: Sequence[Sequence[Cell]], place: int) -> int:
    return sum(_whole(row[place]) for row in rows)


def _whole(cell: Cell) -> int:
    return int(cell.value or 0)
