"""Bytes of a file, a line at a time or whole, without ever holding more than a stated number."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lseval.formats.errors import FileTooLargeError, UnreadableFileError, UnsupportedEncodingError

MAX_LINE_BYTES = 24 * 2**20
"""A longer line is an error of that line; reading goes on after it."""

MAX_DOCUMENT_BYTES = 48 * 2**20
"""A file that is one JSON document has to fit in memory; a longer one is asked for as JSONL."""

_DISCARD_BYTES = 2**20
# UTF-32 first: its little-endian mark begins with UTF-16's.
_FOREIGN_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


@dataclass(frozen=True, slots=True)
class RawLine:
    """A line as it stands in the file, blank ones included.

    `number` counts from 1; `data` has no line end, and is None for a line over the limit; `offset` is where
    the line begins in the file and `end` where the next one does, in bytes.
    """

    number: int
    data: bytes | None
    offset: int
    end: int


def open_binary(path: Path) -> BinaryIO:
    """The file, open for reading at its first byte.

    Raises `UnreadableFileError` where it cannot be opened, `UnsupportedEncodingError` where it begins with
    the byte order mark of UTF-16 or UTF-32.
    """
    try:
        stream = path.open("rb")
    except OSError as exc:
        raise UnreadableFileError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
    try:
        head = stream.read(4)
        stream.seek(0)
    except OSError as exc:
        stream.close()
        raise UnreadableFileError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
    for mark, name in _FOREIGN_MARKS:
        if head.startswith(mark):
            stream.close()
            raise UnsupportedEncodingError(
                f"{path}:1: the file is {name} text; save it as UTF-8 and import it again"
            )
    return stream


def read_lines(stream: BinaryIO, max_bytes: int = MAX_LINE_BYTES) -> Iterator[RawLine]:
    """Every line of `stream`, ended by LF or CR LF.

    A line of more than `max_bytes` bytes comes with `data` None; what is over the limit is passed over in
    small pieces.
    """
    number, offset = 0, 0
    while data := stream.readline(max_bytes + 2):
        number += 1
        end = offset + len(data)
        content = _without_line_end(data)
        if len(content) <= max_bytes and (data.endswith(b"\n") or len(data) < max_bytes + 2):
            del data
            yield RawLine(number, content, offset, end)
        else:
            if not data.endswith(b"\n"):
                del data, content
                end += _discard_line(stream)
            yield RawLine(number, None, offset, end)
        offset = end


def read_document(path: Path, max_bytes: int = MAX_DOCUMENT_BYTES) -> bytes:
    """The whole file; raises `FileTooLargeError` where it is over `max_bytes`, and as `open_binary` does."""
    with open_binary(path) as stream:
        try:
            is_larger = os.fstat(stream.fileno()).st_size > max_bytes
            data = b"" if is_larger else stream.read(max_bytes + 1)
        except OSError as exc:
            raise UnreadableFileError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
    if is_larger or len(data) > max_bytes:
        limit = f"{max_bytes / 2**20:g} MiB"
        raise FileTooLargeError(f"{path}: one JSON document of more than {limit}; write one run a line (JSONL)")
    return data


def has_content(line: RawLine) -> bool:
    """Whether a line holds anything but white space and a byte order mark."""
    return line.data is None or bool(line.data.removeprefix(codecs.BOM_UTF8).strip())


def _without_line_end(data: bytes) -> bytes:
    return data.removesuffix(b"\n").removesuffix(b"\r") if data.endswith(b"\n") else data


def _discard_line(stream: BinaryIO) -> int:
    """Read on to the end of the line; the number of bytes passed over."""
    passed = 0
    while piece := stream.readline(_DISCARD_BYTES):
        passed += len(piece)
        if piece.endswith(b"\n"):
            break
    return passed
