"""Reading the CSV files that `python -m agreement` takes, with errors that name the line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agreement.stats.exact import Number, parse_number
from agreement.stats.groups import GroupRow
from lseval.errors import InputError

LABEL_SOURCE = "label_source"
"""An optional column that says whose labels a row holds: `people` or `simulated`."""
SIMULATED = "simulated"
GROUP_COLUMNS = ("task_id", "response_id", "group_id", "required", "auto", "h1", "h2")


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A file's header, and its rows as dicts with the line each ends on."""

    header: list[str]
    rows: list[dict[str, str]]
    lines: list[int]

    def need(self, columns: tuple[str, ...]) -> None:
        """Raises `InputError` naming the columns that are not there, and those that are."""
        missing = [column for column in columns if column not in self.header]
        if missing:
            raise InputError(
                f"The file has no column {' and no column '.join(map(repr, missing))}; its columns are "
                f"{', '.join(map(repr, self.header))}."
            )


def read_csv(path: Path) -> CsvFile:
    """The file at `path`: UTF-8 with or without a byte-order mark, comma-separated, first line the header.

    Blank lines are skipped. Raises `InputError` where it cannot be read as that.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return _parse(csv.reader(stream, strict=True))
    except OSError as problem:
        raise InputError(f"Cannot read {path}: {problem.strerror or problem}.") from problem
    except UnicodeDecodeError as problem:
        raise InputError(
            f"{path} is not UTF-8 text (byte {problem.start} of the part read); save it as UTF-8."
        ) from None


def _parse(reader: Iterator[list[str]]) -> CsvFile:
    rows: list[dict[str, str]] = []
    lines: list[int] = []
    line = 0
    try:
        header = [name.strip() for name in next(reader, [])]
        if not any(header):
            raise InputError("The file is empty; its first line must name the columns.")
        repeated = sorted({name for name in header if header.count(name) > 1})
        if repeated:
            raise InputError(f"The header names {', '.join(map(repr, repeated))} more than once.")
        line = reader.line_num  # type: ignore[attr-defined]
        for cells in reader:
            line = reader.line_num  # type: ignore[attr-defined]
            if not cells:
                continue
            if len(cells) != len(header):
                raise InputError(f"Line {line}: {len(cells)} cells under {len(header)} columns.")
            rows.append({name: cell.strip() for name, cell in zip(header, cells, strict=True)})
            lines.append(line)
    except csv.Error as problem:
        raise InputError(f"Line {line + 1} or after: cannot be read as CSV ({problem}).") from problem
    return CsvFile(header, rows, lines)


def group_rows(file: CsvFile) -> list[GroupRow]:
    """The rows of a groups file. Raises `InputError`, naming the line, for an empty id or a bad required count."""
    file.need(GROUP_COLUMNS)
    result = []
    for row, line in zip(file.rows, file.lines, strict=True):
        for column in ("task_id", "response_id"):
            if not row[column]:
                raise InputError(f"Line {line}: {column} is empty.")
        result.append(
            GroupRow(
                row["task_id"],
                row["response_id"],
                row["group_id"],
                _count(row["required"], line),
                row["auto"],
                row["h1"],
                row["h2"],
            )
        )
    return result


def is_simulated(file: CsvFile) -> bool:
    """Whether the file says that some of its labels were given by no person."""
    return any(row.get(LABEL_SOURCE) == SIMULATED for row in file.rows)


def _count(text: str, line: int) -> int | None:
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise InputError(f"Line {line}: required is {text!r}, which is not a whole number.") from None


def numbers(file: CsvFile, column: str) -> list[Number]:
    """A numeric column, exact, with NaN for empty cells.

    Raises `InputError`, naming the line, for a cell that is no number.
    """
    file.need((column,))
    result = []
    known: dict[str, Number] = {}
    for row, line in zip(file.rows, file.lines, strict=True):
        text = row[column]
        try:
            result.append(known[text] if text in known else known.setdefault(text, parse_number(text)))
        except ValueError:
            raise InputError(f"Line {line}: {column} is {row[column]!r}, which is not a finite number.") from None
    return result


def names(file: CsvFile, column: str) -> list[str]:
    """A column of identifiers. Raises `InputError`, naming the line, for an empty one."""
    file.need((column,))
    for row, line in zip(file.rows, file.lines, strict=True):
        if not row[column]:
            raise InputError(f"Line {line}: {column} is empty; every row needs its cluster.")
    return [row[column] for row in file.rows]
