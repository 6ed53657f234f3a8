"""Inspect AI logs as `.eval` archives: a head, and each epoch of each sample as an entry of its own.

A log that crashed has no `header.json`; what is known of it is in `_journal/start.json`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lseval.formats.archives import Archive, open_archive
from lseval.formats.errors import FieldError, MissingFieldError
from lseval.formats.files import FileRow, SourceFile
from lseval.formats.inspect_epochs import kept_epoch, log_head
from lseval.formats.strict_json import parse_json

HEADS = ("header.json", "_journal/start.json")

_SAMPLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d{1,9})\.json", re.DOTALL)


def is_log(names: tuple[str, ...]) -> bool:
    """Whether an archive with entries of these names is a log."""
    return any(head in names for head in HEADS)


def read_archive(source: SourceFile) -> Iterator[FileRow]:
    """Every sample of the archive as a run; one sample is held in memory at a time."""
    with open_archive(source.path) as archive:
        found = next((name for name in HEADS if name in archive.names), None)
        if found is None:
            raise MissingFieldError(f"{HEADS[0]}: is missing; the archive is no Inspect log", [HEADS[0]])
        head = log_head(_object(archive, found, source, []), source.default_model)
        groups: dict[str, list[tuple[int, str]]] = {}
        for name in archive.names:
            if match := _SAMPLE.fullmatch(name):
                groups.setdefault(match["id"], []).append((int(match["epoch"]), name))
        if not groups:
            raise MissingFieldError("samples: the log was written without its samples", ["samples"])
        done = 0
        for number, (key, epochs) in enumerate(groups.items(), start=1):
            notes: list[str] = []
            loaders = [_loader(archive, name, source, notes) for _, name in sorted(epochs)]
            run = kept_epoch(head, key, loaders)
            done += sum(archive.packed_bytes(name) for _, name in epochs)
            yield FileRow(number, run, f"sample {key[:80]}", tuple(notes), done)


def _loader(archive: Archive, name: str, source: SourceFile, notes: list[str]) -> Callable[[], Mapping[str, Any]]:
    return lambda: _object(archive, name, source, notes)


def _object(archive: Archive, name: str, source: SourceFile, notes: list[str]) -> Mapping[str, Any]:
    parsed = parse_json(archive.read(name, source.max_document_bytes), nan_as_null=True)
    if not isinstance(parsed.value, Mapping):
        raise FieldError(f"{name[:200]}: should be a JSON object")
    notes[:] = parsed.notes
    return parsed.value
