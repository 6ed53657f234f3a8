import json

import pytest

from lseval.errors import InputError
from lseval.formats import FORMATS, detect_format, read_runs
from tests.formats.samples import ROWS, lseval_row, read_one, write_rows


def errors_of(results):
    return [(result.position, result.error) for result in results if result.error]


@pytest.mark.parametrize("name", FORMATS)
def test_format_is_told_from_the_content_whatever_the_name_and_layout(tmp_path, name):
    row = ROWS[name]()
    assert detect_format(write_rows(tmp_path / "rows.txt", [row, row])) == name
    spread = tmp_path / "data"
    spread.write_text(json.dumps(row, indent=2))
    assert detect_format(spread) == name
    (result,) = read_runs(spread)
    assert (result.position, result.error, result.bytes_read) == (1, "", spread.stat().st_size)
    assert result.record == read_one(tmp_path / "data.jsonl", row).record


def test_unknown_content_is_refused_with_the_path_and_the_known_formats(tmp_path):
    path = write_rows(tmp_path / "query.jsonl", [{"id": 1, "topic": "x"}])
    with pytest.raises(InputError) as caught:
        detect_format(path)
    assert caught.value.code == "unknown_format"
    assert str(path) in str(caught.value)
    assert all(name in str(caught.value) for name in FORMATS)
    assert errors_of(read_runs(path)) == [(1, "unknown_format")]


def test_unknown_format_name_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(InputError, match="no format is called 'csv'; known formats: lseval, inspect, langgraph"):
        read_runs(tmp_path / "absent.jsonl", "csv")


def test_broken_rows_do_not_hide_the_format(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"task": \n' + json.dumps(lseval_row()) + "\n")
    assert detect_format(path) == "lseval"
    results = list(read_runs(path))
    assert errors_of(results) == [(1, "invalid_json")]
    assert results[1].record.task_key == "t1"


def test_array_of_runs_is_refused_with_what_to_do(tmp_path):
    path = tmp_path / "runs.json"
    for text in (json.dumps([lseval_row()]), json.dumps([lseval_row()], indent=1)):
        path.write_text(text)
        (result,) = read_runs(path)
        assert result.error == "json_array"
        assert "write one run a line" in result.message


@pytest.mark.parametrize("content", [b"", b"\n \r\n\n", b"\xef\xbb\xbf"])
def test_file_without_rows_is_an_error(tmp_path, content):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(content)
    assert errors_of(read_runs(path)) == [(1, "empty_file")]


def test_file_that_cannot_be_read_gives_one_result_with_an_error(tmp_path):
    for path in (tmp_path / "absent.jsonl", tmp_path):
        (result,) = read_runs(path)
        assert (result.record, result.position, result.error) == (None, 1, "unreadable_file")
        assert str(path) in result.message


def test_results_carry_line_numbers_and_bytes_read(tmp_path):
    path = tmp_path / "runs.jsonl"
    first, second = (json.dumps(lseval_row(final_answer=text)).encode() for text in ("a", "bb"))
    path.write_bytes(first + b"\n\n" + second)
    assert [(result.position, result.bytes_read) for result in read_runs(path)] == [
        (1, len(first) + 1),
        (3, path.stat().st_size),
    ]


def test_i01_utf8_mark_and_crlf_are_imported(tmp_path):
    path = tmp_path / "runs.jsonl"
    row = json.dumps(lseval_row(final_answer="Øresund"), ensure_ascii=False).encode()
    path.write_bytes(b"\xef\xbb\xbf" + row + b"\r\n" + b"\xef\xbb\xbf" + row + b"\r\n")
    results = list(read_runs(path))
    assert [result.record.final_answer for result in results] == ["Øresund", "Øresund"]


@pytest.mark.parametrize(("encoding", "code"), [("utf-16", "unsupported_encoding"), ("utf-16-le", "invalid_json")])
def test_i01_utf16_is_refused_with_the_file_and_the_line(tmp_path, encoding, code):
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(lseval_row()) + "\n", encoding=encoding)
    (result,) = read_runs(path)
    assert result.error == code
    assert result.message.startswith(f"{path}:1: ")
    assert "UTF-16" in result.message


def test_i02_nul_in_one_row_of_a_thousand_is_mended_and_the_others_are_untouched(tmp_path):
    rows = [lseval_row(final_answer=f"answer {number}") for number in range(1, 1001)]
    rows[499]["messages"][1]["content"] = "before\x00after"
    path = write_rows(tmp_path / "runs.jsonl", rows)
    results = list(read_runs(path))
    assert [result.record.final_answer for result in results] == [f"answer {number}" for number in range(1, 1001)]
    assert [result.position for result in results if result.warnings] == [500]
    mended = results[499]
    assert mended.record.turns[0].tool_calls[0].observation == "before�after"
    assert mended.record.pages[0].text == "before�after"
    assert mended.warnings == (f"{path}:500: messages[1].content: NUL replaced by U+FFFD",)
    assert mended.record.warnings == ("messages[1].content: NUL replaced by U+FFFD",)
    assert "\x00" not in repr([result.record for result in results])


@pytest.mark.parametrize("name", FORMATS)
def test_i02_no_nul_is_left_in_any_format(tmp_path, name):
    text = json.dumps(ROWS[name]()).replace("Example", "Exa\\u0000mple")
    path = tmp_path / "runs.jsonl"
    path.write_text(text)
    (result,) = read_runs(path)
    assert result.record.final_answer.count("Exa�mple") == (1 if name != "who_and_when" else 0)
    assert "\\x00" not in repr(result.record)
    assert any("NUL replaced" in warning for warning in result.warnings)


def test_i03_row_in_another_encoding_is_named_by_file_line_and_offset(tmp_path):
    path = tmp_path / "runs.jsonl"
    rows = [json.dumps(lseval_row(final_answer="Øresund"), ensure_ascii=False) for _ in range(3)]
    path.write_bytes(b"\n".join([rows[0].encode(), rows[1].encode("latin-1"), rows[2].encode()]))
    results = list(read_runs(path))
    assert errors_of(results) == [(2, "invalid_utf8")]
    in_line = rows[1].encode("latin-1").index(b"\xd8")
    in_file = len(rows[0].encode()) + 1 + in_line
    assert results[1].message == f"{path}:2: byte {in_line} (0xd8) is not UTF-8 (byte {in_file} of the file)"
    assert [result.record is None for result in results] == [False, True, False]


def test_i04_line_over_the_limit_is_an_error_of_that_line_only(tmp_path):
    path = write_rows(
        tmp_path / "runs.jsonl",
        [lseval_row(), lseval_row(final_answer="x" * 5000), lseval_row(final_answer="last")],
    )
    results = list(read_runs(path, max_line_bytes=2000))
    assert errors_of(results) == [(2, "line_too_long")]
    assert results[2].record.final_answer == "last"
    assert results[2].bytes_read == path.stat().st_size


def test_i04_one_long_line_may_be_a_document_and_has_the_documents_limit(tmp_path):
    path = write_rows(tmp_path / "thread.json", [lseval_row(final_answer="x" * 5000)])
    (result,) = read_runs(path, max_line_bytes=2000)
    assert len(result.record.final_answer) == 5000
    (result,) = read_runs(path, max_line_bytes=2000, max_document_bytes=4000)
    assert result.error == "file_too_large"
    assert "write one run a line" in result.message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('"attempts": 9223372036854775808', "integer_out_of_range"),
        ('"attempts": 1e400', "non_finite_number"),
        ('"attempts": NaN', "non_finite_number"),
        ('"attempts": ' + "9" * 5000, "integer_out_of_range"),
        ('"attempts": "1"', "invalid_field"),
        ('"final_answer": "another"', "duplicate_key"),
        ('"metadata": ' + '{"a":' * 150 + "1" + "}" * 150, "too_deep"),
    ],
)
def test_i05_and_j07_bad_values_are_errors_of_their_row_only(tmp_path, text, code):
    path = tmp_path / "runs.jsonl"
    good = json.dumps(lseval_row())
    path.write_text("\n".join([good, good[:-1] + ", " + text + "}", good]))
    results = list(read_runs(path))
    assert errors_of(results) == [(2, code)]
    assert results[1].message.startswith(f"{path}:2: ")
    assert results[0].record == results[2].record


def test_j07_duplicate_key_in_the_only_row_is_reported_as_such(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(lseval_row())[:-1] + ', "final_answer": "another"}')
    (result,) = read_runs(path)
    assert (result.error, result.position) == ("duplicate_key", 1)
    assert "'final_answer' is given twice" in result.message


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("lseval", ("task", "key")),
        ("lseval", ("model", "name")),
        ("langgraph", ("metadata", "thread_id")),
        ("langgraph", ("metadata", "model_name")),
        ("who_and_when", ("question_ID",)),
        ("who_and_when", ("question",)),
        ("cited_reports", ("id",)),
        ("cited_reports", ("prompt",)),
    ],
)
@pytest.mark.parametrize("value", [None, "", "delete"])
def test_i05_missing_ids_are_row_errors_that_name_the_field(tmp_path, name, path, value):
    row = ROWS[name]()
    holder = row
    for key in path[:-1]:
        holder = holder[key]
    if value == "delete":
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    file = write_rows(tmp_path / "runs.jsonl", [row, ROWS[name]()])
    bad, good = read_runs(file, name)
    assert bad.error in ("missing_field", "invalid_field")
    assert ".".join(path) in bad.message
    assert good.record is not None


def test_i05_equal_rows_are_both_given_for_the_import_to_compare(tmp_path):
    path = write_rows(tmp_path / "runs.jsonl", [lseval_row(), lseval_row()])
    first, second = read_runs(path)
    assert first.record == second.record


def test_row_that_is_no_object_is_an_error(tmp_path):
    path = write_rows(tmp_path / "runs.jsonl", [lseval_row(), ["a"], "b", None, lseval_row()])
    assert errors_of(read_runs(path)) == [(2, "invalid_field"), (3, "invalid_field"), (4, "invalid_field")]
