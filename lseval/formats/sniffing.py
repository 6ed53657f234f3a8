"""What kind of file it is, told from its first rows."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from lseval.formats import inspect_archive
from lseval.formats.archives import is_archive, open_archive
from lseval.formats.errors import EmptyFileError, JsonArrayError, LineTooLongError, ReadError, UnknownFormatError
from lseval.formats.files import Layout
from lseval.formats.lines import (
    MAX_DOCUMENT_BYTES,
    MAX_LINE_BYTES,
    RawLine,
    has_content,
    open_binary,
    read_document,
    read_lines,
)
from lseval.formats.registry import FORMATS, format_of
from lseval.formats.strict_json import JsonError, parse_json

SNIFFED_ROWS = 50
"""So many rows are tried; a file whose first rows are all broken is not recognised."""

LINE_SUFFIXES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Sniffed:
    """What a file's content shows.

    `format` is a format's name, or None where no row was recognised. Where no row could be read at all, `problem`
    is the first that could not, as (position, error).
    """

    format: str | None
    layout: Layout = Layout.LINES
    problem: tuple[int, ReadError] | None = None


def detect_format(path: Path) -> str:
    """The name of the format that the file's content is in, whatever the file is called.

    Looks at the first `SNIFFED_ROWS` rows. Raises `UnknownFormatError`, which names the file and the known
    formats, where none of them is in a known format, and another `ReadError` where the file cannot be read.
    """
    sniffed = sniff(path)
    if sniffed.format is None:
        raise unknown_format(path, sniffed)
    return sniffed.format


def unknown_format(path: Path, sniffed: Sniffed) -> UnknownFormatError:
    """The error that says that the content of `path` is in no known format, and why if that is known."""
    message = f"{path}: holds no run in a known format; known formats: {', '.join(FORMATS)}"
    if sniffed.problem:
        position, error = sniffed.problem
        message += f" (row {position}: {error})"
    return UnknownFormatError(message)


def sniff(
    path: Path, max_line_bytes: int = MAX_LINE_BYTES, max_document_bytes: int = MAX_DOCUMENT_BYTES
) -> Sniffed:
    """Format and layout of the file.

    Raises a `ReadError` where it is empty, unreadable, or one JSON array of what is read a row a line only.
    """
    if is_archive(path):
        return _sniff_archive(path)
    with open_binary(path) as stream:
        lines = (line for line in read_lines(stream, max_line_bytes) if has_content(line))
        first = next(lines, None)
        if first is None:
            raise EmptyFileError(f"{path}: the file is empty")
        if begins_with(first, b"["):
            return _sniff_array(path, max_document_bytes)
        seen = _Rows()
        seen.add(first)
        is_lone = True
        for line in islice(lines, SNIFFED_ROWS - 1):
            if seen.format:
                break
            is_lone = False
            # A row begins its line; inside a document that is spread over lines, objects are indented.
            if begins_with(line, b"{") or line.data is None:
                seen.add(line)
    if seen.parsed == 0 and _may_be_document(path, seen.problem, is_lone):
        return _sniff_document(path, max_document_bytes)
    return Sniffed(seen.format, problem=None if seen.parsed else seen.problem)


def begins_with(line: RawLine, mark: bytes) -> bool:
    """Whether a line begins with `mark`, a byte order mark aside."""
    return line.data is not None and line.data.removeprefix(codecs.BOM_UTF8).startswith(mark)


class _Rows:
    """What the rows tried so far have shown."""

    def __init__(self) -> None:
        self.format: str | None = None
        self.parsed = 0
        self.problem: tuple[int, ReadError] | None = None

    def add(self, line: RawLine) -> None:
        try:
            if line.data is None:
                raise LineTooLongError("the line is too long")
            value = parse_json(line.data, nan_as_null=True).value
        except ReadError as exc:
            self.problem = self.problem or (line.number, exc)
            return
        self.parsed += 1
        self.format = self.format or format_of(value)


def _may_be_document(path: Path, problem: tuple[int, ReadError] | None, is_lone: bool) -> bool:
    """Whether a file without one readable row may still be a document: its first line breaks off, or it is a
    single line over the limit for rows."""
    error = problem[1] if problem else None
    if isinstance(error, LineTooLongError):
        return is_lone
    is_open = isinstance(error, JsonError) and error.is_incomplete
    return is_open and not is_lone and path.suffix.lower() not in LINE_SUFFIXES


def _sniff_document(path: Path, max_bytes: int) -> Sniffed:
    try:
        value = parse_json(read_document(path, max_bytes), nan_as_null=True).value
    except JsonError as exc:
        return Sniffed(None, Layout.DOCUMENT, problem=(1, exc))
    return Sniffed(format_of(value), Layout.DOCUMENT)


def _sniff_array(path: Path, max_bytes: int) -> Sniffed:
    """An array is read where its rows are spans or logs, which tools give out like that."""
    refusal = JsonArrayError(f"{path}: the file is one JSON array; write one run a line (JSONL)")
    try:
        value = parse_json(read_document(path, max_bytes), nan_as_null=True).value
    except ReadError as exc:
        raise refusal from exc
    found = next((name for row in value[:SNIFFED_ROWS] if (name := format_of(row))), None)
    if found is None or not FORMATS[found].reads_arrays:
        raise refusal
    return Sniffed(found, Layout.ARRAY)


def _sniff_archive(path: Path) -> Sniffed:
    with open_archive(path) as archive:
        return Sniffed("inspect" if inspect_archive.is_log(archive.names) else None, Layout.ARCHIVE)
