import json
import re
from pathlib import Path

import pytest

from lseval.domain.labels import PageOutcome
from lseval.domain.trajectory import (
    PageRecord,
    ReferenceRecord,
    RubricRecord,
    RunRecord,
    ToolCallRecord,
    TurnRecord,
    UsageRecord,
)
from lseval.formats import FORMATS, detect_format, read_runs
from tests.formats.samples import lseval_row, read_one

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "run-format.md"


def test_example_of_the_document_is_read_as_the_document_says(tmp_path):
    path = tmp_path / "example.json"
    path.write_text(re.search(r"```json\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)[1])
    (result,) = read_runs(path)
    page_url, news_url = "https://rivers.example/bridges", "https://rivers.example/news/2003"
    text = "North Bridge, opened 1994. Mill Bridge, opened 2003. Old Bridge, opened 1871."
    listing = '[{"title": "Bridges of the Example", "url": "https://rivers.example/bridges"}]'
    search = ToolCallRecord("web_search", "web_search", {"query": "river Example bridges opened"}, listing)
    reads = (
        ToolCallRecord("read_page", "read_page", {"url": page_url}, text),
        ToolCallRecord("read_page", "read_page", {"url": news_url}, "404 Not Found", is_error=True),
    )
    reasoning = "A list with opening years would answer both parts."
    assert result.warnings == ()
    assert result.record == RunRecord(
        task_key="bridges-7",
        question="Which two road bridges over the river Example were opened after 1990, and in which year?",
        model_name="our-agent-large",
        final_answer="1. North Bridge, 1994 [1]\n2. Mill Bridge, 2003 [1]\n\n[1] https://rivers.example/bridges",
        turns=(
            TurnRecord("I will look for a list of the bridges.", (search,), reasoning=reasoning, source_step=0),
            TurnRecord("", reads, source_step=2),
        ),
        pages=(
            PageRecord(page_url, text, title="Bridges of the Example"),
            PageRecord(news_url, "", outcome="not_found"),
        ),
        model_family="our-agent",
        task_topic="Engineering",
        task_language="en",
        gold_answer="North Bridge (1994); Mill Bridge (2003)",
        rubric=RubricRecord(
            2,
            ("It crosses the river Example.", "It was opened after 1990."),
            "One group for each bridge.",
            ("name", "year"),
        ),
        usage=UsageRecord(5120, 2048, 310, 96),
        started_at="2025-01-25T09:39:56+00:00",
        metadata={"temperature": 0.2},
    )


def test_every_format_has_a_page_that_the_overview_names():
    overview = (DOCUMENT.parent / "bring-your-runs.md").read_text(encoding="utf-8")
    for name in FORMATS:
        assert f"`{name}`" in overview
        if name != "lseval":
            page = DOCUMENT.parent / "formats" / f"{name}.md"
            assert f"(`{name}`)" in page.read_text(encoding="utf-8").splitlines()[0]
            assert f"(formats/{name}.md)" in overview
    assert "lseval-run/1" in DOCUMENT.read_text(encoding="utf-8")


def test_every_outcome_of_the_program_is_one_of_the_format(tmp_path):
    pages = [{"url": f"https://{number}.example/", "outcome": name} for number, name in enumerate(PageOutcome)]
    result = read_one(tmp_path / "a.jsonl", lseval_row(pages=pages))
    assert [page.outcome for page in result.record.pages[1:]] == list(PageOutcome)
    wrong = read_one(tmp_path / "b.jsonl", lseval_row(pages=[{"url": "https://a.example/", "outcome": "fine"}]))
    assert (wrong.error, "pages[0].outcome: should be ok, empty" in wrong.message) == ("invalid_field", True)


@pytest.mark.parametrize(
    ("changes", "code", "told"),
    [
        ({"task": {"key": "t1"}}, "missing_field", "task.question: is missing"),
        ({"model": {"name": "  "}}, "invalid_field", "model.name: should not be blank"),
        ({"modle": 1}, "unknown_field", "modle: is no field of this format; is model meant?"),
        ({"zzzzzz": 1}, "unknown_field", "zzzzzz: is no field of this format; put it under metadata"),
        ({"attempts": 0}, "invalid_field", "attempts: should be greater than or equal to 1"),
        ({"attempts": True}, "invalid_field", "attempts: should be a valid integer"),
        ({"attempts": 1.0}, "invalid_field", "attempts: should be a valid integer"),
        ({"final_answer": None}, "invalid_field", "final_answer: should be a valid string"),
        ({"started_at": "yesterday"}, "invalid_field", "started_at: should be a date and time such as 2025"),
        ({"usage": {"input_tokens": -1}}, "invalid_field", "usage.input_tokens: should be greater than"),
        (
            {"pages": [{"url": "u", "outcome": "fine"}]},
            "invalid_field",
            "pages[0].outcome: should be ok, empty",
        ),
        (
            {"pages": [{"url": "u", "text": "x", "outcome": "walled"}]},
            "invalid_field",
            "pages[0].text: should be absent for a page whose outcome is walled",
        ),
        ({"format": "lseval-run/2"}, "unsupported_version", "format: 'lseval-run/2' is not read here"),
        ({f"k{number}": 0 for number in range(1000)}, "invalid_field", "has 1005 fields; the format has 13 here"),
    ],
)
def test_wrong_field_is_named_with_what_is_wrong(tmp_path, changes, code, told):
    result = read_one(tmp_path / "runs.jsonl", lseval_row(**changes))
    assert result.error == code
    assert told in result.message


@pytest.mark.parametrize(
    ("messages", "code", "told"),
    [
        ([{"role": "user", "content": "Q"}], "invalid_field", "messages[0]: should have a role, assistant or tool"),
        ([{"content": "Q"}], "invalid_field", "messages[0]: should have a role, assistant or tool"),
        (
            [{"role": "assistant", "contnet": ""}],
            "unknown_field",
            "[0].contnet: is no field of this format",
        ),
        (
            [{"role": "assistant", "tool_calls": [{}]}],
            "missing_field",
            "[0].tool_calls[0].name: is missing",
        ),
        (
            [{"role": "tool", "tool_call_id": "a", "content": ""}],
            "invalid_field",
            "[0].tool_call_id: no earlier",
        ),
        (["text"], "invalid_field", "messages[0]"),
    ],
)
def test_wrong_message_is_named_by_its_place_and_field(tmp_path, messages, code, told):
    result = read_one(tmp_path / "runs.jsonl", lseval_row(messages=messages))
    assert result.error == code
    assert told in result.message


def test_all_faults_of_a_row_are_named_together(tmp_path):
    row = lseval_row(task={"question": "?", "lang": "en"}, attempts=0)
    del row["final_answer"]
    result = read_one(tmp_path / "runs.jsonl", row, format="lseval")
    assert result.error == "missing_field"
    for field in (
        "task.key: is missing",
        "task.lang: is no field",
        "attempts: should be",
        "final_answer: is missing",
    ):
        assert field in result.message


def test_call_may_be_answered_once_and_its_id_used_once(tmp_path):
    row = lseval_row()
    row["messages"].append(dict(row["messages"][1]))
    result = read_one(tmp_path / "runs.jsonl", row)
    assert "messages[2].tool_call_id: the call 'a' is already answered" in result.message
    row = lseval_row()
    row["messages"].append(dict(row["messages"][0]))
    result = read_one(tmp_path / "runs.jsonl", row)
    assert "messages[2].tool_calls[0].id: 'a' is the id of an earlier call" in result.message


def test_format_left_out_is_reported_as_the_missing_field(tmp_path):
    row = lseval_row()
    del row["format"]
    result = read_one(tmp_path / "runs.jsonl", row)
    assert result.error == "missing_field"
    assert "format: is missing" in result.message


def test_rows_of_another_version_are_recognised_and_refused(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps({"format": "lseval-run/9", "anything": 1}))
    assert detect_format(path) == "lseval"
    (result,) = read_runs(path)
    assert result.error == "unsupported_version"


@pytest.mark.parametrize(
    ("tool", "outcome", "text"),
    [
        ({"content": "some text"}, "ok", "some text"),
        ({"content": "  "}, "empty", ""),
        ({"content": None}, "empty", ""),
        ({"content": "timeout", "is_error": True}, "unavailable", ""),
        ({"content": "log in", "page": {"url": "https://one.example/", "outcome": "walled"}}, "walled", ""),
    ],
)
def test_outcome_of_a_page_follows_from_its_tool_message(tmp_path, tool, outcome, text):
    row = lseval_row()
    row["messages"][1] |= tool
    (page,) = read_one(tmp_path / "runs.jsonl", row).record.pages
    assert page == PageRecord("https://one.example/", text, outcome=outcome)


def test_page_text_of_messages_and_of_the_list_is_joined(tmp_path):
    row = lseval_row(pages=[{"url": "https://one.example/", "text": "More.", "title": "One"}])
    (page,) = read_one(tmp_path / "runs.jsonl", row).record.pages
    assert page == PageRecord("https://one.example/", "The Example.\n\nMore.", title="One")


def test_call_without_a_tool_message_has_no_observation(tmp_path):
    row = lseval_row()
    del row["messages"][1]
    (turn,) = read_one(tmp_path / "runs.jsonl", row).record.turns
    assert turn.tool_calls[0].observation is None


def test_reference_that_finds_no_turn_is_kept_with_a_warning(tmp_path):
    row = lseval_row(references=[{"step": 0, "reason": "early"}, {"step": 7}])
    result = read_one(tmp_path / "runs.jsonl", row)
    assert result.record.references == (ReferenceRecord(0, reason="early"), ReferenceRecord(7))
    assert result.record.warnings == ("references: no assistant message has the step 7",)
