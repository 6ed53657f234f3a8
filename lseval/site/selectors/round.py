"""One round on a page of its own: its observations beside a group, and what the judges were sent and said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from django.db.models.functions import Coalesce, Left, Length, Substr
from django.http import Http404
from django.urls import reverse
from django.utils.safestring import SafeString

from lseval.models import AnswerGroup, Call, Link, Phase, Run, Study, ToolCall
from lseval.pipeline.judges import STAGE_2_ROLES
from lseval.pipeline.ledger import messages_of_call
from lseval.providers.extract.suspicions import gives_orders
from lseval.site.selectors.judges import JudgeName
from lseval.site.selectors.rounds import CallShown, RoundShown, TurnShown, rounds_of
from lseval.site.selectors.shared_words import marked, telling_words

ROUND_LIMIT: Final = 20_000
"""Characters of each text that the page of a round holds."""

PART: Final = 50_000
"""Characters of an observation that are given at once."""

LOOKED_AT: Final = 500_000
"""Characters of an observation in which words to a judge are looked for."""

MOST_GROUPS: Final = 200
MOST_CALLS: Final = 12
MESSAGE_LIMIT: Final = 60_000


@dataclass(frozen=True, slots=True)
class CallToJudge:
    """A request to a judge's model: what it was sent as (role, text), and what it said or why it said nothing."""

    role: str
    model: str
    attempt: int
    messages: list[tuple[str, str]]
    reply: str
    finish_reason: str
    error: str
    tokens: tuple[int | None, int | None]
    cost_usd: Decimal | None

    @property
    def judge(self) -> str:
        """`Judge A` or `Judge B`."""
        return next(f"Judge {name}" for name, role in STAGE_2_ROLES.items() if self.role.startswith(f"{role}:"))


@dataclass(frozen=True, slots=True)
class TurnMarked:
    """A turn with its words, and each call with its observation, with the words shared with the group marked.

    The third of a call says whether what it returned, shown here or not, speaks to a judge or an agent.
    """

    turn: TurnShown
    text: SafeString
    calls: list[tuple[CallShown, SafeString, bool]]


@dataclass(frozen=True, slots=True)
class RoundPage:
    """A round beside one group of the run.

    `group` is the one asked for, else the first that a link or a judge ties to the round; None where there is none.
    `shared` are the words that both have and the question does not.
    """

    run: Run
    found: RoundShown
    previous: int | None
    next: int | None
    next_flagged: int | None
    group: AnswerGroup | None
    groups: list[tuple[int, str]]
    shared: frozenset[str]
    turns: list[TurnMarked]
    group_text: SafeString
    calls: list[CallToJudge]

    @property
    def verdict_judges(self) -> list[JudgeName]:
        """Who gave the verdict of the group beside it; empty where there is none."""
        verdict = getattr(self.group, "verdict", None)
        return [JudgeName(verdict.judge, verdict.judge_version)] if verdict else []


def round_page_of(study: Study, run_id: int, number: int, group: str = "") -> RoundPage:
    """The round of that number; raises Http404 where the study has no such run, round or group."""
    run = Run.objects.filter(study=study, pk=run_id).select_related("task", "model").first()
    if run is None:
        raise Http404("no such run")
    address = reverse("run", args=[study.slug, run_id])
    links: dict[int, list[int]] = defaultdict(list)
    linked = Link.objects.filter(run=run, round__number=number).order_by("group__number")
    links[number] = list(linked.values_list("group__number", flat=True)[:MOST_GROUPS])
    found = next(
        iter(rounds_of(run, links, lambda one: f"{address}rounds/{number}/?group={one}", number, ROUND_LIMIT)), None
    )
    if found is None:
        raise Http404("no such round")
    tied = [int(word) for word in found.touched.split()]
    beside = _group(run, group, tied)
    others = run.answer_groups.filter(number__in=tied).order_by("number")
    shared = _shared(run, found, beside)
    speaking = _speaking_calls(run, number)
    return RoundPage(
        run=run,
        found=found,
        previous=_neighbour(run, number, is_after=False),
        next=_neighbour(run, number, is_after=True),
        next_flagged=_next_flagged(run, number),
        group=beside,
        groups=[(one, title) for one, title in others.values_list("number", "title")[:MOST_GROUPS]],
        shared=shared,
        turns=[
            TurnMarked(
                turn,
                marked(turn.text, shared),
                [(call, marked(call.observation or "", shared), call.id in speaking) for call in turn.calls],
            )
            for turn in found.turns
        ],
        group_text=marked(beside.text[:ROUND_LIMIT], shared) if beside else SafeString(),
        calls=_calls_to_judges(run, number),
    )


def _group(run: Run, asked: str, tied: Sequence[int]) -> AnswerGroup | None:
    if asked:
        number = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0
        found = run.answer_groups.select_related("verdict").filter(number=number).first()
        if found is None:
            raise Http404("no such group")
        return found
    return run.answer_groups.select_related("verdict").filter(number=tied[0]).first() if tied else None


def _speaking_calls(run: Run, number: int) -> set[int]:
    """The keys of the round's calls whose observation gives orders to whoever judges it."""
    calls = ToolCall.objects.filter(turn__run=run, turn__round__number=number).exclude(observation=None)
    looked_at = calls.order_by("pk").annotate(told=Left("observation", LOOKED_AT)).values_list("pk", "told")
    return {pk for pk, told in looked_at if gives_orders(told)}


def _shared(run: Run, found: RoundShown, group: AnswerGroup | None) -> frozenset[str]:
    if group is None:
        return frozenset()
    own = telling_words("\n".join((group.title, group.text[:ROUND_LIMIT], *map(str, group.fields.values()))))
    said = (text for turn in found.turns for text in (turn.text, *(call.observation or "" for call in turn.calls)))
    return (own & telling_words("\n".join(said))) - telling_words(run.task.question)


def _neighbour(run: Run, number: int, *, is_after: bool) -> int | None:
    rounds = run.rounds.filter(number__gt=number) if is_after else run.rounds.filter(number__lt=number)
    return rounds.order_by("number" if is_after else "-number").values_list("number", flat=True).first()


def _next_flagged(run: Run, number: int) -> int | None:
    flagged = run.rounds.filter(number__gt=number, consensus__verdict="error") | run.rounds.filter(
        number__gt=number, consensus__is_split=True
    )
    return flagged.order_by("number").values_list("number", flat=True).first()


def _calls_to_judges(run: Run, number: int) -> list[CallToJudge]:
    calls = Call.objects.filter(
        study_id=run.study_id,
        task_id=run.task_id,
        model_id=run.model_id,
        phase=Phase.STAGE_2,
        role__in=[f"{role}:R{number}" for role in STAGE_2_ROLES.values()],
    )
    return [_call_to_judge(call) for call in calls.order_by("role", "id")[:MOST_CALLS]]


def _call_to_judge(call: Call) -> CallToJudge:
    reply: dict[str, Any] = call.reply or {}
    return CallToJudge(
        role=call.role,
        model=call.asked_model,
        attempt=call.attempt,
        messages=[(message.role, message.content[:MESSAGE_LIMIT]) for message in messages_of_call(call)],
        reply=str(reply.get("text") or reply.get("refusal") or "")[:MESSAGE_LIMIT],
        finish_reason=str(reply.get("finish_reason", "")),
        error=f"{call.error_code}: {call.error_message}" if call.error_code else "",
        tokens=(call.input_tokens, call.output_tokens),
        cost_usd=call.cost_usd,
    )


@dataclass(frozen=True, slots=True)
class ObservationPart:
    """A stretch of a tool call's observation, from character `start`, and where it stands."""

    run: Run
    round_number: int
    call: ToolCall
    start: int
    text: str
    length: int

    @property
    def end(self) -> int:
        """The character after the stretch."""
        return self.start + len(self.text)

    @property
    def rest(self) -> int:
        """How many characters follow."""
        return self.length - self.end

    @property
    def before(self) -> int | None:
        """Where the stretch before begins; None at the beginning."""
        return max(0, self.start - PART) if self.start else None

    @property
    def first(self) -> int:
        """The first character, counted from 1 as people do."""
        return self.start + 1 if self.text else 0


def observation_of(study: Study, run_id: int, call_id: int, start: str = "") -> ObservationPart:
    """A call of the run with `PART` characters of its observation; raises Http404 where there is no such call.

    A start that is no number, or beyond the end, is taken as the beginning.
    """
    call = (
        ToolCall.objects.filter(pk=call_id, turn__run_id=run_id, turn__run__study=study)
        .select_related("turn__run__task", "turn__run__model", "turn__round")
        .defer("observation", "turn__text", "turn__reasoning", "turn__run__final_answer")
        .annotate(length=Coalesce(Length("observation"), 0))
        .first()
    )
    if call is None:
        raise Http404("no such call")
    first = int(start) if start.isascii() and start.isdigit() and len(start) < 12 else 0
    if first >= call.length:
        first = 0
    text = (
        ToolCall.objects.filter(pk=call_id)
        .annotate(part=Substr("observation", first + 1, PART))
        .values_list("part", flat=True)
        .get()
    )
    return ObservationPart(call.turn.run, call.turn.round.number, call, first, text or "", call.length)
