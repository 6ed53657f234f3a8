"""Exported audits and their labels, brought into another study."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial

from django.db import DataError, IntegrityError, transaction

from annotation.administration import close_audit, resume_audit
from annotation.audit_rows import CODEBOOK, RUN, read_audit_row
from annotation.audit_storing import WAITS_FOR, check_same, store_audit
from annotation.audit_told import AuditTold, check_told
from annotation.codebook import CODEBOOK_VERSION
from annotation.label_files import LabelRow, RowProblem, read_label_rows
from annotation.label_imports import OUTCOMES as LABEL_OUTCOMES
from annotation.models import Audit, AuditAction, AuditStatus, CodebookVersion, LabelVersion
from annotation.moved_labels import restore_labels
from annotation.moved_marks import restore_marks
from annotation.transfers import CSV, JSONL
from lseval.errors import ConflictError
from lseval.formats.errors import ReadError
from lseval.formats.row_files import long_cells
from lseval.models import Run, Study
from lseval.pipeline.evaluation_import.files import AUDITS, LABELS, EvaluationFile, PlacedRow
from lseval.pipeline.evaluation_import.pages import moment, no_such_run
from lseval.pipeline.evaluation_import.reports import ADDED, KEPT, LEFT_OUT, REFUSED, EvaluationReport


@dataclass(slots=True)
class _Told:
    """What the files hold: rows of the study as a whole, and each audit's rows and labels by its name."""

    of_study: dict[str, list[PlacedRow]] = field(default_factory=lambda: {CODEBOOK: [], RUN: []})
    audits: dict[str, AuditTold] = field(default_factory=dict)
    labels: dict[str, list[LabelRow]] = field(default_factory=lambda: defaultdict(list))

    def names(self) -> list[str]:
        """The audits in the order of the file, and behind them those of which there are labels only."""
        return list(dict.fromkeys((*self.audits, *self.labels)))

    def counts(self) -> dict[str, int]:
        """How many rows there are of audits and of labels."""
        of_audits = sum(map(len, self.of_study.values())) + sum(map(len, self.audits.values()))
        return {AUDITS: of_audits, LABELS: sum(map(len, self.labels.values()))}


def import_audits(study: Study, audits: EvaluationFile | None, labels: EvaluationFile | None) -> EvaluationReport:
    """Store exported audits and labels; see `docs/move-a-study.md`.

    An audit is stored with its labels, whole or not at all. A row that cannot be read may be of any audit, so that
    then nothing is stored. One that is here and the same is left alone and takes the labels that it lacks; one that
    differs is refused. An audit is paused until all the labels are here that it had, and then becomes what it was,
    closed for good if it was closed.
    """
    report, told = EvaluationReport(), _Told()
    if audits is not None:
        _read_audits(audits, told, report)
    if labels is not None:
        _read_labels(labels, told, report)
    unreadable = {what: report.rows[what, REFUSED] for what in (AUDITS, LABELS)}
    if not report.refused:
        _import_of_study(study, told, report)
    if report.refused:
        for what, count in told.counts().items():
            _leave_out(report, what, count + unreadable[what])
        return report
    for name in told.names():
        report.add(_import_one(study, name, told, audits, labels))
    return report


def _leave_out(report: EvaluationReport, what: str, given: int) -> None:
    """Count the rows of which none is stored, since others are refused; `given` is with the refused ones."""
    for outcome in (ADDED, KEPT):
        report.rows.pop((what, outcome), None)
    report.rows[what, LEFT_OUT] += max(0, given - report.rows[what, REFUSED])


def _read_audits(file: EvaluationFile, told: _Told, report: EvaluationReport) -> None:
    with long_cells():
        for raw in file.rows.rows():
            place = file.place(raw.line)
            try:
                row = read_audit_row(raw, is_csv=file.rows.is_csv)
            except ReadError as error:
                report.refuse(AUDITS, place, str(error))
                continue
            if row.row in told.of_study:
                told.of_study[row.row].append(PlacedRow(place, row))
            else:
                of_audit = told.audits.setdefault(row.audit, AuditTold(row.audit))
                of_audit.rows[row.row].append(PlacedRow(place, row))


def _read_labels(file: EvaluationFile, told: _Told, report: EvaluationReport) -> None:
    for row in read_label_rows(file.rows.path, CSV if file.rows.is_csv else JSONL):
        if isinstance(row, RowProblem):
            report.refuse(LABELS, file.place(row.line), row.message)
        elif not row.audit:
            report.refuse(LABELS, file.place(row.line), "the row names no audit")
        else:
            told.labels[row.audit].append(row)


def _import_of_study(study: Study, told: _Told, report: EvaluationReport) -> None:
    """Bring the codebooks and the times of runs, or neither where a row is refused."""
    try:
        with transaction.atomic():
            Study.objects.select_for_update(of=("self",), no_key=True).get(pk=study.pk)
            _import_codebooks(study, told.of_study[CODEBOOK], report)
            _import_times(study, told.of_study[RUN], report)
            transaction.set_rollback(bool(report.refused))
    except (IntegrityError, DataError) as error:
        place = next(placed.place for rows in told.of_study.values() for placed in rows)
        report.refuse(AUDITS, place, f"the database cannot store these rows: {_first_line(error)}")


def _import_codebooks(study: Study, rows: list[PlacedRow], report: EvaluationReport) -> None:
    here = {version.number: (version.text, version.note) for version in study.codebook_versions.all()}
    made = []
    for place, row in sorted(rows, key=lambda placed: placed.row.number):
        number, says = row.number, (row.text, row.note)
        if number in here:
            if here[number] != says:
                report.refuse(AUDITS, place, f"version {number} of the codebook says something else here")
            else:
                report.rows[AUDITS, KEPT] += 1
        elif number != max(here, default=1) + 1:
            report.refuse(AUDITS, place, f"the study lacks the version of the codebook before version {number}")
        else:
            here[number] = says
            values = {"number": number, "text": row.text, "note": row.note, "published_at": moment(row.at)}
            made.append(CodebookVersion(study=study, **values))
            report.rows[AUDITS, ADDED] += 1
    CodebookVersion.objects.bulk_create(made)


def _import_times(study: Study, rows: list[PlacedRow], report: EvaluationReport) -> None:
    """Let each run be there since it was; in a study that has audits of its own, what they rest on stays."""
    has_audits = study.audits.exists()
    runs = {(run.task.key, run.model.name): run for run in study.runs.select_related("task", "model")}
    changed = []
    for place, row in rows:
        run = runs.get((row.task_key, row.model))
        if run is None:
            report.refuse(AUDITS, place, no_such_run(study, row.task_key, row.model))
            continue
        since = moment(row.at)
        is_earlier = not has_audits and since < run.imported_at
        report.rows[AUDITS, ADDED if is_earlier else KEPT] += 1
        if is_earlier:
            run.imported_at = since
            changed.append(run)
    Run.objects.bulk_update(changed, ["imported_at"], batch_size=500)


def _import_one(
    study: Study, name: str, told: _Told, audits: EvaluationFile | None, labels: EvaluationFile | None
) -> EvaluationReport:
    """Store an audit with its labels, or nothing of it where a row is refused."""
    report = EvaluationReport()
    given, rows = told.audits.get(name), told.labels.get(name, [])
    audit: Audit | None = None
    place = given.place if given else labels.place(rows[0].line) if labels else name
    try:
        with transaction.atomic():
            audit = study.audits.filter(name=name).first()
            if given and audits:
                audit = _bring(study, audit, given, audits.rows.path.name, report)
            elif audit is None:
                problem = f"the study has no audit {name!r}; import the audits of the same export"
                report.refuse(LABELS, place, problem)
            if labels and rows and audit and not report.refused:
                _bring_labels(audit, rows, labels, report)
            if given and audit and not report.refused:
                _bring_marks(audit, given, report)
            transaction.set_rollback(bool(report.refused))
    except (IntegrityError, DataError) as error:
        report.refuse(AUDITS if given else LABELS, place, f"the database cannot store it: {_first_line(error)}")
    if report.refused:
        _leave_out(report, AUDITS, len(given or ()))
        _leave_out(report, LABELS, len(rows))
    elif audit:
        _settle(audit, report, has_marks=given is not None)
    return report


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _bring(
    study: Study, here: Audit | None, given: AuditTold, source: str, report: EvaluationReport
) -> Audit | None:
    """The audit of a file, stored or found here; None where it was refused."""
    refuse = partial(report.refuse, AUDITS)
    check_told(given, refuse)
    if report.refused:
        return None
    if here is not None:
        try:
            check_same(here, given)
        except ConflictError as error:
            refuse(given.place, str(error))
            return None
    elif given.head.codebook_version not in _codebooks(study):
        refuse(given.place, f"the study has no version {given.head.codebook_version} of its codebook")
        return None
    found = here or store_audit(study, given, source, refuse)
    if not report.refused:
        report.rows[AUDITS, KEPT if here else ADDED] += len(given) - given.marks
    return found


def _codebooks(study: Study) -> set[str]:
    return {CODEBOOK_VERSION, *map(str, study.codebook_versions.values_list("number", flat=True))}


def _bring_labels(audit: Audit, rows: list[LabelRow], file: EvaluationFile, report: EvaluationReport) -> None:
    found = restore_labels(audit, rows, file.rows.path.name)
    for outcome in LABEL_OUTCOMES:
        report.rows[LABELS, outcome] += found.rows[outcome]
    for problem in found.problems:
        line, _, message = problem.removeprefix("line ").partition(": ")
        report.problems.append(f"{file.place(int(line))}: {message}")


def _bring_marks(audit: Audit, given: AuditTold, report: EvaluationReport) -> None:
    """Flags and reveals, which wait for the labels."""
    if _label_count(audit) < given.head.labels:
        report.rows[AUDITS, LEFT_OUT] += given.marks
        return
    added = restore_marks(audit, given, partial(report.refuse, AUDITS))
    report.rows[AUDITS, ADDED] += added
    report.rows[AUDITS, KEPT] += given.marks - added


def _label_count(audit: Audit) -> int:
    return LabelVersion.objects.filter(slot__queue__audit=audit).count()


def _settle(audit: Audit, report: EvaluationReport, *, has_marks: bool) -> None:
    """Give an audit that waits for its labels the status that it had, once they are here; else say what lacks.

    One that somebody has paused or resumed here since is left to them.
    """
    audit.refresh_from_db()
    brought = audit.events.filter(detail__has_key=WAITS_FOR).first()  # the newest
    if brought is None or audit.status != AuditStatus.PAUSED:
        return
    awaited = brought.detail[WAITS_FOR]
    since = audit.events.filter(pk__gt=brought.pk)
    is_managed = since.filter(action__in=[AuditAction.PAUSED, AuditAction.RESUMED]).exists()
    if is_managed or awaited["status"] == AuditStatus.PAUSED:
        return
    there = _label_count(audit)
    if there < awaited["labels"] or (awaited["marks"] and not has_marks):
        report.notes.append(
            f"audit {audit.name!r} is paused: {there} of its {awaited['labels']} label versions are here. Give the "
            "whole folder of the export again"
        )
    elif awaited["status"] == AuditStatus.CLOSED:
        close_audit(audit, None)
        report.notes.append(f"audit {audit.name!r} is closed, as it was")
    else:
        resume_audit(audit, None)
