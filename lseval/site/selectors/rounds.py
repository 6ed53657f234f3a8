"""The rounds of a run as its page shows them: words, calls with observations, and what the judges say."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Prefetch
from django.db.models.functions import Coalesce, Left, Length

from lseval.domain.labels import UNJUDGED, RoundLabel
from lseval.domain.taxonomy import UNASSIGNED, ErrorType
from lseval.domain.trajectory import TOOLS
from lseval.models import Judgement, ReferenceLabel, Round, Run, ToolCall, Turn
from lseval.site.selectors.judges import JudgeName

OBSERVATION_LIMIT: Final = 1_500
"""Characters of an observation that a run's page holds; the rest is asked for in parts."""

TEXT_LIMIT: Final = 6_000
"""Characters of a turn's words, of its reasoning and of a call's arguments that a run's page holds."""

MOST_NUMBERS: Final = 12
"""Groups that a round names on the page; of more, how many more there are."""

MOST_NAMED: Final = 20_000
"""Groups named by the judgements of a run that are looked at."""

_ARGUMENTS_IN_LINE = 300
_TYPE_NAMES = {kind.value: kind.display_name for kind in ErrorType}
_LONG_TEXT, _OPENING = 1_600, 1_200
_VERDICT_WORDS: dict[str, str] = {
    RoundLabel.ERROR: "error",
    RoundLabel.NON_ERROR: "no error",
    RoundLabel.SKIPPED: "set aside",
    UNJUDGED: "no opinion",
}


GroupUrl = Callable[[int], str]
"""Where a group stands, by its number."""


@dataclass(frozen=True, slots=True)
class NumbersShown:
    """Numbers of groups with where they stand, the first `MOST_NUMBERS` of them."""

    shown: list[tuple[int, str]]
    numbers: tuple[int, ...]

    @classmethod
    def of(cls, numbers: Sequence[int], url_of: GroupUrl) -> NumbersShown:
        """Those numbers, ascending."""
        ordered = tuple(sorted(numbers))
        return cls([(number, url_of(number)) for number in ordered[:MOST_NUMBERS]], ordered)

    @property
    def more(self) -> int:
        """How many are not shown."""
        return len(self.numbers) - len(self.shown)

    def __bool__(self) -> bool:
        return bool(self.numbers)


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
    def icon(self) -> str:
        """The tool's symbol."""
        return f"tool-{self.name.replace('_', '-')}" if self.name in TOOLS else "tool"

    @property
    def held(self) -> int:
        """How many characters of the observation the page holds."""
        return len(self.observation or "")

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
    """A turn's words, of which `length` are in the source, and its calls. No judge saw `reasoning`."""

    agent: str
    text: str
    length: int
    reasoning: str
    calls: list[CallShown]

    @property
    def is_cut(self) -> bool:
        """Whether the page holds only the beginning of the words."""
        return self.length > len(self.text)

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
    code: str
    flags: list[str]
    groups: NumbersShown
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
    linked_groups: NumbersShown
    references: list[ReferenceLabel]

    @property
    def anchor(self) -> str:
        """The fragment that leads to it."""
        return f"r{self.number}"

    @property
    def url(self) -> str:
        """Its permalink on the run's page."""
        return f"#r{self.number}"

    @property
    def is_flagged(self) -> bool:
        """Whether a judge calls it an error, so that a reader looking for what went wrong stops there."""
        return self.state in ("failure", "split")

    @property
    def touched(self) -> str:
        """The numbers of the groups that a judge or a link ties to it, with blanks between, for scripts."""
        numbers = {*self.linked_groups.numbers}.union(*(one.groups.numbers for one in self.judgements))
        return " ".join(map(str, sorted(numbers)[:200]))


def rounds_of(
    run: Run, linked: Mapping[int, Sequence[int]], url_of: GroupUrl, number: int | None = None, limit: int = 0
) -> list[RoundShown]:
    """The run's rounds in order, or the one of that number; `linked` has the groups of each round's number.

    Seven queries, however many there are. `limit` says how many characters of each text to hold in place of the
    run page's.
    """
    rounds = run.rounds.select_related("consensus", "failure_node").prefetch_related(
        Prefetch("turns", queryset=_turns(limit or TEXT_LIMIT)),
        Prefetch("turns__tool_calls", queryset=_calls(limit or OBSERVATION_LIMIT)),
        Prefetch("judgements", queryset=Judgement.objects.order_by("judge_role")),
        "reference_labels",
    )
    if number is not None:
        rounds = rounds.filter(number=number)
    found = list(rounds)
    named: dict[int, list[int]] = defaultdict(list)
    pairs = Judgement.groups.through.objects.filter(judgement__round__in=[one.pk for one in found])
    for pk, group in pairs.order_by("judgement_id").values_list("judgement_id", "answergroup__number")[:MOST_NAMED]:
        named[pk].append(group)
    held = limit or TEXT_LIMIT
    return [_round(one, NumbersShown.of(linked.get(one.number, []), url_of), named, url_of, held) for one in found]


def _turns(limit: int) -> Any:
    """Turns whose words the database has already cut, so that long ones never leave it."""
    return (
        Turn.objects.order_by("number")
        .defer("text", "reasoning")
        .annotate(shown=Left("text", limit), length=Length("text"), shown_reasoning=Left("reasoning", limit))
    )


def _calls(limit: int) -> Any:
    """Calls with the beginnings of their observations."""
    return (
        ToolCall.objects.order_by("number")
        .defer("observation")
        .annotate(shown=Left("observation", limit), length=Coalesce(Length("observation"), 0))
    )


def _round(
    found: Round, linked: NumbersShown, named: Mapping[int, list[int]], url_of: GroupUrl, limit: int
) -> RoundShown:
    state, label = _state(found)
    node = getattr(found, "failure_node", None)
    return RoundShown(
        number=found.number,
        state=state,
        state_label=label,
        skip_reason=found.skip_reason.replace("_", " "),
        turns=[_turn(turn, limit) for turn in found.turns.all()],
        judgements=[
            _judgement(judgement, NumbersShown.of(named.get(judgement.pk, []), url_of))
            for judgement in found.judgements.all()
        ],
        type_name=type_words(node.error_type) if node else "",
        is_type_agreed=bool(node and node.is_type_agreed),
        linked_groups=linked,
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


def _turn(turn: Any, limit: int) -> TurnShown:
    return TurnShown(
        agent=turn.agent,
        text=turn.shown,
        length=turn.length,
        reasoning=turn.shown_reasoning,
        calls=[_call(call, limit) for call in turn.tool_calls.all()],
    )


def _call(call: Any, limit: int) -> CallShown:
    return CallShown(
        id=call.pk,
        name=call.name,
        original_name=call.original_name if call.original_name != call.name else "",
        arguments=_arguments(call.arguments)[:limit],
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


def _judgement(judgement: Judgement, groups: NumbersShown) -> JudgementShown:
    return JudgementShown(
        role=judgement.judge_role,
        verdict=judgement.verdict,
        type_name=type_words(judgement.error_type) if judgement.error_type else "",
        explanation=judgement.explanation,
        code=judgement.code.replace("_", " "),
        flags=[str(flag).replace("_", " ") for flag in judgement.flags],
        groups=groups,
        judge=JudgeName(judgement.judge, judgement.judge_version),
    )


def type_words(code: str) -> str:
    """An error type's name; what is none of the ten is shown as it stands."""
    if code == UNASSIGNED:
        return "Type unassigned"
    return _TYPE_NAMES.get(code, code)
