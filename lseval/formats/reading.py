"""Runs out of a file, one result a row, whatever the rows hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lseval.domain.trajectory import RunRecord
from lseval.formats.errors import (
    FieldError,
    LineTooLongError,
    ReadError,
    UnknownFormatError,
    UnreadableFileError,
)
from lseval.formats.files import FileReader, Layout, SourceFile
from lseval.formats.lines import (
    MAX_DOCUMENT_BYTES,
    MAX_LINE_BYTES,
    RawLine,
    has_content,
    open_binary,
    read_document,
    read_lines,
)
from lseval.formats.messages import noting_inner_text
from lseval.formats.registry import RowReader, format_named
from lseval.formats.sniffing import sniff, unknown_format
from lseval.formats.strict_json import InvalidUtf8Error, parse_json

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class RowResult:
    """What one row of a file gave: a run, or an error.

    `position` is the line's number from 1, and 1 for a file that is one document or cannot be read at all. In
    a file whose rows are not runs it is the line where the run begins, or its ordinal in a document or archive.
    `error` is the stable code of what went wrong, empty for a run, and `message` says it to people, with file
    and line. `warnings` name file, line and field of what was mended or left out. `bytes_read` counts from the
    file's beginning to the end of this row.
    """

    source: Path
    position: int
    record: RunRecord | None = None
    error: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()
    bytes_read: int = 0


def read_runs(
    path: Path,
    format: str = AUTO,
    *,
    default_model: str | None = None,
    max_line_bytes: int = MAX_LINE_BYTES,
    max_document_bytes: int = MAX_DOCUMENT_BYTES,
) -> Iterator[RowResult]:
    """Every row of the file at `path`, in order; blank lines are passed over.

    `format` is a name in `FORMATS`, or `auto` to tell it from the content. `default_model` names the model
    where the source does not. A row that cannot be read gives a result with an error, and reading goes on; a
    file that cannot be read gives one such result. At most one row is held in memory. Raises
    `UnknownFormatError` at once for a name that is no format's.
    """
    if format != AUTO:
        format_named(format)
    return _Reading(Path(path), default_model, max_line_bytes, max_document_bytes).results(format)


@dataclass(frozen=True, slots=True)
class _Reading:
    path: Path
    default_model: str | None
    max_line_bytes: int
    max_document_bytes: int

    def results(self, format: str) -> Iterator[RowResult]:
        try:
            sniffed = sniff(self.path, self.max_line_bytes, self.max_document_bytes)
            name = sniffed.format if format == AUTO else format
            if name is None:
                position, error = sniffed.problem or (1, unknown_format(self.path, sniffed))
                yield self._failure(position, error, 0)
                return
            entry = format_named(name)
            if entry.file_reader:
                yield from self._file_rows(entry.file_reader, sniffed.layout)
                return
            if entry.row_reader is None or sniffed.layout in (Layout.ARCHIVE, Layout.ARRAY):
                raise UnknownFormatError(f"{self.path}: an archive or array is not read as {name}")
            read_row = entry.row_reader(self.path, self.default_model)
            if sniffed.layout == Layout.DOCUMENT:
                data = read_document(self.path, self.max_document_bytes)
                yield self._row(RawLine(1, data, 0, len(data)), read_row)
            else:
                yield from self._rows(read_row)
        except ReadError as exc:
            yield self._failure(1, exc, 0)

    def _file_rows(self, reader: FileReader, layout: Layout) -> Iterator[RowResult]:
        source = SourceFile(self.path, layout, self.default_model, self.max_line_bytes, self.max_document_bytes)
        for row in reader(source):
            place = f"{row.place}: " if row.place else ""
            if isinstance(row.run, ReadError):
                yield self._failure(row.position, row.run, row.bytes_read, f"{place}{row.run}")
                continue
            record = replace(row.run, warnings=(*row.notes, *row.run.warnings)) if row.notes else row.run
            warnings = tuple(f"{self.path}:{row.position}: {place}{warning}" for warning in record.warnings)
            yield RowResult(self.path, row.position, record, warnings=warnings, bytes_read=row.bytes_read)

    def _rows(self, read_row: RowReader) -> Iterator[RowResult]:
        number, end = 0, 0
        with open_binary(self.path) as stream:
            try:
                for line in read_lines(stream, self.max_line_bytes):
                    number, end = line.number, line.end
                    if has_content(line):
                        yield self._row(line, read_row)
            except OSError as exc:
                error = UnreadableFileError(f"reading broke off: {exc.strerror or exc}")
                yield self._failure(number + 1, error, end)

    def _row(self, line: RawLine, read_row: RowReader) -> RowResult:
        try:
            if line.data is None:
                raise LineTooLongError(f"the line is longer than {self.max_line_bytes / 2**20:g} MiB")
            parsed = parse_json(line.data)
            if not isinstance(parsed.value, Mapping):
                raise FieldError("a row should be a JSON object")
            with noting_inner_text() as inner:
                record = read_row(parsed.value)
        except InvalidUtf8Error as exc:
            message = f"{exc} (byte {line.offset + exc.offset} of the file)"
            return self._failure(line.number, exc, line.end, message)
        except ReadError as exc:
            return self._failure(line.number, exc, line.end)
        if notes := (*parsed.notes, *inner):
            record = replace(record, warnings=(*notes, *record.warnings))
        warnings = tuple(f"{self.path}:{line.number}: {warning}" for warning in record.warnings)
        return RowResult(self.path, line.number, record, warnings=warnings, bytes_read=line.end)

    def _failure(self, position: int, error: ReadError, bytes_read: int, message: str = "") -> RowResult:
        message = message or str(error)
        if not message.startswith(f"{self.path}:"):
            message = f"{self.path}:{position}: {message}"
        return RowResult(self.path, position, error=error.code, message=message, bytes_read=bytes_read)
