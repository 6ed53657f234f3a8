"""Which automatic verdicts a labeler has been shown, in audits that allow it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from lseval.models import User


class Reveal(models.Model):
    """A person asked to see the automatic verdict on an item that they had labeled. Never changed.

    From then on their label there is final. `version` is the number of the label that was in force.
    """

    slot = models.ForeignKey("annotation.Slot", models.CASCADE, related_name="reveals")
    user = models.ForeignKey(User, models.PROTECT, related_name="+")
    version = models.PositiveIntegerField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["slot", "user"], name="one_reveal_per_slot_and_user")
        ]

    def __str__(self) -> str:
        return f"verdict shown on slot {self.slot_id}"
