"""The five tools of the protocol as models see them, and their arguments as they must come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lseval.agent.errors import ToolError
from lseval.agent.texts import clean
from lseval.domain.chat import ToolSchema
from lseval.domain.controls import Controls
from lseval.formats.strict_json import JsonError, parse_json

UNPARSED: Final = "unparsed"
"""The key under which a call's arguments are kept as text where they are no JSON object."""

MOST_FIELDS = 20
_LONGEST_TEXT = 2_000
_SHOWN_ARGUMENT_CHARS = 200


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WebSearchArguments(_Arguments):
    query: str = Field(min_length=1, max_length=_LONGEST_TEXT, pattern=r"\S")
    count: int | None = Field(default=None, ge=1)


class OpenPageArguments(_Arguments):
    url: str = Field(min_length=1)


class ReadPageArguments(_Arguments):
    page_id: str
    offset: int = Field(default=0, ge=0)
    chars: int | None = Field(default=None, ge=1)


class FindInPageArguments(_Arguments):
    page_id: str
    pattern: str = Field(min_length=1, max_length=_LONGEST_TEXT, pattern=r"\S")


class ExtractArguments(_Arguments):
    page_id: str
    fields: list[str] = Field(min_length=1, max_length=MOST_FIELDS)


_MODELS: Final[Mapping[str, type[_Arguments]]] = {
    "web_search": WebSearchArguments,
    "open_page": OpenPageArguments,
    "read_page": ReadPageArguments,
    "find_in_page": FindInPageArguments,
    "extract": ExtractArguments,
}


@dataclass(frozen=True, slots=True)
class ReadArguments:
    """A call's arguments: as they are kept, as JSON text that is safe to send back, and as the tool takes them.

    `values` is None where they cannot be used; then `problem` says why.
    """

    kept: Mapping[str, Any]
    echo: str
    values: _Arguments | None
    problem: str = ""


def read_arguments(tool: str, written: str) -> ReadArguments:
    """Arguments as a model wrote them, strictly: what does not fit is told, never guessed.

    A tool that takes only optional arguments may be called with none written. Raises nothing.
    """
    written = clean(written)
    try:
        kept = parse_json(written.encode()).value if written.strip() else {}
    except JsonError as error:
        return _unusable(written, f"the arguments cannot be read ({error})")
    if not isinstance(kept, dict):
        return _unusable(written, "the arguments must be a JSON object")
    echo = json.dumps(kept, ensure_ascii=False)
    model = _MODELS.get(tool)
    if model is None:
        return ReadArguments(
            kept, echo, None, f"there is no tool {tool[:60]!r}; the tools are {', '.join(_MODELS)}"
        )
    try:
        return ReadArguments(kept, echo, model.model_validate(kept))
    except ValidationError as error:
        return ReadArguments(kept, echo, None, _told(error))


def _unusable(written: str, problem: str) -> ReadArguments:
    return ReadArguments({UNPARSED: written}, "{}", None, problem)


def _told(error: ValidationError) -> str:
    problems = []
    for found in error.errors()[:3]:
        name = ".".join(str(part) for part in found["loc"])
        if found["type"] == "extra_forbidden":
            problems.append(f"there is no argument {name[:60]!r}")
        elif found["type"] == "missing":
            problems.append(f"the argument {name} is missing")
        else:
            given = repr(found["input"])[:_SHOWN_ARGUMENT_CHARS]
            problems.append(f"{name} cannot be {given}: {found['msg'][:1].lower()}{found['msg'][1:]}")
    return "; ".join(problems)


@cache
def tool_schemas(controls: Controls) -> tuple[ToolSchema, ...]:
    """The tools in the protocol's order, with the study's own numbers in their descriptions."""
    return (
        _schema(
            "web_search",
            "Search the web. Shows titles, addresses and snippets.",
            {
                "query": {"type": "string", "description": "what to look for"},
                "count": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": controls.search_results,
                    "description": f"how many results; default and most {controls.search_results}",
                },
            },
            ("query",),
        ),
        _schema(
            "open_page",
            "Open a web page. Shows its title, address, type, length and identifier, and none of its text.",
            {"url": {"type": "string", "description": "the page's full http or https address"}},
            ("url",),
        ),
        _schema(
            "read_page",
            "Read a part of an opened page's text.",
            {
                "page_id": _PAGE_ID,
                "offset": {"type": "integer", "minimum": 0, "description": "first character to show; default 0"},
                "chars": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": controls.read_chars_cap,
                    "description": (
                        f"how many characters; default {controls.read_chars}, at most {controls.read_chars_cap}"
                    ),
                },
            },
            ("page_id",),
        ),
        _schema(
            "find_in_page",
            "Find where an opened page has exactly these words, in upper or lower case, with the text around them.",
            {"page_id": _PAGE_ID, "pattern": {"type": "string", "description": "the words, literally"}},
            ("page_id", "pattern"),
        ),
        _schema(
            "extract",
            "Pick the passages of an opened page that are nearest to each of the named fields.",
            {
                "page_id": _PAGE_ID,
                "fields": {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 1,
                    "maxItems": MOST_FIELDS,
                    "description": 'what to look for, such as ["opening year", "operator"]',
                },
            },
            ("page_id", "fields"),
        ),
    )


_PAGE_ID: Final = {"type": "string", "description": "the identifier that open_page gave, such as p1"}


def _schema(name: str, description: str, properties: Mapping[str, Any], required: tuple[str, ...]) -> ToolSchema:
    return ToolSchema(
        name,
        description,
        {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False},
    )


def require(found: ReadArguments) -> _Arguments:
    """The arguments as the tool takes them. Raises ToolError that says what is wrong with them."""
    if found.values is None:
        raise ToolError(f"{found.problem}. Mend the call and make it again.")
    return found.values
