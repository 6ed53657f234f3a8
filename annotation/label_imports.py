"""Labels made elsewhere, put on the items of an audit."""

from __future__ import annotations

import json
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotation.adjudication import queue_new_disagreements
from annotation.codebook import check_label
from annotation.events import AuditClosedError, record_event, share_audit
from annotation.label_files import LabelRow, RowProblem
from annotation.labels import STATUS_AFTER
from annotation.models import (
    Audit,
    AuditAction,
    AuditStatus,
    LabelAction,
    LabelVersion,
    Lease,
    Queue,
    Slot,
    SlotStatus,
)
from annotation.services import queue_of, seat
from annotation.simulation import make_simulated_queue
from lseval.errors import InputError
from lseval.models import User

ADDED, KEPT, PASSED_OVER, REFUSED = "added", "already there", "of another role", "refused"
OUTCOMES: Final = (ADDED, KEPT, PASSED_OVER, REFUSED)
_COMPARED: Final = (
    "slot_id", "number", "action", "label", "error_type", "comment", "is_late", "user_id", "request_key",
    "created_at",
)  # fmt: skip
_KEYS: Final = uuid.UUID("0b8de1f6-7a63-4f5e-9a34-21f5a6d0c7e2")


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of the rows: a count of each of `OUTCOMES`, and a line for each refusal and each warning."""

    rows: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def import_labels(
    audit: Audit,
    role: str,
    rows: Iterable[LabelRow | RowProblem],
    labeler: User | None,
    source: str,
    by: User | None = None,
) -> ImportReport:
    """Store labels made elsewhere as versions of `labeler` in a role's queue; None stands for a simulated labeler.

    Rows are matched to items by task key, model and numbers, or else by the item's id, and are stored in the order
    of their `version`. Each row is checked as a label given here is; one that fails is reported and the others are
    stored, all in one transaction. What was imported before is known again, so a second import adds nothing. Every
    version keeps `source`, and the evidence digest and codebook version that its row names, if any: what was seen
    elsewhere is not known here. A labeler without a place is given one. Where people have come to differ by it and
    disagreements are adjudicated already, the items go into that queue, as after labels given here.

    Raises:
        InputError: the audit has no such role, the labeler cannot sit there, or the rows are of several audits.
        ConflictError: the labeler holds another role, or the audit is closed.
    """
    report = ImportReport()
    with transaction.atomic():
        share_audit(audit.pk)
        if Audit.objects.get(pk=audit.pk).status == AuditStatus.CLOSED:
            raise AuditClosedError
        queue, user = place_of(audit, role, labeler, by)
        origin = Origin(source, person=user)
        added = store_new(new_versions(queue, matched(queue, list(rows), report), origin, report))
        if added:
            record_import(queue, user, added, source, by)
    # Afterwards, since adjudicators lock their queue before the labelers' items, and this has locked those.
    if added and not queue.is_simulated:
        queue_new_disagreements(audit, by)
    return report


def record_import(queue: Queue, person: User, labels: int, source: str, by: User | None) -> None:
    """Add a line to the audit's log: so many labels of a person came into a queue."""
    detail = {"person": person.username, "role": queue.role, "labels": labels, "source": source}
    record_event(queue.audit, AuditAction.IMPORTED, by, **detail)


def place_of(audit: Audit, role: str, labeler: User | None, by: User | None = None) -> tuple[Queue, User]:
    """A role's queue, and whose labels come into it; None stands for the simulated labeler, who is made here."""
    people = queue_of(audit, role)
    if labeler is not None:
        seat(people, labeler, by)
        return people, labeler
    queue = audit.queues.filter(role=role, is_simulated=True).first()
    if queue is None:
        return make_simulated_queue(audit, role)
    return queue, User.objects.get(seats__queue=queue)


def matched(queue: Queue, rows: Sequence[LabelRow | RowProblem], report: ImportReport) -> dict[int, list[LabelRow]]:
    """Slot id to its rows in the order of their versions; rows that fit nowhere are reported."""
    readable = [row for row in rows if isinstance(row, LabelRow)]
    if len(audits := {row.audit for row in readable if row.audit}) > 1:
        raise InputError(
            f"The file holds labels of several audits: {', '.join(sorted(audits))}. Give the rows of one audit."
        )
    places = _Places(queue)
    found: dict[int, list[LabelRow]] = defaultdict(list)
    for row in rows:
        if isinstance(row, RowProblem):
            _refuse(report, row.line, row.message)
        elif (row.role and row.role != queue.role) or row.is_simulated not in (None, queue.is_simulated):
            report.rows[PASSED_OVER] += 1
        else:
            report.problems.extend(f"line {row.line}: warning: {warning}" for warning in row.warnings)
            try:
                slot_id, kind = places.of(row)
                _check(row, kind)
            except InputError as error:
                _refuse(report, row.line, str(error))
            else:
                found[slot_id].append(row)
    return {slot_id: _in_order(of_slot, report) for slot_id, of_slot in found.items()}


class _Places:
    """The queue's slots by what names their items outside, and by item id."""

    def __init__(self, queue: Queue) -> None:
        self._by_name: dict[tuple[object, ...], tuple[int, str]] = {}
        self._by_id: dict[int, tuple[int, str]] = {}
        slots = Slot.objects.filter(queue=queue).values_list(
            "id",
            "item_id",
            "item__kind",
            "item__run__task__key",
            "item__run__model__name",
            "item__group__number",
            "item__round__number",
        )
        for slot_id, item_id, kind, *name in slots:
            self._by_id[item_id] = self._by_name[(kind, *name)] = (slot_id, kind)

    def of(self, row: LabelRow) -> tuple[int, str]:
        """The slot and the kind of its item. Raises InputError where the queue has none such."""
        if row.task_key and row.model and row.kind:
            name = (row.kind, row.task_key, row.model, row.group_number, row.round_number)
            found = self._by_name.get(name)
        else:
            found = self._by_id.get(row.item_id or 0)
        if found is None:
            raise InputError("the queue has no such item")
        return found


def _check(row: LabelRow, kind: str) -> None:
    if row.action == LabelAction.LABEL:
        check_label(kind, row.label, row.error_type)
    elif row.label or row.error_type:
        raise InputError(f"a row with the action {row.action} has no label and no type")
    if row.action == LabelAction.SKIP and not row.comment.strip():
        raise InputError("a skip needs its reason as the comment")
    if row.created_at is not None and row.created_at > timezone.now():
        raise InputError("created_at lies in the future")


def _in_order(rows: list[LabelRow], report: ImportReport) -> list[LabelRow]:
    """The rows of a slot by version, where no two differ over the same one; a row given twice counts once."""
    by_version: dict[int, LabelRow] = {}
    for row in rows:
        before = by_version.setdefault(row.version or 1, row)
        if before is row:
            continue
        if _content(before) == _content(row):
            report.rows[KEPT] += 1
        else:
            _refuse(report, row.line, f"line {before.line} says otherwise of the same version of the same item")
    return [by_version[number] for number in sorted(by_version)]


def _content(row: LabelRow) -> tuple[object, ...]:
    return row.action, row.label, row.error_type, row.comment, row.is_late


def _key(slot_id: int, row: LabelRow) -> uuid.UUID:
    """The same for the same version with the same content, so that a second import is known as one."""
    return uuid.uuid5(_KEYS, json.dumps([slot_id, row.version or 1, *_content(row)]))


def _refuse(report: ImportReport, line: int, message: str) -> None:
    report.rows[REFUSED] += 1
    report.problems.append(f"line {line}: {message}")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where rows come from: the file, and whose they are.

    They are one person's, or else of those whom the rows name, by username. `keeps_source` has each version keep
    the source that its row names in place of the file.
    """

    file: str
    person: User | None = None
    by_name: Mapping[str, User] = field(default_factory=dict)
    keeps_source: bool = False

    def user_of(self, row: LabelRow) -> User:
        """Whose row it is."""
        return self.person or self.by_name[row.labeler]


@dataclass(frozen=True, slots=True)
class NewVersions:
    """Versions that are to be added, and their slots as they stand after them."""

    versions: list[LabelVersion]
    slots: list[Slot]


def new_versions(
    queue: Queue, by_slot: Mapping[int, list[LabelRow]], origin: Origin, report: ImportReport
) -> NewVersions:
    """What the rows add to a queue, whose slots are locked. Rows that are there are counted, others refused."""
    slots = (
        Slot.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=by_slot).order_by("pk").in_bulk()
    )
    stored: dict[int, list[LabelVersion]] = defaultdict(list)
    for version in LabelVersion.objects.filter(slot__in=slots).order_by("slot_id", "number").only(*_COMPARED):
        stored[version.slot_id].append(version)
    held = Lease.objects.filter(slot__in=slots, expires_at__gt=Now())
    if origin.person:
        held = held.exclude(user=origin.person)
    in_work = set(held.values_list("slot_id", flat=True))
    found = NewVersions([], [])
    for slot_id, rows in by_slot.items():
        before = stored[slot_id]
        is_same = [_is_stored(known, row, origin) for known, row in zip(before, rows, strict=False)]
        if all(is_same) and len(rows) <= len(before):
            report.rows[KEPT] += len(rows)
            continue
        if not all(is_same) or slot_id in in_work:
            why = "somebody is working on the item now" if slot_id in in_work else "the item has been decided here"
            for row in rows:
                _refuse(report, row.line, why)
            continue
        report.rows.update({KEPT: len(before)} if before else {})
        slot = slots[slot_id]
        for number, row in enumerate(rows[len(before) :], len(before) + 1):
            found.versions.append(_version(queue, slot, number, row, origin))
            if not row.is_late:
                slot.version, slot.status = number, STATUS_AFTER[row.action]
        report.rows[ADDED] += len(rows) - len(before)
        found.slots.append(slot)
    return found


def _is_stored(known: LabelVersion, row: LabelRow, origin: Origin) -> bool:
    """Whether the row is the version: imported as it before, or the same of the same person and moment."""
    if known.request_key == _key(known.slot_id, row):
        return True
    return (
        known.created_at == row.created_at
        and known.user_id == origin.user_of(row).pk
        and _content(row) == (known.action, known.label, known.error_type, known.comment, known.is_late)
    )


def store_new(new: NewVersions) -> int:
    """Store new versions and their slots; how many versions. Leases on what is decided by them end."""
    LabelVersion.objects.bulk_create(new.versions, batch_size=1000)
    Slot.objects.bulk_update(new.slots, ["version", "status"], batch_size=1000)
    Lease.objects.filter(slot__in=[slot for slot in new.slots if slot.status != SlotStatus.OPEN]).delete()
    return len(new.versions)


def _version(queue: Queue, slot: Slot, number: int, row: LabelRow, origin: Origin) -> LabelVersion:
    return LabelVersion(
        slot=slot,
        number=number,
        action=row.action,
        label=row.label,
        error_type=row.error_type,
        comment=row.comment,
        user=origin.user_of(row),
        is_simulated=queue.is_simulated,
        is_late=row.is_late,
        codebook_version=row.codebook_version,
        evidence_digest=row.evidence_digest,
        seconds_on_task=row.seconds_on_task,
        request_key=_key(slot.pk, row),
        source=row.source if origin.keeps_source else origin.file[:200],
        **({"created_at": row.created_at} if row.created_at else {}),
    )
