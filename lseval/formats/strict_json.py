"""JSON read so that what it holds can be stored, and so that nothing in it is silently changed.

The standard parser keeps the last of two equal keys, accepts NaN, turns 1e400 into infinity, and passes on
strings that PostgreSQL cannot store. Here the first three are errors, and the strings are mended with a note.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from lseval.formats.errors import ReadError

MAX_DEPTH = 100
"""Objects and arrays may be nested this deep."""

MAX_VALUES = 1_000_000
"""One text may hold this many values. An empty object takes two bytes to write and a hundred to hold, so that the
size of a text alone bounds nothing."""

MAX_INTEGER = 2**63 - 1
MIN_INTEGER = -(2**63)
MAX_NOTES = 20

REPLACEMENT = "�"

_LONGEST_INTEGER = len(str(MIN_INTEGER))
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# Possessive, and closed by the end too: an open string must not make every later quotation mark start a new search.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z|\\\Z)', re.DOTALL)


class JsonError(ReadError):
    """The text is not JSON. `is_incomplete` says that it broke off: more text could make it JSON."""

    code = "invalid_json"

    def __init__(self, message: str, *, is_incomplete: bool = False) -> None:
        super().__init__(message)
        self.is_incomplete = is_incomplete


class DuplicateKeyError(JsonError):
    """An object holds a key twice, be the values equal or not."""

    code = "duplicate_key"


class NonFiniteNumberError(JsonError):
    """NaN, an infinity, or a number too large for a double, such as 1e400."""

    code = "non_finite_number"


class IntegerRangeError(JsonError):
    """An integer that 64 bits with a sign do not hold."""

    code = "integer_out_of_range"


class NestingError(JsonError):
    """Objects and arrays nested deeper than `MAX_DEPTH`."""

    code = "too_deep"


class TooManyValuesError(JsonError):
    """More than `MAX_VALUES` values in one text."""

    code = "too_many_values"


class InvalidUtf8Error(JsonError):
    """The bytes are not UTF-8; `offset` is the 0-based index of the first wrong byte."""

    code = "invalid_utf8"

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class ParsedJson:
    """A JSON value, and a note for each field whose text had to be mended (at most `MAX_NOTES`, then a count)."""

    value: Any
    notes: tuple[str, ...]


def parse_json(data: bytes, *, nan_as_null: bool = False) -> ParsedJson:
    """The value that UTF-8 `data` holds, with a byte order mark or without.

    NUL and lone surrogates in any string become U+FFFD, with a note that names the field. With `nan_as_null`,
    `NaN`, `Infinity` and `-Infinity`, which some tools write, become null, with a note that counts them. Raises a
    `JsonError` for text that is not JSON, keys given twice, numbers that are not finite, integers beyond
    64 bits, nesting beyond `MAX_DEPTH` and more than `MAX_VALUES` values.
    """
    _check_count(data)
    text = _decoded(data).removeprefix("\ufeff")
    # A raw NUL inside a string is forbidden by JSON but occurs; it is mended as the escaped one is.
    decoder = _LENIENT_DECODER if "\x00" in text else _STRICT_DECODER
    constants: list[str] = []
    if nan_as_null:
        decoder = _decoder(strict=decoder is _STRICT_DECODER, parse_constant=constants.append)
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as exc:
        raise _broken(exc, text) from exc
    except RecursionError as exc:
        raise NestingError(f"nested deeper than {MAX_DEPTH} levels") from exc
    cleaner = _Cleaner()
    value = cleaner.clean(value, None, 0)
    notes = cleaner.report()
    if constants:
        notes = (*notes, f"{', '.join(sorted(set(constants)))} read as null, {len(constants)} in all")
    return ParsedJson(value, notes)


def value_count(data: bytes) -> int:
    """At least as many as there are values in a JSON text, and at most three for each, without parsing it.

    Every value but the first follows a comma or opens what it stands in; marks inside strings do not count.
    """
    if _marks(data) <= MAX_VALUES:
        return _marks(data)
    return _marks(_STRING.sub(b"", data))


def _marks(data: bytes) -> int:
    return 1 + data.count(b",") + data.count(b"[") + data.count(b"{")


def _check_count(data: bytes) -> None:
    if (count := value_count(data)) > MAX_VALUES:
        raise TooManyValuesError(f"holds about {count:,} values; {MAX_VALUES:,} are read at most")


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise InvalidUtf8Error(f"byte {exc.start} (0x{data[exc.start]:02x}) is not UTF-8", exc.start) from exc


def _broken(exc: json.JSONDecodeError, text: str) -> JsonError:
    where = f"line {exc.lineno}, column {exc.colno}" if exc.lineno > 1 else f"column {exc.colno}"
    message = f"not JSON: {exc.msg.removesuffix(' at')} at {where}"
    if text[:2].count("\x00") == 1:
        message += "; the text looks like UTF-16, save it as UTF-8"
    return JsonError(message, is_incomplete=exc.pos >= len(text.rstrip()))


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DuplicateKeyError(f"the key {key[:80]!r} is given twice in one object")
            seen.add(key)
    return result


def _finite(literal: str) -> float:
    value = float(literal)
    if math.isinf(value):
        raise NonFiniteNumberError(f"the number {literal[:40]} is too large")
    return value


def _bounded(literal: str) -> int:
    # Length first: converting thousands of digits takes quadratic time, and Python itself refuses past 4300.
    if len(literal) > _LONGEST_INTEGER or not MIN_INTEGER <= (value := int(literal)) <= MAX_INTEGER:
        raise IntegerRangeError(f"the integer {literal[:40]} does not fit in 64 bits")
    return value


def _no_constant(literal: str) -> NoReturn:
    raise NonFiniteNumberError(f"{literal} is not a JSON number")


def _decoder(strict: bool, parse_constant: Callable[[str], Any] = _no_constant) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_unique_pairs,
        parse_float=_finite,
        parse_int=_bounded,
        parse_constant=parse_constant,
        strict=strict,
    )


_STRICT_DECODER = _decoder(strict=True)
_LENIENT_DECODER = _decoder(strict=False)


class _Cleaner:
    """Walks a parsed value once: checks its depth and mends its strings in place."""

    def __init__(self) -> None:
        self._notes: list[str] = []
        self._mended = 0

    def clean(self, value: Any, path: tuple[Any, str | int] | None, depth: int) -> Any:
        """`value` mended; `path` is a chain of (parent's path, key)."""
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, dict | list):
            if depth == MAX_DEPTH:
                raise NestingError(f"nested deeper than {MAX_DEPTH} levels")
            return self._object(value, path, depth) if isinstance(value, dict) else self._array(value, path, depth)
        return value

    def report(self) -> tuple[str, ...]:
        rest = self._mended - len(self._notes)
        return (*self._notes, f"and {rest} more fields mended alike") if rest else tuple(self._notes)

    def _object(self, value: dict[str, Any], path: tuple[Any, str | int] | None, depth: int) -> dict[str, Any]:
        for key, item in value.items():
            if isinstance(item, str | dict | list):
                value[key] = self.clean(item, (path, key), depth + 1)
        if not any(_UNSTORABLE.search(key) for key in value):
            return value
        return _unique_pairs([(self._text(key, (path, key), "the name of "), item) for key, item in value.items()])

    def _array(self, value: list[Any], path: tuple[Any, str | int] | None, depth: int) -> list[Any]:
        for index, item in enumerate(value):
            if isinstance(item, str | dict | list):
                value[index] = self.clean(item, (path, index), depth + 1)
        return value

    def _text(self, text: str, path: tuple[Any, str | int] | None, what: str = "") -> str:
        if not _UNSTORABLE.search(text):
            return text
        self._mended += 1
        if len(self._notes) < MAX_NOTES:
            kinds = [
                name
                for name, found in (("NUL", "\x00" in text), ("a lone surrogate", _has_surrogate(text)))
                if found
            ]
            self._notes.append(f"{what}{_path_text(path)}: {' and '.join(kinds)} replaced by U+FFFD")
        return _UNSTORABLE.sub(REPLACEMENT, text)


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def _path_text(path: tuple[Any, str | int] | None) -> str:
    """A path as people write it: `messages[3].content`; the whole value is `the value`."""
    parts: list[str] = []
    while path is not None:
        path, key = path
        parts.append(f"[{key}]" if isinstance(key, int) else f".{_UNSTORABLE.sub(REPLACEMENT, key[:80])}")
    return "".join(reversed(parts)).removeprefix(".") or "the value"
