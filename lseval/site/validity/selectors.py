"""A study's rows as validity measures them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from lseval.domain.labels import GroupLabel, PageOutcome
from lseval.models import Citation, FailureNode, Link, Page, Round, Study, Verdict
from lseval.sandbox.models import GroupTruth, InjectedError, RunTruth
from lseval.site.selectors.judges import JudgeName, stage1_judges, stage2_judges
from lseval.site.validity.measuring import JudgedGroup, JudgedRun, PlantedError, measured


@dataclass(frozen=True, slots=True)
class Validity:
    """How right the pipeline is on a study. `report` is that of `measuring.measured`.

    `runs` have a known truth, `unmatched` of which could not be told group by group and are left out of all that
    needs groups; `lost_errors` are planted errors whose rounds are not in the run. `waiting` counts the groups
    without a verdict.
    """

    runs: int
    unmatched: int
    lost_errors: int
    waiting: int
    judges: tuple[JudgeName, ...]
    report: dict[str, Any]


def has_truth(study: Study) -> bool:
    """Whether anything is known to be true of the study's runs."""
    return RunTruth.objects.filter(run__study=study).exists()


def validity_of(study: Study) -> Validity:
    """The study measured, in a fixed number of queries, whatever its size."""
    truths = list(
        RunTruth.objects.filter(run__study=study)
        .order_by("run_id")
        .values_list("run_id", "run__task_id", "is_matched", "lost_errors")
    )
    groups, waiting = _groups(study)
    runs = _runs(study, {run: task for run, task, is_matched, _ in truths if is_matched})
    return Validity(
        runs=len(truths),
        unmatched=sum(not is_matched for _, _, is_matched, _ in truths),
        lost_errors=sum(lost for _, _, _, lost in truths),
        waiting=waiting,
        judges=(*stage1_judges(study), *stage2_judges(study)),
        report=measured(groups, runs),
    )


def _groups(study: Study) -> tuple[list[JudgedGroup], int]:
    truths = GroupTruth.objects.filter(truth__run__study=study)
    label_of = {(run, number): label for run, number, label in truths.values_list("truth_id", "number", "label")}
    verdicts = {
        (run, number): (label, group)
        for run, number, label, group in Verdict.objects.filter(group__run__study=study).values_list(
            "group__run_id", "group__number", "label", "group_id"
        )
    }
    tasks = dict(study.runs.values_list("pk", "task_id"))
    readable = _groups_with_a_readable_page(study)
    judged = [
        JudgedGroup(tasks[run], label, verdicts[run, number][0], verdicts[run, number][1] in readable)
        for (run, number), label in sorted(label_of.items())
        if (run, number) in verdicts
    ]
    return judged, len(label_of) - len(judged)


def _groups_with_a_readable_page(study: Study) -> set[int]:
    page = Page.objects.filter(
        study=study, run__isnull=True, canonical_key=OuterRef("canonical_key"), outcome=PageOutcome.OK
    ).exclude(text="")
    cited = Citation.objects.filter(run__study=study, group__isnull=False).exclude(url="")
    return set(cited.filter(Exists(page)).values_list("group_id", flat=True))


def _runs(study: Study, tasks: dict[int, int]) -> list[JudgedRun]:
    errors: dict[int, list[PlantedError]] = defaultdict(list)
    found = InjectedError.objects.filter(truth__run__study=study)
    for run, entered, stated, kind, groups in found.values_list(
        "truth_id", "round_number", "stated_round_number", "error_type", "group_numbers"
    ):
        errors[run].append(PlantedError(kind, frozenset((entered, stated)), frozenset(groups)))
    nodes: dict[int, dict[int, str]] = defaultdict(dict)
    flagged = FailureNode.objects.filter(run__study=study)
    for run, number, kind in flagged.values_list("run_id", "round__number", "error_type"):
        nodes[run][number] = kind
    links: dict[int, set[tuple[int, int]]] = defaultdict(set)
    kept = Link.objects.filter(run__study=study)
    for run, number, group in kept.values_list("run_id", "round__number", "group__number"):
        links[run].add((number, group))
    evaluable: dict[int, set[int]] = defaultdict(set)
    rounds = Round.objects.filter(run__study=study, skip_reason="")
    for run, number in rounds.values_list("run_id", "number"):
        evaluable[run].add(number)
    wrong: dict[int, set[int]] = defaultdict(set)
    incorrect = Verdict.objects.filter(group__run__study=study, label=GroupLabel.INCORRECT)
    for run, number in incorrect.values_list("group__run_id", "group__number"):
        wrong[run].add(number)
    return [
        JudgedRun(
            task,
            tuple(errors[run]),
            nodes[run],
            frozenset(links[run]),
            frozenset(evaluable[run]),
            frozenset(wrong[run]),
        )
        for run, task in tasks.items()
    ]
