"""Flags and reveals of an audit that come with the audit, after the labels."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any, Final

from annotation.audit_rows import FLAG, REVEAL, OfPerson
from annotation.audit_told import AuditTold, Refuse
from annotation.models import Audit, AuditStatus, Flag, LabelAction, LabelVersion, Reveal, Slot
from annotation.moved_labels import how_to_add, take_place
from lseval.errors import ConflictError, InputError
from lseval.models import User
from lseval.pipeline.evaluation_import.files import PlacedRow
from lseval.pipeline.evaluation_import.pages import moment

_KEYS: Final = uuid.UUID("5a7a2d83-2c0f-4a35-9a53-6a0a4be1f1a0")


def restore_marks(audit: Audit, told: AuditTold, refuse: Refuse) -> int:
    """Store the flags and reveals that the audit lacks, in the order of the file; how many.

    Each is of the person whom its row names, as labels are. What is there already is left alone.
    """
    slots = {
        (slot.queue.role, slot.queue.is_simulated, slot.position): slot
        for slot in Slot.objects.filter(queue__audit=audit).select_related("queue")
    }
    rows = [*told.rows[FLAG], *told.rows[REVEAL]]
    people = {user.username: user for user in _people(rows)}
    made: dict[type[Any], list[Any]] = {Flag: [], Reveal: []}
    for kind, model, make in ((FLAG, Flag, _flag), (REVEAL, Reveal, _reveal)):
        known = {_content(mark) for mark in model._default_manager.filter(slot__queue__audit=audit)}
        for place, row in told.rows[kind]:
            try:
                user = people.get(row.labeler)
                if user is None:
                    raise InputError(f"this server knows no {row.labeler!r}; {how_to_add(row.labeler)}")
                slot = slots.get((row.role, row.is_simulated, row.position))
                if slot is None:
                    raise InputError(f"{row.role} has no place {row.position} here")
                mark = make(slot, user, row)
                if _content(mark) not in known:
                    _check_new(mark)
                    take_place(slot.queue, user)
                    made[model].append(mark)
            except (InputError, ConflictError) as error:
                refuse(place, str(error))
    Flag.objects.bulk_create(made[Flag], batch_size=1000)
    Reveal.objects.bulk_create(made[Reveal], batch_size=1000)
    return len(made[Flag]) + len(made[Reveal])


def _people(rows: Sequence[PlacedRow]) -> Any:
    names = {placed.row.labeler for placed in rows}
    return User.objects.filter(username__in=names, is_simulated=False)


def _flag(slot: Slot, user: User, row: Any) -> Flag:
    key = json.dumps([slot.pk, user.pk, row.number, row.is_raised, row.note])
    values = {name: getattr(row, name) for name in ("number", "is_raised", "note")}
    return Flag(slot=slot, user=user, request_key=uuid.uuid5(_KEYS, key), created_at=moment(row.at), **values)


def _reveal(slot: Slot, user: User, row: OfPerson) -> Reveal:
    return Reveal(slot=slot, user=user, version=row.number, created_at=moment(row.at))


def _content(mark: Any) -> tuple[Any, ...]:
    values = (mark.number, mark.is_raised, mark.note) if isinstance(mark, Flag) else (mark.version,)
    return mark.slot_id, mark.user_id, mark.created_at, *values


def _check_new(mark: Any) -> None:
    """Raise where a mark that is lacking here cannot be added: the audit is closed, or another is in its place."""
    if mark.slot.queue.audit.status == AuditStatus.CLOSED:
        raise ConflictError("the audit is closed here and lacks it")
    if isinstance(mark, Flag):
        if Flag.objects.filter(slot=mark.slot, user=mark.user, number=mark.number).exists():
            raise ConflictError(f"{mark.user.username} has another flag on the item here")
        return
    if Reveal.objects.filter(slot=mark.slot, user=mark.user).exists():
        raise ConflictError(f"{mark.user.username} has seen the verdict on the item at another time here")
    labels = LabelVersion.objects.filter(slot=mark.slot, user=mark.user, number=mark.version)
    if not labels.filter(action=LabelAction.LABEL).exists():
        raise InputError(f"version {mark.version} of the item is no label of {mark.user.username}")
