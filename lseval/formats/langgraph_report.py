"""Which text of a LangGraph thread is its final answer.

Research agents often write their report into a file and close with a short message that points at it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from lseval.formats.fields import DraftCall, DraftTurn, optional_text, optional_texts

REPORT_SUFFIXES = (".md", ".markdown", ".txt")
MIN_REPORT_CHARS = 200
"""A shorter document is a note, not a report."""

OUTPUT_FOLDER = "/outputs/"


@dataclass(frozen=True, slots=True)
class ChosenReport:
    """The final answer; empty where the thread has none.

    `is_turn_kept` is False when the thread's last turn is part of the answer, not of the way to it. `metadata`
    says under `report_source` where the answer came from, and keeps a `closing_message` that went with a file.
    """

    text: str
    is_turn_kept: bool
    metadata: dict[str, Any]


@dataclass(slots=True)
class _Document:
    path: str
    text: str
    step: int | None


def choose_report(turns: Sequence[DraftTurn], values: Mapping[str, Any]) -> ChosenReport:
    """The answer of a thread with these `turns` and state `values`.

    It is the last document of some length that the agent wrote and delivered, that is, presented, listed among
    the thread's artifacts, or put into the output folder; else the last text of the agent that is not empty.
    """
    closes = bool(turns) and not turns[-1].calls and bool(turns[-1].text.strip())
    delivered = _delivered_names(turns, values)
    for document in reversed(_documents(turns)):
        if PurePosixPath(document.path).name in delivered and len(document.text.strip()) >= MIN_REPORT_CHARS:
            source = {"kind": "file", "path": document.path, "step": document.step}
            metadata: dict[str, Any] = {"report_source": source}
            if closes:
                metadata["closing_message"] = turns[-1].text
            return ChosenReport(document.text, not closes, metadata)
    last = next((turn for turn in reversed(turns) if turn.text.strip()), None)
    if last is None:
        return ChosenReport("", True, {})
    source = {"kind": "message", "step": last.source_step}
    return ChosenReport(last.text, not closes, {"report_source": source})


def _documents(turns: Sequence[DraftTurn]) -> list[_Document]:
    """The text documents as the agent left them, in the order last written."""
    documents: dict[str, _Document] = {}
    for turn in turns:
        for call in turn.calls:
            path = optional_text(call.arguments, "path")
            if call.is_error or not path.lower().endswith(REPORT_SUFFIXES):
                continue
            before = documents.get(path)
            text = _text_after(call, before.text if before else "")
            if text is not None:
                documents.pop(path, None)
                documents[path] = _Document(path, text, turn.source_step)
    return list(documents.values())


def _text_after(call: DraftCall, before: str) -> str | None:
    """The document's text after `call`, or None where the call writes nothing."""
    arguments = call.arguments
    if call.original_name == "write_file":
        content = optional_text(arguments, "content")
        return before + content if arguments.get("append") is True else content
    if call.original_name == "str_replace" and before:
        old, new = optional_text(arguments, "old_str"), optional_text(arguments, "new_str")
        return before.replace(old, new, -1 if arguments.get("replace_all") is True else 1) if old else None
    return None


def _delivered_names(turns: Sequence[DraftTurn], values: Mapping[str, Any]) -> set[str]:
    paths = optional_texts(values, "artifacts")
    commands: list[str] = []
    for call in (call for turn in turns for call in turn.calls if not call.is_error):
        if call.original_name == "present_files":
            paths += optional_texts(call.arguments, "filepaths")
        elif OUTPUT_FOLDER in optional_text(call.arguments, "path"):
            paths.append(optional_text(call.arguments, "path"))
        elif OUTPUT_FOLDER in optional_text(call.arguments, "command"):
            commands += optional_text(call.arguments, "command").split()
    paths += [word.strip("'\"") for word in commands]
    return {PurePosixPath(path).name for path in paths}
