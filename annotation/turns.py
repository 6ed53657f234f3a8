"""What a decision on a slot meets: the slot, locked, and all that says whether it may be stored. One message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from annotation.events import SHARE_AUDIT_OF, shared_audit_of
from annotation.evidence import pages_in, pages_of_item
from annotation.labeler_selectors import SEAT_COLUMNS, seat_from
from annotation.models import Item, LabelVersion, Seat, Slot
from lseval.models import Page
from lseval.plain_sql import Columns, Statement, row_of, rows_of_each


@dataclass(frozen=True, slots=True)
class Turn:
    """A locked slot with its item; the person's seat, None where they have none; whose lease is on the slot.

    `repeated` is the version that the person's request has stored before, `in_force` the slot's version in force.
    `pages` are the snapshots that are shown beside the item, by id.
    """

    slot: Slot
    seat: Seat | None
    lease_of: int | None
    repeated: LabelVersion | None
    in_force: LabelVersion | None
    pages: Mapping[int, Page]


_SLOT: Final = Columns(Slot, "slot")
_ITEM: Final = Columns(Item, "item", without=["snapshots"])
_VERSION: Final = Columns(LabelVersion, '"annotation_labelversion"', without=["visible"])

# Each statement sees what was committed while the one before it waited, so what is read after the slot is locked
# stays true until this transaction ends.
_TURN: Final = tuple(
    Statement(text)
    for text in (
        SHARE_AUDIT_OF,
        f"""
SELECT item.snapshots, {_SLOT}, {_ITEM}
FROM annotation_slot slot JOIN annotation_item item ON item.id = slot.item_id
WHERE slot.id = %(slot)s FOR NO KEY UPDATE OF slot
""",  # noqa: S608 - column names
        f"""
SELECT {SEAT_COLUMNS}
FROM annotation_slot slot
JOIN annotation_seat seat ON seat.queue_id = slot.queue_id AND seat.user_id = %(user)s
JOIN annotation_queue queue ON queue.id = seat.queue_id
JOIN annotation_audit audit ON audit.id = seat.audit_id
WHERE slot.id = %(slot)s
""",  # noqa: S608 - column names
        """
SELECT lease.user_id FROM annotation_lease lease WHERE lease.slot_id = %(slot)s
""",
        f"""
SELECT {_VERSION} FROM "annotation_labelversion"
WHERE "annotation_labelversion"."user_id" = %(user)s AND "annotation_labelversion"."request_key" = %(key)s
""",  # noqa: S608 - column names
        f"""
SELECT {_VERSION}
FROM "annotation_labelversion"
JOIN annotation_slot slot
    ON slot.id = "annotation_labelversion"."slot_id" AND slot.version = "annotation_labelversion"."number"
WHERE "annotation_labelversion"."slot_id" = %(slot)s
""",  # noqa: S608 - column names
        pages_of_item("(SELECT slot.item_id FROM annotation_slot slot WHERE slot.id = %(slot)s)"),
    )
)


def turn_on(slot_id: int, user_id: int, key: UUID) -> Turn:
    """Lock the slot until the caller's transaction ends, and read what a person's decision on it meets.

    Raises Slot.DoesNotExist where there is no such slot.
    """
    given = {"slot": slot_id, "user": user_id, "key": key, **shared_audit_of()}
    _, locked, seat, lease, repeated, in_force, pages = rows_of_each(_TURN, given)
    if not locked:
        raise Slot.DoesNotExist(f"there is no slot {slot_id}")
    slot: Slot = _SLOT.of(locked[0], 1)
    slot.item = _ITEM.of(locked[0], 1 + len(_SLOT))
    slot.item.snapshots = json.loads(locked[0][0])
    return Turn(
        slot,
        seat_from(seat[0]) if seat else None,
        lease[0][0] if lease else None,
        _VERSION.of(repeated[0]) if repeated else None,
        _VERSION.of(in_force[0]) if in_force else None,
        pages_in(pages),
    )


_APPEND: Final = Statement(f"""
WITH added AS (
    INSERT INTO annotation_labelversion (
        slot_id, number, action, label, error_type, comment, user_id, is_simulated, is_late, codebook_version,
        evidence_digest, visible, seconds_on_task, request_key, source
    )
    SELECT %(slot)s, (
            SELECT COALESCE(max("annotation_labelversion"."number"), 0) + 1
            FROM "annotation_labelversion" WHERE "annotation_labelversion"."slot_id" = %(slot)s
        ), %(action)s, %(label)s, %(error_type)s, %(comment)s, %(user)s, %(is_simulated)s, %(is_late)s,
        %(codebook_version)s, %(evidence_digest)s, %(visible)s::jsonb, %(seconds_on_task)s, %(request_key)s, ''
    RETURNING annotation_labelversion.*
), moved AS (
    UPDATE annotation_slot slot SET version = added.number, status = %(status)s
    FROM added WHERE slot.id = added.slot_id AND NOT added.is_late
), let_go AS (
    DELETE FROM annotation_lease lease USING added WHERE lease.slot_id = added.slot_id AND NOT added.is_late
)
SELECT {_VERSION} FROM added AS "annotation_labelversion"
""")  # noqa: S608 - column names


def append(slot: Slot, **values: Any) -> LabelVersion:
    """Add a version to a locked slot; unless it is late, the slot moves to it and its `status`, and its lease ends.

    `values` are the version's fields without its number, and `status`. `visible` is what JSON can hold.
    """
    given = {**values, "slot": slot.pk, "visible": json.dumps(values["visible"])}
    row = row_of(_APPEND, given)
    assert row is not None
    version: LabelVersion = _VERSION.of(row)
    version.slot, version.visible = slot, values["visible"]
    if not version.is_late:
        slot.version, slot.status = version.number, values["status"]
    return version
