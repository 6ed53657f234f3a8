"""A language model as Stage 1's judge: each part of a group against the pages that the response cites for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from lseval.domain.chat import Chat, ChatRequest, Endpoint
from lseval.domain.evidence import ClaimCheck, EvidencePage, Quotation, VerdictDraft
from lseval.domain.labels import UNJUDGED, GroupLabel
from lseval.domain.trajectory import RubricRecord
from lseval.domain.verdict_rule import CONTRADICTED, NOT_FOUND, SUPPORTED, label_of, unreadable_reason
from lseval.judging.asking import ask
from lseval.judging.excerpts import excerpts
from lseval.judging.prompts import fenced, prompt
from lseval.judging.quoting import find_quotation

PROMPT: Final = "verify.1"
PAGE_ROOM: Final = 60_000
"""Characters of page text that a judge is shown for one group."""

CUT: Final = "page_cut"
QUOTATION_DROPPED: Final = "quotation_dropped"
UNQUOTED: Final = "unquoted"
"""The flags: pages were cut to their best passages; quoted words stand on no page; no words were quoted."""

_SPELLINGS: Final = {
    "supported": SUPPORTED,
    "contradicted": CONTRADICTED,
    "not_found": NOT_FOUND,
    "not found": NOT_FOUND,
    "notfound": NOT_FOUND,
}


def _status(word: object) -> object:
    """A listed spelling of a status; anything else is left for the schema to refuse."""
    return _SPELLINGS.get(word.casefold().strip(" .!*'\""), word) if isinstance(word, str) else word


class CheckReply(BaseModel):
    """What the judge says to one statement."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: int
    status: Annotated[Literal["supported", "contradicted", "not_found"], BeforeValidator(_status)]
    quotation: str | None = ""
    page: int | None = None
    note: str | None = ""


class VerifyReply(BaseModel):
    """What the judge says to a group."""

    model_config = ConfigDict(extra="forbid", strict=True)

    checks: list[CheckReply]


@cache
def _schema() -> dict[str, Any]:
    """The reply's schema, worked out once: it takes longer than all else that is done to ask about a group."""
    return VerifyReply.model_json_schema()


@dataclass(frozen=True, slots=True)
class Stage1Judge:
    """A judge: who is asked and where. `name` and `version` are kept with every verdict."""

    chat: Chat
    endpoint: Endpoint

    @property
    def name(self) -> str:
        return self.endpoint.model

    @property
    def version(self) -> str:
        """The prompt's name and the start of its digest."""
        return f"{PROMPT} {prompt(PROMPT).digest[:12]}"

    def verify(
        self,
        question: str,
        rubric: RubricRecord,
        title: str,
        text: str,
        fields: Mapping[str, str],
        pages: Sequence[EvidencePage],
    ) -> VerdictDraft:
        """The verdict on one group.

        U where no cited page is readable: nobody is asked then. Else each statement is decided by the judge and
        the label follows by `verdict_rule.label_of`. A quotation that does not stand in the page is dropped and
        flagged. *Unjudged* with its reason where no usable reply came.
        """
        readable = [page for page in pages if page.is_readable]
        if not readable:
            return VerdictDraft(GroupLabel.UNVERIFIABLE, unreadable_reason(pages))
        claims = statements_of(rubric, title, text, fields)
        shown = excerpts([page.text for page in readable], [title, text, *claims], PAGE_ROOM)
        request = ChatRequest(
            endpoint=self.endpoint,
            messages=prompt(PROMPT).filled(
                question=fenced({"Question": question}),
                answer=fenced({"Answer": _answer(title, text, fields)}),
                statements=fenced({"Statements": "\n".join(f"{n}. {claim}" for n, claim in enumerate(claims, 1))}),
                pages=fenced(
                    {
                        f"Page {number}": f"Address: {page.url}\n\n{excerpt.text}"
                        for number, (page, excerpt) in enumerate(zip(readable, shown, strict=True), 1)
                    }
                ),
            ),
            json_schema=_schema(),
        )
        answer = ask(self.chat, request, VerifyReply, lambda reply: _fault(reply, claims, readable))
        if answer.value is None:
            return VerdictDraft(UNJUDGED, answer.told, code=answer.reason)
        checks, flags = _checks(answer.value, claims, readable)
        label, reason = label_of(checks)
        if len(readable) < len(pages):
            reason += f" {len(pages) - len(readable)} of {len(pages)} cited pages could not be read."
        cut = (CUT,) if any(excerpt.is_cut for excerpt in shown) else ()
        return VerdictDraft(label, reason, checks, flags=(*answer.flags, *cut, *flags))


def statements_of(rubric: RubricRecord, title: str, text: str, fields: Mapping[str, str]) -> list[str]:
    """What must hold of a group: what it says of itself, each hard constraint, each required field.

    The first is always there, so that a group of a study without constraints is checked for what it claims.
    """
    said = ["Everything that the answer says of its subject, its value in every field included."]
    conditions = [f"The answer's subject meets this condition: {condition}" for condition in rubric.constraints]
    wanted = [
        f"The answer supplies “{name}”, and its value is the one that the pages give for the subject."
        for name in rubric.required_fields
    ]
    return said + conditions + wanted


def _answer(title: str, text: str, fields: Mapping[str, str]) -> str:
    named = [f"{name}: {value}" for name, value in fields.items() if value and value not in text]
    head = [title] if title and title not in text else []
    return "\n".join([*head, text, *named])


def _fault(reply: VerifyReply, claims: Sequence[str], pages: Sequence[EvidencePage]) -> str:
    """What is wrong with which statements were decided; quotations are another matter."""
    ids = [check.id for check in reply.checks]
    if sorted(ids) != list(range(1, len(claims) + 1)):
        return f"There must be exactly one check for each of the statements 1 to {len(claims)}, not for {ids[:40]}."
    for check in reply.checks:
        if check.page is not None and not 1 <= check.page <= len(pages):
            return f"There is no page {check.page}: the pages are 1 to {len(pages)}."
    return ""


def _checks(
    reply: VerifyReply, claims: Sequence[str], pages: Sequence[EvidencePage]
) -> tuple[tuple[ClaimCheck, ...], tuple[str, ...]]:
    checks: list[ClaimCheck] = []
    flags: set[str] = set()
    for said in sorted(reply.checks, key=lambda check: check.id):
        check = ClaimCheck(claims[said.id - 1], said.status, note=(said.note or "")[:500])
        if said.status != NOT_FOUND:
            check = replace(check, quotation=_quotation(said, pages))
            if check.quotation is None:
                flags.add(QUOTATION_DROPPED if said.quotation else UNQUOTED)
        checks.append(check)
    return tuple(checks), tuple(sorted(flags))


def _quotation(said: CheckReply, pages: Sequence[EvidencePage]) -> Quotation | None:
    """Where the quoted words stand: on the page named, or on another where the judge mistook its number."""
    named = [pages[said.page - 1]] if said.page else []
    for page in [*named, *pages]:
        if place := find_quotation(page.text, said.quotation or ""):
            return Quotation(page.key, page.text[place[0] : place[1]], *place)
    return None
