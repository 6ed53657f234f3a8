"""What leads have done to an audit, and the further draws that extended it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from lseval.models import User


class AuditAction(models.TextChoices):
    """What was done to an audit."""

    DRAWN = "drawn"
    SEATED = "seated", "gave a place"
    SEAT_ENDED = "seat_ended", "ended a place"
    LEASE_RELEASED = "lease_released", "released an item"
    PAUSED = "paused"
    RESUMED = "resumed"
    EXTENDED = "extended"
    CODEBOOK = "codebook", "put a codebook in force"
    IMPORTED = "imported", "imported labels"
    ADJUDICATION = "adjudication", "queued disagreements"
    CLOSED = "closed"


class AuditEvent(models.Model):
    """One thing that was done to an audit. Events are appended and never changed.

    `by` is null where a command did it. `detail` names what the action was about: people, roles, numbers.
    """

    audit = models.ForeignKey("annotation.Audit", models.CASCADE, related_name="events")
    action = models.CharField(max_length=14, choices=AuditAction.choices)
    by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    at = models.DateTimeField(db_default=Now())
    detail = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(name="audit_action_is_known", condition=models.Q(action__in=AuditAction.values)),
        ]

    def __str__(self) -> str:
        return f"{self.audit}: {self.action}"


class Extension(models.Model):
    """A further draw into an audit, from the responses that its earlier draws had left.

    The audit itself keeps its first draw; `number` counts from 2. An item's `draw` names the draw it came with, and
    its inclusion probability is that of this draw, given what the earlier ones took.
    """

    audit = models.ForeignKey("annotation.Audit", models.CASCADE, related_name="extensions")
    number = models.PositiveSmallIntegerField()
    seed = models.BigIntegerField()
    plan = models.JSONField()
    frame = models.JSONField()
    created_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering: ClassVar = ["audit_id", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["audit", "number"], name="one_extension_per_audit_and_number"),
            models.CheckConstraint(name="extension_number_from_2", condition=models.Q(number__gte=2)),
        ]

    def __str__(self) -> str:
        return f"draw {self.number} of {self.audit}"
