"""BrowseComp-Plus runs: one JSON document a query, with a list of steps under `result`.

A run names its query by number alone; the words are in a `queries.tsv` beside it or one folder up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from lseval.domain.trajectory import RunRecord
from lseval.formats.chat_runs import NO_ANSWER, draft_call, pages_of
from lseval.formats.errors import FieldError, MissingFieldError, ReadError
from lseval.formats.fields import DraftTurn, optional_object, optional_text, required_objects
from lseval.formats.lines import open_binary, read_lines
from lseval.formats.messages import ChatCall, as_text, decoded_arguments
from lseval.formats.openai_chat import usage_record
from lseval.formats.task_keys import stated_key

QUERIES_FILE = "queries.tsv"
MAX_QUERY_BYTES = 2**16
MAX_QUERIES = 100_000
_KEPT = ("status", "tool_call_counts", "retrieved_docids")


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a parsed row is a run of BrowseComp-Plus."""
    return "query_id" in row and isinstance(row.get("result"), list)


def row_reader(path: Path, default_model: str | None) -> Callable[[Mapping[str, Any]], RunRecord]:
    """What reads the rows of `path`; `default_model` names the model where a row does not."""
    return partial(_read_row, path=path, default_model=default_model)


def _read_row(row: Mapping[str, Any], path: Path, default_model: str | None) -> RunRecord:
    query_id = stated_key(row, names=("query_id",))
    if not query_id:
        raise MissingFieldError("query_id: is missing", ["query_id"])
    stated = optional_object(row, "metadata")
    turns, answer = _turns(required_objects(row, "result"))
    warnings = [] if answer.strip() else [NO_ANSWER]
    metadata = {key: row[key] for key in _KEPT if row.get(key) not in (None, "")} | {
        key: value for key, value in stated.items() if key not in ("model", "output_dir")
    }
    model = optional_text(stated, "model") or optional_text(row, "model") or (default_model or "")
    if not model.strip():
        raise MissingFieldError(
            "metadata.model: is missing; name the model when you import the file", ["metadata.model"]
        )
    return RunRecord(
        task_key=query_id,
        question=_question(row, query_id, path),
        model_name=model,
        final_answer=answer,
        turns=tuple(turn.record() for turn in turns),
        pages=pages_of(turns).records(),
        usage=usage_record(optional_object(row, "usage")),
        metadata=metadata,
        warnings=tuple(warnings),
    )


def _turns(steps: list[Mapping[str, Any]]) -> tuple[list[DraftTurn], str]:
    """The turns, and the text that comes last. Reasoning begins a turn, and so does a call after a text."""
    turns: list[DraftTurn] = []
    answer, answered_at = "", -1
    for step, item in enumerate(steps):
        kind = optional_text(item, "type")
        output = item.get("output")
        if kind == "reasoning":
            text = _joined(output)
            turns.append(DraftTurn("", reasoning=text, source_step=step))
        elif kind == "output_text":
            answer, answered_at = _joined(output), step
            turns.append(DraftTurn(answer, source_step=step))
        elif kind == "tool_call":
            if not turns or turns[-1].text or turns[-1].calls:
                turns.append(DraftTurn("", source_step=step))
            turns[-1].calls.append(_call(item, step))
        else:
            raise FieldError(f"result[{step}].type: {kind[:40]!r} is not known", [f"result[{step}].type"])
    if turns and turns[-1].source_step == answered_at:
        turns.pop()
    else:
        answer = ""
    return [turn for turn in turns if turn.text.strip() or turn.reasoning.strip() or turn.calls], answer


def _call(item: Mapping[str, Any], step: int) -> Any:
    name = optional_text(item, "tool_name")
    if not name:
        raise MissingFieldError(f"result[{step}].tool_name: is missing", [f"result[{step}].tool_name"])
    arguments, problem = decoded_arguments(item.get("arguments"))
    draft = draft_call(ChatCall("", name, arguments, problem))
    output = item.get("output")
    draft.observation = None if output is None else as_text(output)
    draft.is_error = draft.is_error or (draft.observation or "").startswith(("Error", "error:"))
    return draft


def _joined(output: Any) -> str:
    if isinstance(output, list):
        return "\n\n".join(
            as_text(item.get("text", item) if isinstance(item, Mapping) else item) for item in output
        )
    return as_text(output)


def _question(row: Mapping[str, Any], query_id: str, path: Path) -> str:
    for key in ("query", "question"):
        if found := optional_text(row, key).strip():
            return found
    for folder in (path.parent, path.parent.parent):
        if found := _queries(folder / QUERIES_FILE).get(query_id, ""):
            return found
    raise MissingFieldError(
        f"query: is missing, and no {QUERIES_FILE} beside the file or one folder up has the query {query_id[:40]}",
        ["query"],
    )


def _queries(path: Path) -> dict[str, str]:
    """Query ids and their words; none where the file is absent or cannot be read."""
    if not path.is_file() or path.is_symlink():
        return {}
    found: dict[str, str] = {}
    try:
        with open_binary(path) as stream:
            for line in islice(read_lines(stream, MAX_QUERY_BYTES), MAX_QUERIES):
                cells = (line.data or b"").decode("utf-8", "replace").removeprefix("\ufeff").split("\t")
                if len(cells) > 1:
                    found[cells[0].strip()] = cells[1].strip()
    except ReadError:
        return {}
    return found
