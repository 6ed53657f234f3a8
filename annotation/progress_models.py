"""How many items of each kind a queue has, and how far they are decided: kept by the database itself."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class SlotCount(models.Model):
    """A part of a queue's counts. The counts are the sums over its rows; a single row may be negative.

    Triggers on the slots keep them, in the transaction that changes a slot. Each connection adds to the row of its
    own shard, so that people who decide at the same moment do not wait for each other. The rows of a queue end
    with it, which a trigger sees to as well.
    """

    queue = models.ForeignKey(
        "annotation.Queue", models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    stage = models.PositiveSmallIntegerField()
    shard = models.PositiveSmallIntegerField()
    total = models.IntegerField()
    still_open = models.IntegerField()
    skipped = models.IntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["queue", "stage", "shard"], name="one_count_per_queue_stage_and_shard")
        ]
