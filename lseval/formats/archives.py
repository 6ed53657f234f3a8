"""Zip archives from strangers: an entry at a time, never unpacked to the disk, and counted while they are read."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from lseval.formats.errors import (
    ArchiveError,
    FileTooLargeError,
    ReadError,
    UnreadableFileError,
    UnsafeArchiveError,
)

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
MAX_ENTRIES = 100_000
MAX_DIRECTORY_BYTES = 8 * 2**20
"""A directory of so many bytes lists 178,000 entries at most, whatever number it claims."""

MAX_RATIO = 200
"""JSON packs to a twentieth, seldom to less; a thousandth is an archive made to fill the memory."""

_RATIO_FLOOR_BYTES = 2**20
_CHUNK = 2**18
_ENCRYPTED = 0x1
_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error)


class Archive:
    """An open archive whose entries have been looked over. `names` is in the order of its directory."""

    def __init__(self, opened: zipfile.ZipFile, size: int, path: Path) -> None:
        self._zip, self._path = opened, path
        self._left = MAX_RATIO * size + _RATIO_FLOOR_BYTES
        self._entries = {entry.filename: entry for entry in opened.infolist() if not entry.is_dir()}
        self.names = tuple(self._entries)

    def packed_bytes(self, name: str) -> int:
        """How many bytes the entry takes in the archive, as its directory says."""
        return self._entries[name].compress_size

    def read(self, name: str, max_bytes: int) -> bytes:
        """The entry's content.

        Raises `FileTooLargeError` where it is over `max_bytes`, `UnsafeArchiveError` where it unpacks to more than
        `MAX_RATIO` times what it takes, `ArchiveError` where it is damaged. No more than that is ever held.
        """
        entry = self._entries[name]
        pieces: list[bytes] = []
        size = 0
        bound = max(_RATIO_FLOOR_BYTES, MAX_RATIO * entry.compress_size)
        with _told(self._path, f"{name[:200]} "), self._zip.open(entry) as stream:
            while piece := stream.read(_CHUNK):
                size += len(piece)
                self._left -= len(piece)
                if size > max_bytes:
                    raise FileTooLargeError(f"{name[:200]} unpacks to more than {max_bytes / 2**20:g} MiB")
                if size > bound or self._left < 0:
                    raise UnsafeArchiveError(
                        f"{name[:200]} unpacks to more than {MAX_RATIO} times its size; it was not read on"
                    )
                pieces.append(piece)
        return b"".join(pieces)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The archive at `path`, open for reading.

    Raises `UnsafeArchiveError` for entries that are absolute, lead out with `..`, are symbolic links, or are too
    many, before any is read; `ArchiveError` where it is damaged, encrypted or packed by an unknown method.
    """
    try:
        stream = path.open("rb")
    except OSError as exc:
        raise UnreadableFileError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
    with stream:
        with _told(path):
            size = stream.seek(0, 2)
            _check_directory(stream, size)
            opened = zipfile.ZipFile(stream)
        with opened:
            for entry in opened.infolist():
                _check_entry(entry)
            yield Archive(opened, size, path)


def is_archive(path: Path) -> bool:
    """Whether the file begins as a zip archive does; False where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(4) in MAGIC
    except OSError:
        return False


@contextmanager
def _told(path: Path, what: str = "") -> Iterator[None]:
    """What the library raises on broken archives, as our own errors."""
    try:
        yield
    except ReadError:
        raise
    except OSError as exc:
        raise UnreadableFileError(f"{path}: {what}cannot be read: {exc.strerror or exc}") from exc
    except _BROKEN as exc:
        raise ArchiveError(f"{path}: {what}cannot be unpacked: {str(exc)[:200]}") from exc


def _check_directory(stream: BinaryIO, size: int) -> None:
    """Refuse a directory that is too large before the library holds all of it as objects."""
    stream.seek(max(0, size - _END.size - 0xFFFF))
    tail = stream.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise ArchiveError("the archive breaks off: its directory is missing. Was the log still being written?")
    _, _, _, _, entries, length, _, _ = _END.unpack_from(tail, at)
    before = at - _END64_LOCATOR.size
    if before >= 0 and tail[before : before + 4] == b"PK\x06\x07":
        _, _, offset, _ = _END64_LOCATOR.unpack_from(tail, before)
        if offset < size:
            stream.seek(offset)
            record = stream.read(_END64.size)
            if len(record) == _END64.size and record.startswith(b"PK\x06\x06"):
                *_, entries64, length64, _ = _END64.unpack(record)
                entries, length = max(entries, entries64), max(length % 0xFFFFFFFF, length64)
    if (entries > MAX_ENTRIES and entries != 0xFFFF) or (length > MAX_DIRECTORY_BYTES and length != 0xFFFFFFFF):
        raise UnsafeArchiveError(
            f"the archive lists {entries:,} entries in {length:,} bytes; {MAX_ENTRIES:,} are read at most"
        )
    stream.seek(0)


def _check_entry(entry: zipfile.ZipInfo) -> None:
    name = entry.orig_filename
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\x00" in name:
        raise UnsafeArchiveError(f"the archive has an entry whose path leads out of it: {name[:80]!a}")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise UnsafeArchiveError(f"the archive has a symbolic link: {name[:80]!a}")
    if entry.flag_bits & _ENCRYPTED:
        raise ArchiveError("the archive is encrypted; unpack it and pack it again without a password")
    if entry.compress_type not in _METHODS:
        raise ArchiveError(
            f"{name[:80]!a} is packed by method {entry.compress_type}, which is not read here; "
            "write the log as JSON: inspect log convert --to json"
        )
