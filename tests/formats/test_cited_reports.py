import json

from lseval.formats import read_runs
from tests.formats.samples import cited_report_row, write_rows


def test_report_is_a_run_without_turns_named_by_its_file(tmp_path):
    (result,) = read_runs(write_rows(tmp_path / "some_system__model-4.1.jsonl", [cited_report_row()]))
    record = result.record
    assert (record.task_key, record.question) == ("7", "Which river?")
    assert record.model_name == "model-4.1"
    assert record.metadata == {"system": "some_system"}
    assert record.final_answer == "The Example [1].\n\n[1] https://one.example/"
    assert (record.turns, record.pages) == ((), ())


def test_model_is_the_whole_stem_or_the_one_given(tmp_path):
    path = write_rows(tmp_path / "reports.jsonl", [cited_report_row()])
    assert next(read_runs(path)).record.model_name == "reports"
    assert next(read_runs(path, default_model="m9")).record.model_name == "m9"


def test_topic_and_language_come_from_the_queries_beside(tmp_path):
    queries = [
        {"id": 7, "prompt": "Which river?", "topic": "Geography", "language": "en"},
        {"id": 8, "prompt": "Another question", "topic": "History", "language": "de"},
    ]
    write_rows(tmp_path / "query.jsonl", queries)
    rows = [cited_report_row(), cited_report_row() | {"id": 8}, cited_report_row() | {"id": 9}]
    records = [result.record for result in read_runs(write_rows(tmp_path / "s__m.jsonl", rows))]
    # Query 8 asks something else than report 8 answers, and there is no query 9.
    assert [(record.task_topic, record.task_language) for record in records] == [
        ("Geography", "en"),
        ("", ""),
        ("", ""),
    ]


def test_damaged_queries_are_a_warning_and_no_error(tmp_path):
    (tmp_path / "query.jsonl").write_text('{"id": 7, "prompt"')
    (result,) = read_runs(write_rows(tmp_path / "s__m.jsonl", [cited_report_row()]))
    assert result.record.task_topic == ""
    assert "query.jsonl cannot be read" in result.warnings[0]


def test_id_may_be_text_and_is_no_truth_value(tmp_path):
    rows = [cited_report_row() | {"id": value} for value in ("q-7", True, 1.5, None)]
    results = list(read_runs(write_rows(tmp_path / "s__m.jsonl", rows)))
    assert [result.error for result in results] == ["", "invalid_field", "invalid_field", "missing_field"]
    assert results[0].record.task_key == "q-7"


def test_empty_article_is_a_run_without_an_answer(tmp_path):
    path = tmp_path / "s__m.jsonl"
    path.write_text(json.dumps(cited_report_row() | {"article": ""}))
    assert next(read_runs(path)).record.final_answer == ""
