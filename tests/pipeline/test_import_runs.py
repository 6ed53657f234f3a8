"""`manage.py import_runs`, from files to rows, with the hostile inputs it must survive."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from lseval.domain.trajectory import ReferenceRecord, RubricRecord
from lseval.formats import write_run
from lseval.models import AnswerGroup, Citation, Page, ReferenceLabel, Round, Run, Study, ToolCall
from lseval.pipeline.import_runs import FURTHER, counts_of, import_run
from tests.factories import make_record, make_run, make_study
from tests.shared import shared_path

pytestmark = pytest.mark.django_db


def import_(*paths: Path, study: str = "s1", **options: Any) -> dict[str, Any]:
    """Run the command and give its JSON summary, also where rows failed."""
    out = StringIO()
    with suppress(CommandError):
        call_command("import_runs", study, *map(str, paths), "--json", stdout=out, **options)
    return json.loads(out.getvalue())


def lines(*records: str) -> bytes:
    return ("\n".join(records) + "\n").encode()


def test_a_run_is_saved_whole(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(write_run(make_record())))
    summary = import_(path)
    assert summary["runs"] == {"created": 1, "unchanged": 0, "further": 0, "failed": 0}
    run = Run.objects.get()
    assert run.rounds.count() == 2
    assert [call.name for call in ToolCall.objects.order_by("turn__number")] == ["web_search", "read_page"]
    assert run.rubric.required_count == 2
    assert [group.title for group in run.answer_groups.all()] == ["Lake Aldis ferry", "Lake Borun ferry"]
    assert run.is_valid_final
    assert run.is_premature is False
    assert [page.source for page in run.pages.all()] == ["recorded", "recorded"]


def test_a_second_import_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(write_run(make_record()), write_run(make_record("t2"))))
    import_(path)
    before = counts_of(Study.objects.get())
    summary = import_(path)
    assert summary["runs"] == {"created": 0, "unchanged": 2, "further": 0, "failed": 0}
    assert set(summary["new"].values()) == {0}
    assert counts_of(Study.objects.get()) == before


def test_a_further_run_of_the_same_cell_is_reported_and_not_saved() -> None:
    study = make_study()
    kept = make_run(study)
    outcome = import_run(study, make_record(answer="Another answer."), source_format="test")
    assert outcome.status == FURTHER
    assert outcome.run_id == kept.pk
    assert Run.objects.get().final_answer == kept.final_answer


def test_a_task_key_with_another_question_is_refused(tmp_path: Path) -> None:
    study = make_study()
    make_run(study)
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(write_run(make_record(model="m2", question="Something else?"))))
    summary = import_(path)
    assert summary["runs"]["failed"] == 1
    assert "another question" in summary["notes"][0]
    assert Run.objects.count() == 1
    assert not study.models.filter(name="m2").exists()


def test_a_bad_row_fails_the_command_and_the_others_are_saved(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(write_run(make_record()), '{"format": "lseval-run/1"}', write_run(make_record("t2"))))
    with pytest.raises(CommandError, match="1 of 3 rows could not be imported"):
        call_command("import_runs", "s1", str(path), stdout=StringIO(), stderr=StringIO())
    assert Run.objects.count() == 2


def test_every_row_is_in_the_report(tmp_path: Path) -> None:
    path, report = tmp_path / "runs.jsonl", tmp_path / "report.jsonl"
    path.write_bytes(lines(write_run(make_record()), "not json", write_run(make_record())))
    import_(path, report=report)
    rows = [json.loads(line) for line in report.read_text().splitlines()]
    assert [(row["position"], row["status"]) for row in rows] == [(1, "created"), (2, "failed"), (3, "unchanged")]
    assert rows[1]["code"] == "invalid_json"
    assert f"{path}:2" in rows[1]["message"]


def test_nothing_is_left_of_a_run_that_cannot_be_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever breaks while a run is being saved, no part of it stays."""
    study = make_study()

    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("the power went out")

    monkeypatch.setattr("lseval.pipeline.import_runs.save_answer", broken)
    with pytest.raises(RuntimeError):
        import_run(study, make_record(), source_format="test")
    assert set(counts_of(study).values()) == {0}


def test_pages_under_two_spellings_of_one_address_are_one_page() -> None:
    record = make_record()
    first = record.pages[0]
    twin = type(first)(first.url.replace("https://", "HTTPS://") + "?utm_source=x#top", "Other words.", "")
    run = make_run(make_study(), pages=(first, twin))
    page = run.pages.get()
    assert page.text == f"{first.text}\n\nOther words."


def test_a_premature_answer_is_one_before_any_page_was_read() -> None:
    study = make_study()
    searched_only = make_record().turns[:1]
    assert make_run(study, "t1", turns=searched_only).is_premature is True
    assert make_run(study, "t2", turns=()).is_premature is None


# Hostile rows: I01 byte order marks and line ends, I02 NUL, I04 size, I05 ids and numbers, J07 duplicate keys.


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_byte_order_mark_and_line_ends_do_not_matter(tmp_path: Path, mark: bytes, end: bytes) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(mark + end.join(write_run(make_record(task)).encode() for task in ("t1", "t2")) + end)
    assert import_(path)["runs"]["created"] == 2


def test_a_file_in_utf16_is_imported_or_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(write_run(make_record()).encode("utf-16"))
    summary = import_(path)
    assert summary["runs"]["created"] == 1 or str(path) in summary["notes"][0]


def test_nul_in_one_row_of_a_thousand_is_replaced_and_named(tmp_path: Path) -> None:
    records = [
        write_run(make_record(f"t{number}", turns=(), pages=(), answer="Lake Aldis.")) for number in range(1000)
    ]
    records[499] = records[499].replace("Lake Aldis.", "Lake\\u0000Aldis.")
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(*records))
    summary = import_(path)
    assert summary["runs"]["created"] == 1000
    assert [note for note in summary["notes"] if ":500:" in note]
    assert Run.objects.get(task__key="t499").final_answer == "Lake\ufffdAldis."


def test_a_line_of_ten_megabytes_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(write_run(make_record(answer="An answer. " * 900_000))))
    assert import_(path)["runs"]["created"] == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task": "t" * 5000}, "the task's key has 5,000 characters, 200 at most"),
        ({"model": "m" * 201}, "the model's name has 201 characters"),
        ({"model_family": "f" * 201}, "the model's family"),
        ({"task_language": "x" * 21}, "the task's language"),
        ({"rubric": RubricRecord(99_999_999_999)}, "the required count is 99,999,999,999"),
        ({"attempts": 50_000_000}, "the number of attempts is 50,000,000, 10,000 at most"),
        ({"references": (ReferenceRecord(2**40),)}, "a reference's step"),
    ],
)
def test_a_row_that_cannot_be_stored_fails_alone(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(write_run(make_record(**changes)), write_run(make_record("after"))))
    summary = import_(path)
    assert summary["runs"] == {"created": 1, "unchanged": 0, "further": 0, "failed": 1}
    assert any(f"{path}:1:" in note and said in note for note in summary["notes"])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("first", ["", "\N{GRINNING FACE}"])
def test_rows_of_ten_megabytes_stay_under_300_megabytes(tmp_path: Path, first: str) -> None:
    path, var = tmp_path / "runs.jsonl", settings.DATABASES["default"]
    with path.open("w") as file:
        for number in range(6):
            file.write(write_run(make_record(f"t{number}", answer=first + "An answer. " * 900_000)) + "\n")
    program = (
        "import re, sys; from django.core.management import execute_from_command_line as run\n"
        "import django.conf; django.conf.settings.DATABASES['default']['NAME'] = sys.argv[2]\n"
        "run(['manage.py', 'import_runs', 'large', sys.argv[1], '--json'])\n"
        # Not ru_maxrss, which a child inherits from the process that it was forked from.
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), var["NAME"]],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "lseval.settings"},
    )
    assert done.returncode == 0, done.stderr
    summary, peak_kib = done.stdout.splitlines()[-2:]
    assert json.loads(summary)["runs"]["created"] == 6
    assert int(peak_kib) < 300 * 1024


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (('"t1"', "null"), "invalid_field"),
        (('"key":"t1",', ""), "missing_field"),
        (('"attempts":1', '"attempts":9223372036854775808'), "integer_out_of_range"),
        (('"attempts":1', '"attempts":1e400'), "non_finite_number"),
        (('"attempts":1', '"attempts":1,"attempts":2'), "duplicate_key"),
        (('"key":"t1"', '"key":"t1","key":"t2"'), "duplicate_key"),
    ],
)
def test_a_row_with_bad_ids_numbers_or_keys_is_refused_by_name(
    tmp_path: Path, change: tuple[str, str], code: str
) -> None:
    text = json.dumps(json.loads(write_run(make_record(attempts=1))), separators=(",", ":"))
    if '"attempts":1' not in text:
        text = text[:-1] + ',"attempts":1}'
    assert change[0] in text
    path, report = tmp_path / "runs.jsonl", tmp_path / "report.jsonl"
    path.write_bytes(lines(text.replace(*change, 1), write_run(make_record("t2"))))
    assert import_(path, report=report)["runs"] == {"created": 1, "unchanged": 0, "further": 0, "failed": 1}
    assert json.loads(report.read_text().splitlines()[0])["code"] == code


def test_a_study_name_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(write_run(make_record())))
    with pytest.raises(Exception, match="short name"):
        call_command("import_runs", "<script>", str(path))
    assert not Study.objects.exists()


# Real data. (folder, runs, rounds at least, pages at least, further runs of a cell that has one)
REAL = [
    ("deerflow_threads", 4, 60, 5, 0),
    ("webdancer", 87, 90, 3, 13),
    ("who_and_when", 92, 1900, 60, 0),
    ("drb_reports", 198, 0, 0, 0),
]


@pytest.mark.parametrize(("folder", "runs", "rounds", "pages", "further"), REAL)
def test_real_trajectories_import_once(folder: str, runs: int, rounds: int, pages: int, further: int) -> None:
    path = shared_path(f"data/{folder}")
    first, second = import_(path), import_(path)
    assert first["runs"] == {"created": runs, "unchanged": 0, "further": further, "failed": 0}
    assert second["runs"] == {"created": 0, "unchanged": runs, "further": further, "failed": 0}
    assert set(second["new"].values()) == {0}
    assert Round.objects.count() >= rounds
    assert Page.objects.exclude(text="").count() >= pages
    assert AnswerGroup.objects.count() >= runs - 20
    assert all(page.source == "recorded" for page in Page.objects.all())


def test_expert_steps_find_their_rounds() -> None:
    import_(shared_path("data/who_and_when"))
    assert ReferenceLabel.objects.count() == 92
    assert not ReferenceLabel.objects.filter(round=None).exists()


def test_cited_reports_tie_their_markers_to_addresses() -> None:
    import_(shared_path("data/drb_reports"))
    runs = Run.objects.count()
    with_two = sum(1 for run in Run.objects.all() if run.answer_groups.count() >= 2)
    assert with_two >= 0.95 * runs
    assert Citation.objects.exclude(url="").count() > 5000
    assert not Citation.objects.filter(url="", marker="").exists()


def test_very_long_addresses_are_stored_and_still_meet_their_pages() -> None:
    url = "https://ferries.example/aldis?" + "&".join(f"k{number}=v{number * 7919}" for number in range(220))
    page = replace(make_record().pages[0], url=url)
    run = make_run(make_study(), answer=f"Lake Aldis ferry: opened in 1962 <{url}>.", pages=(page,))
    assert run.citations.get().canonical_key == run.pages.get().canonical_key


@pytest.mark.parametrize(
    "moment", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", "2025-01-25T09:39:56+23:59:59"]
)
def test_a_moment_outside_our_age_is_left_empty_with_a_warning(moment: str) -> None:
    outcome = import_run(make_study(), make_record(started_at=moment), source_format="test")
    run = Run.objects.get(pk=outcome.run_id)
    assert run.started_at is None or 1970 <= run.started_at.year <= 2200
    assert run.started_at is not None or "started_at" in outcome.warnings[0]


def test_the_report_never_overwrites_a_source(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(write_run(make_record())))
    before = path.read_bytes()
    with pytest.raises(CommandError, match="one of the files to import"):
        call_command("import_runs", "s1", str(tmp_path), report=path)
    assert path.read_bytes() == before


def test_a_pipe_and_a_file_whose_name_is_no_text_are_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xffad.jsonl")).write_bytes(lines(write_run(make_record("t2"))))
    (tmp_path / "runs.jsonl").write_bytes(lines(write_run(make_record())))
    summary = import_(tmp_path)
    assert summary["runs"]["created"] == 1
    assert len([note for note in summary["notes"] if note.startswith("skipped")]) == 2
