"""Rows and files of an evaluation that do not fit: refused with a reason, and nothing half stored."""

from __future__ import annotations

import csv
import io
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from lseval.errors import InputError
from lseval.models import (
    Judgement,
    Link,
    Study,
    Verdict,
)
from lseval.pipeline.evaluation_import import import_evaluation
from lseval.pipeline.evaluation_import.reports import LEFT_OUT, REFUSED
from tests.pipeline.evaluation_import.making import (
    edit,
    export_all,
    make_evaluated,
    make_twin,
    nothing_of,
    put,
    put_in,
    written,
)

pytestmark = pytest.mark.django_db


class TestRefusals:
    @pytest.mark.parametrize(
        ("what", "change", "told"),
        [
            ("verdicts", put(label="X"), "label: 'X' is none of C, I, U, unjudged"),
            ("verdicts", put(reason=""), "reason: should not be empty"),
            ("verdicts", put(group_number=3), "has 2 answer groups, and none has number 3"),
            ("verdicts", put(group_number=0), "group_number: should be greater than or equal to 1"),
            ("verdicts", put(group_number=2), "is of the same answer group, 2"),
            ("verdicts", put(group_text_digest="0" * 64), "another text here than the one that was judged"),
            ("verdicts", put(is_second=True), "is_second: should be false in a file of verdicts"),
            ("verdicts", put(judged_at="2024-01-01T00:00:00"), "no time in ISO 8601 with its zone"),
            ("verdicts", put(repeat=2**31), "repeat: should be less than or equal to"),
            ("verdicts", put(task_key="t9"), "no run of m1 on task t9; `manage.py import_runs two runs.jsonl`"),
            ("verdicts", put(model="m9"), "no run of m9 on task =t1"),
            ("verdicts", put(mood="good"), "mood: is no value of such a row"),
            ("verdicts", put_in("pages", canonical_key="else.example"), "the study has no recorded snapshot of"),
            ("verdicts", put_in("pages", text_digest="0" * 64), "another text here; import the pages"),
            ("verdicts", put_in("pages", source=None), "was not there any more when the row was exported"),
            ("verdicts", put_in("pages", id=1), "which the row does not list"),
            (
                "verdicts",
                lambda row: row["claims"][0]["quotation"].update(start=10**6, end=10**6 + 14),
                "do not stand",
            ),
            ("verdicts", lambda row: row["claims"][0]["quotation"].update(text="other"), "do not stand from"),
            ("verdicts", put_in("claims", status="maybe"), "claims[0].status"),
            ("judgements", put(verdict="bad"), "verdict: 'bad' is none of error, non_error, skipped, unjudged"),
            ("judgements", put(judge_role="C"), "judge_role: 'C' is none of A, B"),
            ("judgements", put(judge_role="B"), "is of the same round and judge, 1 and B"),
            ("judgements", put(round_number=9), "has 5 rounds, and none has number 9"),
            ("judgements", put(round_digest="0" * 64), "round 1 says or observes something else here"),
            ("judgements", put(groups=[7]), "names answer group 7, and the run's response has 2"),
            ("judgements", put(groups=[True]), "groups[0]"),
            ("judgements", put(error_type="x" * 41), "error_type: String should have at most 40 characters"),
            ("links", put(group_number=1), "round 1 is not linked to answer group 1"),
            ("links", put(error_type="scope_error"), "round 1 has the type wrong_entity here, agreed"),
            ("links", put(is_type_agreed=False), "round 1 has the type wrong_entity here, agreed"),
            ("answers", put(final_answer_digest="0" * 64), "another response here"),
            ("answers", lambda row: row["groups"][0].update(number=2), "two groups have the same number"),
        ],
    )
    def test_run_with_a_row_at_fault_is_left_as_it_was_and_the_other_is_stored(
        self, twin: Study, folder: Path, what: str, change: Any, told: str
    ) -> None:
        edit(folder / f"{what}.jsonl", change)
        report = import_evaluation(twin, [folder])
        assert told in "\n".join(report.problems)
        assert all(line.startswith(f"{what}.jsonl:") or "judgements link round" in line for line in report.problems)
        assert report.refused
        faulty = twin.runs.get(task__key="=t1")
        if "no run of" not in told:
            assert not Verdict.objects.filter(group__run=faulty).exists()
            assert not Judgement.objects.filter(round__run=faulty).exists()
            assert report.rows["judgements", LEFT_OUT] or what == "judgements"
        assert Verdict.objects.filter(group__run__task__key="t2", group__run__study=twin).count() == 2

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ('{"task_key": "=t1", "mod', "not JSON"),
            ('{"task_key": "=t1", "model": "m1", "repeat": NaN}', "NaN is not a JSON number"),
            ('{"task_key": "=t1", "model": "m1", "repeat": Infinity}', "Infinity is not a JSON number"),
            ('{"task_key": "=t1", "model": "m1", "repeat": 1e999}', "too large"),
            ('{"task_key": "=t1", "model": "m1", "repeat": 99999999999999999999}', "64 bits"),
            ('{"task_key": "=t1", "model": "m1", "reason": "a\\u0000b"}', "reason: NUL cannot be stored"),
            (
                '{"task_key": "=t1", "model": "m1", "reason": "\\ud800"}',
                "reason: a lone surrogate cannot be stored",
            ),
            ('{"task_key": "=t1", "task_key": "=t1"}', "given twice"),
            ("[1, 2]", "should be a JSON object"),
            ('{"model": "m1"}', "names no run"),
            ('{"task_key": 7, "model": "m1"}', "names no run"),
        ],
    )
    def test_line_that_may_be_of_any_run_keeps_everything_out(
        self, twin: Study, folder: Path, line: str, told: str
    ) -> None:
        edit(folder / "verdicts.jsonl", lambda row: line, 1)
        pages = twin.pages.count()
        with pytest.raises(CommandError, match=r"1 rows were refused; nothing was stored"):
            call_command(
                "import_evaluation", "two", str(folder), "--report", str(folder / "told.txt"), stdout=StringIO()
            )
        [problem] = (folder / "told.txt").read_text().splitlines()
        assert problem.startswith("verdicts.jsonl:2: ")
        assert told in problem
        assert nothing_of(twin)
        assert twin.pages.count() == pages

    @pytest.mark.parametrize("what", ["verdicts", "judgements"])
    def test_csv_that_is_cut_off_leaves_no_run_half_stored(
        self, study: Study, twin: Study, tmp_path: Path, what: str
    ) -> None:
        whole = written(study, what, "csv").encode()
        path = tmp_path / f"{what}.csv"
        for end in (len(whole) - 8, len(whole) * 2 // 3, len(whole) // 2):
            path.write_bytes(whole[:end])
            try:
                report = import_evaluation(twin, [path])
            except InputError as error:
                assert "The file may be cut off: export it again." in str(error)  # noqa: PT017
            else:
                assert report.refused
            # The first run is there where its rows stood whole before the cut, and of the other there is nothing.
            assert not Verdict.objects.filter(group__run__study=twin, group__run__task__key="t2").exists()
            assert Verdict.objects.filter(group__run__study=twin).count() in (0, 2)
            assert not Judgement.objects.filter(round__run__study=twin, round__run__task__key="t2").exists()
            assert Judgement.objects.filter(round__run__study=twin).count() in (0, 10)

    def test_file_that_is_not_what_its_list_says_is_refused(self, twin: Study, folder: Path) -> None:
        path = folder / "judgements.jsonl"
        path.write_text("".join(line + "\n" for line in path.read_text().split("\n")[:4]))
        with pytest.raises(InputError, match="SHA256SUMS lists: it was cut short or changed"):
            import_evaluation(twin, [folder])
        assert nothing_of(twin)

    def test_file_that_the_list_has_and_the_folder_lacks_is_refused(self, twin: Study, folder: Path) -> None:
        (folder / "judgements.jsonl").unlink()
        with pytest.raises(InputError, match=r"lacks judgements\.jsonl, which SHA256SUMS lists"):
            import_evaluation(twin, [folder])
        assert nothing_of(twin)

    def test_report_that_cannot_be_written_is_told_before_anything_is_stored(
        self, twin: Study, folder: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(CommandError, match="the report cannot be written"):
            call_command("import_evaluation", twin.slug, folder, report=tmp_path / "nowhere" / "report.txt")
        assert nothing_of(twin)

    @pytest.mark.parametrize("row", ["", ",,,\n", "\n"])
    def test_what_a_spreadsheet_does_to_a_table_is_read(self, study: Study, tmp_path: Path, row: str) -> None:
        """Truths in capitals, empty rows at the end."""
        folder = export_all(study, tmp_path / "csv", "csv")
        twin = make_twin(folder)
        path = folder / "verdicts.csv"
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
        place = rows[0].index("is_second")
        for cells in rows[1:]:
            cells[place] = cells[place].upper()
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        empty = "," * (len(rows[0]) - 1) + "\n" if row.startswith(",") else row
        path.write_text(text.getvalue() + empty)
        (folder / "SHA256SUMS").unlink()
        assert import_evaluation(twin, [folder]).problems == []

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("a;b\n1;2\n", "not separated by commas"),
            ("a\tb\n1\t2\n", "not separated by commas"),
            ("a,,b\n1,,2\n", "column 2 has no name. Delete the empty columns"),
        ],
    )
    def test_table_that_a_spreadsheet_saved_otherwise_says_what_to_do(
        self, twin: Study, tmp_path: Path, text: str, told: str
    ) -> None:
        path = tmp_path / "verdicts.csv"
        path.write_text(text)
        with pytest.raises(InputError, match=told):
            import_evaluation(twin, [path])

    def test_judgement_without_its_partner_is_refused(self, twin: Study, folder: Path) -> None:
        path = folder / "judgements.jsonl"
        path.write_text(path.read_text().partition("\n")[2])
        (folder / "SHA256SUMS").unlink()
        report = import_evaluation(twin, [folder])
        assert report.problems == ["judgements.jsonl:1: round 1 has a judgement of judge B and none of the other"]

    def test_run_that_is_not_there_is_told_once_with_its_rows(self, twin: Study, folder: Path) -> None:
        twin.runs.all().delete()
        report = import_evaluation(twin, [folder])
        told = [line for line in report.problems if "no run of" in line]
        assert told == report.problems
        of_pages = [line for line in told if line.startswith("pages.jsonl")]
        of_rows = [line for line in told if line.startswith("answers.jsonl")]
        assert (len(of_pages), len(of_rows)) == (2, 2)
        assert "2 rows from here on: study two has no run of m1 on task" in of_pages[0]
        rows = "1 of answers, 2 of verdicts, 1 of second_verdicts, 10 of judgements, 1 of links"
        assert f"(rows: {rows})" in of_rows[0]
        assert (report.rows["judgements", REFUSED], report.rows["verdicts", REFUSED]) == (12, 4)
        assert not report.rows["judgements", LEFT_OUT]

    def test_links_that_the_file_lacks_are_told(self, twin: Study, folder: Path) -> None:
        (folder / "links.jsonl").write_text("")
        (folder / "SHA256SUMS").unlink()
        [problem] = import_evaluation(twin, [folder]).problems
        assert "link round 1 to answer group 2, which the file of links does not have" in problem

    def test_another_link_policy_is_told_and_can_be_mended(self, twin: Study, folder: Path) -> None:
        run = make_evaluated().runs.get(task__key="=t1")
        Judgement.objects.get(round__run=run, round__number=1, judge_role="B").groups.clear()
        Link.objects.all().delete()
        export_all(run.study, folder)
        Study.objects.filter(pk=twin.pk).update(settings={"link_policy": "either"})
        [problem] = import_evaluation(twin, [folder]).problems
        assert "'either' (link_policy of its file)" in problem
        Study.objects.filter(pk=twin.pk).update(settings={})
        assert not import_evaluation(twin, [folder]).problems
        # Links that were made by another policy are made anew by the judgements that are there.
        Study.objects.filter(pk=twin.pk).update(settings={"link_policy": "either"})
        import_evaluation(twin, [folder / "judgements.jsonl"])
        assert Link.objects.filter(run__study=twin).count() == 1

    @pytest.mark.parametrize(
        ("name", "text", "told"),
        [
            ("x.jsonl", "", "holds no row that can be read, and its name does not tell"),
            ("x.csv", "", "no line of column names"),
            ("x.csv", "a,a\n1,2\n", "stands there twice"),
            ("x.jsonl", '{"a": 1}\n', "is none of pages, answers, verdicts"),
            ("x.jsonl", '{"group_number": 1, "label": "C", "claims": []}\n', "lacks task_key, model, title"),
            ("x.jsonl", '{"item_id": 1, "kind": "group", "action": "label"}\n', "import_labels"),
            ("runs.jsonl", "", "import_runs"),
            ("x.jsonl", '{"format": "lseval-run/1", "task": {}, "final_answer": ""}\n', "import_runs"),
            ("x.csv", "\ufefftask_key,model\n", "is none of pages"),
        ],
    )
    def test_file_of_something_else_is_refused(
        self, twin: Study, tmp_path: Path, name: str, text: str, told: str
    ) -> None:
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=told):
            import_evaluation(twin, [tmp_path / name])

    def test_files_that_cannot_be_opened_or_are_given_twice_are_refused(self, twin: Study, folder: Path) -> None:
        with pytest.raises(InputError, match="cannot be read"):
            import_evaluation(twin, [folder / "no.jsonl"])
        with pytest.raises(InputError, match="are both of links"):
            import_evaluation(twin, [folder / "links.jsonl", folder / "links.jsonl"])
        (folder / "utf16.jsonl").write_bytes("x".encode("utf-16"))
        with pytest.raises(InputError, match="UTF-16"):
            import_evaluation(twin, [folder / "utf16.jsonl"])
        (folder / "latin.csv").write_bytes(b"task_key,mod\xe9l\n")
        with pytest.raises(InputError, match="is not UTF-8"):
            import_evaluation(twin, [folder / "latin.csv"])
        (folder / "empty").mkdir()
        with pytest.raises(InputError, match="There is no file of pages"):
            import_evaluation(twin, [folder / "empty"])

    @pytest.mark.parametrize(
        ("name", "cell", "told"),
        [
            ("repeat", "NaN", "repeat: 'NaN': NaN is not a JSON number"),
            ("repeat", "1" * 30, "does not fit in 64 bits"),
            ("repeat", "1" * 5000, "does not fit in 64 bits"),
            ("repeat", "1.0", "repeat: should be a valid integer"),
            ("repeat", "", "repeat: '': not JSON"),
            ("is_second", "yes", "is_second: 'yes': not JSON"),
            ("flags", "[1", "flags: '[1': not JSON"),
            ("flags", "[1]", "flags[0]: should be a valid string"),
            ("claims", "{}", "claims: should be a valid list"),
            ("pages", '[{"id": 1}]', "pages[0].digest: is missing"),
            ("reason", "a\x00b", "reason: NUL or a lone surrogate cannot be stored"),
            ("judged_at", "yesterday", "judged_at: 'yesterday' is no time in ISO 8601"),
        ],
    )
    def test_cell_that_is_no_value_of_its_column_is_told(
        self, study: Study, twin: Study, tmp_path: Path, name: str, cell: str, told: str
    ) -> None:
        rows = list(csv.DictReader(io.StringIO(written(study, "verdicts", "csv"), newline="")))
        rows[1][name] = cell
        path = tmp_path / "verdicts.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        [problem] = import_evaluation(twin, [path]).problems
        assert told in problem
        # The first row has a cell of two lines, so the second one begins on the fourth.
        assert problem.startswith("verdicts.csv:4: ")
        assert not Verdict.objects.filter(group__run__study=twin, group__run__task__key="=t1").exists()

    def test_pages_of_an_export_are_told_from_a_folder_of_saved_pages(self, twin: Study, folder: Path) -> None:
        with pytest.raises(CommandError, match="import_evaluation` reads the pages that"):
            call_command("import_pages", "two", str(folder))
