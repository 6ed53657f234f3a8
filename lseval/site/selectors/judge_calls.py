"""What a judge was sent and said, from the ledger."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from lseval.models import Call, Run
from lseval.pipeline.ledger import messages_of_call

MOST_CALLS: Final = 24
MESSAGE_LIMIT: Final = 60_000


@dataclass(frozen=True, slots=True)
class JudgeCall:
    """A request to a judge's model: what it was sent as (role, text), and what it said or why it said nothing.

    `repeat` counts how often the same was asked once more, `attempt` the tries of one asking.
    """

    role: str
    model: str
    repeat: int
    attempt: int
    called_at: datetime
    messages: list[tuple[str, str]]
    reply: str
    finish_reason: str
    error: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None


def judge_calls_of(run: Run, phase: str, roles: Collection[str]) -> list[JudgeCall]:
    """The calls made for the run in those roles, as they were made; at most the last `MOST_CALLS` of them."""
    calls = Call.objects.filter(
        study_id=run.study_id, task_id=run.task_id, model_id=run.model_id, phase=phase, role__in=roles
    ).order_by("-id")[:MOST_CALLS]
    return [_call(call) for call in reversed(calls)]


def _call(call: Call) -> JudgeCall:
    reply: dict[str, Any] = call.reply or {}
    return JudgeCall(
        role=call.role,
        model=call.asked_model,
        repeat=call.repeat,
        attempt=call.attempt,
        called_at=call.called_at,
        messages=[(message.role, message.content[:MESSAGE_LIMIT]) for message in messages_of_call(call)],
        reply=str(reply.get("text") or reply.get("refusal") or "")[:MESSAGE_LIMIT],
        finish_reason=str(reply.get("finish_reason", "")),
        error=f"{call.error_code}: {call.error_message}" if call.error_code else "",
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        cost_usd=call.cost_usd,
    )
