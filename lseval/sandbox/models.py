"""What is true of simulated runs, kept apart from their trajectories. No judge and no labeler's page reads it.

Rounds and answer groups are named by their numbers, so that regrouping a response never drags the truth along.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from lseval.domain.labels import GroupLabel
from lseval.domain.taxonomy import ErrorType
from lseval.models import Run

_LABELS = [(label.value, label.value) for label in GroupLabel]
_TYPES = [(kind.value, kind.display_name) for kind in ErrorType]


class RunTruth(models.Model):
    """That a run's truth was recorded, and how the plan met what was saved.

    `units` were planned and `groups` found; `is_matched` says that they are the same, one by one. `lost_errors`
    counts injected errors whose turn is not in the run, as where its budget ended before.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="truth", primary_key=True)
    units = models.PositiveIntegerField()
    groups = models.PositiveIntegerField()
    is_matched = models.BooleanField()
    lost_errors = models.PositiveIntegerField(default=0)


class GroupTruth(models.Model):
    """The true label of an answer group, and the error that made it wrong where one did."""

    truth = models.ForeignKey(RunTruth, models.CASCADE, related_name="group_truths")
    number = models.PositiveIntegerField(help_text="the answer group's number")
    label = models.CharField(max_length=1, choices=_LABELS)
    error_type = models.CharField(max_length=40, blank=True, choices=_TYPES)

    class Meta:
        ordering: ClassVar = ["truth_id", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["truth", "number"], name="one_truth_per_group"),
            models.CheckConstraint(name="true_label_is_known", condition=models.Q(label__in=list(GroupLabel))),
        ]


class InjectedError(models.Model):
    """An error that was planted in a run.

    Its wrong content enters with round `round_number` and is stated in round `stated_round_number`, the same or a
    later one. `group_numbers` are the answer groups that it makes wrong; none where the run mends it.
    """

    truth = models.ForeignKey(RunTruth, models.CASCADE, related_name="injected_errors")
    round_number = models.PositiveIntegerField()
    stated_round_number = models.PositiveIntegerField()
    error_type = models.CharField(max_length=40, choices=_TYPES)
    group_numbers = models.JSONField(default=list)

    class Meta:
        ordering: ClassVar = ["truth_id", "round_number", "id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="error_is_stated_after_it_enters",
                condition=models.Q(stated_round_number__gte=models.F("round_number")),
            )
        ]
