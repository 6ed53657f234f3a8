"""Who&When failure logs: failed runs of several agents, each with the step that a person named as decisive.

The step is an index into `history`. So that it finds its round, every entry of the history but the human's is a
turn of its own, the answer's too. What a terminal or a browser gave back is the observation of its turn's one call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lseval.domain.trajectory import ReferenceRecord, RunRecord
from lseval.formats import browser_views
from lseval.formats.errors import MissingFieldError
from lseval.formats.fields import (
    DraftCall,
    DraftTurn,
    optional_text,
    required_objects,
    required_string,
    required_text,
)
from lseval.formats.pages import PageCollector

HAND_CRAFTED = "hand-crafted"
ALGORITHM_GENERATED = "algorithm-generated"
SOURCE = "who_and_when"

SURFER = "WebSurfer"
FILE_SURFER = "FileSurfer"
TERMINALS = ("Computer_terminal", "ComputerTerminal")

_CODE = re.compile(r"```[\w+-]*\n(.*?)(?:```|\Z)", re.DOTALL)
_EXIT_CODE = re.compile(r"(?:exitcode|exit code): (\d+)", re.IGNORECASE)
_FINAL_ANSWER = re.compile(r"^FINAL ANSWER:(.*?)(?=^SCENARIO\.PY|^RUN\.SH|\Z)", re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"\w")
# What the framework printed after the last message was joined to it.
_LOG_START = re.compile(
    r"^(?:Error processing publish message|Traceback \(most recent call last\):|/workspace/scenario\.py:"
    r"|  response = await client\.create|FINAL ANSWER:|SCENARIO\.PY )",
    re.MULTILINE,
)
_KEPT_METADATA = ("level", "is_correct", "is_corrected", "system_prompt")


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a parsed row is a failure log."""
    return isinstance(row.get("history"), list) and "mistake_step" in row


def row_reader(path: Path, default_model: str | None) -> Callable[[Mapping[str, Any]], RunRecord]:
    """What reads the rows of `path`. The source names no model: it is `default_model`, or the subset's name."""
    return partial(_read_row, default_model=default_model)


def _read_row(row: Mapping[str, Any], default_model: str | None) -> RunRecord:
    history = required_objects(row, "history")
    if not history:
        raise MissingFieldError("history: is empty", ["history"])
    subset = HAND_CRAFTED if _speaker(history[0]) == "human" else ALGORITHM_GENERATED
    contents = [required_string(entry, "content", f"history[{step}].") for step, entry in enumerate(history)]
    metadata: dict[str, Any] = {"subset": subset}
    metadata |= {key: row[key] for key in _KEPT_METADATA if row.get(key) not in (None, "")}
    if subset == HAND_CRAFTED:
        answer, contents[-1], log = _split_log(contents[-1])
        metadata |= {"closing_log": log} if log else {}
    else:
        answer = _last_statement(history, contents)
    pages = PageCollector()
    turns = [
        _turn(history, contents, step, pages) for step in range(len(history)) if _speaker(history[step]) != "human"
    ]
    warnings: list[str] = [] if answer else ["the run ended without a final answer"]
    return RunRecord(
        task_key=required_text(row, "question_ID"),
        question=required_text(row, "question"),
        model_name=default_model or f"who-and-when/{subset}",
        final_answer=answer,
        turns=tuple(turn.record() for turn in turns),
        pages=pages.records(),
        gold_answer=_as_text(row.get("ground_truth")),
        references=_references(row, turns, warnings),
        metadata=metadata,
        warnings=tuple(warnings),
    )


def _speaker(entry: Mapping[str, Any]) -> str:
    """Who speaks: the name, else the role without what it says of the message, as in `Orchestrator (thought)`."""
    return (optional_text(entry, "name") or optional_text(entry, "role")).partition(" (")[0].strip()


def _turn(history: list[Mapping[str, Any]], contents: list[str], step: int, pages: PageCollector) -> DraftTurn:
    agent, content = _speaker(history[step]), contents[step]
    turn = DraftTurn(text="", agent=agent, source_step=step)
    window = browser_views.parse_text_window(content)
    if agent == SURFER:
        view = browser_views.parse_surfer_report(content)
        browser_views.add_page(pages, view)
        turn.text = view.action
        turn.calls.append(browser_views.surfer_call(view, agent))
    elif window:
        browser_views.add_page(pages, window)
        turn.calls.append(browser_views.window_call(window, agent))
    elif agent == FILE_SURFER:
        arguments = {"instruction": contents[step - 1]} if step else {}
        is_error = "encountered an error" in content[:100]
        turn.calls.append(DraftCall(agent, agent, arguments, content, is_error))
    elif agent in TERMINALS:
        exit_code = _EXIT_CODE.search(content[:200])
        is_error = exit_code is not None and exit_code[1] != "0"
        code = "\n".join(_CODE.findall(contents[step - 1])) if step else ""
        turn.calls.append(DraftCall(agent, agent, {"code": code}, content, is_error))
    else:
        turn.text = content
    return turn


def _split_log(content: str) -> tuple[str, str, str]:
    """The final answer that the framework printed after the last message, that message, and the print-out."""
    answer = _FINAL_ANSWER.search(content)
    log = _LOG_START.search(content)
    end = log.start() if log else len(content)
    return answer[1].strip() if answer else "", content[:end].rstrip(), content[end:]


def _last_statement(history: list[Mapping[str, Any]], contents: list[str]) -> str:
    """What the agents ended with: the last words of one of them, the signal to stop aside.

    Code that was still to be run, or whose output nobody took up, is no answer, nor is a page just opened: the
    run was cut off then.
    """
    is_closed = False
    for entry, content in zip(reversed(history), reversed(contents), strict=True):
        if _speaker(entry) in TERMINALS:
            continue
        words = content.replace("TERMINATE", "").strip()
        is_closed = is_closed or "TERMINATE" in content
        is_step = bool(browser_views.parse_text_window(words))
        if not is_closed and (is_step or _CODE.search(words)):
            return ""
        if not is_step and _WORD.search(words):
            return words
    return ""


def _references(row: Mapping[str, Any], turns: list[DraftTurn], warnings: list[str]) -> tuple[ReferenceRecord, ...]:
    stated = row.get("mistake_step")
    try:
        step = int(stated) if isinstance(stated, str | int) and not isinstance(stated, bool) else None
    except ValueError:
        step = None
    turn = next((turn for turn in turns if turn.source_step == step), None)
    if step is None or turn is None:
        warnings.append(f"mistake_step: {str(stated)[:40]!r} is no step of the history; the reference is left out")
        return ()
    agent = optional_text(row, "mistake_agent")
    if agent != turn.agent:
        warnings.append(f"mistake_agent: {agent[:80]} is named, but step {step} is {turn.agent}'s")
    reason, kind = optional_text(row, "mistake_reason"), optional_text(row, "mistake_type")
    return (ReferenceRecord(step, agent, kind, reason, SOURCE),)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
