"""The pre-skip rules: which rounds no judge need see, and why.

The rules are deterministic and are tried in the order of `skip_reasons`; the first that holds names the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from lseval.domain.labels import SkipReason
from lseval.domain.rounds import NormalizedRound, call_identity
from lseval.domain.statements import makes_claim
from lseval.domain.trajectory import ToolCallRecord

LISTING_TOOLS: Final = frozenset({"web_search"})
"""Tools whose observation is a list of places to look, never a page's content."""

PLANNING_TOOLS: Final = frozenset(
    {"write_todos", "todo_write", "update_plan", "plan", "think", "ask_clarification", "present_files"}
)
"""Tools that keep the agent's own books; what they return says nothing of the world."""

METADATA_CHARS: Final = 600
"""An `open_page` observation with no more text than this, URLs aside, is page metadata and not content."""

_URL = re.compile(r"https?://\S+")


def skip_reasons(rounds: Sequence[NormalizedRound]) -> tuple[SkipReason | None, ...]:
    """One entry per round, in order: why it is set aside before judging, or None where it goes to the judges.

    Of calls repeated within a round only the last counts. A call is *answered* when it has an observation that is
    not blank and no error. The rules, in order:

    1. *no observation*: there are calls, none answered and none failed; or there is neither a call nor a word.
    2. *tool error*: there are calls, none answered and at least one failed.
    3. *duplicate*: every answered call repeats a call of one earlier round that got the very same observation,
       and the words claim nothing or are that round's words; without calls, the words are those of an earlier
       round without calls, by the same agent.
    4. *planning only*: the words make no claim (`statements.makes_claim`), and there is no call or every answered
       call is to one of `PLANNING_TOOLS`.
    5. *listing only*: the words make no claim, and every answered call, planning ones aside, gave a listing: it is
       a `web_search`, or an `open_page` that showed at most `METADATA_CHARS` characters of text.

    So a round without calls is evaluable as soon as its words state something: a value, a named finding, a
    conclusion, or code offered as the answer. In a run of several agents that is where most errors are made, since
    their messages hold what another agent observed. Only messages that plan, ask or direct are set aside.
    """
    seen = _Seen()
    reasons = []
    for round_ in rounds:
        calls = _last_calls(round_.calls)
        reasons.append(_reason(round_, calls, seen))
        seen.add(round_, calls)
    return tuple(reasons)


class _Seen:
    """What earlier rounds observed and said."""

    def __init__(self) -> None:
        self._texts_by_observation: dict[tuple[str, str], dict[int, str]] = {}
        self._wordy: set[tuple[str, str]] = set()

    def add(self, round_: NormalizedRound, calls: Sequence[ToolCallRecord]) -> None:
        words = _plain(round_.text)
        for call in calls:
            if _is_answered(call):
                self._texts_by_observation.setdefault(_key(call), {})[round_.number] = words
        if not calls and words:
            self._wordy.add((round_.agent, words))

    def has_words(self, round_: NormalizedRound) -> bool:
        return (round_.agent, _plain(round_.text)) in self._wordy

    def has_all(self, answered: Sequence[ToolCallRecord], text: str, *, is_claim: bool) -> bool:
        earlier = [self._texts_by_observation.get(_key(call), {}) for call in answered]
        shared = set(earlier[0]).intersection(*earlier[1:])
        if not is_claim:
            return bool(shared)
        words = _plain(text)
        return any(earlier[0][number] == words for number in shared)


def _reason(round_: NormalizedRound, calls: Sequence[ToolCallRecord], seen: _Seen) -> SkipReason | None:
    is_claim = makes_claim(round_.text)
    if not calls:
        if not round_.text.strip():
            return SkipReason.NO_OBSERVATION
        if seen.has_words(round_):
            return SkipReason.DUPLICATE
        return None if is_claim else SkipReason.PLANNING_ONLY
    answered = [call for call in calls if _is_answered(call)]
    if not answered:
        return SkipReason.TOOL_ERROR if any(call.is_error for call in calls) else SkipReason.NO_OBSERVATION
    if seen.has_all(answered, round_.text, is_claim=is_claim):
        return SkipReason.DUPLICATE
    if is_claim:
        return None
    telling = [call for call in answered if call.name not in PLANNING_TOOLS]
    if not telling:
        return SkipReason.PLANNING_ONLY
    return SkipReason.LISTING_ONLY if all(is_listing(call) for call in telling) else None


class AnyCall(Protocol):
    """A tool call with its observation, as a source or as a judge has it."""

    @property
    def name(self) -> str: ...

    @property
    def observation(self) -> str | None: ...


def is_listing(call: AnyCall) -> bool:
    """Whether a call showed only places to look or what a page is, and nothing of what a page says."""
    if call.name in LISTING_TOOLS:
        return True
    if call.name != "open_page":
        return False
    return _content_chars(call.observation or "") <= METADATA_CHARS


def _content_chars(observation: str) -> int:
    """How much text an observation holds besides URLs; of JSON, its longest string at any depth."""
    if observation.lstrip().startswith(("{", "[")):
        try:
            parsed = json.loads(observation)
        except (ValueError, RecursionError):
            pass
        else:
            return max((len(_URL.sub("", text)) for text in _strings(parsed)), default=0)
    return len(_URL.sub("", observation).strip())


def _strings(parsed: object) -> Iterator[str]:
    waiting = [parsed]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _is_answered(call: ToolCallRecord) -> bool:
    return not call.is_error and bool((call.observation or "").strip())


def _last_calls(calls: Sequence[ToolCallRecord]) -> tuple[ToolCallRecord, ...]:
    return tuple({call_identity(call.name, call.arguments): call for call in calls}.values())


def _key(call: ToolCallRecord) -> tuple[str, str]:
    return call_identity(call.name, call.arguments), call.observation or ""


def _plain(text: str) -> str:
    return " ".join(text.split())
