import pytest

from lseval.domain.trajectory import PageRecord, UsageRecord
from tests.formats.samples import langgraph_row, read_one

REPORT = "# Rivers\n\n" + "The Example is long. " * 20


def ai(text="", *calls, **more):
    tool_calls = [
        {"id": f"{name}-{number}", "name": name, "args": args} for number, (name, args) in enumerate(calls)
    ]
    return {"type": "ai", "content": text, "tool_calls": tool_calls} | more


def answered(message, *contents):
    """An `ai` message and the tool messages that answer its calls."""
    return [message] + [
        {"type": "tool", "tool_call_id": call["id"], "content": content}
        for call, content in zip(message["tool_calls"], contents, strict=True)
    ]


def row_with(*messages, artifacts=()):
    row = langgraph_row()
    row["values"]["messages"][1:] = messages
    row["values"]["artifacts"] = list(artifacts)
    return row


def record_of(tmp_path, row):
    result = read_one(tmp_path / "thread.json", row)
    assert result.error == "", result.message
    return result.record


def test_thread_becomes_a_run(tmp_path):
    record = record_of(tmp_path, langgraph_row())
    assert (record.task_key, record.question, record.model_name) == ("thread-1", "Which river?", "m1")
    (turn,) = record.turns
    assert (turn.reasoning, turn.source_step) == ("I should read.", 1)
    (fetch,) = turn.tool_calls
    assert (fetch.name, fetch.original_name) == ("read_page", "web_fetch")
    assert record.pages == (PageRecord("https://one.example/", "# Rivers\n\nThe Example.", title="Rivers"),)
    assert record.final_answer == "It is the Example."
    assert record.metadata["report_source"] == {"kind": "message", "step": 3}


def test_question_is_all_that_the_human_wrote(tmp_path):
    row = row_with(
        *answered(ai("", ("ask_clarification", {"question": "When?"})), "When?"),
        ai(""),
        {"type": "human", "content": "In 1990"},
        {"type": "system", "content": "No files."},
        ai("The Example."),
    )
    record = record_of(tmp_path, row)
    assert record.question == "Which river?\n\nIn 1990"
    # The message that says, calls and thinks nothing is no turn.
    assert [turn.source_step for turn in record.turns] == [1]


@pytest.mark.parametrize(
    ("content", "outcome", "is_error"),
    [
        ("Error: Failed to fetch url", "unavailable", True),
        ("Error: 404 Client Error", "not_found", True),
        ("Error: 403 Forbidden", "walled", True),
        ("# Untitled\n\nNo content could be extracted from this page", "empty", False),
        ("", "empty", False),
    ],
)
def test_failed_fetch_is_a_page_without_text(tmp_path, content, outcome, is_error):
    row = row_with(*answered(ai("", ("web_fetch", {"url": "https://one.example/"})), content), ai("Nothing."))
    record = record_of(tmp_path, row)
    assert record.pages == (PageRecord("https://one.example/", "", outcome=outcome),)
    assert record.turns[0].tool_calls[0].is_error is is_error


def test_id_used_again_answers_the_latest_call_with_it(tmp_path):
    row = row_with(
        *answered(ai("", ("web_search", {"query": "a"})), "A"),
        *answered(ai("", ("web_search", {"query": "b"})), "B"),
        ai("Done."),
    )
    record = record_of(tmp_path, row)
    assert [turn.tool_calls[0].observation for turn in record.turns] == ["A", "B"]


def test_result_without_a_call_is_left_out_with_a_warning(tmp_path):
    row = row_with({"type": "tool", "tool_call_id": "x", "content": "stray"}, ai("Done."))
    result = read_one(tmp_path / "thread.json", row)
    assert result.record.warnings == ("values.messages[1]: answers no tool call, left out",)


def test_call_with_unreadable_arguments_is_an_error_of_its_turn(tmp_path):
    invalid = [{"id": "x", "name": "web_search", "args": '{"query": "a', "error": "cut off"}]
    record = record_of(tmp_path, row_with(ai("", invalid_tool_calls=invalid), ai("Done.")))
    (call,) = record.turns[0].tool_calls
    assert (call.name, call.arguments, call.is_error) == ("web_search", {"text": '{"query": "a'}, True)
    assert call.observation == "cut off"


def test_usage_is_summed_over_the_messages_that_state_it(tmp_path):
    first = {"input_tokens": 100, "output_tokens": 10, "input_token_details": {"cache_read": 60}}
    second = {"input_tokens": 50, "output_tokens": 5, "output_token_details": {"reasoning": 4}}
    row = row_with(ai("Reading.", usage_metadata=first), ai("Done.", usage_metadata=second), ai("Really."))
    assert record_of(tmp_path, row).usage == UsageRecord(150, 60, 15, 4)
    assert record_of(tmp_path, langgraph_row()).usage == UsageRecord()


def test_blocks_of_text_and_thinking_are_taken_apart(tmp_path):
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A"}, {"type": "tool_use"}, "B"]
    record = record_of(tmp_path, row_with(ai(blocks), ai("Done.")))
    assert (record.turns[0].text, record.turns[0].reasoning) == ("A\n\nB", "hm")


def write(path, content, **more):
    return answered(ai("", ("write_file", {"path": path, "content": content} | more)), "OK")


@pytest.mark.parametrize(
    ("deliver", "artifacts"),
    [
        ((ai("", ("present_files", {"filepaths": ["/out/report.md"]})),), ()),
        ((ai("", ("bash", {"command": "cp /desk/report.md '/data/outputs/'"})),), ()),
        ((), ("/data/outputs/report.md",)),
    ],
)
def test_written_and_delivered_document_is_the_answer(tmp_path, deliver, artifacts):
    delivering = [message for item in deliver for message in answered(item, "ok")]
    row = row_with(*write("/desk/report.md", REPORT), *delivering, ai("See the report."), artifacts=artifacts)
    record = record_of(tmp_path, row)
    assert record.final_answer == REPORT
    assert record.metadata["report_source"] == {"kind": "file", "path": "/desk/report.md", "step": 1}
    assert record.metadata["closing_message"] == "See the report."
    # The closing words are part of the response; writing the report is a turn.
    assert [turn.source_step for turn in record.turns] == [1, 3][: 1 + len(deliver)]


@pytest.mark.parametrize(
    ("path", "content"),
    [("/desk/report.md", REPORT), ("/x/outputs/note.md", "short"), ("/x/outputs/data.json", REPORT)],
)
def test_document_not_delivered_or_no_report_leaves_the_message_as_the_answer(tmp_path, path, content):
    record = record_of(tmp_path, row_with(*write(path, content), ai("It is the Example.")))
    assert record.final_answer == "It is the Example."
    assert record.metadata["report_source"]["kind"] == "message"


def test_report_is_taken_as_it_was_left_after_its_changes(tmp_path):
    path = "/x/outputs/report.md"
    replace = ("str_replace", {"path": path, "old_str": "Rivers", "new_str": "Streams"})
    row = row_with(
        *write("/x/outputs/earlier.md", REPORT),
        *write(path, REPORT),
        *write(path, "The end.", append=True),
        *answered(ai("", replace), "OK"),
        *answered(ai("", ("write_file", {"path": path, "content": "lost"})), "Error: disk full"),
        ai("See the report."),
    )
    assert record_of(tmp_path, row).final_answer == REPORT.replace("Rivers", "Streams") + "The end."


def test_thread_that_ends_in_a_call_has_its_last_words_for_an_answer_and_keeps_the_turn(tmp_path):
    row = row_with(*answered(ai("Found it.", ("present_files", {"filepaths": ["/x/a.jpg"]})), "ok"))
    record = record_of(tmp_path, row)
    assert record.final_answer == "Found it."
    assert len(record.turns) == 1


def test_thread_without_words_has_no_answer(tmp_path):
    record = record_of(tmp_path, row_with(ai("", ("web_search", {"query": "a"}))))
    assert (record.final_answer, len(record.turns)) == ("", 1)
    assert "report_source" not in record.metadata


def test_model_is_the_threads_then_the_one_given_then_the_replies(tmp_path):
    row = row_with(ai("Done.", response_metadata={"model_name": "m-2026"}))
    assert read_one(tmp_path / "t.json", row, default_model="m9").record.model_name == "m1"
    del row["metadata"]["model_name"]
    assert read_one(tmp_path / "t.json", row, default_model="m9").record.model_name == "m9"
    assert read_one(tmp_path / "t.json", row).record.model_name == "m-2026"
