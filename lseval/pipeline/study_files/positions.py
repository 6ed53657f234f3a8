"""On which line of a TOML text each value stands, so that an error can name it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

KeyPath = tuple[str | int, ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SPACE = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_PLAIN_VALUE = re.compile(r"[^,\]}#\r\n]*")
_STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\]|\\.)*"'),
    re.compile(r"'[^']*'"),
)


def line_numbers(text: str) -> Mapping[KeyPath, int]:
    """The 1-based line of each table, key and array item of a valid TOML text, by its path of keys and indices.

    What the text holds must have been read by `tomllib` before: broken text gives no error here, but wrong lines.
    """
    return _Scanner(text).scan()


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """The line of the path or of the nearest table around it; None where not even that is in the file."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._counted = 0
        self._lines: dict[KeyPath, int] = {}
        self._items: dict[KeyPath, int] = {}

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        while True:
            self._skip(_BLANK)
            if self._at >= len(self._text):
                return self._lines
            before = self._at
            if self._text.startswith("[[", self._at):
                self._at += 2
                table = self._header(is_item=True)
                self._at += 2
            elif self._text.startswith("[", self._at):
                self._at += 1
                table = self._header(is_item=False)
                self._at += 1
            else:
                self._pair(table)
            if self._at == before:  # not TOML after all
                return self._lines

    def _header(self, *, is_item: bool) -> KeyPath:
        path: KeyPath = ()
        keys = self._keys()
        for number, key in enumerate(keys):
            path = (*path, key)
            if is_item and number == len(keys) - 1:
                self._items[path] = self._items.get(path, -1) + 1
            if path in self._items:
                path = (*path, self._items[path])
        self._note(path)
        return path

    def _pair(self, table: KeyPath) -> None:
        path = (*table, *self._keys())
        self._note(path)
        self._skip(_SPACE)
        if self._text.startswith("=", self._at):
            self._at += 1
            self._skip(_SPACE)
            self._value(path)

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(_SPACE)
            keys.append(self._key())
            self._skip(_SPACE)
            if not self._text.startswith(".", self._at):
                return keys
            self._at += 1

    def _key(self) -> str:
        quote = self._text[self._at : self._at + 1]
        if quote in ('"', "'") and quote:
            written = self._string() or ""
            return _unquoted(written)
        found = _BARE_KEY.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found[0]

    def _value(self, path: KeyPath) -> None:
        char = self._text[self._at : self._at + 1]
        if char == "[":
            self._many(path, "]")
        elif char == "{":
            self._many(path, "}")
        elif self._string() is None:
            self._skip(_PLAIN_VALUE)

    def _many(self, path: KeyPath, end: str) -> None:
        """The items of an array, or the pairs of an inline table."""
        self._at += 1
        number = 0
        while self._at < len(self._text):
            self._skip(_BLANK)
            if self._text.startswith(end, self._at):
                self._at += 1
                return
            before = self._at
            if end == "]":
                self._note((*path, number))
                self._value((*path, number))
                number += 1
            else:
                self._pair(path)
            self._skip(_BLANK)
            if self._text.startswith(",", self._at):
                self._at += 1
            if self._at == before:
                return

    def _string(self) -> str | None:
        for kind in _STRINGS:
            found = kind.match(self._text, self._at)
            if found is not None:
                self._at = found.end()
                return found[0]
        return None

    def _skip(self, what: re.Pattern[str]) -> None:
        found = what.match(self._text, self._at)
        if found is not None:
            self._at = found.end()

    def _note(self, path: KeyPath) -> None:
        # Tables may be told of more than once (dotted keys); the first place is the one to show.
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        for length in range(1, len(path) + 1):
            self._lines.setdefault(path[:length], self._line)


def _unquoted(written: str) -> str:
    return str(tomllib.loads(f"key = {written}")["key"])
