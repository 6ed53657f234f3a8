"""Inspect AI logs in JSON: one document with the samples of one model on one evaluation.

A sample's epochs are attempts of one run, not further samples: the first that ended without an error is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from lseval.formats.errors import FieldError, MissingFieldError
from lseval.formats.fields import optional_integer, optional_objects
from lseval.formats.files import FileRow, Layout, SourceFile
from lseval.formats.inspect_archive import read_archive
from lseval.formats.inspect_epochs import kept_epoch, log_head, sample_id
from lseval.formats.lines import read_document
from lseval.formats.strict_json import parse_json


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a parsed document is a log."""
    evaluation = row.get("eval")
    return isinstance(evaluation, Mapping) and "status" in row and ("model" in evaluation or "task" in evaluation)


def read_file(source: SourceFile) -> Iterator[FileRow]:
    """Every sample of a log as a run, be it written in JSON or as an `.eval` archive."""
    if source.layout == Layout.ARCHIVE:
        return read_archive(source)
    return _read_document(source)


def _read_document(source: SourceFile) -> Iterator[FileRow]:
    data = read_document(source.path, source.max_document_bytes)
    size = len(data)
    parsed = parse_json(data, nan_as_null=True)
    del data
    log = parsed.value
    if not isinstance(log, Mapping) or not matches(log):
        raise FieldError("the document is no log: eval or status is missing", ["eval", "status"])
    samples = optional_objects(log, "samples")
    if not samples:
        raise MissingFieldError("samples: is empty; the log was written without its samples", ["samples"])
    head = log_head(log, source.default_model)
    notes = parsed.notes
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for sample in samples:
        groups.setdefault(sample_id(sample), []).append(sample)
    for number, (key, epochs) in enumerate(groups.items(), start=1):
        yield FileRow(number, kept_epoch(head, key, _in_order(epochs)), f"sample {key[:80]}", notes, size)
        notes = ()


def _in_order(samples: Iterable[Mapping[str, Any]]) -> list[Callable[[], Mapping[str, Any]]]:
    def epoch(sample: Mapping[str, Any]) -> int:
        return optional_integer(sample, "epoch") or 0

    def loader(sample: Mapping[str, Any]) -> Callable[[], Mapping[str, Any]]:
        return lambda: sample

    return [loader(sample) for sample in sorted(samples, key=epoch)]
