"""Simulated labelers: labels made from a known truth with seeded errors, stored apart from people's and marked."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Mapping

from django.db import transaction

from annotation.codebook import QUESTIONS, check_label
from annotation.evidence import evidence_digests
from annotation.models import Audit, Item, ItemKind, LabelAction, LabelVersion, Queue, Slot, SlotStatus
from annotation.services import fill_queue, queue_of, seat
from lseval.domain.labels import RoundLabel
from lseval.domain.taxonomy import ErrorType
from lseval.errors import ConflictError, InputError
from lseval.models import User

Truth = Callable[[Item], "str | None"] | Mapping[int, str]


def simulate_labels(audit: Audit, role: str, truth: Truth, seed: int, error_rate: float = 0.05) -> Queue:
    """Label a copy of a role's queue by a program, and return that queue; it is marked as simulated throughout.

    `truth` gives each item's right label: a function of the item, or a mapping from item ids. An item without one
    stays open. With probability `error_rate` an item gets one of the other labels of its kind instead, each equally
    likely. An error type, where the label needs one, is drawn too.

    Raises:
        InputError: the rate is not within 0 and 1, the audit has no such role, or a truth is no label of its kind.
        ConflictError: the role has simulated labels already.
    """
    if not 0 <= error_rate <= 1:
        raise InputError(f"An error rate lies between 0 and 1; this is {error_rate}.")
    people = queue_of(audit, role)
    if audit.queues.filter(role=role, is_simulated=True).exists():
        raise ConflictError(f"{audit.name} already has simulated labels of {role}.")
    slots = people.slots.select_related("item__run", "item__group", "item__round").order_by("position")
    items = [slot.item for slot in slots]
    decided = _labels(items, truth, random.Random(f"{seed} {role}"), error_rate)  # noqa: S311 - no secret
    with transaction.atomic():
        queue, user = make_simulated_queue(audit, role)
        _store(queue, user, audit.codebook_version, decided)
    return queue


def make_simulated_queue(audit: Audit, role: str) -> tuple[Queue, User]:
    """A copy of a role's queue with nothing decided, and the simulated labeler who sits in it."""
    people = queue_of(audit, role)
    with transaction.atomic():
        queue, user = make_empty_simulated_queue(audit, role)
        fill_queue(queue, [slot.item for slot in people.slots.select_related("item").order_by("position")])
    return queue, user


def make_empty_simulated_queue(audit: Audit, role: str) -> tuple[Queue, User]:
    """A queue for simulated labels with nothing in it, and the simulated labeler who sits in it."""
    with transaction.atomic():
        queue = Queue.objects.create(audit=audit, role=role, is_simulated=True)
        user = User(username=f"simulated-{role.lower()}-{audit.pk}", is_simulated=True)
        user.set_unusable_password()
        user.save()
        seat(queue, user)
    return queue, user


def _labels(
    items: list[Item], truth: Truth, rng: random.Random, error_rate: float
) -> dict[int, tuple[Item, str, str]]:
    """Item id to the item, its label and its error type; the same seed gives the same labels."""
    decided: dict[int, tuple[Item, str, str]] = {}
    for item in items:
        chance, choice, of_type = rng.random(), rng.random(), rng.random()
        right = truth.get(item.pk) if isinstance(truth, Mapping) else truth(item)
        if right is None:
            continue
        label = str(right)
        if chance < error_rate:
            others = [known.value for known in QUESTIONS[item.kind].choices if known.value != label]
            label = str(others[int(choice * len(others))])
        has_type = item.kind == ItemKind.ROUND and label == RoundLabel.ERROR
        error_type = list(ErrorType)[int(of_type * len(ErrorType))].value if has_type else ""
        check_label(item.kind, label, error_type)
        decided[item.pk] = (item, label, error_type)
    return decided


def _store(queue: Queue, user: User, codebook_version: str, decided: dict[int, tuple[Item, str, str]]) -> None:
    """Write a first version on every decided slot. What a person's submit checks has been checked by the caller."""
    digests = evidence_digests([item for item, _, _ in decided.values()])
    slots = list(queue.slots.filter(item_id__in=decided))
    versions = []
    for slot in slots:
        item, label, error_type = decided[slot.item_id]
        versions.append(
            LabelVersion(
                slot=slot,
                number=1,
                action=LabelAction.LABEL,
                label=label,
                error_type=error_type,
                user=user,
                is_simulated=True,
                codebook_version=codebook_version,
                evidence_digest=digests[item.pk],
                request_key=uuid.uuid5(uuid.NAMESPACE_OID, f"{queue.pk} {slot.pk}"),
            )
        )
        slot.version, slot.status = 1, SlotStatus.LABELED
    LabelVersion.objects.bulk_create(versions, batch_size=1000)
    Slot.objects.bulk_update(slots, ["version", "status"], batch_size=1000)
