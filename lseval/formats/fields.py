"""Fields of a parsed JSON object, with errors that name them; and turns while they are being put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lseval.domain.trajectory import ToolCallRecord, TurnRecord
from lseval.formats.errors import FieldError, MissingFieldError


def required_text(row: Mapping[str, Any], key: str, where: str = "") -> str:
    """The text under `key`, not blank. `where` is the path of `row`, for the message."""
    text = required_string(row, key, where)
    if not text.strip():
        raise MissingFieldError(f"{where}{key}: is empty", [f"{where}{key}"])
    return text


def required_string(row: Mapping[str, Any], key: str, where: str = "") -> str:
    """The string under `key`, which may be empty."""
    if key not in row:
        raise MissingFieldError(f"{where}{key}: is missing", [f"{where}{key}"])
    value = row[key]
    if not isinstance(value, str):
        raise FieldError(f"{where}{key}: should be text, not {_kind(value)}", [f"{where}{key}"])
    return value


def required_objects(row: Mapping[str, Any], key: str, where: str = "") -> list[Mapping[str, Any]]:
    """The list of objects under `key`."""
    if key not in row:
        raise MissingFieldError(f"{where}{key}: is missing", [f"{where}{key}"])
    value = row[key]
    if not isinstance(value, list):
        raise FieldError(f"{where}{key}: should be a list, not {_kind(value)}", [f"{where}{key}"])
    for index, item in enumerate(value):
        if not isinstance(item, Mapping):
            path = f"{where}{key}[{index}]"
            raise FieldError(f"{path}: should be an object, not {_kind(item)}", [path])
    return value


def optional_text(row: Mapping[str, Any], key: str) -> str:
    """The text under `key`; empty where it is absent or something else than text."""
    value = row.get(key)
    return value if isinstance(value, str) else ""


def optional_object(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under `key`; empty where it is absent or something else."""
    value = row.get(key)
    return value if isinstance(value, Mapping) else {}


def optional_objects(row: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The objects in the list under `key`; none where it is absent or something else."""
    value = row.get(key)
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def optional_texts(row: Mapping[str, Any], key: str) -> list[str]:
    """The texts under `key`, be it a list of texts or one; none where it is something else."""
    value = row.get(key)
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def optional_integer(row: Mapping[str, Any], key: str) -> int | None:
    """The integer under `key`, or None."""
    value = row.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object"


@dataclass(slots=True)
class DraftCall:
    """A tool call whose result may still be to come."""

    name: str
    original_name: str
    arguments: Mapping[str, Any]
    observation: str | None = None
    is_error: bool = False

    def record(self) -> ToolCallRecord:
        return ToolCallRecord(self.name, self.original_name, self.arguments, self.observation, self.is_error)


@dataclass(slots=True)
class DraftTurn:
    """A turn whose calls may still be waiting for their results."""

    text: str
    reasoning: str = ""
    agent: str = ""
    source_step: int | None = None
    calls: list[DraftCall] = field(default_factory=list)

    def record(self) -> TurnRecord:
        calls = tuple(call.record() for call in self.calls)
        return TurnRecord(self.text, calls, self.agent, self.reasoning, self.source_step)
