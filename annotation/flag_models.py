"""Items that a labeler has flagged for the lead."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from lseval.models import User


class Flag(models.Model):
    """One time that a person flagged an item, or took their flag back. Rows are appended and never changed.

    The newest row of a person on a slot says whether their flag stands: it does where `is_raised`.
    """

    slot = models.ForeignKey("annotation.Slot", models.CASCADE, related_name="flags")
    user = models.ForeignKey(User, models.PROTECT, related_name="+")
    number = models.PositiveIntegerField()
    is_raised = models.BooleanField()
    note = models.TextField(blank=True)
    request_key = models.UUIDField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering: ClassVar = ["slot_id", "user_id", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["slot", "user", "number"], name="a_flag_is_unique"),
            models.UniqueConstraint(fields=["user", "request_key"], name="one_flag_per_request"),
            models.CheckConstraint(name="flag_from_1", condition=models.Q(number__gte=1)),
            models.CheckConstraint(
                name="flag_taken_back_has_no_note", condition=models.Q(is_raised=True) | models.Q(note="")
            ),
        ]

    def __str__(self) -> str:
        return f"flag {self.number} on slot {self.slot_id}"
