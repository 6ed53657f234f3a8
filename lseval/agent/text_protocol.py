"""Tool calls that a model writes in its text, for models that have no tool calls of their own.

A reply has calls or the final answer::

    Action: web_search
    {"query": "words"}

    Final answer:
    ...

What does not follow this is told to the model, never guessed at.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from lseval.domain.chat import CalledTool

_MARKER = re.compile(
    r"^[ \t>*_#]*(?P<kind>action|final[ \t]+answer|observation)[ \t*_]*[:：][ \t*_]*(?P<rest>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_NAME = re.compile(r"[`\"']?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[`\"']?[*_]*[ \t]*(?P<after>.*)", re.DOTALL)
_BEFORE_ARGUMENTS = re.compile(
    r"\s*(?:[*_]*action[ \t]+input[ \t*_]*[:：][ \t*_]*)?\s*(?:```[a-z]*\s*)?", re.IGNORECASE
)
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class WrittenReply:
    """What a reply holds: calls, or a final answer, or a problem that the model is told.

    `thought` is the text before the first call. `is_invented` says that the reply goes on with an observation that
    no tool made; that part is not read.
    """

    calls: tuple[CalledTool, ...] = ()
    final_answer: str | None = None
    problem: str = ""
    thought: str = ""
    is_invented: bool = False


def read_reply(text: str, first_id: str) -> WrittenReply:
    """Read a reply; calls are numbered on from `first_id`."""
    markers = list(_MARKER.finditer(text))
    invented = next((found for found in markers if _kind(found) == "observation"), None)
    first_final = next((found for found in markers if _kind(found) == "final answer"), None)
    if first_final is not None and not _has_call(markers, text, first_final.start()):
        if any(_is_call(found, text) for found in markers if found.start() > first_final.start()):
            return WrittenReply(problem="it has a final answer and calls")
        answer = text[first_final.start("rest") :].strip()
        return WrittenReply(final_answer=_without_closing_marks(answer))
    end = invented.start() if invented else len(text)
    if first_final is not None and first_final.start() < end:
        return WrittenReply(problem="it has calls and a final answer")
    actions = [found for found in markers if _kind(found) == "action" and found.start() < end]
    if not actions:
        return WrittenReply(problem="it has neither a call nor a final answer")
    calls = []
    ends = [*(found.start() for found in actions[1:]), end]
    for number, (found, stop) in enumerate(zip(actions, ends, strict=True)):
        call = _call(text[found.start("rest") : stop], f"{first_id}_{number}")
        if isinstance(call, str):
            return WrittenReply(problem=call)
        calls.append(call)
    thought = text[: actions[0].start()].strip()
    return WrittenReply(tuple(calls), thought=thought, is_invented=invented is not None)


def answer_without_marker(text: str) -> str:
    """An answer that was asked for without tools: what follows the marker where there is one, else all of it."""
    final = next((found for found in _MARKER.finditer(text) if _kind(found) == "final answer"), None)
    return _without_closing_marks(text[final.start("rest") :].strip()) if final else text.strip()


def _kind(marker: re.Match[str]) -> str:
    return " ".join(marker["kind"].lower().split())


def _has_call(markers: list[re.Match[str]], text: str, before: int) -> bool:
    return any(_kind(found) == "action" for found in markers if found.start() < before)


def _is_call(marker: re.Match[str], text: str) -> bool:
    """Whether a line that could be a call is one: an answer may well have a line such as *Action: a film*."""
    call = _call(text[marker.start("rest") :], "") if _kind(marker) == "action" else ""
    return isinstance(call, CalledTool)


def _call(written: str, call_id: str) -> CalledTool | str:
    """The call, or what is wrong with it. Arguments that are broken JSON are kept for the tool to refuse."""
    found = _NAME.fullmatch(written.strip())
    if found is None:
        return "after `Action:` there is no tool's name"
    after = found["after"]
    start = _BEFORE_ARGUMENTS.match(after)
    arguments = after[start.end() :] if start else after
    if not arguments.startswith("{"):
        return f"the call of {found['name'][:60]} has no JSON object below it"
    try:
        _, end = _DECODER.raw_decode(arguments)
    except (ValueError, RecursionError):
        end = len(arguments)
    return CalledTool(call_id, found["name"], arguments[:end].strip())


def _without_closing_marks(answer: str) -> str:
    """An answer without the bold marks that stood around its marker alone."""
    return re.sub(r"\A[*_]+[ \t]*(?:\n|\Z)", "", answer).strip()
