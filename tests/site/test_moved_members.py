"""Members of a study that was moved: told where they are lacking, and made on demand of those who are here."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from lseval.door.members import remove_member
from lseval.models import Membership, Role, Study, User
from tests.factories import make_study, make_user
from tests.pipeline.evaluation_import.making import FORMATS, written

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    found = make_study("one")
    for name, role in (("=ann", Role.ANNOTATOR), ("lea", Role.LEAD), ("rob", Role.RESEARCHER)):
        make_user(name, found, role)
    return found


@pytest.fixture
def twin(study: Study) -> Study:
    return make_study("two")


def exported(study: Study, folder: Path, file_format: str = "jsonl") -> Path:
    path = folder / f"members.{file_format}"
    path.write_text(written(study, "members", file_format), encoding="utf-8", newline="")
    return path


def bring(path: Path, *options: str) -> str:
    told = StringIO()
    call_command("import_evaluation", "two", str(path), *options, stdout=told, stderr=told)
    return told.getvalue()


def roles(study: Study) -> dict[str, str]:
    return dict(study.memberships.values_list("user__username", "role"))


def test_the_file_holds_names_and_roles_and_nothing_else(study: Study) -> None:
    rows = [json.loads(line) for line in written(study, "members").splitlines()]
    assert rows == [
        {"username": "=ann", "role": "annotator"},
        {"username": "lea", "role": "lead"},
        {"username": "rob", "role": "researcher"},
    ]


@pytest.mark.parametrize("file_format", FORMATS)
def test_members_are_told_and_made_on_demand_only(
    study: Study, twin: Study, tmp_path: Path, file_format: str
) -> None:
    path = exported(study, tmp_path, file_format)
    told = bring(path)
    assert "no members here: =ann (annotator), lea (lead), rob (researcher). --members gives" in told
    assert not roles(twin)
    assert "lacking" not in bring(path, "--members")
    assert roles(twin) == roles(study)
    assert "already there" in bring(path, "--members")
    assert roles(twin) == roles(study)


def test_nobody_gets_a_login(study: Study, twin: Study, tmp_path: Path) -> None:
    path = exported(study, tmp_path)
    User.objects.get(username="rob").delete()
    User.objects.filter(username="lea").update(is_simulated=True)
    told = bring(path, "--members")
    assert "no members here: lea (lead), rob (researcher). `manage.py add_member two NAME ROLE --create`" in told
    assert roles(twin) == {"=ann": "annotator"}
    assert not User.objects.filter(username="rob").exists()


def test_another_role_here_is_kept_and_named(study: Study, twin: Study, tmp_path: Path) -> None:
    Membership.objects.create(study=twin, user=User.objects.get(username="rob"), role=Role.LEAD)
    told = bring(exported(study, tmp_path), "--members")
    assert "rob is lead here, and was researcher" in told
    assert roles(twin)["rob"] == "lead"


def test_who_has_seen_verdicts_here_becomes_no_annotator(study: Study, twin: Study, tmp_path: Path) -> None:
    make_user("boss", twin, Role.LEAD)
    was = Membership.objects.create(study=twin, user=User.objects.get(username="=ann"), role=Role.RESEARCHER)
    remove_member(twin, was.pk, None)
    with pytest.raises(CommandError, match="1 rows were refused; 2 others were stored"):
        bring(exported(study, tmp_path), "--members")
    assert "=ann" not in roles(twin)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"username": "x", "role": "owner"}', "role: 'owner' is none of lead, researcher, annotator"),
        ('{"username": "", "role": "lead"}', "username: should not be empty"),
        ('{"username": "x", "role": "lead", "password": "y"}', "password: is no value of such a row"),
        ('{"username": "x", "role"', "not JSON"),
    ],
)
def test_row_at_fault_is_refused(study: Study, twin: Study, tmp_path: Path, line: str, told: str) -> None:
    path = exported(study, tmp_path)
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    report = tmp_path / "told.txt"
    with pytest.raises(CommandError, match="1 rows were refused"):
        bring(path, "--members", f"--report={report}")
    assert report.read_text().startswith("members.jsonl:4: ")
    assert told in report.read_text()
    assert roles(twin) == roles(study)


def test_login_that_was_shut_gets_no_role(study: Study, twin: Study, tmp_path: Path) -> None:
    User.objects.filter(username="lea").update(is_active=False)
    bring(exported(study, tmp_path), "--members")
    assert set(twin.memberships.values_list("user__username", flat=True)) == {"=ann", "rob"}
