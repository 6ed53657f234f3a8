"""How often the embedded Stage 1 judge is right, beside always giving the commonest label, and how fast it is.

Two sets: the answer groups of `bench/tarn_lakes`, a made-up world written by hand, and the dev part of WiCE,
labelled by people (looked for under `LSEVAL_SHARED`, else beside the checkout; where it is absent a line says so).
Ratios are our figure over the baseline's.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lseval.domain.evidence import EvidencePage
from lseval.domain.grouping import group_answer
from lseval.domain.trajectory import RubricRecord, RunRecord
from lseval.domain.urls import canonical_key
from lseval.formats import read_runs
from lseval.judging.embedded.accuracy import measured_accuracy
from lseval.judging.embedded.measuring import SUPPORTED, measure
from lseval.judging.embedded.stage1 import verify_group

ROOT = Path(__file__).resolve().parents[1]
LAKES = ROOT / "bench" / "tarn_lakes"
SHARED = Path(os.environ.get("LSEVAL_SHARED", ROOT.parent / "shared"))
WICE = SHARED / "data" / "wice" / "claim.dev.jsonl"

LOOKED_AT = frozenset({"ferries-tarn-lakes", "observatories-harrow", "festival-merrow"})
"""The tasks whose errors were read while the rules were written. The others were only counted."""

REPEATS = 5

Counts = Counter[tuple[str, str]]


@dataclass(frozen=True)
class Case:
    """One answer group of the Tarn Lakes with all that the judge is given, and its true label."""

    task: str
    truth: str
    arguments: tuple[str, RubricRecord, str, str, Mapping[str, str], tuple[EvidencePage, ...]]


def lake_cases() -> list[Case]:
    """The answer groups of the Tarn Lakes runs, grouped as the program groups them, in order."""
    truth = json.loads((LAKES / "truth.json").read_text(encoding="utf-8"))
    cases = []
    for row in read_runs(LAKES / "runs.jsonl"):
        if row.record is None or row.record.rubric is None:
            raise ValueError(f"the Tarn Lakes cannot be read: {row.message or 'a task without a rubric'}")
        labels = truth[f"{row.record.task_key}|{row.record.model_name}"]
        cases += list(_cases(row.record, row.record.rubric, [unit["label"] for unit in labels]))
    return cases


def _cases(run: RunRecord, rubric: RubricRecord, labels: list[str]) -> Iterator[Case]:
    snapshots = {canonical_key(page.url): page for page in run.pages}
    groups = group_answer(run.final_answer).groups
    for group, truth in zip(groups, labels, strict=False):  # an apology is a group to some, and has no truth
        pages = []
        for cited in group.citations:
            page = snapshots.get(cited.canonical_key)
            if cited.url and page:
                pages.append(EvidencePage(page.url, page.url, page.text, page.outcome))
            elif cited.url:
                pages.append(EvidencePage("", cited.url, "", "unavailable"))
        arguments = (run.question, rubric, group.title, group.text, group.fields, tuple(pages))
        yield Case(run.task_key, truth, arguments)


def entry(
    name: str, value: float | None, baseline: float | None, unit: str = "share", **more: Any
) -> dict[str, Any]:
    """One JSON-able line; the ratio is left out where either figure is undefined."""
    found = {"name": name, "value": value, "unit": unit, "baseline": baseline, **more}
    return found | ({"ratio": value / baseline} if value is not None and baseline else {})


def _lake_entry(name: str, counts: Counts) -> dict[str, Any]:
    rows = sum(counts.values())
    by_truth = Counter[str]()
    for (truth, _), count in counts.items():
        by_truth[truth] += count
    commonest, most = by_truth.most_common(1)[0]
    right = sum(count for (truth, label), count in counts.items() if truth == label)
    confusion = {f"{truth}→{label}": count for (truth, label), count in sorted(counts.items())}
    return entry(
        f"judging: Stage 1 accuracy by truth, {name}",
        right / rows,
        most / rows,
        against=f"always {commonest}",
        rows=rows,
        confusion=confusion,
    )


def _on_lakes(cases: list[Case]) -> Iterator[dict[str, Any]]:
    parts: dict[bool, Counts] = {True: Counter(), False: Counter()}
    for case in cases:
        parts[case.task in LOOKED_AT][case.truth, str(verify_group(*case.arguments).label)] += 1
    yield _lake_entry("Tarn Lakes, tasks not looked at", parts[False])
    yield _lake_entry("Tarn Lakes, tasks looked at", parts[True])
    yield _lake_entry("Tarn Lakes, all tasks", parts[True] + parts[False])


def _on_wice() -> Iterator[dict[str, Any]]:
    name = "judging: Stage 1 on WiCE dev"
    if not WICE.exists():
        yield {"name": name, "skipped": "needs shared/data/wice/claim.dev.jsonl; set LSEVAL_SHARED to its folder"}
        return
    with WICE.open(encoding="utf-8") as lines:
        measured = measure(json.loads(line) for line in lines)
    by_people = Counter[str]()
    for (people, _), count in measured.counts.items():
        by_people[people] += count
    unsupported = 1 - by_people[SUPPORTED] / measured.rows
    commonest, most = by_people.most_common(1)[0]
    rows = measured.rows
    yield entry(
        f"{name}, two-way accuracy", measured.two_way_accuracy, unsupported, against="always not", rows=rows
    )
    yield entry(
        f"{name}, two-way balanced accuracy", measured.two_way_balanced_accuracy, 0.5, against="either label"
    )
    yield entry(
        f"{name}, three-way accuracy", measured.three_way_accuracy, most / rows, against=f"always {commonest}"
    )
    yield entry(f"{name}, three-way kappa", measured.three_way_kappa, 0.0, "kappa", against="chance")
    yield entry(f"{name}, two-way kappa", measured.two_way_kappa, 0.0, "kappa", against="chance")
    for figure, value in measured_accuracy().cross_validated.items():
        yield {"name": f"{name}, {figure}, cross-validated as packaged", "value": value, "unit": "share or kappa"}
    one_label = 2 * most / (rows + most) / 3
    yield entry(f"{name}, three-way macro-F1", measured.macro_f1, one_label, "F1", against=f"always {commonest}")


def _speed(cases: list[Case]) -> dict[str, Any]:
    """Groups a second, pages indexed as they come and kept for the next group: the best of `REPEATS` passes."""
    taken = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        for case in cases:
            verify_group(*case.arguments)
        taken.append(time.perf_counter() - began)
    return entry("judging: Stage 1 speed, Tarn Lakes", len(cases) / min(taken), None, "groups/s", rows=len(cases))


def run() -> Iterator[dict[str, Any]]:
    """Yields one entry per figure; each has `value`, `unit` and `baseline`, or says why it was `skipped`."""
    cases = lake_cases()
    yield from _on_lakes(cases)
    yield from _on_wice()
    yield _speed(cases)
