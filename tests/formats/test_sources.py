import json

import pytest

from lseval.errors import InputError
from lseval.formats import iter_sources, read_runs
from tests.formats.samples import cited_report_row, lseval_row, write_rows


def test_folder_gives_its_runs_sorted_and_lists_what_it_passed_over(tmp_path):
    write_rows(tmp_path / "b__m.jsonl", [cited_report_row()])
    (tmp_path / "sub").mkdir()
    write_rows(tmp_path / "sub" / "c.json", [lseval_row()])
    write_rows(tmp_path / "a.jsonl", [lseval_row()])
    write_rows(tmp_path / "query.jsonl", [{"id": 7, "prompt": "Which river?", "topic": "Geography"}])
    (tmp_path / "LICENSE").write_text("MIT")
    (tmp_path / "README.md").write_text("# Runs")
    (tmp_path / ".hidden.jsonl").write_text(json.dumps(lseval_row()))
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    sources = iter_sources([tmp_path])
    assert list(sources) == [tmp_path / "a.jsonl", tmp_path / "b__m.jsonl", tmp_path / "sub" / "c.json"]
    assert [str(skipped) for skipped in sources.skipped] == [
        f"skipped {tmp_path / '.hidden.jsonl'}: a hidden file",
        f"skipped {tmp_path / 'LICENSE'}: not a JSON, JSONL or .eval file",
        f"skipped {tmp_path / 'README.md'}: not a JSON, JSONL or .eval file",
        f"skipped {tmp_path / 'link.jsonl'}: a symbolic link",
        f"skipped {tmp_path / 'query.jsonl'}: holds no run in a known format",
    ]


def test_file_named_by_the_user_is_never_passed_over(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("# Runs")
    sources = iter_sources([path, path])
    assert list(sources) == [path]
    assert [result.error for result in read_runs(path)] == ["invalid_json"]


def test_damaged_file_in_a_folder_is_kept_so_that_reading_reports_it(tmp_path):
    (tmp_path / "cut.jsonl").write_text('{"format": "lseval-run/1", "task"')
    (tmp_path / "utf16.jsonl").write_text(json.dumps(lseval_row()), encoding="utf-16")
    sources = iter_sources([tmp_path])
    errors = [result.error for path in sources for result in read_runs(path)]
    assert errors == ["invalid_json", "unsupported_encoding"]


def test_path_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"absent: there is no such file or folder"):
        iter_sources([tmp_path / "absent"])
