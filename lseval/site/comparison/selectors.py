"""The groups that two sides both have, with both verdicts, and what they come to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np
from django.db.models import F
from django.db.models.functions import MD5

from agreement.stats.bootstrap import Resampling
from agreement.stats.compare import compare
from agreement.stats.groups import GroupRow, group_table
from agreement.stats.scores import LABELS
from lseval.domain.labels import UNJUDGED
from lseval.domain.scoring import score_run
from lseval.models import AnswerGroup, SecondVerdict, Study
from lseval.site.quantities import DASH, Share
from lseval.site.selectors.judges import JudgeName, stage1_judges
from lseval.site.tables import cells
from lseval.site.tables.cells import Cell
from lseval.site.tables.intervals import ratio_intervals

SHOWN_CHANGES: Final = 50
"""How many changed verdicts a page lists."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group with its label on one side; empty where there is no verdict."""

    pk: int
    run_id: int
    required: int | None
    label: str
    digest: str


Key = tuple[str, str, int]
"""Task key, model name, number of the group."""


@dataclass(frozen=True, slots=True)
class Change:
    """A group whose verdicts differ. `other_run_id` is its run in the second study, None within one study."""

    task: str
    model: str
    number: int
    first: str
    second: str
    run_id: int
    other_run_id: int | None


@dataclass(frozen=True, slots=True)
class ModelDifference:
    """A model's mean AS on both sides over the `tasks` scored on both, and the second less the first."""

    name: str
    tasks: int
    first: Cell
    second: Cell
    difference: Cell
    changed: Share


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides. `left_out` says which groups are on one side only, or are not the same, and how many."""

    first_title: str
    second_title: str
    first_judges: list[JudgeName]
    second_judges: list[JudgeName]
    matched_runs: int
    matched: int
    left_out: list[tuple[str, int]]
    changes: list[Change]
    same: Share
    block: Mapping[str, Any]
    models: list[ModelDifference]
    moves: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @property
    def judges(self) -> list[JudgeName]:
        """The judges of either side, each once."""
        return list({(one.name, one.version): one for one in (*self.first_judges, *self.second_judges)}.values())


def compare_studies(first: Study, second: Study, how: Resampling | None = None) -> Comparison:
    """Two studies, matched by task key, model name and number of the group, where its text is the same too."""
    one, other = _groups(first, "verdict__label"), _groups(second, "verdict__label")
    both = [key for key in one if key in other]
    same_text = [key for key in both if one[key].digest == other[key].digest]
    left_out = {
        f"only in {first.name}": len(one) - len(both),
        f"only in {second.name}": len(other) - len(both),
        "with another text": len(both) - len(same_text),
    }
    sizes = [Counter(key[:2] for key in keys) for keys in (one, other, same_text)]
    return _compared(
        (first.name, second.name),
        (stage1_judges(first), stage1_judges(second)),
        [(key, one[key], other[key]) for key in same_text],
        left_out,
        how,
        whole={run for run, groups in sizes[2].items() if groups == sizes[0][run] == sizes[1][run]},
        is_one_study=False,
    )


def compare_judges(study: Study, how: Resampling | None = None) -> Comparison:
    """The two judges of Stage 1 in one study: the verdict that counts, and the second one."""
    one, other = _groups(study, "verdict__label"), _groups(study, "second_verdict__label")
    second = SecondVerdict.objects.filter(group__run__study=study).values_list("judge", "judge_version").distinct()
    return _compared(
        ("Verdict that counts", "Second verdict"),
        (stage1_judges(study), [JudgeName(*row) for row in second.order_by("judge", "judge_version")]),
        [(key, one[key], other[key]) for key in one],
        {},
        how,
        whole={key[:2] for key in one},
        is_one_study=True,
    )


def has_second_judge(study: Study) -> bool:
    """Whether a second judge of Stage 1 has been asked."""
    return SecondVerdict.objects.filter(group__run__study=study).exists()


def _groups(study: Study, label: str) -> dict[Key, Group]:
    rows = (
        AnswerGroup.objects.filter(run__study=study)
        .order_by("run__task_id", "run__model__name", "number")
        .annotate(said=F(label), digest=MD5("text"), required=F("run__rubric__required_count"))
        .values_list("run__task__key", "run__model__name", "number", "pk", "run_id", "required", "said", "digest")
    )
    return {
        (task, model, number): Group(pk, run_id, required, said or "", digest)
        for task, model, number, pk, run_id, required, said, digest in rows
    }


_Pair = tuple[Key, Group, Group]


def _compared(
    titles: tuple[str, str],
    judges: tuple[list[JudgeName], list[JudgeName]],
    pairs: Sequence[_Pair],
    left_out: Mapping[str, int],
    how: Resampling | None,
    *,
    whole: Collection[tuple[str, str]],
    is_one_study: bool,
) -> Comparison:
    judged = [pair for pair in pairs if pair[1].label and pair[2].label]
    reasons = {**left_out, "without a verdict on one side": len(pairs) - len(judged)}
    changes = [
        Change(*key, one.label, other.label, one.run_id, None if is_one_study else other.run_id)
        for key, one, other in judged
        if one.label != other.label
    ]
    how = how or Resampling()
    table = group_table(
        GroupRow(task, f"{model}\x00{task}", f"G{number}", None, _label(one.label), _label(other.label), "")
        for (task, model, number), one, other in judged
    )
    return Comparison(
        first_title=titles[0],
        second_title=titles[1],
        first_judges=judges[0],
        second_judges=judges[1],
        matched_runs=len({one.run_id for _, one, _ in judged}),
        matched=len(judged),
        left_out=[(reason, count) for reason, count in reasons.items() if count],
        changes=changes,
        same=Share(len(judged) - len(changes), len(judged), "no group has a verdict on both sides"),
        block=compare(table, "auto", "h1", how, ()),
        models=_models(pairs, whole, how),
        moves=Counter((change.first, change.second) for change in changes),
    )


def _label(label: str) -> str:
    return label if label in LABELS else ""


def _models(pairs: Sequence[_Pair], whole: Collection[tuple[str, str]], how: Resampling) -> list[ModelDifference]:
    """The models in order of name, over the `whole` runs (task, model) that have a score on both sides."""
    runs: dict[tuple[str, str], list[_Pair]] = defaultdict(list)
    for pair in pairs:
        runs[pair[0][1], pair[0][0]].append(pair)
    scores: dict[str, dict[str, tuple[Fraction, Fraction]]] = defaultdict(dict)
    moved: dict[str, list[bool]] = defaultdict(list)
    for (model, task), found in runs.items():
        first = _score(found[0][1].required, (one.label for _, one, _ in found))
        second = _score(found[0][2].required, (other.label for _, _, other in found))
        moved[model] += [one.label != other.label for _, one, other in found if one.label and other.label]
        if first is not None and second is not None and (task, model) in whole:
            scores[model][task] = (first, second)
    names = sorted(moved)
    tasks = {
        task: place for place, task in enumerate(sorted({task for found in scores.values() for task in found}))
    }
    sums, weights = np.zeros((len(names), len(tasks))), np.zeros((len(names), len(tasks)))
    for row, name in enumerate(names):
        for task, (first, second) in scores[name].items():
            sums[row, tasks[task]], weights[row, tasks[task]] = float(second - first), 1
    ends = ratio_intervals(sums, weights, how)
    return [_model(name, list(scores[name].values()), moved[name], *ends[row]) for row, name in enumerate(names)]


def _model(
    name: str, pairs: list[tuple[Fraction, Fraction]], moved: list[bool], low: float | None, high: float | None
) -> ModelDifference:
    why = "no run has the same groups and a score on both sides"
    means = [sum((pair[side] for pair in pairs), Fraction(0)) / len(pairs) if pairs else None for side in (0, 1)]
    difference = None if means[0] is None or means[1] is None else means[1] - means[0]
    return ModelDifference(
        name,
        len(pairs),
        cells.decimal(means[0], 2, why),
        cells.decimal(means[1], 2, why),
        cells.with_interval(cells.decimal(difference, 2, why), low, high),
        Share(sum(moved), len(moved), "no group has a verdict on both sides"),
    )


def _score(required: int | None, labels: Iterable[str]) -> Fraction | None:
    if required is None:
        return None
    found = score_run(required, [label or UNJUDGED for label in labels])
    return None if found is None else found.answer_score


def label_matrix(found: Comparison) -> dict[str, Any]:
    """The labels of both sides as the confusion matrix component takes them, unjudged ones included."""
    kept = dict(found.moves)
    matrix = found.block["matrix"]
    same_unjudged = found.same.count - sum(matrix[place][place] for place in range(len(LABELS)))
    kept |= {(label, label): matrix[place][place] for place, label in enumerate(LABELS)}
    kept[UNJUDGED, UNJUDGED] = same_unjudged
    shown = [*LABELS, *([UNJUDGED] if any(UNJUDGED in pair and count for pair, count in kept.items()) else [])]
    rows = []
    for a in shown:
        line = [kept.get((a, b), 0) for b in shown]
        total = sum(line)
        rows.append(
            {
                "label": a,
                "cells": [
                    {
                        "count": count,
                        "share": Share(count, total).text if total else DASH,
                        "heat": min(9, 10 * count // total) if total else 0,
                        "is_diagonal": a == b,
                    }
                    for b, count in zip(shown, line, strict=True)
                ],
                "total": total,
            }
        )
    sums = [sum(kept.get((a, b), 0) for a in shown) for b in shown]
    return {
        "row_title": found.first_title,
        "column_title": found.second_title,
        "columns": [{"label": label} for label in shown],
        "rows": rows,
        "column_totals": sums,
        "total": sum(sums),
    }
