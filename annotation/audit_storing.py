"""An audit out of a file: stored as it was drawn, or compared with the one of its name that is here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from annotation.audit_files import DONE_BY, rows_of_audit
from annotation.audit_rows import (
    DRAW,
    EVENT,
    ITEM,
    QUEUE,
    SLOT,
    CitedPage,
    ItemRow,
    plain,
    stored_json,
)
from annotation.audit_told import AuditTold, QueueName, Refuse, target_of
from annotation.events import record_event
from annotation.history_of_audits import BEGINS_WITH, things_of
from annotation.models import (
    Audit,
    AuditAction,
    AuditEvent,
    AuditStatus,
    Disagreement,
    Extension,
    Item,
    LabelerRole,
    Queue,
    Slot,
)
from annotation.services import LABELER_ROLES
from annotation.simulation import make_empty_simulated_queue
from lseval.errors import ConflictError, InputError
from lseval.models import AnswerGroup, Page, PageSource, Round, Study, User
from lseval.pipeline.evaluation_import.files import PlacedRow
from lseval.pipeline.evaluation_import.pages import moment, no_such_run
from lseval.pipeline.row_expressions import RoundDigest, TextDigest

_BATCH: Final = 2000
WAITS_FOR: Final = "waits_for"
"""Stands in the log with what an audit that was brought in by files becomes, once its labels and marks are here."""
_MOVES_ON: Final = ("status", "codebook_version", "items", "slots", "labels", "flags", "reveals", "events")
"""What changes in an audit while people work on it."""


def store_audit(study: Study, told: AuditTold, source: str, refuse: Refuse) -> Audit | None:
    """Store an audit as it was, paused; None where something of it was refused, and the caller takes all back.

    It has no people yet, beside the simulated labelers of simulated queues. Its log is the one that it had, with a
    line on the import after it.
    """
    targets = _Targets(study, [placed.row for placed in told.rows[ITEM]])
    head = told.head
    audit = Audit.objects.create(
        study=study,
        name=told.name,
        seed=head.seed,
        plan=stored_json(head.plan),
        frame=stored_json(head.frame),
        status=AuditStatus.PAUSED,
        reveal_after_submission=head.reveal_after_submission,
        codebook_version=head.codebook_version,
    )
    # Django has put the present time in its place.
    Audit.objects.filter(pk=audit.pk).update(created_at=moment(head.at))
    audit.created_at = moment(head.at)
    items: dict[int, Item] = {}
    faults = 0
    for place, row in sorted(told.rows[ITEM], key=lambda placed: placed.row.item_id):
        try:
            items[row.item_id] = targets.item(audit, row)
        except InputError as error:
            faults += 1
            refuse(place, str(error))
    if faults:
        return None
    # First of all, so that what is recorded here from now on comes after it.
    AuditEvent.objects.bulk_create(_moved_log(audit, told) or _log_of_draws(audit, told, source))
    _store_draws(audit, told)
    Item.objects.bulk_create(items.values(), batch_size=_BATCH)
    _store_queues(audit, told, items)
    _record_import(audit, told, source)
    return audit


def _store_draws(audit: Audit, told: AuditTold) -> None:
    Extension.objects.bulk_create(
        Extension(
            audit=audit,
            number=row.draw,
            seed=row.seed,
            plan=stored_json(row.plan),
            frame=stored_json(row.frame),
            created_at=moment(row.at),
        )
        for _, row in told.rows[DRAW]
    )


def _store_queues(audit: Audit, told: AuditTold, items: dict[int, Item]) -> None:
    queues: dict[QueueName, Queue] = {}
    for _, row in told.rows[QUEUE]:
        queues[row.role, row.is_simulated] = (
            make_empty_simulated_queue(audit, row.role)[0]
            if row.is_simulated
            else Queue.objects.create(audit=audit, role=row.role)
        )
    rows = [placed.row for placed in told.rows[SLOT]]
    slots = Slot.objects.bulk_create(
        (
            Slot(queue=queues[row.role, row.is_simulated], item=items[row.item_id], position=row.position)
            for row in rows
        ),
        batch_size=_BATCH,
    )
    Disagreement.objects.bulk_create(
        Disagreement(slot=slot, between=row.between, is_settled=row.is_settled)
        for slot, row in zip(slots, rows, strict=True)
        if row.role == LabelerRole.ADJUDICATOR
    )


def _moved_log(audit: Audit, told: AuditTold) -> list[AuditEvent]:
    """What was done to the audit elsewhere."""
    names = {placed.row.by for placed in told.rows[EVENT]} - {None}
    people = {user.username: user for user in User.objects.filter(username__in=names, is_simulated=False)}
    found = []
    for _, row in told.rows[EVENT]:
        by = people.get(row.by)
        detail = {**row.detail, DONE_BY: row.by} if row.by and by is None else row.detail
        found.append(AuditEvent(audit=audit, action=row.action, by=by, at=moment(row.at), detail=detail))
    return found


def _log_of_draws(audit: Audit, told: AuditTold, source: str) -> list[AuditEvent]:
    """The log of an audit that an earlier version exported, without one."""
    items = Counter(placed.row.draw for placed in told.rows[ITEM])
    first = {"items": items[1], "source": source}
    found = [AuditEvent(audit=audit, action=AuditAction.DRAWN, at=audit.created_at, detail=first)]
    for _, row in told.rows[DRAW]:
        detail = {"draw": row.draw, "items": items[row.draw], "source": source}
        found.append(AuditEvent(audit=audit, action=AuditAction.EXTENDED, at=moment(row.at), detail=detail))
    return found


def _record_import(audit: Audit, told: AuditTold, source: str) -> None:
    """Add to the log that the audit was brought here, with how it is now.

    Its history here is replayed from this event on, whatever it went through elsewhere.
    """
    head = told.head
    waits_for = {"status": head.status, "labels": head.labels, "marks": told.marks}
    detail = {WAITS_FOR: waits_for, BEGINS_WITH: things_of(audit)}
    record_event(audit, AuditAction.IMPORTED, None, items=len(told.rows[ITEM]), source=source, **detail)


class _Targets:
    """What items of a file are about in a study: runs, groups, rounds and snapshots, by what names them outside."""

    def __init__(self, study: Study, rows: Sequence[ItemRow]) -> None:
        self._study = study
        runs = study.runs.values_list("task__key", "model__name", "pk")
        self._runs = {(task, model): pk for task, model, pk in runs}
        wanted = {pk for row in rows if (pk := self._runs.get((row.task_key, row.model)))}
        groups = AnswerGroup.objects.filter(run__in=wanted).annotate(told=TextDigest("text"))
        self._groups = {
            (run, number): (pk, digest)
            for run, number, pk, digest in groups.values_list("run_id", "number", "pk", "told")
        }
        with_rounds = {self._runs.get((row.task_key, row.model)) for row in rows if row.round_number is not None}
        rounds = Round.objects.filter(run__in=with_rounds - {None}).annotate(told=RoundDigest("pk"))
        self._rounds = {
            (run, number): (pk, digest)
            for run, number, pk, digest in rounds.values_list("run_id", "number", "pk", "told")
        }
        keys = {cited.canonical_key for row in rows for cited in row.snapshots if cited.canonical_key is not None}
        pages = Page.objects.filter(study=study, canonical_key__in=keys)
        self._pages: dict[tuple[int | None, str, str], tuple[int, str]] = {
            (run, source, key): (pk, digest)
            for run, source, key, pk, digest in pages.values_list(
                "run_id", "source", "canonical_key", "pk", "text_digest"
            )
        }

    def item(self, audit: Audit, row: ItemRow) -> Item:
        """The item that a row tells of, not stored. Raises InputError where the study lacks what it is about."""
        run = self._runs.get((row.task_key, row.model))
        if run is None:
            raise InputError(no_such_run(self._study, row.task_key, row.model))
        return Item(
            audit=audit,
            kind=row.kind,
            run_id=run,
            group_id=self._part("answer group", self._groups, run, row.group_number, row.group_text_digest),
            round_id=self._part("round", self._rounds, run, row.round_number, row.round_digest),
            inclusion_probability=row.inclusion_probability,
            draw=row.draw,
            snapshots=[{"url": cited.url, "page": self._page(run, cited)} for cited in row.snapshots],
        )

    def _part(
        self,
        what: str,
        known: dict[tuple[int, int], tuple[int, str]],
        run: int,
        number: int | None,
        digest: str | None,
    ) -> int | None:
        if number is None:
            return None
        pk, here = known.get((run, number), (None, ""))
        if pk is None:
            raise InputError(f"the run has no {what} {number}")
        if here != digest:
            raise InputError(
                f"{what} {number} has another text here than the one that was drawn; import the answers of the "
                "same export"
            )
        return pk

    def _page(self, run: int, cited: CitedPage) -> int | None:
        if cited.source is None or cited.canonical_key is None:
            return None
        of_run = run if cited.source == PageSource.RECORDED else None
        found = self._pages.get((of_run, cited.source, cited.canonical_key))
        called = f"{cited.source} snapshot of {cited.url[:200]}"
        if found is None:
            raise InputError(f"the study has no {called}; import the pages first")
        pk, digest = found
        if digest != cited.text_digest:
            raise InputError(f"the {called} has another text here; import the pages of the same export")
        return pk


def check_same(audit: Audit, told: AuditTold) -> None:
    """Raise ConflictError with what differs, where an audit is not the one that a file tells of.

    What came to it since does not matter: labels, its status and codebook, what is adjudicated, further draws.
    """
    here = AuditTold(told.name)
    for row in rows_of_audit(audit):
        here.rows[row.row].append(PlacedRow("", row))
    one, two = plain(told.head, *_MOVES_ON), plain(here.head, *_MOVES_ON)
    differing = [name for name in one if one[name] != two[name]]
    for kind in (DRAW, QUEUE, ITEM, SLOT):
        known = dict(_named(here, kind))
        count = sum(known.get(name) != value for name, value in _named(told, kind))
        if kind == ITEM:
            drawn = 1 + len(told.rows[DRAW])
            count += sum(placed.row.draw <= drawn for placed in here.rows[ITEM]) - len(told.rows[ITEM])
        if count:
            differing.append(f"{count} {kind}{'' if count == 1 else 's'}")
    if differing:
        raise ConflictError(
            f"another audit named {told.name!r} is here, which differs in {', '.join(differing)}; it was kept. "
            "Import into a study that has no audit of this name"
        )


def _named(told: AuditTold, kind: str) -> Iterable[tuple[Any, Any]]:
    """The rows of a kind by what they are known by in any database, with what is to be compared of them."""
    targets = {placed.row.item_id: target_of(placed.row) for placed in told.rows[ITEM]}
    for _, row in told.rows[kind]:
        if kind == DRAW:
            yield row.draw, plain(row)
        elif kind == QUEUE and row.role in LABELER_ROLES:
            yield (row.role, row.is_simulated), True
        elif kind == ITEM:
            yield target_of(row), plain(row, "item_id")
        elif kind == SLOT and row.role in LABELER_ROLES:
            yield (row.role, row.is_simulated, row.position), targets.get(row.item_id)
