import hashlib
import json

from lseval.domain.trajectory import PageRecord
from tests.formats.samples import read_one, webdancer_row


def assistant(content):
    return {"role": "assistant", "content": content}


def response(content):
    return {"role": "user", "content": f"<tool_response>\n{content}\n</tool_response>"}


def call(name, **arguments):
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def row_with(*messages):
    row = webdancer_row()
    row["messages"][2:] = messages
    return row


def test_tags_become_reasoning_calls_and_answer(tmp_path):
    result = read_one(tmp_path / "runs.jsonl", webdancer_row())
    record = result.record
    (turn,) = record.turns
    assert (turn.text, turn.reasoning, turn.source_step) == ("", "I should read.", 2)
    (visit,) = turn.tool_calls
    assert (visit.name, visit.original_name, visit.is_error) == ("read_page", "visit", False)
    assert visit.arguments == {"url": ["https://one.example/"], "goal": "the river"}
    assert visit.observation.startswith("The useful information in https://one.example/")
    assert record.final_answer == "The Example."
    assert record.gold_answer == "Example"
    assert record.metadata["answer_reasoning"] == "Clear."
    assert record.model_name == "WebDancer"
    assert read_one(tmp_path / "runs.jsonl", webdancer_row(), default_model="m9").record.model_name == "m9"


def test_key_is_a_digest_of_the_question_after_the_last_user_mark(tmp_path):
    row = webdancer_row()
    row["messages"][1]["content"] = "User: an example\n\nUser:  Which\n river? "
    record = read_one(tmp_path / "runs.jsonl", row).record
    assert record.question == "Which\n river?"
    assert record.task_key == hashlib.sha256(b"Which river?").hexdigest()[:16]
    assert record.task_key == read_one(tmp_path / "runs.jsonl", webdancer_row()).record.task_key


def test_visit_of_several_pages_gives_a_page_for_each_with_a_warning_that_it_is_a_summary(tmp_path):
    told = "The useful information in {} for user goal find\nit as follows: \n\n{}"
    text = "\n=======\n".join(
        (
            told.format(
                "https://one.example/a_(b)", "Evidence in page: \nOne.\n=======\nstill\n\nSummary: \nFirst.\n"
            ),
            told.format("https://two.example/", "Evidence in page: \nTwo.\n\nSummary: \nSecond.\n"),
            told.format(
                "https://three.example/",
                "Evidence in page: \nThe provided webpage content could not be accessed. Please check the URL.\n",
            ),
        )
    )
    urls = ["https://one.example/a_(b)", "https://two.example/", "https://three.example/"]
    row = row_with(
        assistant(call("visit", url=urls, goal="find\nit")), response(text), assistant("<answer>A</answer>")
    )
    result = read_one(tmp_path / "runs.jsonl", row)
    assert result.record.pages == (
        PageRecord(urls[0], "Evidence in page: \nOne.\n=======\nstill\n\nSummary: \nFirst."),
        PageRecord(urls[1], "Evidence in page: \nTwo.\n\nSummary: \nSecond."),
        PageRecord(urls[2], "", outcome="unavailable"),
    )
    assert result.record.metadata["page_text"] == "summary"
    assert "summaries, not the pages' own text" in result.warnings[0]


def test_visit_that_failed_makes_its_pages_unavailable(tmp_path):
    urls = ["https://one.example/", "https://two.example/"]
    row = row_with(assistant(call("visit", url=urls, goal="x")), response("[visit] Failed to read page."))
    record = read_one(tmp_path / "runs.jsonl", row).record
    assert [page.outcome for page in record.pages] == ["unavailable", "unavailable"]
    assert record.turns[0].tool_calls[0].is_error


def test_search_is_no_page(tmp_path):
    row = row_with(
        assistant(call("search", query=["river"])), response("## Web Results\n1. [x](https://one.example/)")
    )
    record = read_one(tmp_path / "runs.jsonl", row).record
    assert record.turns[0].tool_calls[0].name == "web_search"
    assert record.pages == ()
    assert record.metadata.get("page_text") is None


def test_two_calls_of_one_turn_get_their_responses_in_order(tmp_path):
    row = row_with(
        assistant(call("search", query=["a"]) + call("search", query=["b"])),
        {"role": "user", "content": "<tool_response>A</tool_response>\n<tool_response>B</tool_response>"},
        assistant("<answer>done</answer>"),
    )
    (turn,) = read_one(tmp_path / "runs.jsonl", row).record.turns
    assert [tool_call.observation for tool_call in turn.tool_calls] == ["A", "B"]


def test_responses_in_messages_of_their_own_go_on_where_the_last_stopped(tmp_path):
    calls = assistant(call("search", query=["a"]) + call("search", query=["b"]))
    row = row_with(calls, response("A"), response("B"), response("stray"), assistant("<answer>done</answer>"))
    result = read_one(tmp_path / "runs.jsonl", row)
    (turn,) = result.record.turns
    assert [tool_call.observation for tool_call in turn.tool_calls] == ["A", "B"]
    assert len(result.warnings) == 1


def test_unreadable_call_is_kept_as_an_error_with_a_warning(tmp_path):
    row = row_with(assistant('<tool_call>{"name": "search", "arguments": {"query"</tool_call>'), response("what?"))
    result = read_one(tmp_path / "runs.jsonl", row)
    (tool_call,) = result.record.turns[0].tool_calls
    assert tool_call.is_error
    assert tool_call.arguments == {"text": '{"name": "search", "arguments": {"query"'}
    assert "messages[2].content: the tool call cannot be read" in result.warnings[0]


def test_response_that_answers_no_call_is_left_out_with_a_warning(tmp_path):
    row = row_with(assistant("<think>t</think>words"), response("stray"), assistant("<answer>A</answer>"))
    result = read_one(tmp_path / "runs.jsonl", row)
    assert result.record.turns[0].tool_calls == ()
    assert "messages[3].content: holds what answers no tool call" in result.warnings[0]


def test_tag_that_is_not_closed_ends_with_the_message(tmp_path):
    record = read_one(tmp_path / "runs.jsonl", row_with(assistant("<think>t</think><answer>The Exam"))).record
    assert record.final_answer == "The Exam"


def test_answer_tag_inside_the_reasoning_is_no_answer(tmp_path):
    row = row_with(assistant("<think>I would say <answer>X</answer>.</think>"), assistant("<answer>Y</answer>"))
    record = read_one(tmp_path / "runs.jsonl", row).record
    assert record.final_answer == "Y"
    assert len(record.turns) == 1


def test_last_words_without_a_tag_are_taken_for_the_answer_with_a_warning(tmp_path):
    result = read_one(tmp_path / "runs.jsonl", row_with(assistant("<think>t</think>It is the Example.")))
    assert (result.record.final_answer, result.record.turns) == ("It is the Example.", ())
    assert "taken for the answer" in result.warnings[0]


def test_run_that_stops_at_a_call_has_no_answer(tmp_path):
    record = read_one(tmp_path / "runs.jsonl", row_with(assistant(call("search", query=["a"])))).record
    assert record.final_answer == ""
    assert record.turns[0].tool_calls[0].observation is None


def test_user_message_without_a_question_is_an_error(tmp_path):
    row = webdancer_row()
    row["messages"][1]["content"] = "User: "
    result = read_one(tmp_path / "runs.jsonl", row)
    assert result.error == "missing_field"
    assert "no user message asks a question" in result.message
