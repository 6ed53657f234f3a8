"""Attributes of spans, which may be flat with dots in their keys, nested, or a list of keys with typed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lseval.formats.fields import optional_objects, optional_text
from lseval.formats.messages import decoded_json

_PREFIX = "attributes."
_MAX_PARTS = 20


class Attributes:
    """A span's attributes, looked up by dotted key however they are written."""

    def __init__(self, span: Mapping[str, Any]) -> None:
        stated = span.get("attributes")
        self._values: dict[str, Any] = {}
        if isinstance(stated, list):
            for item in stated:
                if isinstance(item, Mapping):
                    self._values[optional_text(item, "key")] = otlp_value(item.get("value"))
        elif isinstance(stated, Mapping):
            self._values.update(stated)
        for key, value in span.items():
            if key.startswith(_PREFIX):  # a table of spans, written as JSON
                self._values[key.removeprefix(_PREFIX)] = value

    def get(self, *keys: str) -> Any:
        """The value under the first of `keys` that has one, else None."""
        for key in keys:
            value = self._values.get(key)
            if value is None:
                value = _nested(self._values, key.split("."))
            if value is not None:
                return value
        return None

    def text(self, *keys: str) -> str:
        """The text under the first of `keys` that has one; empty where none has."""
        value = self.get(*keys)
        return value if isinstance(value, str) else ""

    def integer(self, *keys: str) -> int | None:
        """The whole number under the first of `keys` that has one, be it written as text."""
        value = self.get(*keys)
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
            return int(value)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def listed(self, key: str) -> Any:
        """What is under `key`: a value, JSON in text, or what `key.0.name`, `key.1.name` and so on put together."""
        value = self.get(key)
        if value is not None:
            return decoded_json(value)
        tree: dict[str, Any] = {}
        for full, leaf in self._values.items():
            if full.startswith(f"{key}."):
                _plant(tree, full[len(key) + 1 :].split(".", _MAX_PARTS), leaf)
        return _as_lists(tree) if tree else None

    def under(self, prefix: str) -> dict[str, Any]:
        """The flat attributes whose keys begin with `prefix`, without it."""
        return {key[len(prefix) :]: value for key, value in self._values.items() if key.startswith(prefix)}

    def __bool__(self) -> bool:
        return bool(self._values)


def otlp_value(value: Any) -> Any:
    """What one of OTLP's typed values holds: `{"stringValue": "x"}` is `x`."""
    if not isinstance(value, Mapping):
        return value
    for kind, found in value.items():
        name = kind.replace("_", "").lower()
        if name == "intvalue":
            return (
                int(found)
                if isinstance(found, str) and found.lstrip("-").isdecimal() and len(found) < 20
                else found
            )
        if name == "arrayvalue":
            return (
                [otlp_value(item) for item in optional_objects(found, "values")]
                if isinstance(found, Mapping)
                else []
            )
        if name == "kvlistvalue":
            pairs = optional_objects(found, "values") if isinstance(found, Mapping) else []
            return {optional_text(pair, "key"): otlp_value(pair.get("value")) for pair in pairs}
        if name in ("stringvalue", "boolvalue", "doublevalue", "bytesvalue"):
            return found
    return None


def _nested(values: Mapping[str, Any], parts: list[str]) -> Any:
    found: Any = values
    for part in parts:
        if not isinstance(found, Mapping):
            return None
        found = found.get(part)
    return found


def _plant(tree: dict[str, Any], parts: list[str], leaf: Any) -> None:
    for part in parts[:-1]:
        branch = tree.setdefault(part, {})
        if not isinstance(branch, dict):
            return
        tree = branch
    tree.setdefault(parts[-1], leaf)


def _as_lists(tree: Any) -> Any:
    """`tree` with the objects whose keys are all numbers as lists, in the order of these."""
    if not isinstance(tree, dict):
        return tree
    if tree and all(key.isascii() and key.isdecimal() and len(key) < 10 for key in tree):
        return [_as_lists(tree[key]) for key in sorted(tree, key=int)]
    return {key: _as_lists(value) for key, value in tree.items()}
