"""Reads our own format, `lseval-run/1`; `docs/run-format.md` describes it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from lseval.domain.labels import PageOutcome
from lseval.domain.trajectory import ReferenceRecord, RubricRecord, RunRecord, UsageRecord
from lseval.formats import lseval_models as models
from lseval.formats.errors import FieldError, MissingFieldError, UnknownFieldError, UnsupportedVersionError
from lseval.formats.fields import DraftCall, DraftTurn
from lseval.formats.pages import PageCollector, outcome_of_text

FORMAT_PREFIX = "lseval-run/"
MAX_FAULTS = 10
"""So many faults of a row are named in full, the rest counted."""

_ERROR_CLASSES: tuple[tuple[str, type[FieldError]], ...] = (
    ("missing", MissingFieldError),
    ("extra_forbidden", UnknownFieldError),
)
_ALL_NAMES = sorted(
    {
        name
        for model in vars(models).values()
        if isinstance(model, type) and issubclass(model, BaseModel)
        for name in model.model_fields
    }
)


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a parsed row is, or means to be, in our format."""
    declared = row.get("format")
    if isinstance(declared, str):
        return declared.startswith(FORMAT_PREFIX)
    return "format" not in row and row.keys() >= {"task", "model", "final_answer"}


def row_reader(path: Path, default_model: str | None) -> Callable[[Mapping[str, Any]], RunRecord]:
    """What reads the rows of `path`; every row names its model, so `default_model` is not used."""
    return read_row


def read_row(row: Mapping[str, Any]) -> RunRecord:
    """The run that a parsed row of our format holds.

    Raises `UnsupportedVersionError` for another version, and a `FieldError` that names every field at fault:
    `MissingFieldError` where any is missing, else `UnknownFieldError` where any is unknown.
    """
    declared = row.get("format")
    if isinstance(declared, str) and declared.startswith(FORMAT_PREFIX) and declared != models.FORMAT_NAME:
        raise UnsupportedVersionError(f"format: {declared[:40]!r} is not read here, only {models.FORMAT_NAME!r}")
    try:
        run = models.Run.model_validate(row)
    except ValidationError as exc:
        raise _field_error(exc) from exc
    return _record(run)


def _record(run: models.Run) -> RunRecord:
    pages = PageCollector()
    turns = _turns(run.messages, pages)
    for index, page in enumerate(run.pages):
        outcome = page.outcome or outcome_of_text(page.text)
        if outcome != PageOutcome.OK and page.text.strip():
            path = f"pages[{index}].text"
            raise FieldError(f"{path}: should be absent for a page whose outcome is {outcome}", [path])
        pages.add(page.url, page.text, title=page.title, outcome=outcome, retrieved_at=page.retrieved_at)
    rubric = run.task.rubric
    steps = {turn.source_step for turn in turns}
    stray = [str(reference.step) for reference in run.references if reference.step not in steps]
    warning = (f"references: no assistant message has the step {', '.join(stray[:MAX_FAULTS])}",) if stray else ()
    return RunRecord(
        task_key=run.task.key,
        question=run.task.question,
        model_name=run.model.name,
        final_answer=run.final_answer,
        turns=tuple(turn.record() for turn in turns),
        pages=pages.records(),
        model_family=run.model.family,
        task_topic=run.task.topic,
        task_language=run.task.language,
        gold_answer=run.task.gold_answer,
        rubric=_rubric(rubric) if rubric else None,
        usage=UsageRecord(**dict(run.usage)),
        references=tuple(ReferenceRecord(**dict(reference)) for reference in run.references),
        attempts=run.attempts,
        is_final_only=run.is_final_only,
        started_at=run.started_at,
        metadata=run.metadata,
        warnings=tuple(dict.fromkeys((*run.warnings, *warning))),
    )


def _rubric(rubric: models.Rubric) -> RubricRecord:
    return RubricRecord(
        rubric.required_count, tuple(rubric.constraints), rubric.grouping_rule, tuple(rubric.required_fields)
    )


def _turns(
    messages: Sequence[models.AssistantMessage | models.ToolMessage], pages: PageCollector
) -> list[DraftTurn]:
    turns: list[DraftTurn] = []
    calls: dict[str, DraftCall] = {}
    answered: set[str] = set()
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if isinstance(message, models.AssistantMessage):
            turns.append(_turn(message, index, calls))
            continue
        call = calls.get(message.tool_call_id)
        path = f"{where}.tool_call_id"
        if call is None:
            raise FieldError(f"{path}: no earlier call has the id {message.tool_call_id[:80]!r}", [path])
        if message.tool_call_id in answered:
            raise FieldError(f"{path}: the call {message.tool_call_id[:80]!r} is already answered", [path])
        answered.add(message.tool_call_id)
        call.observation, call.is_error = message.content, message.is_error
        if message.page:
            text = message.content or ""
            outcome = message.page.outcome or (
                PageOutcome.UNAVAILABLE if message.is_error else outcome_of_text(text)
            )
            pages.add(message.page.url, text, title=message.page.title, outcome=outcome)
    return turns


def _turn(message: models.AssistantMessage, index: int, calls: dict[str, DraftCall]) -> DraftTurn:
    step = message.source_step if "source_step" in message.model_fields_set else index
    turn = DraftTurn(message.content, message.reasoning, message.agent, step)
    for position, call in enumerate(message.tool_calls):
        if call.id in calls:
            path = f"messages[{index}].tool_calls[{position}].id"
            raise FieldError(f"{path}: {call.id[:80]!r} is the id of an earlier call", [path])
        original_name = call.name if call.original_name is None else call.original_name
        calls[call.id] = DraftCall(call.name, original_name, call.arguments)
        turn.calls.append(calls[call.id])
    return turn


def _field_error(exc: ValidationError) -> FieldError:
    faults = exc.errors(include_url=False, include_context=False, include_input=False)
    paths = [_path(fault["loc"]) for fault in faults]
    named = list(zip(paths, faults, strict=True))[:MAX_FAULTS]
    told = [f"{path}: {_fault_text(fault, path)}" if path else _fault_text(fault, path) for path, fault in named]
    if len(faults) > MAX_FAULTS:
        told.append(f"and {len(faults) - MAX_FAULTS} more")
    kinds = {fault["type"] for fault in faults}
    error = next((cls for kind, cls in _ERROR_CLASSES if kind in kinds), FieldError)
    return error("; ".join(told), paths)


def _path(location: tuple[int | str, ...]) -> str:
    """A fault's place as people write it; the role that selects a message's model is no part of it."""
    parts = list(location)
    if len(parts) > 2 and parts[0] == "messages" and parts[2] in ("assistant", "tool"):
        del parts[2]
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part[:80]}" for part in parts)
    return text.removeprefix(".")


def _fault_text(fault: Any, path: str) -> str:
    kind = fault["type"]
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(path.rpartition(".")[2], _ALL_NAMES, n=1)
        return "is no field of this format" + (f"; is {near[0]} meant?" if near else "; put it under metadata")
    if kind.startswith("union_tag"):
        return "should have a role, assistant or tool; the question is task.question"
    return fault["msg"].removeprefix("Value error, ").replace("Input should", "should")
