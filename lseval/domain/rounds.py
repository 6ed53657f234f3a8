"""Normalized rounds: the units that Stage 2 audits and people label."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lseval.domain.trajectory import ToolCallRecord, TurnRecord


@dataclass(frozen=True, slots=True)
class NormalizedRound:
    """One round: its number from 1, the indices of the turns it is made of, its words and its calls in order.

    More than one turn index means that a call was repeated after an error. `agent` is the speaker where a run has
    several.
    """

    number: int
    turn_indices: tuple[int, ...]
    text: str
    calls: tuple[ToolCallRecord, ...]
    agent: str = ""


def call_identity(name: str, arguments: Mapping[str, Any]) -> str:
    """A string that is equal for two calls of the same tool with the same arguments, in whatever order."""
    return f"{name} {json.dumps(arguments, sort_keys=True, default=str)}"


def normalize_rounds(turns: Sequence[TurnRecord]) -> tuple[NormalizedRound, ...]:
    """The rounds of a run, in order, every turn in exactly one of them.

    A turn is a round of its own, with one exception: a turn whose every call repeats a call of the round just
    before it that ended in error, made by the same agent, joins that round. A repeat that comes later, after
    another turn, is a new round, so that no round holds an observation made after the next round began. Where
    several agents speak, each message is a turn and so a round, whether or not it calls a tool. An empty sequence
    gives no rounds.
    """
    rounds: list[NormalizedRound] = []
    for index, turn in enumerate(turns):
        if rounds and _repeats_failure(turn, rounds[-1]):
            rounds[-1] = _joined(rounds[-1], index, turn)
        else:
            rounds.append(NormalizedRound(len(rounds) + 1, (index,), turn.text, turn.tool_calls, turn.agent))
    return tuple(rounds)


def _repeats_failure(turn: TurnRecord, previous: NormalizedRound) -> bool:
    if not turn.tool_calls or turn.agent != previous.agent:
        return False
    if not any(call.is_error for call in previous.calls):
        return False
    ended_in_error = {call_identity(call.name, call.arguments): call.is_error for call in previous.calls}
    return all(ended_in_error.get(call_identity(call.name, call.arguments), False) for call in turn.tool_calls)


def _joined(previous: NormalizedRound, index: int, turn: TurnRecord) -> NormalizedRound:
    return NormalizedRound(
        number=previous.number,
        turn_indices=(*previous.turn_indices, index),
        text="\n\n".join(words for words in (previous.text, turn.text) if words.strip()),
        calls=previous.calls + turn.tool_calls,
        agent=previous.agent,
    )
