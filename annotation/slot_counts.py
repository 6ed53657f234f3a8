"""How far queues are decided, from the counts that the database keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from django.db.models import Sum

from annotation.models import Queue, SlotCount, SlotStatus


def slot_counts(queues: Iterable[Queue]) -> dict[int, Counter[tuple[int, str]]]:
    """Queue id to how many of its slots are in which stage and status."""
    asked = list(queues)
    found: dict[int, Counter[tuple[int, str]]] = {queue.pk: Counter() for queue in asked}
    rows = SlotCount.objects.filter(queue__in=asked).values_list("queue_id", "stage")
    for queue_id, stage, total, still_open, skipped in rows.annotate(
        all=Sum("total"), of_them_open=Sum("still_open"), of_them_skipped=Sum("skipped")
    ):
        found[queue_id][stage, SlotStatus.OPEN] = still_open
        found[queue_id][stage, SlotStatus.SKIPPED] = skipped
        found[queue_id][stage, SlotStatus.LABELED] = total - still_open - skipped
    return found


def by_status(counts: Counter[tuple[int, str]]) -> Counter[str]:
    """The counts of a queue over all its stages."""
    found: Counter[str] = Counter()
    for (_, status), number in counts.items():
        found[status] += number
    return found
