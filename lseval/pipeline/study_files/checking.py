"""From the objections of the schema to problems that people can mend: place, field, and what to write instead."""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from lseval.pipeline.study_files.errors import Problem
from lseval.pipeline.study_files.positions import KeyPath, line_of
from lseval.pipeline.study_files.schema import JUDGE_ROLES, KEY_ENV_ADVICE, looks_like_secret

_SECRET_NAME = re.compile(
    r"(?:api[-_]?)?key|token|secret|password|passwd|authorization|bearer|api[-_]?token", re.IGNORECASE
)
_SHOWN_VALUE_CHARS = 60
_WORDS = {
    "missing": "is missing",
    "string_type": "must be text in quotes",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "dict_type": "must be a table",
    "list_type": "must be a list in [ ]",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
}


def problems_of(
    error: ValidationError, model: type[BaseModel], file: str, lines: Mapping[KeyPath, int], line: int | None = None
) -> list[Problem]:
    """One problem for each objection; `line` is for a file whose entries are lines, and has no map of them."""
    found = []
    for objection in error.errors():
        path: KeyPath = tuple(part for part in objection["loc"] if part != "[key]")
        at = line if line is not None else line_of(lines, path)
        found.append(Problem(file, at, field_name(path), _told(objection, model, path)))
    return sorted(found, key=lambda problem: problem.line or 0)


def secrets_in(data: Mapping[str, Any], file: str, lines: Mapping[KeyPath, int]) -> list[Problem]:
    """Values that look like keys, wherever a provider is described; the value itself is never repeated."""
    found = []
    for top in ("models", "judges", "search", "fetch", "providers", "sandbox"):
        for path, value in _texts(data.get(top), (top,)):
            name = next((str(part) for part in reversed(path) if isinstance(part, str)), "")
            if looks_like_secret(value) or (_SECRET_NAME.fullmatch(name) and value.strip()):
                found.append(Problem(file, line_of(lines, path), field_name(path), KEY_ENV_ADVICE))
    return found


def field_name(path: KeyPath) -> str:
    """A path as it is read aloud: items of lists are counted from 1, as in `models[2].price`."""
    name = ""
    for part in path:
        name += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if name else str(part)
    return name


def _texts(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, (*path, number))


def _told(objection: Any, model: type[BaseModel], path: KeyPath) -> str:
    kind = objection["type"]
    if kind == "extra_forbidden":
        return _unknown(str(path[-1]), _names_at(model, path[:-1]))
    if kind == "literal_error":
        if path and path[0] == "judges" and len(path) == 2:
            return _unknown(str(path[-1]), JUDGE_ROLES)
        return f"must be {objection['ctx']['expected']}, and is {_shown(objection['input'])}"
    if kind == "value_error":
        return str(objection["ctx"]["error"])
    if kind in _WORDS:
        return _WORDS[kind]
    message = objection["msg"].replace("Input should", "must").replace("String should", "must")
    return f"{message}; it is {_shown(objection['input'])}"


def _unknown(name: str, known: Sequence[str]) -> str:
    if _SECRET_NAME.fullmatch(name):
        return f"{name} is not known: put the key in an environment variable and name that variable in key_env"
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
    return f"{name[:_SHOWN_VALUE_CHARS]} is not known; {hint}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_VALUE_CHARS else f"{text[:_SHOWN_VALUE_CHARS]}…"


def _names_at(model: type[BaseModel], path: KeyPath) -> list[str]:
    """The keys that the table at that path may have."""
    for part in path:
        if isinstance(part, int) or part not in model.model_fields:
            continue  # an item of a list, or a judge's role: the model is the same
        inner = _model_in(model.model_fields[part].annotation)
        if inner is None:
            return []
        model = inner
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in typing.get_args(annotation) if (found := _model_in(inner))), None)
