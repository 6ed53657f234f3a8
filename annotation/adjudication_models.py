"""Why an item is in the adjudicators' queue."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class Between(models.TextChoices):
    """Whose labels of an item differ."""

    PEOPLE = "people", "H1 and H2"
    AUTOMATIC = "automatic", "H1 and the automatic verdict"


class Disagreement(models.Model):
    """What put an item into the adjudicators' queue.

    `is_settled` marks one whose labels agree by now although the slot has a history that must stay; it is not
    served any more.
    """

    slot = models.OneToOneField("annotation.Slot", models.CASCADE, related_name="disagreement")
    between = models.CharField(max_length=9, choices=Between.choices)
    is_settled = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="disagreement_is_between_known_sides", condition=models.Q(between__in=Between.values)
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_between_display()} on slot {self.slot_id}"
