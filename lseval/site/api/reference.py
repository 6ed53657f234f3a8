"""The endpoints as a reader sees them, out of the OpenAPI document: for the page and for docs/api.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

TAGS: Final = {
    "about": "About",
    "studies": "Studies",
    "collection": "Collection",
    "outcome": "Outcome (Stage 1)",
    "process": "Process (Stage 2)",
    "audit": "Audits and labels",
    "progress": "Progress",
    "reports": "Agreement and reports",
    "exports": "Exports",
}
"""The groups of endpoints in order, with their titles."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A parameter: where it stands (`path` or `query`), its type in words, and what it is for."""

    name: str
    place: str
    type: str
    about: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a row, with its type in words."""

    name: str
    type: str
    about: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address with what it takes and gives. `fields` are those of one row where it gives a page of rows."""

    operation: str
    path: str
    title: str
    text: str
    parameters: tuple[Asked, ...]
    fields: tuple[Field, ...]
    content: str

    @property
    def query(self) -> tuple[Asked, ...]:
        """The parameters after the question mark."""
        return tuple(parameter for parameter in self.parameters if parameter.place == "query")


def endpoints(document: Mapping[str, Any]) -> dict[str, list[Endpoint]]:
    """Title of a group to its endpoints, in the order of `TAGS` and of their addresses."""
    found: dict[str, list[Endpoint]] = {title: [] for title in TAGS.values()}
    for path, operations in sorted(document["paths"].items()):
        operation = operations["get"]
        found[TAGS[operation["tags"][0]]].append(_endpoint(document, path, operation))
    return found


def _endpoint(document: Mapping[str, Any], path: str, operation: Mapping[str, Any]) -> Endpoint:
    title, _, text = operation["description"].partition("\n")
    content = operation["responses"]["200"]["content"]
    schema = next(iter(content.values()))["schema"]
    return Endpoint(
        operation=operation["operationId"],
        path=path,
        title=title.strip(),
        text=_plain(text),
        parameters=tuple(
            Asked(
                each["name"],
                each["in"],
                type_in_words(document, each["schema"]),
                _plain(each.get("description", "")),
            )
            for each in operation.get("parameters", [])
        ),
        fields=_fields(document, schema),
        content=", ".join(content),
    )


def _plain(text: str) -> str:
    """A docstring's text as one paragraph of a page."""
    return " ".join(text.replace("`", "").split())


def _fields(document: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[Field, ...]:
    found = _resolved(document, schema)
    if "results" in found.get("properties", {}):
        found = _resolved(document, found["properties"]["results"])
    if found.get("type") == "array":
        found = _resolved(document, found["items"])
    return tuple(
        Field(name, type_in_words(document, each), each.get("description", ""))
        for name, each in found.get("properties", {}).items()
    )


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema or "allOf" in schema:
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        else:
            schema = schema["allOf"][0]
    return schema


def type_in_words(document: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """`number`, `text`, `one of C, I, U`, `list of ToolCall`, and so on."""
    name = schema.get("$ref", "").rpartition("/")[2]
    found = _resolved(document, schema)
    or_null = " or null" if schema.get("nullable") or found.get("nullable") else ""
    if found.get("enum"):
        words = ", ".join(str(value) for value in found["enum"] if value not in (None, ""))
        return f"one of {words}{or_null}"
    if alternatives := found.get("oneOf"):
        parts = [_resolved(document, each) for each in alternatives]
        words = ", ".join(str(v) for each in parts for v in each.get("enum", []) if v not in (None, ""))
        return f"one of {words}{or_null}"
    if found.get("type") == "array":
        return f"list of {type_in_words(document, found['items'])}{or_null}"
    if found.get("type") == "object":
        return f"{name or 'object'}{or_null}"
    names = {"integer": "whole number", "number": "number", "boolean": "true or false", "string": "text"}
    formats = {"date-time": "time (ISO 8601)", "uri": "address"}
    word = formats.get(found.get("format", ""), names.get(found.get("type", ""), "any JSON"))
    return f"{word}{or_null}"


def endpoint_table(document: Mapping[str, Any]) -> str:
    """The table of endpoints in docs/api.md, as Markdown."""
    lines = ["| address | gives | may be asked for |", "|---|---|---|"]
    for group in endpoints(document).values():
        for endpoint in group:
            asked = ", ".join(f"`{parameter.name}`" for parameter in endpoint.query) or "–"
            lines.append(f"| `{endpoint.path}` | {endpoint.title} | {asked} |")
    return "\n".join(lines) + "\n"
