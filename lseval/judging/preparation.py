"""A language model that reads the question into a rubric, and takes a response apart into answer units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from lseval.domain.answer_units import Unit
from lseval.domain.answers import GroupedAnswer
from lseval.domain.chat import Chat, ChatRequest, Endpoint
from lseval.domain.grouping import group_by_units
from lseval.domain.trajectory import RubricRecord
from lseval.judging.asking import Answer, ask
from lseval.judging.prompts import fenced, prompt
from lseval.judging.quoting import find_quotation

RUBRIC_PROMPT: Final = "rubric.1"
GROUPING_PROMPT: Final = "grouping.1"
METHOD: Final = "model"
"""The grouping method of a response that a model took apart."""

_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


class RubricReply(BaseModel):
    """What an answer will be scored by, as a model reads the question."""

    model_config = ConfigDict(extra="forbid", strict=True)

    required_count: int = Field(ge=1, le=100)
    constraints: list[_Line] = Field(max_length=40)
    grouping_rule: _Line
    required_fields: list[_Line] = Field(max_length=40)


class UnitReply(BaseModel):
    """One answer unit: its title, and the words with which it begins and ends in the response."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: str
    begins: str
    ends: str
    fields: dict[str, str] = Field(default_factory=dict)


class GroupingReply(BaseModel):
    """The units of a response in order."""

    model_config = ConfigDict(extra="forbid", strict=True)

    units: list[UnitReply] = Field(max_length=500)


@dataclass(frozen=True, slots=True)
class Preparer:
    """A model that prepares a run for its judges."""

    chat: Chat
    endpoint: Endpoint

    def rubric(self, question: str) -> Answer[RubricReply]:
        """The question's rubric as the model reads it; without a value where no usable reply came."""
        request = ChatRequest(
            endpoint=self.endpoint,
            messages=prompt(RUBRIC_PROMPT).filled(question=fenced({"The question": question})),
            json_schema=RubricReply.model_json_schema(),
        )
        return ask(self.chat, request, RubricReply)

    def group(self, question: str, rule: str, response: str) -> tuple[GroupedAnswer | None, Answer[GroupingReply]]:
        """The response taken apart, and the model's answer; None where no usable reply came.

        A unit counts only where its first and last words stand in the response, in order and apart from the unit
        before; otherwise the model is asked again.
        """
        request = ChatRequest(
            endpoint=self.endpoint,
            messages=prompt(GROUPING_PROMPT).filled(
                question=fenced({"Question": question}),
                rule=fenced({"Rule": rule or "Each thing that the response names as an answer is one unit."}),
                response=fenced({"Response": response}),
            ),
            json_schema=GroupingReply.model_json_schema(),
        )
        answer = ask(self.chat, request, GroupingReply, lambda reply: _placed(response, reply.units)[1])
        if answer.value is None:
            return None, answer
        units, _ = _placed(response, answer.value.units)
        return group_by_units(response, units, METHOD), answer


def rubric_record(reply: RubricReply) -> RubricRecord:
    """The reply as the domain has rubrics, each entry once."""
    return RubricRecord(
        required_count=reply.required_count,
        constraints=tuple(dict.fromkeys(reply.constraints)),
        grouping_rule=reply.grouping_rule,
        required_fields=tuple(dict.fromkeys(reply.required_fields)),
    )


def _placed(response: str, replies: Sequence[UnitReply]) -> tuple[list[Unit], str]:
    """The units at their places in the response, and what is wrong with the first that has none."""
    units: list[Unit] = []
    place = 0
    for number, reply in enumerate(replies, 1):
        begins = find_quotation(response[place:], reply.begins)
        if begins is None:
            return (
                [],
                f"The words with which unit {number} begins do not stand in the response after unit {number - 1}.",
            )
        start = place + begins[0]
        ends = find_quotation(response[start:], reply.ends)
        if ends is None:
            return [], f"The words with which unit {number} ends do not stand in the response after its beginning."
        place = start + ends[1]
        units.append(
            Unit(start, place, reply.title.strip(), {k.strip(): v for k, v in reply.fields.items() if k.strip()})
        )
    return units, ""
