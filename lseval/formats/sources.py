"""The files that hold runs among files and folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lseval.formats.errors import ReadError, UnreadableFileError
from lseval.formats.sniffing import sniff

RUN_SUFFIXES = (".json", ".jsonl", ".ndjson", ".eval")


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file of a folder that holds no runs, and how that was told."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"skipped {printable(self.path)}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Sources:
    """The files to read, in order, and those passed over. Iterating gives the files."""

    files: tuple[Path, ...]
    skipped: tuple[SkippedFile, ...]

    def __iter__(self) -> Iterator[Path]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)


def iter_sources(paths: Iterable[Path]) -> Sources:
    """The files with runs under `paths`, each once; folders are walked through, sorted by name.

    A file named in `paths` is always among them. A file found in a folder is passed over, with a reason, when
    it is hidden, a symbolic link, not named as JSON, or JSON that is no run; one that is damaged is kept, so
    that reading it reports the damage. Raises `UnreadableFileError` for a path that does not exist.
    """
    files: dict[Path, None] = {}
    skipped: list[SkippedFile] = []
    for path in map(Path, paths):
        if path.is_dir():
            for found in _walk(path):
                if reason := _reason_to_skip(found):
                    skipped.append(SkippedFile(found, reason))
                else:
                    files[found] = None
        elif path.is_file():
            printable_or_refused(path)
            files[path] = None
        elif path.exists():
            raise UnreadableFileError(f"{printable(path)}: is no regular file")
        else:
            raise UnreadableFileError(f"{printable(path)}: there is no such file or folder")
    return Sources(tuple(files), tuple(skipped))


def printable(path: Path) -> str:
    """The path as text that any terminal and file can take; bytes that are no UTF-8 become question marks."""
    return str(path).encode("utf-8", "replace").decode("utf-8")


def printable_or_refused(path: Path) -> None:
    """Raise `UnreadableFileError` for a path whose name is not in UTF-8 and so could not be reported."""
    if str(path) != printable(path):
        raise UnreadableFileError(f"{printable(path)}: its name is not in UTF-8; rename it")


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            yield Path(root, name)


def _reason_to_skip(path: Path) -> str:
    if path.name.startswith("."):
        return "a hidden file"
    if path.is_symlink():
        return "a symbolic link"
    if not path.is_file():
        return "no regular file"
    if str(path) != printable(path):
        return "its name is not in UTF-8"
    if path.suffix.lower() not in RUN_SUFFIXES:
        return "not a JSON, JSONL or .eval file"
    try:
        sniffed = sniff(path)
    except ReadError:
        return ""
    return "" if sniffed.format or sniffed.problem else "holds no run in a known format"
