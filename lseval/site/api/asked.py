"""What an address of the API may be asked for, each parameter with its name, its meaning and what it takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from lseval.errors import InputError
from lseval.plain_sql import LARGEST_ID

Kind = Literal["number", "text", "choice", "truth"]

LONGEST_TEXT: Final = 500
_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_SHOWN: Final = 40
_TRUTHS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter after the question mark. `path` is what a filter compares, by equality and nothing else.

    A number is whole, from `least` to `most`.
    """

    name: str
    about: str
    kind: Kind = "text"
    path: str = ""
    choices: Sequence[str] = ()
    least: int = 0
    most: int = LARGEST_ID
    default: Any = None

    def read(self, text: str) -> Any:
        """The value that was given. Raises InputError, which says what may be given, for anything else."""
        if self.kind == "number":
            if not _NUMBER.fullmatch(text) or not self.least <= int(text) <= self.most:
                raise InputError(f"{self.name} must be a whole number from {self.least} to {self.most}.")
            return int(text)
        if self.kind == "truth":
            if text not in _TRUTHS:
                raise InputError(f"{self.name} must be true or false.")
            return _TRUTHS[text]
        if self.kind == "choice":
            if text not in self.choices:
                raise InputError(f"{self.name} is none of {', '.join(self.choices)}: {text[:_SHOWN]!a}.")
            return text
        if len(text) > LONGEST_TEXT or "\x00" in text:
            raise InputError(f"{self.name} must be a text of at most {LONGEST_TEXT} characters with no NUL.")
        return text

    def described(self) -> OpenApiParameter:
        """As the OpenAPI document has it."""
        schemas: dict[Kind, Any] = {
            "number": {"type": "integer", "format": "int64", "minimum": self.least, "maximum": self.most},
            "text": {"type": "string", "maxLength": LONGEST_TEXT},
            "choice": {"type": "string", "enum": list(self.choices)},
            "truth": OpenApiTypes.BOOL,
        }
        return OpenApiParameter(
            self.name, schemas[self.kind], OpenApiParameter.QUERY, description=self.about, default=self.default
        )


def number(name: str, path: str, about: str) -> Parameter:
    """A filter by an id or a number."""
    return Parameter(name, about, "number", path)


def text(name: str, path: str, about: str) -> Parameter:
    """A filter by a whole text."""
    return Parameter(name, about, "text", path)


def choice(name: str, path: str, about: str, choices: Sequence[str]) -> Parameter:
    """A filter by one of some words."""
    return Parameter(name, about, "choice", path, tuple(map(str, choices)))


def truth(name: str, path: str, about: str) -> Parameter:
    """A filter by `true` or `false`."""
    return Parameter(name, about, "truth", path)


def read_asked(given: QueryDict, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Name to value of every parameter that was given or has a default. Raises InputError as `Parameter.read`."""
    found = {}
    for parameter in parameters:
        if parameter.name in given:
            found[parameter.name] = parameter.read(str(given[parameter.name]))
        elif parameter.default is not None:
            found[parameter.name] = parameter.default
    return found
