"""A study's runs with reference labels, and what each way of flagging says of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Exists, OuterRef

from agreement.stats.bootstrap import Resampling
from lseval.domain.labels import RoundLabel
from lseval.domain.localization import Located, LocatedRun, by_chance, located, steps_from
from lseval.judging.embedded.stage2 import trace_all_at_once
from lseval.models import FailureNode, Judgement, ReferenceLabel, Round, Run, Study, Turn
from lseval.pipeline.stage2 import groups_under_audit, round_under_audit
from lseval.site.localization.measuring import measured
from lseval.site.selectors.judges import JudgeName, stage2_judges

WAYS: Final = {
    "consensus": "Failure nodes: both judges",
    "either": "Either judge",
    "judge_a": "Judge A alone",
    "judge_b": "Judge B alone",
    "all_at_once": "All at once, by words",
    "first_round": "First round",
    "last_round": "Last round",
    "random": "Random round, on average",
}
"""The ways of flagging: the pipeline's, each judge's, then baselines that no judge takes part in."""

SHIFTS: Final = (-1, 0, 1)


@dataclass(frozen=True, slots=True)
class Localization:
    """How near to the steps that people named a study's flags come.

    `without_reference` runs have no reference label and are left out of all shares, `without_rounds` have one and
    no trajectory. Of the reference steps, `outside` are in no round, and `pre_skipped` only in rounds that no judge
    is shown: those are out of the judges' reach. `waiting` runs have rounds that have not been judged.
    `agents` counts, for each shift of the steps, the references whose step is then a turn of the agent that the
    label names: where another shift than 0 fits best, the source counts from elsewhere.
    """

    runs: int
    tasks: int
    without_reference: int
    without_rounds: int
    rounds: int
    references: int
    outside: int
    pre_skipped: int
    waiting: int
    agents: Mapping[int, int]
    named_agents: int
    judges: tuple[JudgeName, ...]
    ways: Mapping[str, dict[str, Any]]

    @property
    def best_shift(self) -> int:
        """The shift of the steps that fits the agents named best; 0 where none fits better."""
        return max(SHIFTS, key=lambda shift: (self.agents[shift], shift == 0))


@dataclass(frozen=True, slots=True)
class _Referenced:
    """A run with what is needed of it; `numbers[i]` is the number of the i-th round of `located`."""

    pk: int
    task_id: int
    located: LocatedRun
    numbers: tuple[int, ...]
    reachable: frozenset[int]
    agents: Mapping[int, str]
    named: tuple[tuple[int, str], ...]

    def places(self, numbers: Sequence[int]) -> list[int]:
        place_of = {number: place for place, number in enumerate(self.numbers)}
        return [place_of[number] for number in numbers if number in place_of]


def localization_of(study: Study, *, first_step: int = 0, how: Resampling | None = None) -> Localization:
    """The study's flags beside its reference labels, whose steps the source counts from `first_step`.

    Raises:
        InputError: a step is below `first_step`.
    """
    every = list(_referenced(study, first_step))
    runs = [run for run in every if run.numbers]
    flags = _flags(study, runs)
    tasks = [run.task_id for run in runs]
    how = how or Resampling()
    reached = [
        {step for place in run.reachable for step in run.located.steps[place]} & run.located.references
        for run in runs
    ]
    held = [{step for steps in run.located.steps for step in steps} & run.located.references for run in runs]
    return Localization(
        runs=len(runs),
        tasks=len(set(tasks)),
        without_reference=study.runs.count() - len(every),
        without_rounds=len(every) - len(runs),
        rounds=sum(run.located.rounds for run in runs),
        references=sum(len(run.located.references) for run in runs),
        outside=sum(len(run.located.references) - len(found) for run, found in zip(runs, held, strict=True)),
        pre_skipped=sum(len(one) - len(other) for one, other in zip(held, reached, strict=True)),
        waiting=Run.objects.filter(
            Exists(Round.objects.filter(run=OuterRef("pk"), skip_reason="", consensus=None)),
            Exists(ReferenceLabel.objects.filter(run=OuterRef("pk"))),
            study=study,
        ).count(),
        agents=_agent_matches(runs),
        named_agents=sum(bool(agent) for run in runs for _, agent in run.named),
        judges=tuple(stage2_judges(study)),
        ways={way: measured([flags[way](run) for run in runs], tasks, how) for way in WAYS},
    )


def _referenced(study: Study, first_step: int) -> Iterator[_Referenced]:
    labels: dict[int, list[tuple[int, str]]] = defaultdict(list)
    task_of: dict[int, int] = {}
    rows = ReferenceLabel.objects.filter(run__study=study).order_by("run_id", "id")
    for run_id, task_id, step, agent in rows.values_list("run_id", "run__task_id", "step", "agent"):
        labels[run_id].append((step, agent))
        task_of[run_id] = task_id
    rounds: dict[int, list[tuple[int, str]]] = defaultdict(list)
    found = Round.objects.filter(run__in=labels).order_by("run_id", "number")
    for run_id, number, reason in found.values_list("run_id", "number", "skip_reason"):
        rounds[run_id].append((number, reason))
    steps: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    agents: dict[int, dict[int, str]] = defaultdict(dict)
    turns = Turn.objects.filter(run__in=labels, source_step__isnull=False).order_by("run_id", "number")
    told = turns.values_list("run_id", "round__number", "source_step", "agent")
    for run_id, number, source_step, agent in told:
        assert source_step is not None  # by the filter above
        steps[run_id][number].append(source_step)
        agents[run_id][source_step] = agent
    for run_id, named in labels.items():
        known = rounds[run_id]
        yield _Referenced(
            pk=run_id,
            task_id=task_of[run_id],
            located=LocatedRun(
                steps=tuple(tuple(steps[run_id][number]) for number, _ in known),
                references=steps_from([step for step, _ in named], first_step),
            ),
            numbers=tuple(number for number, _ in known),
            reachable=frozenset(place for place, (_, reason) in enumerate(known) if not reason),
            agents=agents[run_id],
            named=tuple((step - first_step, agent) for step, agent in named),
        )


def _agent_matches(runs: Sequence[_Referenced]) -> dict[int, int]:
    found: Counter[int] = Counter()
    for run in runs:
        for step, agent in run.named:
            for shift in SHIFTS:
                found[shift] += bool(agent) and run.agents.get(step + shift) == agent
    return {shift: found[shift] for shift in SHIFTS}


def _flags(study: Study, runs: Sequence[_Referenced]) -> dict[str, Callable[[_Referenced], Located]]:
    ids = [run.pk for run in runs]
    nodes: dict[int, list[int]] = defaultdict(list)
    for run_id, number in (
        FailureNode.objects.filter(run__in=ids)
        .order_by("run_id", "round__number")
        .values_list("run_id", "round__number")
    ):
        nodes[run_id].append(number)
    said: dict[str, dict[int, list[int]]] = {"A": defaultdict(list), "B": defaultdict(list)}
    errors = Judgement.objects.filter(round__run__in=ids, verdict=RoundLabel.ERROR).order_by("round__number")
    for role, run_id, number in errors.values_list("judge_role", "round__run_id", "round__number"):
        said[role][run_id].append(number)

    def by_numbers(numbers_of: Callable[[int], Sequence[int]]) -> Callable[[_Referenced], Located]:
        return lambda run: located(run.located, run.places(numbers_of(run.pk)))

    return {
        "consensus": by_numbers(lambda pk: nodes[pk]),
        "either": by_numbers(lambda pk: sorted({*said["A"][pk], *said["B"][pk]})),
        "judge_a": by_numbers(lambda pk: said["A"][pk]),
        "judge_b": by_numbers(lambda pk: said["B"][pk]),
        "all_at_once": lambda run: located(run.located, run.places(_all_at_once(run.pk))[:1]),
        "first_round": lambda run: located(run.located, [0]),
        "last_round": lambda run: located(run.located, [run.located.rounds - 1]),
        "random": lambda run: by_chance(run.located),
    }


def _all_at_once(run_id: int) -> tuple[int, ...]:
    run = Run.objects.select_related("task").get(pk=run_id)
    groups = groups_under_audit(run, list(run.answer_groups.select_related("verdict")))
    rounds = [round_under_audit(found) for found in run.rounds.prefetch_related("turns__tool_calls")]
    return trace_all_at_once(run.task.question, groups, rounds)
