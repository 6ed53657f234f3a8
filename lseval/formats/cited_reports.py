"""Reports with citations and no trajectory: rows of `id`, `prompt` and `article`, as DeepResearch Bench collects
them. The model is in the file's name, as `system__model.jsonl`; a `query.jsonl` beside it has topics and languages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lseval.domain.trajectory import RunRecord
from lseval.formats.errors import FieldError, MissingFieldError, ReadError
from lseval.formats.fields import optional_text, required_string, required_text
from lseval.formats.lines import open_binary, read_lines
from lseval.formats.strict_json import parse_json

QUERY_FILE = "query.jsonl"
MAX_QUERY_LINE_BYTES = 2**20
KEYS = frozenset({"id", "prompt", "article"})


@dataclass(frozen=True, slots=True)
class _Query:
    prompt: str
    topic: str
    language: str


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a parsed row is a report."""
    return row.keys() >= KEYS


def row_reader(path: Path, default_model: str | None) -> Callable[[Mapping[str, Any]], RunRecord]:
    """What reads the rows of `path`; `default_model` goes before the model in the file's name."""
    system, _, model = path.stem.partition("__")
    model_name = default_model or model or system
    metadata = {"system": system} if model else {}
    queries, problem = _queries_beside(path)

    def read_row(row: Mapping[str, Any]) -> RunRecord:
        key, question = _key(row), required_text(row, "prompt")
        query = queries.get(key)
        if query and query.prompt.strip() != question.strip():
            query = None
        return RunRecord(
            task_key=key,
            question=question,
            model_name=model_name,
            final_answer=required_string(row, "article"),
            task_topic=query.topic if query else "",
            task_language=query.language if query else "",
            metadata=metadata,
            warnings=(problem,) if problem else (),
        )

    return read_row


def _key(row: Mapping[str, Any]) -> str:
    value = row.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None or value == "":
        raise MissingFieldError("id: is missing", ["id"])
    if not isinstance(value, str):
        raise FieldError("id: should be a whole number or text", ["id"])
    return required_text(row, "id")


def _queries_beside(path: Path) -> tuple[dict[str, _Query], str]:
    """The queries in the file beside `path`, and what was wrong with it; both empty where there is none."""
    beside = path.with_name(QUERY_FILE)
    if not beside.is_file() or beside == path:
        return {}, ""
    queries: dict[str, _Query] = {}
    try:
        with open_binary(beside) as stream:
            for line in read_lines(stream, MAX_QUERY_LINE_BYTES):
                if line.data and line.data.strip():
                    row = parse_json(line.data).value
                    if isinstance(row, Mapping):
                        topic, language = optional_text(row, "topic"), optional_text(row, "language")
                        queries[_key(row)] = _Query(optional_text(row, "prompt"), topic, language)
    except ReadError as exc:
        return queries, f"topic and language may be missing: {QUERY_FILE} cannot be read: {exc}"
    return queries, ""
