"""How far a study's collection is: cells, jobs, models, and what stands in the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import BooleanField, Count, ExpressionWrapper, Max, Min, Q
from django.db.models.functions import Now
from django.utils import timezone

from lseval.models import Job, JobKind, JobState, Study
from lseval.pipeline.dispatch import has_broker
from lseval.site.quantities import Share

ADVICE: Final[Mapping[str, str]] = {
    "access_refused": "Workers read keys from their environment when they start; try the runs again after that.",
    "out_of_credit": "Try the runs again once the account has credit.",
    "blocked_address": "Run create_study with the file that allows it, then try the runs again.",
    "request_refused": "Mend the model's name or sampling in the study's file, then try again.",
    "context_too_long": "The model cannot read so much: lower read_chars or iterations in a study of its own.",
    "bad_input": "Mend the study's file, run create_study, then try again.",
    "budget_spent": "Raise the budget in the study's file, run create_study, then start again.",
    "rate_limited": "It goes on by itself.",
    "deferred": "It goes on by itself when the provider's pause is over.",
    "unavailable": "It goes on by itself once the provider answers.",
    "timed_out": "It goes on by itself; if it stays so, raise timeout_s of the model.",
    "malformed_reply": "It goes on by itself; if it stays so, look at the endpoint.",
    "worker_lost": "Look at the worker's memory and its log, then try again.",
    "unexpected_error": "The worker's log has the traceback.",
}
_RATE_OVER: Final = timedelta(minutes=10)
_UNATTENDED_AFTER: Final = timedelta(seconds=20)
_SHOWN_AT_WORK: Final = 64
_SHOWN_PROBLEMS: Final = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason for which jobs failed, were parked or wait: how many, and what to do."""

    state: str
    code: str
    message: str
    jobs: int
    until: datetime | None = None

    @property
    def name(self) -> str:
        return self.code.replace("_", " ").capitalize()

    @property
    def advice(self) -> str:
        return ADVICE.get(self.code, "")

    @property
    def is_over(self) -> bool:
        """Whether nothing happens unless somebody tries again."""
        return self.state in (JobState.FAILED, JobState.PARKED)


@dataclass(frozen=True, slots=True)
class AtWork:
    """A run in the making. `is_lost` where its worker has not been heard of in time."""

    task: str
    model: str
    claim: int
    progress: Mapping[str, Any]
    is_lost: bool


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """A model's cells by what became of them."""

    pk: int
    name: str
    family: str
    cells: int
    done: int
    counts: Mapping[str, int]

    @property
    def share(self) -> Share:
        return Share(self.done, self.cells, "there are no tasks")

    @property
    def to_retry(self) -> int:
        return self.counts[JobState.FAILED] + self.counts[JobState.PARKED]


@dataclass(frozen=True, slots=True)
class CollectionState:
    """All of it. `states` counts jobs: due, put_off, claimed, failed, parked.

    `left_s` is the time left at the pace of the last ten minutes, None where nothing was finished in them.
    `is_unattended` says that jobs have been due for a while and nobody has taken one.
    """

    cells: int
    done: int
    states: Mapping[str, int]
    models: list[ModelProgress]
    problems: list[Problem]
    at_work: list[AtWork] = field(default_factory=list)
    left_s: float | None = None
    is_paused: bool = False
    is_unattended: bool = False

    @property
    def share(self) -> Share:
        return Share(self.done, self.cells, "nothing can be collected")

    @property
    def is_under_way(self) -> bool:
        """Whether anything waits or is held."""
        return bool(self.states["due"] + self.states["put_off"] + self.states["claimed"])

    @property
    def waiting(self) -> int:
        """Jobs that wait, put off or not."""
        return self.states["due"] + self.states["put_off"]

    @property
    def without_job(self) -> int:
        """Cells without a run that nobody has started."""
        return max(0, self.cells - self.done - sum(self.states.values()))

    @property
    def to_retry(self) -> int:
        return self.states["failed"] + self.states["parked"]

    @property
    def is_complete(self) -> bool:
        return bool(self.cells) and self.done == self.cells


def collection_of(study: Study, *, is_detailed: bool = False) -> CollectionState:
    """Where a study's collection stands; `is_detailed` adds the runs in the making and the time left."""
    found = [model for model in study.models.all() if model.settings]
    tasks = study.tasks.count()
    done = dict(study.runs.filter(model__in=found).order_by().values_list("model").annotate(count=Count("pk")))
    collecting = Job.objects.filter(study=study, kind=JobKind.COLLECT)
    by_model: dict[int, Counter[str]] = {model.pk: Counter() for model in found}
    rows = (
        collecting.exclude(state=JobState.DONE)
        .order_by()
        .annotate(is_later=ExpressionWrapper(Q(not_before__gt=Now()), BooleanField()))
        .values_list("model", "state", "is_later")
        .annotate(count=Count("pk"))
    )
    states: Counter[str] = Counter()
    for model, state, is_later, count in rows:
        by_model.setdefault(model, Counter())[state] += count
        states[_word(state, is_later)] += count
    whole = CollectionState(
        cells=tasks * len(found),
        done=sum(done.values()),
        states={word: states[word] for word in ("due", "put_off", "claimed", "failed", "parked")},
        models=[
            ModelProgress(model.pk, model.name, model.family, tasks, done.get(model.pk, 0), by_model[model.pk])
            for model in found
        ],
        problems=problems_of(collecting),
        is_paused=study.is_paused,
    )
    if not is_detailed:
        return whole
    return replace(
        whole,
        at_work=_at_work(collecting),
        left_s=_left_s(collecting, whole),
        is_unattended=_is_unattended(collecting, whole),
    )


def _word(state: str, is_later: bool) -> str:
    if state == JobState.WAITING:
        return "put_off" if is_later else "due"
    return state


def problems_of(collecting: Any) -> list[Problem]:
    """What stands in the way of those jobs, the commonest first."""
    rows = (
        collecting.exclude(error_code="")
        .exclude(state__in=(JobState.DONE, JobState.CLAIMED))
        .order_by()
        .values("state", "error_code")
        .annotate(count=Count("pk"), message=Max("error_message"), until=Min("not_before"))
        .order_by("-count", "error_code")[:_SHOWN_PROBLEMS]
    )
    now = timezone.now()
    return [
        Problem(
            row["state"],
            row["error_code"],
            row["message"],
            row["count"],
            row["until"] if row["state"] == JobState.WAITING and row["until"] > now else None,
        )
        for row in rows
    ]


def _at_work(collecting: Any) -> list[AtWork]:
    now = timezone.now()
    held = collecting.filter(state=JobState.CLAIMED).select_related("task", "model").order_by("pk")
    return [
        AtWork(job.task.key, job.model.name, job.claim, job.progress, job.claimed_until < now)
        for job in held[:_SHOWN_AT_WORK]
    ]


def _is_unattended(collecting: Any, whole: CollectionState) -> bool:
    if whole.is_paused or whole.states["claimed"] or not whole.states["due"]:
        return False
    due = collecting.filter(state=JobState.WAITING, not_before__lt=timezone.now() - _UNATTENDED_AFTER)
    return bool(due.exists())


def command_of_worker() -> str:
    """The command that takes jobs in this installation."""
    return "celery -A lseval worker --beat" if has_broker() else "python manage.py work"


def _left_s(collecting: Any, whole: CollectionState) -> float | None:
    """Time left at the pace of the last ten minutes, or of the time since the first of them was finished."""
    now = timezone.now()
    recent = collecting.filter(state=JobState.DONE, finished_at__gt=now - _RATE_OVER).aggregate(
        count=Count("pk"), first=Min("finished_at")
    )
    left = sum(whole.states[word] for word in ("due", "put_off", "claimed"))
    if recent["count"] < 2 or not left:
        return None
    span = (now - recent["first"]).total_seconds()
    return left * span / (recent["count"] - 1) if span > 0 else None
