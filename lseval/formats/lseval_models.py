"""Our own format as strict models: what `docs/run-format.md` says in words."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, model_validator

from lseval.domain.labels import PageOutcome

FORMAT_NAME = "lseval-run/1"
MAX_FIELDS = 100


def _known_outcome(text: str) -> str:
    if text not in set(PageOutcome):
        raise ValueError(f"should be {', '.join(PageOutcome)}")
    return text


Outcome = Annotated[str, AfterValidator(_known_outcome)]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("should not be blank")
    return text


def _moment(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("should be a date and time such as 2025-01-25T09:39:56+00:00") from None
    return text


FilledText = Annotated[str, AfterValidator(_not_blank)]
Moment = Annotated[str, AfterValidator(_moment)]
Count = Annotated[int, Field(ge=0)]

T = TypeVar("T")
# A list stops at its first faulty item: a line of a million wrong ones must not make a million messages.
ListOf = Annotated[list[T], FailFast()]


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_fields(cls, value: Any) -> Any:
        """Refuse an object of a million unknown fields with one fault, not a million."""
        if isinstance(value, dict) and len(value) > MAX_FIELDS:
            raise ValueError(f"has {len(value)} fields; the format has {len(cls.model_fields)} here")
        return value


class Rubric(_Model):
    required_count: Annotated[int, Field(ge=1)]
    constraints: ListOf[str] = []
    grouping_rule: str = ""
    required_fields: ListOf[str] = []


class Task(_Model):
    key: FilledText
    question: FilledText
    topic: str = ""
    language: str = ""
    gold_answer: str = ""
    rubric: Rubric | None = None


class Model(_Model):
    name: FilledText
    family: str = ""


class ToolCall(_Model):
    id: FilledText
    name: FilledText
    arguments: dict[str, Any]
    original_name: str | None = None


class AssistantMessage(_Model):
    role: Literal["assistant"]
    content: str = ""
    reasoning: str = ""
    agent: str = ""
    source_step: int | None = None
    tool_calls: ListOf[ToolCall] = []


class ObservedPage(_Model):
    url: FilledText
    title: str = ""
    outcome: Outcome | None = None


class ToolMessage(_Model):
    role: Literal["tool"]
    tool_call_id: FilledText
    content: str | None
    is_error: bool = False
    page: ObservedPage | None = None


class Page(_Model):
    url: FilledText
    title: str = ""
    text: str = ""
    outcome: Outcome | None = None
    retrieved_at: Moment | None = None


class Reference(_Model):
    step: Count
    agent: str = ""
    error_type: str = ""
    reason: str = ""
    source: str = ""


class Usage(_Model):
    input_tokens: Count | None = None
    cached_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_tokens: Count | None = None


class Run(_Model):
    """One line of the format."""

    format: Literal["lseval-run/1"]
    task: Task
    model: Model
    messages: ListOf[Annotated[AssistantMessage | ToolMessage, Field(discriminator="role")]]
    final_answer: str
    usage: Usage = Usage()
    pages: ListOf[Page] = []
    references: ListOf[Reference] = []
    attempts: Annotated[int, Field(ge=1)] = 1
    is_final_only: bool = False
    started_at: Moment | None = None
    metadata: dict[str, Any] = {}
    warnings: ListOf[str] = []
