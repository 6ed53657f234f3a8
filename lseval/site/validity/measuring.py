"""The pipeline's output against what was planted: plain numbers in, plain numbers out.

A planted error covers the rounds where its wrong content enters and where it is stated. A failure node in one of
them has found it.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from agreement.stats.proportions import cluster_interval_of
from agreement.stats.undefined import Estimate, Undefined, Value, ratio
from lseval.domain.labels import UNJUDGED, GroupLabel
from lseval.domain.taxonomy import UNASSIGNED, ErrorType

TRUE_LABELS: Final = tuple(str(label) for label in GroupLabel)
GIVEN_LABELS: Final = (*TRUE_LABELS, UNJUDGED)
TYPES: Final = tuple(str(kind) for kind in ErrorType)
NODE_TYPES: Final = (*TYPES, UNASSIGNED)
NEAR_ROUNDS: Final = 3


@dataclass(frozen=True, slots=True)
class JudgedGroup:
    """An answer group: what is true of it, what Stage 1 said, and whether any cited page could be read."""

    task: int
    truth: str
    verdict: str
    is_readable: bool


@dataclass(frozen=True, slots=True)
class PlantedError:
    """An error in a run: its type, its rounds, and the groups that it makes wrong (none where it is mended)."""

    error_type: str
    rounds: frozenset[int]
    groups: frozenset[int]

    @property
    def first_round(self) -> int:
        return min(self.rounds)


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run: its errors, its failure nodes by round with their types, its links, and its evaluable rounds."""

    task: int
    errors: tuple[PlantedError, ...]
    nodes: Mapping[int, str]
    links: frozenset[tuple[int, int]]
    evaluable: frozenset[int]
    wrong_groups: frozenset[int] = frozenset()


@dataclass
class Hits:
    """Successes with the task of each, from which a share and its interval follow."""

    hits: list[bool] = field(default_factory=list)
    tasks: list[int] = field(default_factory=list)

    def add(self, hit: bool, task: int) -> None:
        self.hits.append(hit)
        self.tasks.append(task)

    def share(self, nothing: str) -> Estimate:
        """The share of successes, with an interval that takes tasks as clusters; undefined without an item."""
        if not self.hits:
            return Estimate(Undefined(nothing), Undefined(nothing), n=0)
        _, codes = np.unique(np.array(self.tasks), return_inverse=True)
        interval = cluster_interval_of(self.hits, codes.astype(np.int64))
        point = sum(self.hits) / len(self.hits)
        clusters = int(codes.max()) + 1
        return Estimate(point, interval, method="cluster Wilson", n=len(self.hits), clusters=clusters)


def verdict_report(groups: Sequence[JudgedGroup]) -> dict[str, Any]:
    """The matrix of truth (rows) by verdict (columns, the last one unjudged), accuracy, and each label's shares.

    *Recall* of a label is the share of groups that truly have it which Stage 1 gave it, *precision* the share of
    groups to which it gave the label that truly have it. `unreadable` compares U with the pages: a group is to be
    U exactly when no page that it cites could be read.
    """
    counts = Counter((group.truth, group.verdict) for group in groups)
    accuracy = Hits()
    recall: dict[str, Hits] = {label: Hits() for label in TRUE_LABELS}
    precision: dict[str, Hits] = {label: Hits() for label in TRUE_LABELS}
    for group in groups:
        is_right = group.truth == group.verdict
        accuracy.add(is_right, group.task)
        recall[group.truth].add(is_right, group.task)
        if group.verdict in precision:
            precision[group.verdict].add(is_right, group.task)
    return {
        "groups": len(groups),
        "matrix": [[counts[truth, given] for given in GIVEN_LABELS] for truth in TRUE_LABELS],
        "accuracy": accuracy.share("there is no group"),
        "always": _always(groups),
        "recall": {label: recall[label].share(f"no group is truly {label}") for label in TRUE_LABELS},
        "precision": {label: precision[label].share(f"no verdict is {label}") for label in TRUE_LABELS},
        "unreadable": {
            "u_though_readable": sum(group.verdict == "U" and group.is_readable for group in groups),
            "not_u_though_unreadable": sum(group.verdict != "U" and not group.is_readable for group in groups),
            "truth_u_though_readable": sum(group.truth == "U" and group.is_readable for group in groups),
        },
    }


def _always(groups: Sequence[JudgedGroup]) -> dict[str, Any]:
    """What a judge would reach that always gave the label which is most often true."""
    if not groups:
        return {"label": "", "accuracy": Undefined("there is no group")}
    label, count = Counter(group.truth for group in groups).most_common(1)[0]
    return {"label": label, "accuracy": count / len(groups)}


def node_report(runs: Sequence[JudgedRun]) -> dict[str, Any]:
    """Precision and recall of failure nodes, overall and by type, and the types given to the errors found.

    `chance` is the share of evaluable rounds that an error covers: the precision of flags set blindly. Recall is
    told apart for errors that made a group wrong and for those that the run mended, which the judges have no
    incorrect group to follow back for. By type: recall of the errors of that type, whatever type their node has;
    and precision of the nodes of that type, right where an error of that very type is there.
    """
    precision, chance = Hits(), Hits()
    recall = {"linked": Hits(), "mended": Hits()}
    type_recall: dict[str, Hits] = {kind: Hits() for kind in TYPES}
    type_precision: dict[str, Hits] = {kind: Hits() for kind in NODE_TYPES}
    type_agreed = Hits()
    confusion: Counter[tuple[str, str]] = Counter()
    for run in runs:
        covered = {number for error in run.errors for number in error.rounds}
        for number in run.evaluable:
            chance.add(number in covered, run.task)
        for number, kind in run.nodes.items():
            here = [error for error in run.errors if number in error.rounds]
            precision.add(bool(here), run.task)
            type_precision[kind].add(any(error.error_type == kind for error in here), run.task)
        for error in run.errors:
            given = [run.nodes[number] for number in sorted(error.rounds) if number in run.nodes]
            recall["linked" if error.groups else "mended"].add(bool(given), run.task)
            type_recall[error.error_type].add(bool(given), run.task)
            if given:
                kind = error.error_type if error.error_type in given else given[0]
                confusion[error.error_type, kind] += 1
                type_agreed.add(kind == error.error_type, run.task)
    every = Hits(recall["linked"].hits + recall["mended"].hits, recall["linked"].tasks + recall["mended"].tasks)
    return {
        "nodes": len(precision.hits),
        "errors": len(every.hits),
        "precision": precision.share("no round is flagged"),
        "chance": chance.share("no round is evaluable"),
        "recall": every.share("no error was planted"),
        "recall_of_consequence": recall["linked"].share("no planted error made a group wrong"),
        "recall_of_mended": recall["mended"].share("no planted error was mended"),
        "type_agreed": type_agreed.share("no planted error was found"),
        "by_type": {
            kind: {
                "recall": type_recall[kind].share("none was planted"),
                "precision": type_precision[kind].share("no node has this type"),
            }
            for kind in TYPES
        },
        "confusion": [[confusion[planted, given] for given in NODE_TYPES] for planted in TYPES],
    }


def link_report(runs: Sequence[JudgedRun]) -> dict[str, Any]:
    """Precision and recall of links.

    A link is right where an error that covers its round made its group wrong. Recall is over pairs of an error and
    a group that it made wrong: found where some link to the group lies in a round of the error. Pairs whose group
    Stage 1 does not call incorrect cannot be linked; `recall_where_incorrect` leaves them out. By type: recall of
    the pairs whose error has that type, whatever type the node has; and precision of the links of nodes of that
    type, right where an error of that very type made the group wrong there.
    """
    precision, recall, within = Hits(), Hits(), Hits()
    type_recall: dict[str, Hits] = {kind: Hits() for kind in TYPES}
    type_precision: dict[str, Hits] = {kind: Hits() for kind in NODE_TYPES}
    for run in runs:
        for number, group in sorted(run.links):
            here = [error for error in run.errors if number in error.rounds and group in error.groups]
            precision.add(bool(here), run.task)
            given = run.nodes.get(number, UNASSIGNED)
            type_precision[given].add(any(error.error_type == given for error in here), run.task)
        for error in run.errors:
            for group in sorted(error.groups):
                is_found = any((number, group) in run.links for number in error.rounds)
                recall.add(is_found, run.task)
                type_recall[error.error_type].add(is_found, run.task)
                if group in run.wrong_groups:
                    within.add(is_found, run.task)
    return {
        "links": len(precision.hits),
        "pairs": len(recall.hits),
        "precision": precision.share("there is no link"),
        "recall": recall.share("no planted error made a group wrong"),
        "recall_where_incorrect": within.share("no group that was made wrong is called incorrect"),
        "by_type": {
            kind: {
                "recall": type_recall[kind].share("none made a group wrong"),
                "precision": type_precision[kind].share("no link has this type"),
            }
            for kind in TYPES
        },
    }


def earliest_report(runs: Sequence[JudgedRun]) -> dict[str, Any]:
    """How far the earliest linked round is from the round where the first consequential error enters.

    Over runs that have both. `median_rounds` is the median distance; *exact* means a round of that first error,
    *near* within `NEAR_ROUNDS` of its entry. `only_linked` runs have links and no such error, `only_planted` the
    other way round.
    """
    exact, near = Hits(), Hits()
    distances: list[int] = []
    only_linked = only_planted = 0
    for run in runs:
        errors = [error for error in run.errors if error.groups]
        if not errors or not run.links:
            only_linked += bool(run.links)
            only_planted += bool(errors)
            continue
        first = min(errors, key=lambda error: error.first_round)
        earliest = min(number for number, _ in run.links)
        distances.append(abs(earliest - first.first_round))
        exact.add(earliest in first.rounds, run.task)
        near.add(distances[-1] <= NEAR_ROUNDS, run.task)
    nothing = "no run has both a link and a planted error of consequence"
    median: Value = float(statistics.median(distances)) if distances else Undefined(nothing)
    mean: Value = ratio(sum(distances), len(distances), nothing)
    return {
        "runs": len(distances),
        "median_rounds": median,
        "mean_rounds": mean,
        "exact": exact.share(nothing),
        "near": near.share(nothing),
        "only_linked": only_linked,
        "only_planted": only_planted,
    }


def measured(groups: Iterable[JudgedGroup], runs: Iterable[JudgedRun]) -> dict[str, Any]:
    """All four reports."""
    listed_groups, listed_runs = list(groups), list(runs)
    return {
        "verdicts": verdict_report(listed_groups),
        "nodes": node_report(listed_runs),
        "links": link_report(listed_runs),
        "earliest": earliest_report(listed_runs),
    }
