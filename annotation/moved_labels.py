"""Labels of an audit that come with the audit: of all its queues and of everybody, as they were."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from django.db import transaction

from annotation.adjudication import seat_adjudicator
from annotation.adjudication_selectors import adjudicator_queue
from annotation.events import share_audit
from annotation.label_files import LabelRow
from annotation.label_imports import (
    REFUSED,
    ImportReport,
    NewVersions,
    Origin,
    matched,
    new_versions,
    place_of,
    record_import,
    store_new,
)
from annotation.models import Audit, AuditStatus, LabelerRole, Queue
from annotation.services import LABELER_ROLES, queue_of, seat
from lseval.errors import ConflictError, InputError
from lseval.models import User

QueueName = tuple[str, bool]
"""A role, and whether its labels are simulated."""


def restore_labels(audit: Audit, rows: Sequence[LabelRow], source: str) -> ImportReport:
    """Store the labels of an audit as they were exported, all of them or none where one is refused.

    They are stored as `label_imports.import_labels` stores those of one role, but each is of the person whom it
    names, who has the same username here, and keeps the source that it names. Who has no place in the audit gets
    one, as they would there. What is there already is left alone, in a closed audit too.
    """
    report = ImportReport()
    by_queue: dict[QueueName, list[LabelRow]] = defaultdict(list)
    for row in rows:
        if row.role and row.is_simulated is not None and row.version is not None:
            by_queue[row.role, row.is_simulated].append(row)
        else:
            _refuse(report, [row], "it needs role, is_simulated and version, to be put back where it was")
    with transaction.atomic():
        share_audit(audit.pk)
        # Adjudicators lock their queue before the labelers' items.
        for role, is_simulated in sorted(by_queue, key=lambda name: (name[0] != LabelerRole.ADJUDICATOR, name)):
            _restore_queue(audit, role, by_queue[role, is_simulated], source, report)
        transaction.set_rollback(bool(report.rows[REFUSED]))
    return report


def _refuse(report: ImportReport, rows: Sequence[LabelRow], message: str) -> None:
    """Refuse rows for one reason, which is told once."""
    of_all = f"{len(rows)} rows from here on: " if len(rows) > 1 else ""
    report.rows[REFUSED] += len(rows)
    report.problems.append(f"line {rows[0].line}: {of_all}{message}")


def _restore_queue(audit: Audit, role: str, rows: list[LabelRow], source: str, report: ImportReport) -> None:
    try:
        queue, person = _queue_and_labeler(audit, role, is_simulated=bool(rows[0].is_simulated))
    except InputError as error:
        _refuse(report, rows, str(error))
        return
    by_name = {} if person else _people(rows, report)
    known = [row for row in rows if person or row.labeler in by_name]
    by_slot = matched(queue, known, report)
    for of_slot in by_slot.values():
        versions = [row.version for row in of_slot]
        if versions != list(range(1, len(versions) + 1)):
            _refuse(report, of_slot, f"the versions of an item count from 1 without a gap; here are {versions}")
    if report.rows[REFUSED]:
        return
    origin = Origin(source, person, by_name, keeps_source=True)
    new = new_versions(queue, by_slot, origin, report)
    if not new.versions:
        return
    if Audit.objects.filter(pk=audit.pk, status=AuditStatus.CLOSED).exists():
        _refuse(report, known[:1], f"{audit.name} is closed here, and lacks {len(new.versions)} of the labels")
        return
    _seat_all(queue, new, known, report)
    if not report.rows[REFUSED]:
        store_new(new)
        for user, labels in Counter(version.user for version in new.versions).items():
            record_import(queue, user, labels, source, None)


def _queue_and_labeler(audit: Audit, role: str, *, is_simulated: bool) -> tuple[Queue, User | None]:
    """A queue, with its simulated labeler where it has one."""
    if is_simulated and role not in LABELER_ROLES:
        raise InputError(f"simulated labels are of {' or '.join(LABELER_ROLES)}")
    if is_simulated:
        return place_of(audit, role, None)
    if role != LabelerRole.ADJUDICATOR:
        return queue_of(audit, role), None
    queue = adjudicator_queue(audit)
    if queue is None:
        raise InputError(f"{audit.name} has no queue of adjudicators here; import the audits of the same export")
    return queue, None


def _people(rows: Sequence[LabelRow], report: ImportReport) -> dict[str, User]:
    """The people whom rows name, by username; the rows of those who are not here are refused."""
    users = User.objects.filter(username__in={row.labeler for row in rows}, is_simulated=False)
    found = {user.username: user for user in users}
    lacking: dict[str, list[LabelRow]] = defaultdict(list)
    for row in rows:
        if row.labeler not in found:
            lacking[row.labeler].append(row)
    for name, theirs in lacking.items():
        _refuse(report, theirs, f"they are of {name!r}, whom this server does not know; {how_to_add(name)}")
    return found


def how_to_add(name: str) -> str:
    """The command that makes somebody an annotator of the study."""
    return f"`manage.py add_member STUDY {name} annotator --create` makes them an annotator of the study"


def _seat_all(queue: Queue, new: NewVersions, rows: Sequence[LabelRow], report: ImportReport) -> None:
    """Give whoever gave a new version a place in the queue; the rows of those who cannot have one are refused."""
    for user in sorted({version.user for version in new.versions}, key=lambda user: user.username):
        if user.is_simulated:
            continue
        try:
            take_place(queue, user)
        except (InputError, ConflictError) as error:
            _refuse(report, [row for row in rows if row.labeler == user.username], str(error))


def take_place(queue: Queue, user: User) -> None:
    """Give a person a place in a queue of any role; raises as `services.seat` and `seat_adjudicator`."""
    if queue.role == LabelerRole.ADJUDICATOR:
        seat_adjudicator(queue.audit, user, None)
    else:
        seat(queue, user)
