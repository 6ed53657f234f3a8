"""What a study's calls came to (Table A11): sums over every attempt, and *unpriced* where there is no price."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum

from lseval.models import AnyCall, CallKind, Job, JobKind, Phase, Study
from lseval.pipeline.ledger_store import SUPERSEDED

PHASE_OF = {JobKind.COLLECT: Phase.COLLECTION, JobKind.VERIFY: Phase.STAGE_1, JobKind.AUDIT: Phase.STAGE_2}


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls and what they took. Tokens are sums over the calls that state them.

    `paid` counts replies, those that came too late to be used included; `failed` the other attempts. Of the paid
    ones, `unpriced` have no price or do not state their tokens: they are in no sum of dollars. `wait_s` is the time
    that providers took.
    """

    calls: int = 0
    paid: int = 0
    failed: int = 0
    unpriced: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    upper_cost_usd: Decimal = Decimal(0)
    wait_s: float = 0.0

    @property
    def is_priced(self) -> bool:
        """Whether any call has a price: without one the dollars are unknown, not 0."""
        return self.unpriced < self.paid

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(getattr(self, item.name) + getattr(other, item.name) for item in fields(self)))

    def as_dict(self) -> dict[str, Any]:
        """JSON-able fields; dollars as exact text, null where nothing is priced."""
        known = {item.name: getattr(self, item.name) for item in fields(self)}
        return {
            **known,
            "cost_usd": _text(self.cost_usd) if self.is_priced else None,
            "upper_cost_usd": _text(self.upper_cost_usd) if self.is_priced else None,
            "wait_s": round(self.wait_s, 3),
        }


@dataclass(frozen=True, slots=True)
class CostRow:
    """A line of the table. `worked_s` is the time that workers spent on its jobs, None where no job was."""

    label: str
    spent: Spent
    worked_s: float | None = None

    def as_dict(self) -> dict[str, Any]:
        worked = None if self.worked_s is None else round(self.worked_s, 3)
        return {"label": self.label, **self.spent.as_dict(), "worked_s": worked}


@dataclass(frozen=True, slots=True)
class Costs:
    """A study's costs: by phase, by evaluated model (collection), by the model that judged, and for searches."""

    phases: list[CostRow]
    models: list[CostRow]
    judges: list[CostRow]
    kinds: list[CostRow]

    @property
    def total(self) -> CostRow:
        """Everything, summed before anything is rounded."""
        worked = [row.worked_s for row in self.phases if row.worked_s is not None]
        return CostRow("total", total_of(row.spent for row in self.phases), sum(worked) if worked else None)

    def as_dict(self) -> dict[str, Any]:
        return {
            "phases": [row.as_dict() for row in self.phases],
            "total": self.total.as_dict(),
            "models": [row.as_dict() for row in self.models],
            "judges": [row.as_dict() for row in self.judges],
            "kinds": [row.as_dict() for row in self.kinds],
        }


def costs_of(study: Study) -> Costs:
    """The study's costs so far; four queries. Fetches of pages cost nothing and are left out."""
    worked = _worked(study)
    names = dict(study.models.values_list("pk", "name"))
    by_phase, by_model, by_judge, by_kind = (defaultdict[str, Spent](Spent) for _ in range(4))
    calls = AnyCall.objects.filter(study=study).exclude(kind=CallKind.FETCH)
    for (phase, kind, model, asked), spent in _grouped(calls, "phase", "kind", "model_id", "asked_model").items():
        by_phase[phase] += spent
        by_kind[CallKind(kind).label] += spent
        if kind == CallKind.CHAT and phase == Phase.COLLECTION:
            by_model[str(names.get(model, "no model"))] += spent
        elif kind == CallKind.CHAT:
            by_judge[asked] += spent
    return Costs(
        phases=[
            CostRow(phase.label, by_phase.get(phase.value, Spent()), worked.get(phase.value)) for phase in Phase
        ],
        models=_named(by_model, _worked_for_models(study)),
        judges=_named(by_judge),
        kinds=_named(by_kind),
    )


def spent_in(study: Study, phase: Phase) -> Spent:
    """What a phase has come to so far. One query."""
    calls = AnyCall.objects.filter(study=study, phase=phase).exclude(kind=CallKind.FETCH)
    return _grouped(calls, "phase").get((phase.value,), Spent())


def spent_by_phase(study: Study) -> dict[Phase, Spent]:
    """What each phase has come to so far. One query."""
    found = _grouped(AnyCall.objects.filter(study=study).exclude(kind=CallKind.FETCH), "phase")
    return {phase: found.get((phase.value,), Spent()) for phase in Phase}


def total_of(parts: Iterable[Spent]) -> Spent:
    """The sum."""
    whole = Spent()
    for part in parts:
        whole += part
    return whole


def _named(found: Mapping[str, Spent], worked: Mapping[str, float] | None = None) -> list[CostRow]:
    return [CostRow(name, found[name], (worked or {}).get(name)) for name in sorted(found)]


def _grouped(calls: Any, *keys: str) -> dict[tuple[Any, ...], Spent]:
    paid = Q(error_code__in=("", SUPERSEDED))
    rows = calls.values(*keys).annotate(
        n_calls=Count("pk"),
        n_paid=Count("pk", filter=paid),
        n_unpriced=Count("pk", filter=paid & Q(cost_usd=None)),
        sum_input=Sum("input_tokens"),
        sum_cached=Sum("cached_tokens"),
        sum_output=Sum("output_tokens"),
        sum_reasoning=Sum("reasoning_tokens"),
        sum_cost=Sum("cost_usd"),
        sum_upper=Sum("upper_cost_usd"),
        sum_wait=Sum("latency_s"),
    )
    return {
        tuple(row[key] for key in keys): Spent(
            calls=row["n_calls"],
            paid=row["n_paid"],
            failed=row["n_calls"] - row["n_paid"],
            unpriced=row["n_unpriced"],
            input_tokens=int(row["sum_input"] or 0),
            cached_tokens=int(row["sum_cached"] or 0),
            output_tokens=int(row["sum_output"] or 0),
            reasoning_tokens=int(row["sum_reasoning"] or 0),
            cost_usd=row["sum_cost"] or Decimal(0),
            upper_cost_usd=row["sum_upper"] or Decimal(0),
            wait_s=row["sum_wait"] or 0.0,
        )
        for row in rows.order_by()
    }


def _worked(study: Study) -> dict[str, float]:
    """Seconds that workers spent, by phase, for the phases that had jobs."""
    rows = Job.objects.filter(study=study, claim__gt=0).values("kind").annotate(worked=Sum("worked_s")).order_by()
    return {PHASE_OF[JobKind(row["kind"])].value: row["worked"] for row in rows}


def _worked_for_models(study: Study) -> dict[str, float]:
    """Seconds that workers spent on collecting, by the evaluated model's name."""
    jobs = Job.objects.filter(study=study, claim__gt=0, kind=JobKind.COLLECT)
    return dict(jobs.values_list("model__name").annotate(worked=Sum("worked_s")).order_by())


def _text(amount: Decimal) -> str:
    return f"{amount.normalize():f}"
