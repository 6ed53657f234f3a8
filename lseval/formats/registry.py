"""The formats that can be read, and how a row's format is told from its content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lseval.domain.trajectory import RunRecord
from lseval.formats import (
    browsecomp_plus,
    cited_reports,
    inspect_log,
    langfuse,
    langgraph,
    langsmith,
    lseval_reader,
    openai_chat,
    otel_spans,
    webdancer,
    who_and_when,
)
from lseval.formats.errors import UnknownFormatError
from lseval.formats.files import FileReader

RowReader = Callable[[Mapping[str, Any]], RunRecord]
"""Turns one parsed row into a run; raises a `ReadError` where it cannot."""


@dataclass(frozen=True, slots=True)
class Format:
    """A source's way of writing runs.

    `matches` tells from a parsed row, by its keys, whether it is in this format. Where a row is a run, `row_reader`
    is given the file and the name to use for a model that the source leaves unnamed, and gives what reads that
    file's rows; else `file_reader` reads the whole file. `reads_arrays` says that it takes one JSON array of rows.
    """

    name: str
    description: str
    matches: Callable[[Mapping[str, Any]], bool]
    row_reader: Callable[[Path, str | None], RowReader] | None = None
    file_reader: FileReader | None = None
    reads_arrays: bool = False


FORMATS: Mapping[str, Format] = {
    entry.name: entry
    for entry in (
        Format("lseval", "our own JSONL, one run a line", lseval_reader.matches, lseval_reader.row_reader),
        Format("inspect", "Inspect AI logs", inspect_log.matches, file_reader=inspect_log.read_file),
        Format("langgraph", "a LangGraph thread's state", langgraph.matches, langgraph.row_reader),
        Format("webdancer", "WebDancer's chat trajectories", webdancer.matches, webdancer.row_reader),
        Format("who_and_when", "Who&When failure logs", who_and_when.matches, who_and_when.row_reader),
        Format("browsecomp_plus", "BrowseComp-Plus runs", browsecomp_plus.matches, browsecomp_plus.row_reader),
        Format("langfuse", "Langfuse traces with observations", langfuse.matches, langfuse.row_reader),
        Format(
            "langsmith", "LangSmith runs", langsmith.matches, file_reader=langsmith.read_file, reads_arrays=True
        ),
        Format(
            "otel_spans",
            "OpenTelemetry spans: GenAI or OpenInference",
            otel_spans.matches,
            file_reader=otel_spans.read_file,
            reads_arrays=True,
        ),
        Format("openai_chat", "OpenAI chats with tool calls", openai_chat.matches, openai_chat.row_reader),
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
