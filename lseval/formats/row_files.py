"""Files of rows with named values, CSV or JSONL, of any size: read in order, or a row again by its place."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from lseval.errors import InputError
from lseval.formats.errors import FieldError, ReadError
from lseval.formats.lines import has_content, open_binary, read_lines
from lseval.formats.strict_json import parse_json

CSV_SUFFIX: Final = ".csv"
LONGEST_ROW_BYTES: Final = 128 * 2**20
"""A page may come with its bytes, 20 MiB of them, a third longer as they are written."""


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row as it stands in its file: texts by column name in CSV, JSON values in JSONL.

    `line` is where it begins, from 1; `offset` and `end` are its place in bytes. `problem` says why it cannot be
    read, in which case it has no values.
    """

    line: int
    values: Mapping[str, Any]
    offset: int
    end: int
    problem: str = ""


class RowFile:
    """A file of rows. One named `.csv` is CSV with a line of names, any other JSONL, unless `is_csv` says which.

    Raises:
        InputError: it cannot be opened, is no UTF-8, or is CSV without a line of distinct names.
    """

    def __init__(self, path: Path, *, is_csv: bool | None = None) -> None:
        self.path = path
        self.is_csv = path.suffix.lower() == CSV_SUFFIX if is_csv is None else is_csv
        self.names: tuple[str, ...] = self._names() if self.is_csv else ()

    @property
    def size(self) -> int:
        """The file's bytes."""
        return self.path.stat().st_size

    def rows(self) -> Iterator[RawRow]:
        """Every row, in order. Raises InputError where the rest of the file cannot be told into rows."""
        with open_binary(self.path) as stream:
            yield from self._csv_rows(stream) if self.is_csv else _json_rows(stream)

    def at(self, places: Sequence[tuple[int, int, int]]) -> Iterator[RawRow]:
        """The rows that begin at a line and lie between two offsets, as `rows` gave them."""
        with open_binary(self.path) as stream:
            for line, offset, end in places:
                stream.seek(offset)
                data = stream.read(end - offset)
                if not self.is_csv:
                    yield _json_row(line, data, offset, end)
                    continue
                [cells] = csv.reader(io.StringIO(_text(data, self.path, line), newline=""), strict=True)
                yield self._csv_row(line, cells, offset, end)

    def _names(self) -> tuple[str, ...]:
        with open_binary(self.path) as stream:
            try:
                names = next(csv.reader(_Lines(stream, self.path), strict=True), None)
            except csv.Error as error:
                raise InputError(f"{self.path}:1: this is no CSV: {error}.") from error
        _check_names(self.path, names)
        return tuple(names or ())

    def _csv_rows(self, stream: BinaryIO) -> Iterator[RawRow]:
        lines = _Lines(stream, self.path)
        reader = csv.reader(lines, strict=True)
        next(reader)
        while True:
            line, offset = lines.number + 1, lines.end
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise InputError(
                    f"{self.path}:{line}: this is no CSV: {error}. The file may be cut off: export it again."
                ) from error
            if cells is None:
                return
            if any(cells):
                yield self._csv_row(line, cells, offset, lines.end)

    def _csv_row(self, line: int, cells: list[str], offset: int, end: int) -> RawRow:
        if len(cells) != len(self.names):
            problem = f"the row has {len(cells)} cells under {len(self.names)} column names"
            return RawRow(line, {}, offset, end, problem)
        return RawRow(line, dict(zip(self.names, cells, strict=True)), offset, end)


def _check_names(path: Path, names: Sequence[str] | None) -> None:
    """Raise InputError, with what to do, where a CSV file does not begin with a line of distinct column names."""
    if not names:
        raise InputError(f"{path}:1: there is no line of column names. Export the file again.")
    if len(names) == 1 and (";" in names[0] or "\t" in names[0]):
        raise InputError(f"{path}:1: the columns are not separated by commas. Save the file as CSV with commas.")
    if "" in names:
        raise InputError(f"{path}:1: column {names.index('') + 1} has no name. Delete the empty columns.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path}:1: the column {twice[:40]!r} stands there twice. Delete one of the two.")


class _Lines:
    """The lines of a file as text for `csv.reader`; knows where the last one given ended."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream, self._path = stream, path
        self.number, self.end = 0, 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        data = self._stream.readline(LONGEST_ROW_BYTES + 1)
        if not data:
            raise StopIteration
        self.number += 1
        self.end += len(data)
        if len(data) > LONGEST_ROW_BYTES:
            raise InputError(f"{self._path}:{self.number}: the line is longer than {LONGEST_ROW_BYTES >> 20} MiB.")
        text = _text(data, self._path, self.number)
        return text.removeprefix("\ufeff") if self.number == 1 else text


@contextmanager
def long_cells(longest: int = LONGEST_ROW_BYTES) -> Iterator[None]:
    """Within it `csv` reads cells of so many characters, by default as long as a row may be."""
    limit = csv.field_size_limit(longest)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _text(data: bytes, path: Path, line: int) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}:{line}: byte {error.start} is not UTF-8. Save the file as UTF-8.") from error


def _json_rows(stream: BinaryIO) -> Iterator[RawRow]:
    for line in read_lines(stream, LONGEST_ROW_BYTES):
        if not has_content(line):
            continue
        if line.data is None:
            problem = f"the line is longer than {LONGEST_ROW_BYTES >> 20} MiB"
            yield RawRow(line.number, {}, line.offset, line.end, problem)
        else:
            yield _json_row(line.number, line.data, line.offset, line.end)


def _json_row(line: int, data: bytes, offset: int, end: int) -> RawRow:
    try:
        return RawRow(line, _object(data), offset, end)
    except ReadError as error:
        return RawRow(line, {}, offset, end, str(error))


def _object(data: bytes) -> Mapping[str, Any]:
    value = parse_exactly(data)
    if not isinstance(value, dict):
        raise FieldError("a row should be a JSON object")
    return value


def parse_exactly(data: bytes) -> Any:
    """The JSON value that was written. Raises `ReadError` also where a text cannot be stored as it stands."""
    parsed = parse_json(data)
    if parsed.notes:
        raise FieldError("; ".join(parsed.notes).replace("replaced by U+FFFD", "cannot be stored"))
    return parsed.value
