"""Language models as the two judges of a round: independent prompts, and models, that see the same evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from lseval.domain.chat import Chat, ChatRequest, Endpoint
from lseval.domain.evidence import GroupUnderAudit, JudgementDraft, RoundUnderAudit
from lseval.domain.labels import UNJUDGED, RoundLabel
from lseval.domain.taxonomy import ErrorType
from lseval.domain.trajectory import RubricRecord
from lseval.judging.asking import ask
from lseval.judging.excerpts import excerpts
from lseval.judging.prompts import Prompt, fenced, prompt
from lseval.judging.round_shown import groups_shown, round_shown

PROMPTS: Final = {"A": "audit_a.1", "B": "audit_b.1"}
RESPONSE_ROOM: Final = 15_000
"""Characters of the run's response that a judge is shown."""

ROUND_CUT: Final = "round_cut"
RESPONSE_CUT: Final = "response_cut"
GROUPS_CUT: Final = "groups_cut"
GROUPS_DROPPED: Final = "groups_dropped"

_SPELLINGS: Final = {
    "error": "error",
    "non_error": "non_error",
    "non-error": "non_error",
    "non error": "non_error",
    "nonerror": "non_error",
    "skipped": "skipped",
    "skip": "skipped",
}


def _verdict(word: object) -> object:
    """A listed spelling of a verdict; anything else is left for the schema to refuse."""
    return _SPELLINGS.get(word.casefold().strip(" .!*'\""), word) if isinstance(word, str) else word


class AuditReply(BaseModel):
    """What a judge says of a round."""

    model_config = ConfigDict(extra="forbid", strict=True)

    verdict: Annotated[Literal["error", "non_error", "skipped"], BeforeValidator(_verdict)]
    type: str | None = ""
    groups: list[int] = []
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Stage2Judge:
    """Judge A or B: its prompt goes by its role, its model by the study's settings.

    Judge B's prompt shows the round before the question and the groups, where A's shows it last, so that what
    comes of the order of things shows as disagreement.
    """

    role: Literal["A", "B"]
    chat: Chat
    endpoint: Endpoint

    @property
    def name(self) -> str:
        return self.endpoint.model

    @property
    def prompt(self) -> Prompt:
        return prompt(PROMPTS[self.role])

    @property
    def version(self) -> str:
        """The prompt's name and the start of its digest."""
        return f"{self.prompt.name} {self.prompt.digest[:12]}"

    def judge(
        self,
        question: str,
        rubric: RubricRecord,
        response: str,
        groups: Sequence[GroupUnderAudit],
        round_: RoundUnderAudit,
    ) -> JudgementDraft:
        """The judge's opinion of one round; *unjudged* with its reason where no usable reply came.

        Of many groups those that relate to the round are shown (`round_shown.groups_shown`), and how many is
        flagged. Groups that were not shown, or that the response does not have, are dropped and flagged. An error
        type is kept in the judge's own words: the consensus maps them.
        """
        related = groups_shown(groups, round_)
        shown, is_cut = round_shown(round_, related.groups)
        answered = excerpts([response], [round_.text], RESPONSE_ROOM)[0]
        request = ChatRequest(
            endpoint=self.endpoint,
            messages=self.prompt.filled(
                types=_types(),
                question=fenced({"Question": question}),
                rubric=fenced({"Rubric": _rubric_text(rubric)}),
                response=fenced({"Response": answered.text}),
                groups=fenced({"Groups": related.text}),
                round=fenced({f"Round {round_.number}": shown}),
            ),
            json_schema=AuditReply.model_json_schema(),
        )
        answer = ask(self.chat, request, AuditReply)
        if answer.value is None:
            return JudgementDraft(UNJUDGED, explanation=answer.told, code=answer.reason)
        said = answer.value
        is_error = said.verdict == RoundLabel.ERROR
        known = {group.number for group in related.groups}
        named = tuple(sorted({number for number in said.groups if number in known})) if is_error else ()
        flags = (
            *answer.flags,
            *((ROUND_CUT,) if is_cut else ()),
            *((RESPONSE_CUT,) if answered.is_cut else ()),
            *((GROUPS_CUT, f"groups_shown_{len(related.groups)}_of_{related.every}") if related.is_cut else ()),
            *((GROUPS_DROPPED,) if set(said.groups) - known else ()),
        )
        return JudgementDraft(
            said.verdict,
            error_type=(said.type or "").strip()[:200] if is_error else "",
            groups=named,
            explanation=said.explanation.strip()[:2_000],
            flags=flags,
        )


def _types() -> str:
    return "\n".join(f"- {kind.value}: {kind.definition} {kind.nearest_boundary}" for kind in ErrorType)


def _rubric_text(rubric: RubricRecord) -> str:
    lines = [f"Answers required: {rubric.required_count}"]
    lines += [f"Condition: {condition}" for condition in rubric.constraints]
    lines += [f"To be told of each: {name}" for name in rubric.required_fields]
    return "\n".join(lines)
