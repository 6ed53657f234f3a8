"""Calls out of a file, with what they cost: facts for the sums, which are never taken for replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from django.db import transaction

from lseval.formats.evaluation_rows import CALLS, CallRow
from lseval.models import AnyCall, MovedCall, Study
from lseval.pipeline.evaluation_import.files import EvaluationFile, PlacedRow
from lseval.pipeline.evaluation_import.pages import moment
from lseval.pipeline.evaluation_import.reports import ADDED, KEPT, EvaluationReport, Lacking

_BATCH: Final = 1000
_KEY: Final = ("phase", "digest", "repeat", "attempt", "task_id", "model_id", "called_at")
_FACTS: Final = (
    "kind", "role", "provider", "asked_model", "error_code", "input_tokens", "cached_tokens", "output_tokens",
    "reasoning_tokens", "cost_usd", "upper_cost_usd", "latency_s",
)  # fmt: skip


@dataclass(slots=True)
class _Names:
    """The study's tasks and models by what names them outside, and those that rows have asked for in vain."""

    tasks: dict[str, int]
    models: dict[str, int]
    runs: set[tuple[int, int]]
    lacking: Lacking = field(default_factory=Lacking)
    without_run: int = 0

    def values(self, place: str, row: CallRow) -> dict[str, Any] | None:
        """The columns of a row; None where the study has no such task or model."""
        task, model = self.tasks.get(row.task_key or ""), self.models.get(row.model or "")
        if row.task_key is not None and task is None:
            self.lacking.add(f"task {row.task_key}", place)
            return None
        if row.model is not None and model is None:
            self.lacking.add(f"model {row.model}", place)
            return None
        if task is not None and model is not None and (task, model) not in self.runs:
            self.without_run += 1
        values = row.model_dump(exclude={"task_key", "model"})
        for name in ("cost_usd", "upper_cost_usd"):
            values[name] = None if values[name] is None else Decimal(values[name])
        return {**values, "task_id": task, "model_id": model, "called_at": moment(row.called_at)}


def import_calls(study: Study, file: EvaluationFile, report: EvaluationReport, steps: Any) -> None:
    """Store the calls that the study lacks, each by itself.

    A call is known by phase, digest, repeat, attempt, task, model and time, in the study's own ledger too. One that
    says something else of it than the row is kept, and the row refused: what was paid is not rewritten.
    """
    names = _Names(
        dict(study.tasks.values_list("key", "pk")),
        dict(study.models.values_list("name", "pk")),
        set(study.runs.values_list("task_id", "model_id")),
    )
    done = 0
    given = file.rows.rows()
    while raws := list(islice(given, _BATCH)):
        rows = [placed for raw in raws if (placed := file.read(raw, report))]
        with transaction.atomic():
            # Another import of the same calls waits for us, as we for it.
            Study.objects.select_for_update(of=("self",), no_key=True).get(pk=study.pk)
            _store(study, rows, names, report)
        steps.advance(raws[-1].end - done)
        done = raws[-1].end
    if names.without_run:
        report.notes.append(
            f"{names.without_run:,} calls are of a task and a model that have no run here; "
            "they count as costs all the same"
        )
    names.lacking.refuse(
        report,
        CALLS,
        lambda what: (
            f"study {study.slug} has no {what}; `manage.py create_study study.toml`, with the file of the same "
            "export, brings it"
        ),
    )


def _store(study: Study, rows: Sequence[PlacedRow], names: _Names, report: EvaluationReport) -> None:
    told = [(place, values) for place, row in rows if (values := names.values(place, row)) is not None]
    known = _known(study, {values["phase"] for _, values in told}, {values["digest"] for _, values in told})
    made = []
    for place, values in told:
        key, facts = tuple(values[name] for name in _KEY), tuple(values[name] for name in _FACTS)
        here = known.setdefault(key, facts)
        if here is facts:
            made.append(MovedCall(study=study, **values))
            report.rows[CALLS, ADDED] += 1
        elif here == facts:
            report.rows[CALLS, KEPT] += 1
        else:
            differing = [name for name, one, two in zip(_FACTS, facts, here, strict=True) if one != two]
            report.refuse(CALLS, place, f"the call is here and differs in {', '.join(differing)}; it was kept")
    MovedCall.objects.bulk_create(made)


def _known(study: Study, phases: set[str], digests: set[str]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    found = AnyCall.objects.filter(study=study, phase__in=phases, digest__in=digests)
    return {row[: len(_KEY)]: row[len(_KEY) :] for row in found.values_list(*_KEY, *_FACTS)}
