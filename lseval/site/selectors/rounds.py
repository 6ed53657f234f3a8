"""The rounds of a run as its page shows them: words, calls with observations, and what the judges say."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch
from django.db.models.functions import Coalesce, Left, Length
from django.http import Http404

from lseval.domain.labels import UNJUDGED, RoundLabel
from lseval.domain.taxonomy import UNASSIGNED, ErrorType
from lseval.models import Judgement, ReferenceLabel, Round, Run, Study, ToolCall, Turn
from lseval.site.selectors.judges import JudgeName

OBSERVATION_LIMIT = 20_000
"""Characters of an observation, of a turn's words or of arguments that a run's page shows."""

_ARGUMENTS_IN_LINE = 300
_TYPE_NAMES = {kind.value: kind.display_name for kind in ErrorType}
_LONG_TEXT, _OPENING = 1_600, 1_200
_VERDICT_WORDS: dict[str, str] = {
    RoundLabel.ERROR: "error",
    RoundLabel.NON_ERROR: "no error",
    RoundLabel.SKIPPED: "set aside",
    UNJUDGED: "no opinion",
}


@dataclass(frozen=True, slots=True)
class CallShown:
    """A tool call. `observation` is cut at the limit and None where the source holds no result."""

    id: int
    name: str
    original_name: str
    arguments: str
    observation: str | None
    length: int
    is_error: bool

    @property
    def is_cut(self) -> bool:
        """Whether the page holds only the beginning."""
        return self.observation is not None and self.length > len(self.observation)

    @property
    def arguments_line(self) -> str:
        """The arguments' beginning."""
        cut = len(self.arguments) > _ARGUMENTS_IN_LINE
        return self.arguments[:_ARGUMENTS_IN_LINE] + "…" if cut else self.arguments

    @property
    def size_words(self) -> str:
        """How long the observation is."""
        if self.observation is None:
            return "no result recorded"
        return f"{self.length:,} characters" if self.length else "empty"


@dataclass(frozen=True, slots=True)
class TurnShown:
    """A turn's words and calls. `reasoning` is as recorded; no judge saw it."""

    agent: str
    text: str
    reasoning: str
    calls: list[CallShown]

    @property
    def opening(self) -> str:
        """The words, or their beginning where they are long."""
        return self.text if len(self.text) <= _LONG_TEXT else self.text[: self._cut]

    @property
    def rest(self) -> str:
        """What follows the beginning; empty where the words are not long."""
        return "" if len(self.text) <= _LONG_TEXT else self.text[self._cut :]

    @property
    def _cut(self) -> int:
        """Where the beginning ends: at the last blank before `_OPENING`, if there is one."""
        blank = max(self.text.rfind(sign, 0, _OPENING) for sign in " \n")
        return blank if blank > 0 else _OPENING


@dataclass(frozen=True, slots=True)
class JudgementShown:
    """One judge's opinion of a round."""

    role: str
    verdict: str
    type_name: str
    explanation: str
    groups: list[int]
    judge: JudgeName

    @property
    def words(self) -> str:
        """The verdict in words."""
        return _VERDICT_WORDS[self.verdict]


@dataclass(frozen=True, slots=True)
class RoundShown:
    """A round. `state` is failure, split, non_error, skipped or unjudged; `state_label` says it in words."""

    number: int
    state: str
    state_label: str
    skip_reason: str
    turns: list[TurnShown]
    judgements: list[JudgementShown]
    type_name: str
    is_type_agreed: bool
    linked_groups: list[int]
    references: list[ReferenceLabel]

    @property
    def anchor(self) -> str:
        """The fragment that leads to it."""
        return f"r{self.number}"

    @property
    def url(self) -> str:
        """Its permalink on the run's page."""
        return f"#r{self.number}"


def rounds_of(run: Run, links: Sequence[tuple[int, int]]) -> list[RoundShown]:
    """The run's rounds in order; `links` are (round number, group number). Six queries, however many there are."""
    groups_of: dict[int, list[int]] = defaultdict(list)
    for round_number, group_number in links:
        groups_of[round_number].append(group_number)
    rounds = run.rounds.select_related("consensus", "failure_node").prefetch_related(
        Prefetch("turns", queryset=Turn.objects.order_by("number")),
        Prefetch("turns__tool_calls", queryset=_calls()),
        Prefetch("judgements", queryset=Judgement.objects.order_by("judge_role").prefetch_related("groups")),
        "reference_labels",
    )
    return [_round(found, groups_of[found.number]) for found in rounds]


def _calls() -> Any:
    """Calls whose observations the database has already cut, so that long ones never leave it."""
    return (
        ToolCall.objects.order_by("number")
        .defer("observation")
        .annotate(shown=Left("observation", OBSERVATION_LIMIT), length=Coalesce(Length("observation"), 0))
    )


def _round(found: Round, linked_groups: list[int]) -> RoundShown:
    state, label = _state(found)
    node = getattr(found, "failure_node", None)
    return RoundShown(
        number=found.number,
        state=state,
        state_label=label,
        skip_reason=found.skip_reason.replace("_", " "),
        turns=[_turn(turn) for turn in found.turns.all()],
        judgements=[_judgement(judgement) for judgement in found.judgements.all()],
        type_name=type_words(node.error_type) if node else "",
        is_type_agreed=bool(node and node.is_type_agreed),
        linked_groups=linked_groups,
        references=list(found.reference_labels.all()),
    )


def _state(found: Round) -> tuple[str, str]:
    if found.skip_reason:
        return "skipped", f"set aside before judging: {found.skip_reason.replace('_', ' ')}"
    consensus = getattr(found, "consensus", None)
    if consensus is None:
        return "unjudged", "not judged yet"
    if consensus.verdict == RoundLabel.ERROR:
        return "failure", "failure node: both judges say error"
    if consensus.verdict == RoundLabel.SKIPPED:
        return "skipped", "skipped after judging: a judge set it aside"
    if consensus.verdict == UNJUDGED:
        return "unjudged", "unjudged: a judge gave no opinion"
    if consensus.is_split:
        return "split", "split: one judge says error"
    return "non_error", "no error"


def _turn(turn: Turn) -> TurnShown:
    return TurnShown(
        agent=turn.agent,
        text=turn.text,
        reasoning=turn.reasoning[:OBSERVATION_LIMIT],
        calls=[_call(call) for call in turn.tool_calls.all()],
    )


def _call(call: Any) -> CallShown:
    return CallShown(
        id=call.pk,
        name=call.name,
        original_name=call.original_name if call.original_name != call.name else "",
        arguments=_arguments(call.arguments)[:OBSERVATION_LIMIT],
        observation=call.shown,
        length=call.length,
        is_error=call.is_error,
    )


def _arguments(arguments: Mapping[str, Any]) -> str:
    """`query: boats, count: 3`: text as it is, anything else as JSON."""
    return ", ".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
    )


def _judgement(judgement: Judgement) -> JudgementShown:
    return JudgementShown(
        role=judgement.judge_role,
        verdict=judgement.verdict,
        type_name=type_words(judgement.error_type) if judgement.error_type else "",
        explanation=judgement.explanation,
        groups=sorted(group.number for group in judgement.groups.all()),
        judge=JudgeName(judgement.judge, judgement.judge_version),
    )


def type_words(code: str) -> str:
    """An error type's name; what is none of the ten is shown as it stands."""
    if code == UNASSIGNED:
        return "Type unassigned"
    return _TYPE_NAMES.get(code, code)


@dataclass(frozen=True, slots=True)
class Observation:
    """A tool call's whole observation, and where it stands."""

    run: Run
    round_number: int
    call: ToolCall


def observation_of(study: Study, run_id: int, call_id: int) -> Observation:
    """A call of the run with its observation uncut; raises Http404 where the run has no such call."""
    call = (
        ToolCall.objects.filter(pk=call_id, turn__run_id=run_id, turn__run__study=study)
        .select_related("turn__run__task", "turn__run__model", "turn__round")
        .first()
    )
    if call is None:
        raise Http404("no such call")
    return Observation(call.turn.run, call.turn.round.number, call)
