"""Saving a run's rounds, turns and tool calls: one statement, whatever their number."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lseval.domain.rounds import normalize_rounds
from lseval.domain.skipping import skip_reasons
from lseval.domain.trajectory import TurnRecord
from lseval.pipeline.prepared import fetch_all

_INSERT = """
WITH rounds AS (
    INSERT INTO lseval_round (run_id, number, skip_reason)
    SELECT %(run)s::bigint, g.number, g.skip_reason
    FROM json_to_recordset(%(rounds)s::json) AS g(number int, skip_reason text)
    ORDER BY g.number RETURNING id, number),
turns AS (
    INSERT INTO lseval_turn (run_id, round_id, number, agent, text, reasoning, source_step)
    SELECT %(run)s::bigint, rounds.id, g.number, g.agent, g.text, g.reasoning, g.source_step
    FROM json_to_recordset(%(turns)s::json)
        AS g(round int, number int, agent text, text text, reasoning text, source_step int)
    JOIN rounds ON rounds.number = g.round
    ORDER BY g.number RETURNING id, number),
calls AS (
    INSERT INTO lseval_toolcall (turn_id, number, name, original_name, arguments, observation, is_error)
    SELECT turns.id, g.number, g.name, g.original_name, g.arguments, g.observation, g.is_error
    FROM json_to_recordset(%(calls)s::json)
        AS g(turn int, number int, name text, original_name text, arguments jsonb, observation text, is_error bool)
    JOIN turns ON turns.number = g.turn
    ORDER BY g.turn, g.number)
SELECT number, id FROM rounds
"""


def save_trajectory(run_id: int, turns: Sequence[TurnRecord]) -> list[int]:
    """Save turns, calls and rounds; returns the id of each turn's round, in the order of the turns.

    Raises:
        django.db.DataError: a text or an argument is none that the database can store.
    """
    if not turns:
        return []
    normalized = normalize_rounds(turns)
    reasons = skip_reasons(normalized)
    number_of_round = [0] * len(turns)
    for found in normalized:
        for index in found.turn_indices:
            number_of_round[index] = found.number
    rounds = [
        {"number": found.number, "skip_reason": reason or ""}
        for found, reason in zip(normalized, reasons, strict=True)
    ]
    saved = fetch_all(
        _INSERT,
        {
            "run": run_id,
            "rounds": json.dumps(rounds, ensure_ascii=False),
            "turns": json.dumps(_turn_rows(turns, number_of_round), ensure_ascii=False),
            "calls": json.dumps(_call_rows(turns), ensure_ascii=False),
        },
    )
    id_of_round: dict[int, int] = dict(saved)  # type: ignore[arg-type]
    return [id_of_round[number] for number in number_of_round]


def _turn_rows(turns: Sequence[TurnRecord], number_of_round: Sequence[int]) -> list[dict[str, Any]]:
    return [
        {
            "round": number_of_round[index],
            "number": index + 1,
            "agent": turn.agent[:200],
            "text": turn.text,
            "reasoning": turn.reasoning,
            "source_step": turn.source_step,
        }
        for index, turn in enumerate(turns)
    ]


def _call_rows(turns: Sequence[TurnRecord]) -> list[dict[str, Any]]:
    return [
        {
            "turn": index + 1,
            "number": number + 1,
            "name": call.name[:200],
            "original_name": call.original_name[:200],
            "arguments": dict(call.arguments),
            "observation": call.observation,
            "is_error": call.is_error,
        }
        for index, turn in enumerate(turns)
        for number, call in enumerate(turn.tool_calls)
    ]
