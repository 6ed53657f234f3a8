"""Labels made elsewhere, put on an audit's items: I01 to I05 and I10."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation import administration
from annotation.adjudication import rebuild_queue
from annotation.events import AuditClosedError
from annotation.label_files import LabelRow, RowProblem, read_label_rows
from annotation.label_imports import ADDED, KEPT, PASSED_OVER, REFUSED, ImportReport, import_labels
from annotation.models import AuditEvent, Item, LabelVersion, Slot
from annotation.transfers import label_lines
from lseval.errors import InputError
from lseval.models import User
from tests.annotation.making import Made, expire, give, make_audit, next_slot, submit
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Made:
    return make_audit()


def row_of(item: Item, label: str = "C", **more: Any) -> dict[str, Any]:
    """A row that names the item from outside."""
    named = {"task_key": item.run.task.key, "model": item.run.model.name, "group_number": item.group.number}
    return {**named, "label": label, **more}


def put(made: Made, tmp_path: Path, rows: list[dict[str, Any]], labeler: User | None, **more: Any) -> ImportReport:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return import_labels(made.audit, more.pop("role", "H1"), read_label_rows(path), labeler, path.name, **more)


def items_of(made: Made) -> list[Item]:
    return [
        slot.item for slot in made.h1.slots.select_related("item__run__task", "item__run__model", "item__group")
    ]


class TestImport:
    def test_rows_are_matched_by_task_model_and_number(self, made: Made, tmp_path: Path) -> None:
        items = items_of(made)
        rows = [row_of(item, "CIU"[place % 3], comment=f"c{place}") for place, item in enumerate(items)]
        report = put(made, tmp_path, rows, made.first)
        assert report.rows == {ADDED: 12}
        for place, item in enumerate(items):
            version = LabelVersion.objects.get(slot__item=item)
            assert (version.label, version.comment, version.user) == ("CIU"[place % 3], f"c{place}", made.first)
            assert version.source == "labels.jsonl"
            # Nobody knows what the labeler saw elsewhere.
            assert (version.evidence_digest, version.codebook_version) == ("", "")
        assert made.h1.slots.filter(status="labeled").count() == 12
        assert AuditEvent.objects.filter(audit=made.audit, action="imported").get().detail["labels"] == 12

    def test_second_import_adds_nothing(self, made: Made, tmp_path: Path) -> None:
        rows = [row_of(item) for item in items_of(made)]
        put(made, tmp_path, rows, made.first)
        assert put(made, tmp_path, rows, made.first).rows == {KEPT: 12}
        assert LabelVersion.objects.count() == 12
        assert AuditEvent.objects.filter(action="imported").count() == 1

    def test_disagreement_that_an_import_makes_is_adjudicated_as_one_made_here(
        self, made: Made, tmp_path: Path
    ) -> None:
        twice = list(made.h2.slots.select_related("item__run__task", "item__run__model", "item__group"))
        for slot in twice:
            submit(give(slot, made.second), made.second, "C")
        first, second = (slot.item for slot in twice[:2])
        put(made, tmp_path, [row_of(first, "I")], made.first)
        # Nothing before a lead has begun.
        assert not Slot.objects.filter(queue__role="adjudicator").exists()
        rebuild_queue(made.audit, made.lead)
        put(made, tmp_path, [row_of(first, "I"), row_of(second, "U")], made.first, by=made.lead)
        queued = Slot.objects.filter(queue__role="adjudicator").order_by("position")
        assert list(queued.values_list("item_id", flat=True)) == [first.pk, second.pk]
        event = AuditEvent.objects.filter(action="adjudication").first()
        assert (event.by, event.detail["added"]) == (made.lead, 1)

    def test_simulated_labels_are_no_disagreement_of_people(self, made: Made, tmp_path: Path) -> None:
        item = made.h2.slots.first().item
        submit(give(made.h2.slots.first(), made.second), made.second, "C")
        rebuild_queue(made.audit, made.lead)
        put(made, tmp_path, [row_of(item, "I")], None)
        assert not Slot.objects.filter(queue__role="adjudicator").exists()

    def test_item_can_be_named_by_its_id(self, made: Made, tmp_path: Path) -> None:
        item = items_of(made)[3]
        put(made, tmp_path, [{"item_id": item.pk, "label": "U"}], made.first)
        assert LabelVersion.objects.get().slot.item == item

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"label": "X"}, "no label for this item"),
            ({"label": ""}, "no label for this item"),
            ({"error_type": "wrong_entity"}, "error type goes only"),
            ({"task_key": "t99"}, "no such item"),
            ({"group_number": 99}, "no such item"),
            ({"group_number": 2**63}, "64 bits"),
            ({"group_number": True}, "no whole number"),
            ({"group_number": None}, "names no item"),
            ({"seconds_on_task": -1}, "no time between"),
            ({"seconds_on_task": "nan"}, "no time between"),
            ({"created_at": "2020-01-01"}, "ISO 8601 with its zone"),
            ({"created_at": "2999-01-01T00:00:00+00:00"}, "future"),
            ({"evidence_digest": "abc"}, "no SHA-256"),
            ({"action": "laud"}, "is none of"),
            ({"action": "skip", "label": ""}, "needs its reason"),
            ({"comment": "x" * 5001}, "5,000 fit"),
            ({"comment": ["x"]}, "no text"),
        ],
    )
    def test_row_that_does_not_fit_is_reported_and_the_others_are_stored(
        self, made: Made, tmp_path: Path, change: dict, told: str
    ) -> None:
        first, second = items_of(made)[:2]
        report = put(made, tmp_path, [{**row_of(first), **change}, row_of(second)], made.first)
        assert report.rows == {REFUSED: 1, ADDED: 1}
        assert len(report.problems) == 1
        assert report.problems[0].startswith("line 1: ")
        assert told in report.problems[0]

    def test_two_rows_that_differ_over_an_item_are_told(self, made: Made, tmp_path: Path) -> None:
        item = items_of(made)[0]
        report = put(made, tmp_path, [row_of(item), row_of(item), row_of(item, "I")], made.first)
        assert report.rows == {ADDED: 1, KEPT: 1, REFUSED: 1}
        assert "line 3: line 1 says otherwise" in report.problems[0]

    def test_item_that_was_decided_here_or_is_in_work_is_left_alone(self, made: Made, tmp_path: Path) -> None:
        decided = next_slot(made.h1, made.first)
        submit(decided, made.first, "I")
        held = next_slot(made.h1, made.first)
        other = make_user("other", made.study)
        report = put(made, tmp_path, [row_of(decided.item), row_of(held.item)], other)
        assert report.rows == {REFUSED: 2}
        assert LabelVersion.objects.get().label == "I"
        expire(held)
        assert put(made, tmp_path, [row_of(held.item)], other).rows == {ADDED: 1}

    def test_rows_of_the_other_role_are_passed_over(self, made: Made, tmp_path: Path) -> None:
        first, second = items_of(made)[:2]
        report = put(made, tmp_path, [row_of(first, role="H2"), row_of(second, role="H1")], made.first)
        assert report.rows == {PASSED_OVER: 1, ADDED: 1}

    def test_simulated_labels_stay_apart(self, made: Made, tmp_path: Path) -> None:
        item = items_of(made)[0]
        assert put(made, tmp_path, [row_of(item, is_simulated=True)], made.first).rows == {PASSED_OVER: 1}
        assert put(made, tmp_path, [row_of(item)], None).rows == {ADDED: 1}
        version = LabelVersion.objects.get()
        assert version.is_simulated
        assert version.user.is_simulated
        assert version.slot.queue.is_simulated
        assert put(made, tmp_path, [row_of(item)], None).rows == {KEPT: 1}

    def test_rows_of_several_audits_are_refused_whole(self, made: Made, tmp_path: Path) -> None:
        first, second = items_of(made)[:2]
        with pytest.raises(InputError, match="several audits"):
            put(made, tmp_path, [row_of(first, audit="A"), row_of(second, audit="B")], made.first)

    def test_closed_audit_takes_nothing(self, made: Made, tmp_path: Path) -> None:
        administration.close_audit(made.audit, None)
        with pytest.raises(AuditClosedError):
            put(made, tmp_path, [row_of(items_of(made)[0])], made.first)

    def test_nul_in_one_row_is_mended_with_a_warning(self, made: Made, tmp_path: Path) -> None:
        """I02."""
        first, second = items_of(made)[:2]
        report = put(made, tmp_path, [row_of(first), row_of(second, comment="a\x00b")], made.first)
        assert report.rows == {ADDED: 2}
        assert LabelVersion.objects.get(slot__item=second).comment == "a\ufffdb"


class TestFiles:
    def test_byte_order_mark_and_windows_line_ends_are_read(self, tmp_path: Path) -> None:
        path = tmp_path / "labels.csv"
        path.write_bytes("\ufefftask_key,model,group_number,label\r\nt1,m1,2,C\r\n".encode())
        (row,) = read_label_rows(path)
        assert isinstance(row, LabelRow)
        assert (row.task_key, row.group_number, row.label, row.line) == ("t1", 2, "C", 2)

    def test_wrong_encoding_names_the_line(self, tmp_path: Path) -> None:
        path = tmp_path / "labels.csv"
        path.write_bytes(b"task_key,model,group_number,label\nt1,m1,1,C\nt1,m\xff,2,C\n")
        with pytest.raises(InputError, match=r"labels.csv:3: .*UTF-8"):
            list(read_label_rows(path))

    def test_utf16_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "labels.csv"
        path.write_bytes("task_key,label\n".encode("utf-16"))
        with pytest.raises(InputError, match="UTF-16"):
            list(read_label_rows(path))

    def test_endless_cell_is_an_error_of_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "labels.csv"
        path.write_text(f'task_key,comment\nt1,"{"x" * (2**20 + 1)}"\n')
        with pytest.raises(InputError, match="field larger"):
            list(read_label_rows(path))

    def test_json_that_would_be_changed_silently_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "labels.jsonl"
        path.write_text('{"item_id": 1, "item_id": 2}\n[1]\n{"item_id": 1e400}\n{"item_id": 1, "label": "C"}\n')
        rows = list(read_label_rows(path))
        assert [type(row) for row in rows] == [RowProblem, RowProblem, RowProblem, LabelRow]
        assert [row.line for row in rows] == [1, 2, 3, 4]

    def test_row_with_too_few_cells_is_one_problem(self, tmp_path: Path) -> None:
        path = tmp_path / "labels.csv"
        path.write_text('item_id,comment,label\n1,"two\nlines",C\n2,C\n3,,U\n')
        assert [(type(row), row.line) for row in read_label_rows(path)] == [
            (LabelRow, 2),
            (RowProblem, 4),
            (LabelRow, 5),
        ]


FIELDS = (
    "action", "label", "error_type", "comment", "number", "is_late", "codebook_version", "evidence_digest",
    "seconds_on_task", "created_at",
)  # fmt: skip
TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.tuples(st.sampled_from("CIUsx"), TEXTS), max_size=3), max_size=4),
    st.sampled_from(["csv", "jsonl"]),
    st.data(),
)
def test_export_then_import_loses_nothing(tmp_path: Path, histories: list, file_format: str, data: Any) -> None:
    """I10: any history of labels, skips and undos, into a study with the same runs, and once more."""
    slugs = [f"s-{LabelVersion.objects.count()}-{Item.objects.count()}-{name}" for name in "ab"]
    here, there = (make_audit(slug=slug) for slug in slugs)
    actions = {"s": ("skip", ""), "x": ("undo", "")}
    rows = [
        row_of(item, actions.get(sign, ("label", sign))[1], comment=text + ("!" if sign == "s" else ""),
               action=actions.get(sign, ("label", sign))[0], version=number, seconds_on_task=number / 3)
        for item, history in zip(items_of(here), histories, strict=False)
        for number, (sign, text) in enumerate(history, 1)
    ]  # fmt: skip
    put(here, tmp_path, rows, here.first)
    out = tmp_path / f"out.{file_format}"
    out.write_text("".join(label_lines(here.study, here.audit, file_format)), encoding="utf-8", newline="")
    report = import_labels(there.audit, "H1", read_label_rows(out), there.first, "out")
    assert report.rows[REFUSED] == 0, report.problems
    assert stored(there) == stored(here)
    assert states(there) == states(here)
    again = import_labels(there.audit, "H1", read_label_rows(out), there.first, "out")
    assert again.rows[ADDED] == 0


def stored(made: Made) -> list[tuple]:
    versions = LabelVersion.objects.filter(slot__queue=made.h1).order_by("slot__position", "number")
    return list(versions.values_list("slot__position", *FIELDS))


def states(made: Made) -> list[tuple]:
    return list(made.h1.slots.order_by("position").values_list("position", "status", "version"))


class TestCommand:
    def test_report_counts_every_outcome(self, made: Made, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
        first, second = items_of(made)[:2]
        path = tmp_path / "labels.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, ["task_key", "model", "group_number", "label"])
            writer.writeheader()
            writer.writerows([row_of(first), row_of(second, "Z")])
        with pytest.raises(CommandError, match="1 rows were refused"):
            call_command("import_labels", "s1", str(path), "--role", "H1", "--labeler", "first-s1", "--json")
        told = json.loads(capsys.readouterr().out)
        assert told["rows"] == {"added": 1, "already there": 0, "of another role": 0, "refused": 1}
        assert told["problems"][0].startswith("line 3: ")

    def test_unknown_labeler_is_refused(self, made: Made, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="no user nobody"):
            call_command("import_labels", "s1", str(tmp_path / "x.csv"), "--role", "H1", "--labeler", "nobody")

    def test_one_who_sees_the_verdicts_cannot_be_the_labeler(self, made: Made, tmp_path: Path) -> None:
        path = tmp_path / "labels.jsonl"
        path.write_text(json.dumps(row_of(items_of(made)[0])))
        with pytest.raises(InputError, match="sees the verdicts"):
            call_command("import_labels", "s1", str(path), "--role", "H1", "--labeler", made.lead.username)
        assert not LabelVersion.objects.exists()
        assert not Slot.objects.exclude(status="open").exists()


def test_cell_of_csv_may_hold_lines_and_quotes(made: Made, tmp_path: Path) -> None:
    item = items_of(made)[0]
    put(made, tmp_path, [row_of(item, comment='a\r\n"b",\n\'=c')], made.first)
    text = "".join(label_lines(made.study, made.audit, "csv"))
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row["comment"] == LabelVersion.objects.get().comment == 'a\r\n"b",\n\'=c'
