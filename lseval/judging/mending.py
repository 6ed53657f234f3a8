"""The few ways in which a model's JSON is mended: nothing here can add, drop or choose a value."""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = {"True": "true", "False": "false", "None": "null"}
_WORD: Final = re.compile(r"[A-Za-z]+")
_OPENING, _CLOSING = "“„", "”“"
_COMMA_AT_END: Final = re.compile(r"\s*[}\]]")


def mended(text: str) -> str:
    """The text with curly quotation marks round keys and values made straight, Python's `True`, `False` and `None`
    as JSON has them, and commas before a closing bracket left out. What stands inside quotation marks is kept.
    """
    parts: list[str] = []
    place = 0
    while place < len(text):
        sign = text[place]
        if sign == '"':
            end = _straight_end(text, place)
            parts.append(text[place:end])
        elif sign in _OPENING:
            end = _curly_end(text, place)
            parts.append('"' + text[place + 1 : end - 1].replace('"', '\\"') + '"')
        elif sign == "," and _COMMA_AT_END.match(text, place + 1):
            end = place + 1
        elif match := _WORD.match(text, place):
            end = match.end()
            parts.append(_WORDS.get(match.group(), match.group()))
        else:
            end = place + 1
            parts.append(sign)
        place = end
    return "".join(parts)


def _straight_end(text: str, start: int) -> int:
    place = start + 1
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text[place] == '"':
            return place + 1
        place += 1
    return len(text)


def _curly_end(text: str, start: int) -> int:
    for place in range(start + 1, len(text)):
        if text[place] in _CLOSING:
            return place + 1
    return len(text)
