"""Traces out of files of spans, where the spans of a trace may stand anywhere and be many rows."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lseval.domain.trajectory import RunRecord
from lseval.formats.errors import FieldError, FileTooLargeError, LineTooLongError, ReadError
from lseval.formats.files import FileRow, Layout, SourceFile
from lseval.formats.lines import RawLine, has_content, open_binary, read_document, read_lines
from lseval.formats.messages import noting_inner_text
from lseval.formats.strict_json import MAX_VALUES, TooManyValuesError, parse_json, value_count

Part = tuple[str, Mapping[str, Any]]
"""The id of a trace, and a row or a part of one that belongs to it."""


@dataclass(slots=True)
class _Trace:
    """Where the rows of a trace are: pairs of offset and end, in bytes, of its lines."""

    position: int
    places: array[int] = field(default_factory=lambda: array("Q"))
    values: int = 0
    bytes: int = 0


def read_traces(
    source: SourceFile,
    parts_of: Callable[[Mapping[str, Any]], list[Part]],
    build: Callable[[str, list[Mapping[str, Any]]], RunRecord],
) -> Iterator[FileRow]:
    """Every trace of a file, in the order in which they begin, and an error for every row that cannot be read.

    `parts_of` says which traces a row belongs to, `build` makes the run. A file of lines is read twice: once to
    learn where each trace's rows are, and again a trace at a time, so that one trace is held in memory at most.
    """
    if source.layout == Layout.LINES:
        yield from _from_lines(source, parts_of, build)
    else:
        yield from _from_document(source, parts_of, build)


def _from_document(source: SourceFile, parts_of: Any, build: Any) -> Iterator[FileRow]:
    data = read_document(source.path, source.max_document_bytes)
    size = len(data)
    parsed = parse_json(data, nan_as_null=True)
    del data
    rows = parsed.value if isinstance(parsed.value, list) else [parsed.value]
    traces: dict[str, tuple[int, list[Mapping[str, Any]]]] = {}
    for number, row in enumerate(rows, start=1):
        try:
            for trace_id, part in _parts(row, parts_of):
                traces.setdefault(trace_id, (number, []))[1].append(part)
        except ReadError as exc:
            yield FileRow(number, exc)
    notes = parsed.notes
    for trace_id, (number, parts) in traces.items():
        run, inner = _built(trace_id, parts, build)
        yield FileRow(number, run, f"trace {trace_id[:80]}", (*notes, *inner), size)
        notes = ()


def _from_lines(source: SourceFile, parts_of: Any, build: Any) -> Iterator[FileRow]:
    traces: dict[str, _Trace] = {}
    with open_binary(source.path) as stream:
        for line in read_lines(stream, source.max_line_bytes):
            if not has_content(line):
                continue
            try:
                _index(traces, line, source, parts_of)
            except ReadError as exc:
                yield FileRow(line.number, exc)
        cached: tuple[int, Any, tuple[str, ...]] = (-1, None, ())
        end = 0
        for trace_id, trace in traces.items():
            place = f"trace {trace_id[:80]}"
            end = max(end, trace.places[-1])
            if error := _excess(trace, source):
                yield FileRow(trace.position, error, place, bytes_read=end)
                continue
            parts: list[Mapping[str, Any]] = []
            notes: list[str] = []
            for offset, until in zip(trace.places[::2], trace.places[1::2], strict=True):
                if offset != cached[0]:
                    stream.seek(offset)
                    parsed = parse_json(stream.read(until - offset).strip(), nan_as_null=True)
                    cached = (offset, parsed.value, parsed.notes)
                parts += [part for key, part in _parts(cached[1], parts_of) if key == trace_id]
                notes += cached[2]
            run, inner = _built(trace_id, parts, build)
            yield FileRow(trace.position, run, place, (*notes, *inner), end)


def _index(traces: dict[str, _Trace], line: RawLine, source: SourceFile, parts_of: Any) -> None:
    if line.data is None:
        raise LineTooLongError(f"the line is longer than {source.max_line_bytes / 2**20:g} MiB")
    row = parse_json(line.data, nan_as_null=True).value
    values = value_count(line.data)
    for trace_id in dict.fromkeys(key for key, _ in _parts(row, parts_of)):
        trace = traces.setdefault(trace_id, _Trace(line.number))
        trace.places.extend((line.offset, line.end))
        trace.values += values
        trace.bytes += line.end - line.offset


def _excess(trace: _Trace, source: SourceFile) -> ReadError | None:
    # A trace on one line has passed the bounds of a line already, with others beside it perhaps.
    if len(trace.places) == 2:
        return None
    if trace.bytes > source.max_document_bytes:
        return FileTooLargeError(f"the trace takes more than {source.max_document_bytes / 2**20:g} MiB")
    if trace.values > MAX_VALUES:
        return TooManyValuesError(f"the trace holds more than {MAX_VALUES:,} values")
    return None


def _parts(row: Any, parts_of: Callable[[Mapping[str, Any]], list[Part]]) -> list[Part]:
    if not isinstance(row, Mapping):
        raise FieldError("a row should be a JSON object")
    return parts_of(row)


def _built(
    trace_id: str, parts: list[Mapping[str, Any]], build: Callable[[str, list[Mapping[str, Any]]], RunRecord]
) -> tuple[RunRecord | ReadError, list[str]]:
    with noting_inner_text() as inner:
        try:
            run: RunRecord | ReadError = build(trace_id, parts)
        except ReadError as exc:
            run = exc
    return run, inner
