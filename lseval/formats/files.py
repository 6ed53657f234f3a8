"""A file whose rows are not runs: one run may take many rows, or one row hold many runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lseval.domain.trajectory import RunRecord
from lseval.formats.errors import ReadError


class Layout(StrEnum):
    """How a file holds its rows."""

    LINES = "lines"
    DOCUMENT = "document"
    ARRAY = "array"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read, and how much of it may be held at a time, in bytes."""

    path: Path
    layout: Layout
    default_model: str | None
    max_line_bytes: int
    max_document_bytes: int


@dataclass(frozen=True, slots=True)
class FileRow:
    """One run of a file, or why it cannot be read.

    `position` is a line's number, or the run's ordinal in a document or archive, from 1; `place` says more where
    that helps, as `sample 7`. `notes` are what was mended.
    """

    position: int
    run: RunRecord | ReadError
    place: str = ""
    notes: tuple[str, ...] = ()
    bytes_read: int = 0


FileReader = Callable[[SourceFile], Iterator[FileRow]]
