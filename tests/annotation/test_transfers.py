"""Labels out of the program, as CSV and JSONL: I08 and I09."""

from __future__ import annotations

import csv
import io
import json
import uuid

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import labels
from annotation.models import LabelVersion
from annotation.transfers import COLUMNS, count_versions, label_lines
from lseval.csv_cells import escaped_cell, plain_cell
from lseval.models import Role
from tests.annotation.making import Made, make_audit, next_slot, submit
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Made:
    return make_audit()


def csv_rows(made: Made) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(label_lines(made.study, made.audit, "csv")), newline="")))


def json_rows(made: Made) -> list[dict]:
    return [json.loads(line) for line in label_lines(made.study, made.audit, "jsonl")]


def test_one_row_per_item_rater_and_version(made: Made) -> None:
    """I09: an item with labels of two raters, one of them edited, an undone one and a skip."""
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first, "C")
    slot.refresh_from_db()
    submit(slot, made.first, "I", comment="on a second look")
    other = next_slot(made.h2, made.second)
    submit(other, made.second, "C")
    labels.undo_last(made.h2, made.second, request_key=uuid.uuid4())
    rows = json_rows(made)
    assert len(rows) == LabelVersion.objects.count() == count_versions(made.study)
    keys = [(row["item_id"], row["role"], row["labeler"], row["version"]) for row in rows]
    assert len(set(keys)) == len(keys)
    told = [(row["role"], row["version"], row["action"], row["label"], row["is_in_force"]) for row in rows]
    assert told == [
        ("H1", 1, "label", "C", False),
        ("H1", 2, "label", "I", True),
        ("H2", 1, "label", "C", False),
        ("H2", 2, "undo", "", True),
    ]


def test_row_names_item_rater_evidence_and_codebook(made: Made) -> None:
    slot = next_slot(made.h1, made.first)
    submit(slot, made.first, "I", comment="says 1962", seconds_on_task=12.5)
    (row,) = json_rows(made)
    version, item = LabelVersion.objects.get(), slot.item
    assert tuple(row) == COLUMNS
    assert row == {
        "study": "s1",
        "audit": "A",
        "item_id": item.pk,
        "kind": "group",
        "task_key": item.run.task.key,
        "model": item.run.model.name,
        "run_id": item.run_id,
        "group_number": item.group.number,
        "round_number": None,
        "role": "H1",
        "is_simulated": False,
        "labeler": "first-s1",
        "version": 1,
        "action": "label",
        "label": "I",
        "error_type": "",
        "comment": "says 1962",
        "is_in_force": True,
        "is_late": False,
        "codebook_version": "1",
        "evidence_digest": version.evidence_digest,
        "seconds_on_task": 12.5,
        "draw": 1,
        "inclusion_probability": 1.0,
        "source": "",
        "created_at": version.created_at.isoformat(),
    }
    assert len(version.evidence_digest) == 64


@pytest.mark.parametrize("comment", ["=1+1", "+1", "-1", "@SUM(A1)", "'=1", "''-x", "＝1"])
def test_formula_is_escaped_in_csv_and_raw_in_json(made: Made, comment: str) -> None:
    """I08."""
    submit(next_slot(made.h1, made.first), made.first, comment=comment)
    (in_csv,), (in_json,) = csv_rows(made), json_rows(made)
    assert in_json["comment"] == comment
    assert in_csv["comment"] == f"'{comment}"


def test_numbers_stay_numbers(made: Made) -> None:
    submit(next_slot(made.h1, made.first), made.first, seconds_on_task=2.25)
    (row,) = csv_rows(made)
    assert (row["seconds_on_task"], row["version"], row["inclusion_probability"]) == ("2.25", "1", "1.0")


@pytest.mark.parametrize(
    "text", ["", "plain", "'quoted'", "=x", "'=x", "''=x", "-1", "a=b", "\t=x", "\r=x", "\n=x", "'", "''"]
)
def test_escaped_cell_is_read_back_as_it_was(text: str) -> None:
    cell = escaped_cell(text)
    assert plain_cell(cell) == text
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


def test_export_reads_with_one_statement_however_much_there_is(made: Made) -> None:
    """One statement sees the database at one moment."""
    for _ in range(2):
        with CaptureQueriesContext(connection) as captured:
            list(label_lines(made.study, made.audit, "jsonl"))
        reads = [query["sql"] for query in captured.captured_queries if "labelversion" in query["sql"]]
        assert len(reads) == 1
        submit(next_slot(made.h1, made.first), made.first)


class TestCommand:
    def test_file_is_written_whole_and_counted(self, made: Made, tmp_path, capsys: pytest.CaptureFixture) -> None:
        submit(next_slot(made.h1, made.first), made.first, comment="a\nb")
        out = tmp_path / "labels.csv"
        call_command("export_labels", "s1", "--out", str(out))
        assert "1 label version written" in capsys.readouterr().err
        assert out.read_bytes().decode() == "".join(label_lines(made.study, None, "csv"))
        assert list(tmp_path.iterdir()) == [out]

    def test_file_that_cannot_be_written_leaves_what_was_there(self, made: Made, tmp_path, monkeypatch) -> None:
        """I11: the disk is full half-way."""
        submit(next_slot(made.h1, made.first), made.first)
        out = tmp_path / "labels.csv"
        out.write_text("before")

        def full(descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(CommandError, match="No space left on device"):
            call_command("export_labels", "s1", "--out", str(out))
        assert out.read_text() == "before"
        assert list(tmp_path.iterdir()) == [out]

    def test_unknown_audit_is_named_with_those_there_are(self, made: Made) -> None:
        with pytest.raises(CommandError, match=r"no audit 'B'. It has: A"):
            call_command("export_labels", "s1", "--audit", "B")


class TestDownload:
    @pytest.mark.parametrize("file_format", ["csv", "jsonl"])
    def test_lead_and_researcher_take_the_labels_home(self, client: Client, made: Made, file_format: str) -> None:
        submit(next_slot(made.h1, made.first), made.first)
        for user in (made.lead, make_user("researcher", made.study, Role.RESEARCHER)):
            client.force_login(user)
            reply = client.get(reverse("export_labels", args=["s1", made.audit.pk, file_format]))
            expected = "".join(label_lines(made.study, made.audit, file_format))
            assert b"".join(reply.streaming_content).decode() == expected
            assert "attachment" in reply["Content-Disposition"]

    def test_labeler_and_another_studys_lead_get_nothing(self, client: Client, made: Made) -> None:
        url = reverse("export_labels", args=["s1", made.audit.pk, "csv"])
        client.force_login(made.first)
        assert client.get(url).status_code == 403
        client.force_login(make_audit(slug="s2").lead)
        assert client.get(url).status_code == 404
        assert client.get(reverse("export_labels", args=["s2", made.audit.pk, "csv"])).status_code == 404

    def test_unknown_format_is_not_there(self, client: Client, made: Made) -> None:
        client.force_login(made.lead)
        assert client.get(reverse("export_labels", args=["s1", made.audit.pk, "xlsx"])).status_code == 404
