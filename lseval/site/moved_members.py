"""Who was a member of a study where it was exported: who is lacking here, and the same roles for them on demand."""

from __future__ import annotations

from lseval.door.members import add_member
from lseval.errors import ConflictError
from lseval.formats.errors import FieldError, ReadError
from lseval.formats.evaluation_rows import MemberRow, row_as
from lseval.formats.row_files import long_cells
from lseval.models import Study, User
from lseval.pipeline.evaluation_import import EvaluationReport
from lseval.pipeline.evaluation_import.files import MEMBERS, EvaluationFile
from lseval.pipeline.evaluation_import.reports import ADDED, KEPT


def import_members(study: Study, file: EvaluationFile, *, makes_them: bool) -> EvaluationReport:
    """Tell which members the study lacks; with `makes_them`, give those who have a login here their role.

    No login is ever made. Who has another role here keeps it, and that is told.
    """
    report = EvaluationReport()
    here = dict(study.memberships.values_list("user__username", "role"))
    lacking: list[MemberRow] = []
    for place, row in _rows(file, report):
        if row.username not in here:
            has_login = User.objects.filter(username=row.username, is_simulated=False, is_active=True)
            user = has_login.first() if makes_them else None
            if user is None:
                lacking.append(row)
                continue
            try:
                add_member(study, user, row.role, None)
            except ConflictError as error:
                report.refuse(MEMBERS, place, str(error))
                continue
            here[row.username] = row.role
            report.rows[MEMBERS, ADDED] += 1
            continue
        report.rows[MEMBERS, KEPT] += 1
        if here[row.username] != row.role:
            report.notes.append(f"{row.username} is {here[row.username]} here, and was {row.role}")
    if lacking:
        report.notes.append(_told(study, lacking, makes_them=makes_them))
    return report


def _rows(file: EvaluationFile, report: EvaluationReport) -> list[tuple[str, MemberRow]]:
    found = []
    with long_cells():
        for raw in file.rows.rows():
            place = file.place(raw.line)
            try:
                if raw.problem:
                    raise FieldError(raw.problem)
                found.append((place, row_as(MemberRow, raw.values, is_csv=file.rows.is_csv)))
            except ReadError as error:
                report.refuse(MEMBERS, place, str(error))
    return found


def _told(study: Study, lacking: list[MemberRow], *, makes_them: bool) -> str:
    names = ", ".join(f"{row.username} ({row.role})" for row in lacking)
    with_login = "" if makes_them else "--members gives those who have a login here their role. "
    return (
        f"no members here: {names}. {with_login}`manage.py add_member {study.slug} NAME ROLE --create` makes a "
        "member with a login"
    )
