"""Every sample against every format: no format takes another's rows for its own."""

import json

import pytest

from lseval.formats import FORMATS, detect_format, read_runs
from tests.formats.samples import ROWS, write_rows
from tests.formats.samples_chats import inspect_row, openai_chat_row
from tests.formats.samples_traces import genai_spans, langsmith_rows, openinference_spans, otlp_row

FURTHER = [
    ("otel_spans", genai_spans),
    ("otel_spans", openinference_spans),
    ("langsmith", langsmith_rows),
    ("otel_spans", lambda: [otlp_row(span) for span in genai_spans()]),
    ("openai_chat", lambda: [openai_chat_row(answer="Example")]),
    ("openai_chat", lambda: [openai_chat_row(question_id="7", topic="x")]),
    ("inspect", lambda: [inspect_row(status="error")]),
]


def test_every_format_has_a_sample():
    assert ROWS.keys() == FORMATS.keys()


@pytest.mark.parametrize("name", FORMATS)
def test_a_row_matches_its_own_format_only(name):
    row = ROWS[name]()
    # The first that matches is taken, so a later one may match too; an earlier one must not.
    matching = [other for other, entry in FORMATS.items() if entry.matches(row)]
    assert matching[0] == name
    assert len(matching) == 1 or name == "webdancer"


@pytest.mark.parametrize(("name", "rows"), FURTHER)
def test_other_ways_of_writing_a_format_are_told_too(tmp_path, name, rows):
    assert detect_format(write_rows(tmp_path / "a.jsonl", rows())) == name


@pytest.mark.parametrize("name", FORMATS)
def test_asking_for_another_format_gives_errors_and_never_a_wrong_run(tmp_path, name):
    path = write_rows(tmp_path / "a.jsonl", [ROWS["lseval"]()])
    if name == "lseval":
        return
    results = list(read_runs(path, name))
    assert [bool(result.error) for result in results] == [True]


@pytest.mark.parametrize(("name", "rows"), [("otel_spans", genai_spans), ("langsmith", langsmith_rows)])
def test_spans_in_one_array_are_one_run_and_equal_to_those_on_lines(tmp_path, name, rows):
    array = tmp_path / "spans.json"
    array.write_text(json.dumps(rows(), indent=1))
    assert detect_format(array) == name
    (of_array,) = read_runs(array)
    (of_lines,) = read_runs(write_rows(tmp_path / "spans.jsonl", rows()))
    assert of_array.record == of_lines.record
    assert of_array.record.final_answer


@pytest.mark.parametrize("name", ["openai_chat", "langfuse", "inspect"])
def test_other_formats_in_one_array_are_refused_with_what_to_do(tmp_path, name):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([ROWS[name]()]))
    (result,) = read_runs(path)
    assert result.error == "json_array"
