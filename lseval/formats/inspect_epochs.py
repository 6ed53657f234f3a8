"""Which epoch of a sample of an Inspect AI log becomes the run, and what the log says of all its samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lseval.domain.trajectory import RunRecord
from lseval.formats.errors import FieldError, MissingFieldError, ReadError
from lseval.formats.fields import optional_object, optional_text
from lseval.formats.inspect_samples import LogHead, sample_record


def log_head(log: Mapping[str, Any], default_model: str | None) -> LogHead:
    """What a log, or the head of an archive, says of all its samples."""
    evaluation = optional_object(log, "eval")
    return LogHead(
        task=optional_text(evaluation, "task"),
        model=optional_text(evaluation, "model") or (default_model or ""),
        created=optional_text(evaluation, "created"),
        status=optional_text(log, "status"),
        run_id=optional_text(evaluation, "run_id"),
    )


def sample_id(sample: Mapping[str, Any]) -> str:
    """A sample's id as text; empty where it has none."""
    value = sample.get("id")
    return "" if value is None or isinstance(value, bool) else str(value)


def kept_epoch(head: LogHead, key: str, epochs: Sequence[Callable[[], Mapping[str, Any]]]) -> RunRecord | ReadError:
    """The run of a sample: its first epoch that ended without an error and with an answer, else the first readable.

    `epochs` are called one at a time, so that they need not all be in memory. Scores play no part in the choice.
    """
    fallback: RunRecord | ReadError | None = None
    for load in epochs:
        try:
            sample = load()
            if not (name := sample_id(sample) or key):
                raise MissingFieldError("id: is missing", ["id"])
            record = sample_record(head, name, sample, len(epochs))
        except ReadError as exc:
            fallback = fallback or exc
            continue
        if not record.metadata.get("error") and record.final_answer.strip():
            return record
        if not isinstance(fallback, RunRecord):
            fallback = record
    return fallback or FieldError("the sample has no epoch")
