"""A sample of an Inspect AI log as a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lseval.domain.trajectory import RunRecord, UsageRecord
from lseval.formats.chat_runs import NO_ANSWER, ChatRun, pages_of
from lseval.formats.errors import FieldError, MissingFieldError
from lseval.formats.fields import optional_integer, optional_object, optional_objects, optional_text, optional_texts
from lseval.formats.messages import as_text, chat_message, chat_messages

OWN = "lseval"
"""A log that this program wrote keeps under this name, in a sample's metadata, what Inspect has no field for."""

MAX_ATTACHED_CHARACTERS = 30_000_000

_SUBMIT = "submit"
_ATTACHMENT = re.compile(r"(?:attachment|tc)://([0-9a-f]{32})")
_USAGE = {
    "input_tokens": "input_tokens",
    "cached_tokens": "input_tokens_cache_read",
    "output_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_tokens",
}


@dataclass(frozen=True, slots=True)
class LogHead:
    """What a log says of all its samples."""

    task: str
    model: str
    created: str = ""
    status: str = ""
    run_id: str = ""


def sample_record(head: LogHead, key: str, sample: Mapping[str, Any], epochs: int) -> RunRecord:
    """The run that a sample holds; `epochs` is how many epochs the log has of it.

    Raises `MissingFieldError` where the sample has no question or the log names no model.
    """
    attachments = _Attachments(optional_object(sample, "attachments"))
    run = ChatRun()
    for step, raw in enumerate(optional_objects(sample, "messages")):
        message = chat_message(attachments.put_back(raw))
        if message is not None:
            run.add(message, step, f"messages[{step}]")
    question = _question(sample, attachments, run)
    if not question.strip():
        raise MissingFieldError("input: is missing or empty", ["input"])
    if not head.model.strip():
        raise MissingFieldError("eval.model: is missing; name the model when you import the file", ["eval.model"])
    answer = _answer(sample, run)
    own = optional_object(optional_object(sample, "metadata"), OWN)
    retries = len(optional_objects(sample, "error_retries"))
    metadata = _metadata(head, sample, epochs)
    if run.later_questions:
        metadata["later_user_messages"] = run.later_questions
    warnings = list(run.warnings)
    if not answer.strip() and NO_ANSWER not in warnings:
        warnings.append(NO_ANSWER)
    if epochs > 1:
        warnings.append(f"the log has {epochs} epochs of this sample; they count as attempts, and one is kept")
    return RunRecord(
        task_key=optional_text(own, "task_key") or (f"{head.task}:{key}" if head.task else key),
        question=question,
        model_name=head.model,
        final_answer=answer,
        turns=tuple(turn.record() for turn in run.turns),
        pages=pages_of(run.turns).records(),
        model_family=optional_text(own, "model_family"),
        task_topic=optional_text(own, "task_topic"),
        task_language=optional_text(own, "task_language"),
        gold_answer="; ".join(text for text in optional_texts(sample, "target") if text.strip()),
        usage=_usage(sample),
        attempts=max(optional_integer(own, "attempts") or 1, epochs + retries),
        is_final_only=own.get("is_final_only") is True,
        started_at=optional_text(sample, "started_at") or head.created or None,
        metadata=metadata,
        warnings=tuple(warnings),
    )


def _question(sample: Mapping[str, Any], attachments: _Attachments, run: ChatRun) -> str:
    given = attachments.put_back(sample.get("input"))
    if isinstance(given, str):
        return given.strip()
    asked = [message.text.strip() for message in chat_messages(given) if message.role == "user"]
    return "\n\n".join(text for text in asked if text) or run.question


def _answer(sample: Mapping[str, Any], run: ChatRun) -> str:
    """What was submitted, else the last turn's words, else what the log calls the output."""
    if run.turns and (submitted := next((c for c in run.turns[-1].calls if c.original_name == _SUBMIT), None)):
        answer = as_text(submitted.arguments.get("answer", submitted.observation))
        last = run.turns[-1]
        last.calls.remove(submitted)
        if not last.calls and last.text.strip() in ("", answer.strip()):
            run.turns.pop()
        return answer
    if run.turns and not run.turns[-1].calls:
        return run.take_answer()
    output = optional_object(sample, "output")
    if completion := optional_text(output, "completion"):
        return completion
    choices = optional_objects(output, "choices")
    message = chat_message(optional_object(choices[0], "message")) if choices else None
    return message.text if message and not message.calls else ""


def _metadata(head: LogHead, sample: Mapping[str, Any], epochs: int) -> dict[str, Any]:
    error = sample.get("error")
    scores = {
        name: score.get("value") if isinstance(score, Mapping) else score
        for name, score in optional_object(sample, "scores").items()
    }
    found = {
        "inspect_task": head.task,
        "inspect_run_id": head.run_id,
        "log_status": "" if head.status == "success" else head.status,
        "epoch": sample.get("epoch") if epochs > 1 else None,
        "error": optional_text(error, "message") or "failed" if isinstance(error, Mapping) else as_text(error),
        "limit": optional_text(optional_object(sample, "limit"), "type"),
        "scores": scores,
    }
    own = {key: value for key, value in optional_object(sample, "metadata").items() if key != OWN}
    return own | {key: value for key, value in found.items() if value not in (None, "", {})}


def _usage(sample: Mapping[str, Any]) -> UsageRecord:
    total: Counter[str] = Counter()
    for stated in optional_object(sample, "model_usage").values():
        for key, name in _USAGE.items():
            value = optional_integer(stated, name) if isinstance(stated, Mapping) else None
            if value is not None and value >= 0:
                total[key] += value
    return UsageRecord(**total)


class _Attachments:
    """Long texts that a sample keeps once and refers to, put back where they are referred to.

    What is put back is counted: a small file could refer to a long text any number of times.
    """

    def __init__(self, texts: Mapping[str, Any]) -> None:
        self._texts = texts
        self._left = MAX_ATTACHED_CHARACTERS

    def put_back(self, value: Any) -> Any:
        """`value` with the texts in it; raises `FieldError` where they come to more than may be held."""
        if not self._texts:
            return value
        if isinstance(value, str) and "://" in value:
            return _ATTACHMENT.sub(self._text, value)
        if isinstance(value, Mapping):
            return {key: self.put_back(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.put_back(item) for item in value]
        return value

    def _text(self, match: re.Match[str]) -> str:
        text = as_text(self._texts.get(match[1], match[0]))
        self._left -= len(text)
        if self._left < 0:
            limit = f"{MAX_ATTACHED_CHARACTERS:,}"
            raise FieldError(f"attachments: come to more than {limit} characters put together", ["attachments"])
        return text
