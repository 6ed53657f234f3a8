"""The formats that can be read, and how a row's format is told from its content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lseval.domain.trajectory import RunRecord
from lseval.formats import cited_reports, langgraph, lseval_reader, webdancer, who_and_when
from lseval.formats.errors import UnknownFormatError

RowReader = Callable[[Mapping[str, Any]], RunRecord]
"""Turns one parsed row into a run; raises a `ReadError` where it cannot."""


@dataclass(frozen=True, slots=True)
class Format:
    """A source's way of writing runs.

    `matches` tells from a parsed row, by its keys, whether it is in this format. `row_reader` is given the
    file and the name to use for a model that the source leaves unnamed, and gives what reads that file's rows.
    """

    name: str
    description: str
    matches: Callable[[Mapping[str, Any]], bool]
    row_reader: Callable[[Path, str | None], RowReader]


FORMATS: Mapping[str, Format] = {
    entry.name: entry
    for entry in (
        Format("lseval", "our own JSONL, one run a line", lseval_reader.matches, lseval_reader.row_reader),
        Format("langgraph", "a LangGraph thread's state", langgraph.matches, langgraph.row_reader),
        Format("webdancer", "WebDancer's chat trajectories", webdancer.matches, webdancer.row_reader),
        Format("who_and_when", "Who&When failure logs", who_and_when.matches, who_and_when.row_reader),
        Format("cited_reports", "reports without a trajectory", cited_reports.matches, cited_reports.row_reader),
    )
}
"""Name -> format, in the order in which a row is tried."""


def format_named(name: str) -> Format:
    """The format called `name`; raises `UnknownFormatError` where there is none."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UnknownFormatError(f"no format is called {name!r}; known formats: {', '.join(FORMATS)}") from None


def format_of(row: Any) -> str | None:
    """The name of the first format that a parsed row is in, or None."""
    if not isinstance(row, Mapping):
        return None
    return next((entry.name for entry in FORMATS.values() if entry.matches(row)), None)
