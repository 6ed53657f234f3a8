"""A run as any source tells it: what the readers give, and what the import saves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TOOLS = ("web_search", "open_page", "read_page", "find_in_page", "extract")
"""The five tools of the protocol. A source's own tool keeps its name where none corresponds."""


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    """One tool call and what came back.

    `name` is one of `TOOLS` where the source's tool corresponds to one, else the source's own name;
    `observation` is None when the source holds no result for the call.
    """

    name: str
    original_name: str
    arguments: Mapping[str, Any]
    observation: str | None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One assistant turn: its words, its calls, and where the source keeps it.

    `source_step` is the 0-based index in the source's own list of messages; `agent` is the speaker in a
    source with several agents, else empty. The final answer is not a turn.
    """

    text: str
    tool_calls: tuple[ToolCallRecord, ...] = ()
    agent: str = ""
    reasoning: str = ""
    source_step: int | None = None


@dataclass(frozen=True, slots=True)
class PageRecord:
    """Page text as the trajectory recorded it, one entry per URL and run.

    Where a run read one page in several windows, `text` joins them in the order read. `outcome` is a
    `PageOutcome`; a page whose reading failed has that outcome and no text.
    """

    url: str
    text: str
    title: str = ""
    outcome: str = "ok"
    retrieved_at: str | None = None


@dataclass(frozen=True, slots=True)
class ReferenceRecord:
    """A person's opinion that came with the run: the step named as decisive.

    `step` is a 0-based index into the source's list of messages, as `TurnRecord.source_step` is.
    """

    step: int
    agent: str = ""
    error_type: str = ""
    reason: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """Tokens of the run as the source states them; None where it does not."""

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class RubricRecord:
    """What a run is scored by. `required_count` is at least 1."""

    required_count: int
    constraints: tuple[str, ...] = ()
    grouping_rule: str = ""
    required_fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run, ready to be saved.

    `final_answer` is empty where the run ended without one. `attempts` counts retries and resumes, 1 at
    least. `is_final_only` marks an answer asked for without tools after the budget ran out. `metadata`
    keeps what the source said beyond these fields, as JSON.
    """

    task_key: str
    question: str
    model_name: str
    final_answer: str
    turns: tuple[TurnRecord, ...] = ()
    pages: tuple[PageRecord, ...] = ()
    model_family: str = ""
    task_topic: str = ""
    task_language: str = ""
    gold_answer: str = ""
    rubric: RubricRecord | None = None
    usage: UsageRecord = UsageRecord()
    references: tuple[ReferenceRecord, ...] = ()
    attempts: int = 1
    is_final_only: bool = False
    started_at: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
