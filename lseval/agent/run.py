"""A run as the loop leaves it, and as it is saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from lseval.agent.pages import OpenedPage
from lseval.agent.wording import Wording
from lseval.domain.chat import Usage
from lseval.domain.controls import Controls
from lseval.domain.trajectory import RubricRecord, RunRecord, TurnRecord, UsageRecord

SOURCE_FORMAT = "collected"

Ended = Literal["answered", "budget", "watchdog", "context", "failed"]
"""How a run ended: with an answer of its own, or because its replies, its time or the model's context ran out."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something out of the ordinary. `iteration` counts the model's replies so far, from 1."""

    iteration: int
    kind: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    iterations: int
    tool_calls: int
    usage: Usage


@dataclass(frozen=True)
class AgentRun:
    """All of a run, as it was.

    `final_answer` is empty where the model gave none, and a refusal where it refused twice. `iterations` counts
    replies, the one that was asked for without tools included. `usage` sums the replies; a count is None when no
    reply states it, and `replies_without_usage` says how many state neither input nor output.
    """

    turns: tuple[TurnRecord, ...]
    final_answer: str
    ended: Ended
    is_final_only: bool
    iterations: int
    usage: Usage
    controls: Controls
    words: Wording
    tool_calls: Literal["native", "text"]
    final_reasoning: str = ""
    events: tuple[Event, ...] = ()
    pages: tuple[OpenedPage, ...] = ()
    served_models: tuple[str, ...] = ()
    replies_without_usage: int = 0

    @property
    def metadata(self) -> dict[str, Any]:
        """What is stored with the run beside its trajectory, as JSON."""
        return {
            "controls": asdict(self.controls),
            "prompt_version": self.words.version,
            "prompt_digest": self.words.digest,
            "tool_calls": self.tool_calls,
            "ended": self.ended,
            "iterations": self.iterations,
            "events": [asdict(event) for event in self.events],
            "pages": {
                page.page_id: {"url": page.page.url, "final_url": page.page.final_url, "outcome": page.page.outcome}
                for page in self.pages
            },
            "served_models": list(self.served_models),
            "final_reasoning": self.final_reasoning,
            "replies_without_usage": self.replies_without_usage,
        }


@dataclass(frozen=True, slots=True)
class RunSubject:
    """Whose run it is: the task with what came with it, and the model."""

    task_key: str
    question: str
    model_name: str
    model_family: str = ""
    task_topic: str = ""
    task_language: str = ""
    gold_answer: str = ""
    rubric: RubricRecord | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def to_run_record(
    run: AgentRun, subject: RunSubject, *, attempts: int = 1, started_at: str | None = None
) -> RunRecord:
    """The run ready to be saved by the import, under the source format `SOURCE_FORMAT`.

    It holds no page texts: the pages are snapshots of the study. `subject.metadata` is kept beside the run's own.
    """
    return RunRecord(
        task_key=subject.task_key,
        question=subject.question,
        model_name=subject.model_name,
        final_answer=run.final_answer,
        turns=run.turns,
        model_family=subject.model_family,
        task_topic=subject.task_topic,
        task_language=subject.task_language,
        gold_answer=subject.gold_answer,
        rubric=subject.rubric,
        usage=UsageRecord(**asdict(run.usage)),
        attempts=attempts,
        is_final_only=run.is_final_only,
        started_at=started_at,
        metadata={**subject.metadata, **run.metadata},
    )


def sum_usage(usages: Iterable[Usage]) -> Usage:
    """Each count's sum over those that state it; None where none does."""
    listed = list(usages)
    sums: dict[str, int | None] = {}
    for item in fields(Usage):
        stated = [value for usage in listed if (value := getattr(usage, item.name)) is not None]
        sums[item.name] = sum(stated) if stated else None
    return Usage(**sums)
