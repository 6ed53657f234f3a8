"""Background work, kept in the database so that no crash, lost message or restart can lose it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from lseval.models.study import EvaluatedModel, Study, Task
from lseval.models.trajectory import Run


class JobKind(models.TextChoices):
    """What a job does. Collecting makes the run of a model on a task; the stages judge a run."""

    COLLECT = "collect", "collect a run"
    VERIFY = "verify", "Stage 1 on a run"
    AUDIT = "audit", "Stage 2 on a run"


class JobState(models.TextChoices):
    """Where a job stands. A parked job took its worker down each time that it was started."""

    WAITING = "waiting", "waiting"
    CLAIMED = "claimed", "in work"
    DONE = "done", "done"
    FAILED = "failed", "failed"
    PARKED = "parked", "parked"


class Job(models.Model):
    """One step of work on one subject, which a worker claims for a time by the database's clock.

    A claim that ran out may be taken by anyone: the worker is gone or hangs. `claim` counts the claims, and a
    worker whose number is no longer the job's has lost it. `not_before` holds a delay, so that no message has to.
    `sent_at` is when the broker was last told of it. `lost_claims` counts the claims in a row that ran out without
    one more reply in the ledger, which held `replies_when_lost` of the job's at the last of them. `worked_s` is the
    time that workers have spent on it, over all claims.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=10, choices=JobKind.choices)
    task = models.ForeignKey(Task, models.CASCADE, null=True, blank=True, related_name="jobs")
    model = models.ForeignKey(EvaluatedModel, models.CASCADE, null=True, blank=True, related_name="jobs")
    run = models.ForeignKey(Run, models.CASCADE, null=True, blank=True, related_name="jobs")
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.WAITING)
    claim = models.PositiveIntegerField(default=0)
    claimed_by = models.CharField(max_length=200, blank=True)
    claimed_until = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True, blank=True)
    lost_claims = models.PositiveIntegerField(default=0)
    replies_when_lost = models.PositiveIntegerField(default=0)
    worked_s = models.FloatField(default=0)
    progress = models.JSONField(default=dict, blank=True)
    error_code = models.CharField(max_length=60, blank=True)
    error_message = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["study", "kind", "state"], name="jobs_by_state"),
            models.Index(fields=["not_before", "id"], name="jobs_waiting", condition=models.Q(state="waiting")),
            models.Index(fields=["claimed_until"], name="jobs_claimed", condition=models.Q(state="claimed")),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["study", "kind", "task", "model", "run"], name="one_job_per_subject", nulls_distinct=False
            ),
            models.CheckConstraint(name="job_state_is_known", condition=models.Q(state__in=JobState.values)),
            models.CheckConstraint(
                name="job_has_its_subject",
                condition=models.Q(kind="collect", task__isnull=False, model__isnull=False, run__isnull=True)
                | models.Q(kind__in=["verify", "audit"], task__isnull=True, model__isnull=True, run__isnull=False),
            ),
            models.CheckConstraint(
                name="claimed_job_has_an_end",
                condition=models.Q(state="claimed", claimed_until__isnull=False) | ~models.Q(state="claimed"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"
