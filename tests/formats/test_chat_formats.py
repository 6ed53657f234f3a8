"""Chats, logs and traces of other tools: the same run comes out of each, with its calls, page and answer."""

import json

import pytest

from lseval.domain.trajectory import PageRecord, UsageRecord
from lseval.formats import read_runs, trace_files
from tests.formats.samples import ROWS, read_one, write_rows
from tests.formats.samples_chats import ANSWER, PAGE, QUESTION, URL, browsecomp_plus_row, openai_chat_row
from tests.formats.samples_traces import (
    genai_spans,
    langfuse_row,
    langsmith_rows,
    openinference_spans,
    otlp_row,
)

NEW = ["inspect", "openai_chat", "browsecomp_plus", "langfuse", "langsmith", "otel_spans"]


@pytest.mark.parametrize("name", NEW)
def test_run_comes_out_whole(tmp_path, name):
    result = read_one(tmp_path / "run.jsonl", ROWS[name]())
    assert (result.message, result.warnings) == ("", ())
    record = result.record
    assert (record.question, record.final_answer, record.model_name) == (QUESTION, ANSWER, "m1")
    calls = [call for turn in record.turns for call in turn.tool_calls]
    expected = (
        ["web_search", "read_page"]
        if name == "browsecomp_plus"
        else ["open_page" if name == "inspect" else "read_page"]
    )
    assert [call.name for call in calls] == expected
    assert PAGE in calls[-1].observation
    assert record.pages == (PageRecord(URL, PAGE),)
    assert (record.usage.input_tokens, record.usage.output_tokens) == (100, 20)


@pytest.mark.parametrize("rows", [genai_spans, openinference_spans, langsmith_rows])
def test_spans_on_lines_in_any_order_are_one_run(tmp_path, rows):
    (forth,) = read_runs(write_rows(tmp_path / "a.jsonl", rows()))
    (back,) = read_runs(write_rows(tmp_path / "b.jsonl", reversed(rows())))
    assert forth.record == back.record
    (turn,) = forth.record.turns
    (call,) = turn.tool_calls
    assert (call.name, call.original_name, call.arguments, call.observation) == (
        "read_page",
        "fetch_url",
        {"url": URL},
        PAGE,
    )
    assert forth.record.final_answer == ANSWER
    assert forth.record.usage == UsageRecord(100, None, 20, None)


def test_traces_that_interleave_are_told_apart_and_a_bad_row_is_reported(tmp_path):
    one, two = genai_spans("1" * 32), genai_spans("2" * 32)
    rows = [row for pair in zip(one, two, strict=True) for row in pair]
    path = write_rows(tmp_path / "a.jsonl", [*rows[:3], {"name": "x", "attributes": {}}, *rows[3:]])
    results = list(read_runs(path))
    assert [(result.position, result.error) for result in results] == [(4, "missing_field"), (1, ""), (2, "")]
    assert [result.record.metadata["trace_id"][0] for result in results[1:]] == ["1", "2"]
    assert results[1].record.final_answer == ANSWER


def test_span_sent_twice_counts_once(tmp_path):
    (once,) = read_runs(write_rows(tmp_path / "a.jsonl", genai_spans()))
    (twice,) = read_runs(write_rows(tmp_path / "b.jsonl", [*genai_spans(), *genai_spans()]))
    assert once.record == twice.record


def test_failed_model_call_that_was_tried_again_is_no_turn(tmp_path):
    spans = genai_spans()
    failed = json.loads(json.dumps(spans[1])) | {"spanId": "99" * 8, "status": {"code": 2, "message": "429"}}
    failed["startTimeUnixNano"] = str(int(spans[1]["startTimeUnixNano"]) - 1)
    failed["attributes"] = [item for item in failed["attributes"] if "output" not in item["key"]]
    (result,) = read_runs(write_rows(tmp_path / "a.jsonl", [*spans, failed]))
    assert len(result.record.turns) == 1
    assert result.record.question == QUESTION
    assert result.record.metadata["failed_model_calls"] == 1
    assert result.record.attempts == 1


def test_tool_span_that_no_message_tells_of_becomes_a_call(tmp_path):
    spans = genai_spans()
    extra = json.loads(json.dumps(spans[2])) | {"spanId": "77" * 8}
    values = {"gen_ai.tool.call.id": "c9", "gen_ai.tool.name": "search", "gen_ai.tool.call.result": "found"}
    for item in extra["attributes"]:
        if item["key"] in values:
            item["value"] = {"stringValue": values[item["key"]]}
    (result,) = read_runs(write_rows(tmp_path / "a.jsonl", [*spans, extra]))
    (turn,) = result.record.turns
    assert [(call.name, call.observation) for call in turn.tool_calls] == [
        ("read_page", PAGE),
        ("web_search", "found"),
    ]


def test_trace_without_a_question_or_a_model_says_which(tmp_path):
    spans = genai_spans()
    nameless = [span | {"attributes": [a for a in span["attributes"] if "model" not in a["key"]]} for span in spans]
    path = write_rows(tmp_path / "a.jsonl", nameless)
    (result,) = read_runs(path)
    assert (result.error, "no span names a model" in result.message) == ("missing_field", True)
    assert [result.record.model_name for result in read_runs(path, default_model="m9")] == ["m9"]
    (tool_only,) = read_runs(write_rows(tmp_path / "b.jsonl", [spans[2]]))
    assert tool_only.error == "missing_field"
    assert "no message asks a question" in tool_only.message


def test_table_of_spans_written_as_json_is_read(tmp_path):
    rows = [
        {
            "context.trace_id": "t" * 32,
            "context.span_id": str(number) * 16,
            "parent_id": None,
            "name": "chat",
            "span_kind": "LLM",
            "start_time": 1_769_333_996_000 + number,
            "status_code": "OK",
            "attributes.llm.model_name": "m1",
            "attributes.llm.input_messages": [
                {"message.role": "user", "message": {"role": "user", "content": QUESTION}}
            ],
            "attributes.llm.output_messages": [{"message": {"role": "assistant", "content": ANSWER}}],
        }
        for number in (1,)
    ]
    (result,) = read_runs(write_rows(tmp_path / "a.jsonl", rows))
    assert (result.record.question, result.record.final_answer) == (QUESTION, ANSWER)


def test_older_prompt_and_completion_attributes_are_read(tmp_path):
    span = {
        "traceId": "a" * 32,
        "spanId": "b" * 16,
        "name": "openai.chat",
        "startTimeUnixNano": "1769333996000000000",
        "attributes": {
            "llm.request.type": "chat",
            "gen_ai.request.model": "m1",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": QUESTION,
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": ANSWER,
            "gen_ai.usage.prompt_tokens": "7",
        },
    }
    (result,) = read_runs(write_rows(tmp_path / "a.jsonl", [span]))
    assert (result.record.question, result.record.final_answer) == (QUESTION, ANSWER)
    assert result.record.usage.input_tokens == 7


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_langfuse_input_is_read_through_any_number_of_layers_of_text(tmp_path, layers):
    row = langfuse_row()
    value = {"messages": [{"type": "human", "content": "Which lake?"}]}
    for _ in range(layers):
        value = json.dumps(value)
    row["trace"]["input"] = value
    assert read_one(tmp_path / "a.jsonl", row).record.question == "Which lake?"


def test_chat_with_recorded_request_and_reply_is_read(tmp_path):
    row = openai_chat_row()
    *messages, last = row["messages"]
    body = {"choices": [{"message": last}], "usage": row["usage"], "model": "m1-2026"}
    recorded = {"custom_id": "q7", "body": {"model": "m1", "messages": messages}, "response": {"body": body}}
    record = read_one(tmp_path / "a.jsonl", recorded).record
    assert (record.task_key, record.model_name, record.final_answer) == ("q7", "m1-2026", ANSWER)
    assert record.usage.reasoning_tokens == 5


def test_call_with_unreadable_arguments_is_an_error_that_is_kept(tmp_path):
    row = openai_chat_row()
    row["messages"][2]["tool_calls"][0]["function"]["arguments"] = '{"url": '
    result = read_one(tmp_path / "a.jsonl", row)
    (call,) = result.record.turns[0].tool_calls
    assert (call.is_error, call.arguments) == (True, {"text": '{"url": '})
    assert "messages[2]: the call of fetch_url: the arguments are not JSON" in result.warnings[0]


def test_chat_that_ends_on_a_call_has_no_answer_and_says_so(tmp_path):
    row = openai_chat_row()
    del row["messages"][-1]
    result = read_one(tmp_path / "a.jsonl", row)
    assert result.record.final_answer == ""
    assert "without a final answer" in result.warnings[0]


def test_result_that_answers_nothing_is_left_out_with_a_warning(tmp_path):
    row = openai_chat_row()
    row["messages"].insert(3, {"role": "tool", "tool_call_id": "zz", "content": "lost"})
    result = read_one(tmp_path / "a.jsonl", row)
    assert "messages[3]: answers no tool call, left out" in result.warnings[0]
    assert result.record.turns[0].tool_calls[0].observation == PAGE


def test_browsecomp_plus_question_comes_from_the_queries_beside_or_above(tmp_path):
    row = browsecomp_plus_row()
    del row["query"]
    folder = tmp_path / "runs"
    folder.mkdir()
    missing = read_one(folder / "run.json", row)
    assert missing.error == "missing_field"
    assert "queries.tsv" in missing.message
    (tmp_path / "queries.tsv").write_text(f"1\tOther?\n769\t{QUESTION}\n")
    assert read_one(folder / "run.json", row).record.question == QUESTION


def test_browsecomp_plus_run_cut_off_has_no_answer(tmp_path):
    row = browsecomp_plus_row(status="incomplete")
    row["result"] = [row["result"][3], *row["result"][:3]]
    result = read_one(tmp_path / "run.json", row)
    assert result.record.final_answer == ""
    assert result.record.metadata["status"] == "incomplete"
    assert result.record.turns[0].text == ANSWER


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b""])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("name", NEW)
def test_i01_byte_order_mark_and_line_ends(tmp_path, name, mark, end):
    path = tmp_path / "a.jsonl"
    path.write_bytes(mark + json.dumps(ROWS[name]()).encode() + end)
    assert [result.record.final_answer for result in read_runs(path)] == [ANSWER]


@pytest.mark.parametrize("name", NEW)
def test_i01_utf16_is_refused_by_name(tmp_path, name):
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps(ROWS[name]()).encode("utf-16"))
    assert [result.error for result in read_runs(path)] == ["unsupported_encoding"]


@pytest.mark.parametrize("name", NEW)
def test_i02_nul_is_mended_with_a_warning(tmp_path, name):
    path = tmp_path / "a.jsonl"
    # Under two layers of JSON the escape is met when the inner text is read.
    path.write_text(json.dumps(ROWS[name]()).replace("The Example is", "The\\u0000Example is"))
    (result,) = read_runs(path)
    observed = [call.observation for turn in result.record.turns for call in turn.tool_calls]
    assert any("The�Example is" in (text or "") for text in observed)
    assert any("U+FFFD" in warning for warning in result.warnings)


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize(
    ("number", "code"), [("9223372036854775808", "integer_out_of_range"), ("1e400", "non_finite_number")]
)
def test_i05_numbers_out_of_range_are_reported(tmp_path, name, number, code):
    path = tmp_path / "a.jsonl"
    text = json.dumps(ROWS[name]())
    path.write_text(text[:-1] + f', "extra": {number}}}')
    results = list(read_runs(path, name))
    assert [result.error for result in results] == [code]


def test_i05_duplicate_key_is_reported_and_the_other_rows_are_read(tmp_path):
    path = tmp_path / "a.jsonl"
    good = json.dumps(openai_chat_row())
    path.write_text(good + "\n" + good[:-1] + ', "id": "again"}\n' + good + "\n")
    assert [result.error for result in read_runs(path)] == ["", "duplicate_key", ""]


def test_otlp_batch_of_many_traces_gives_each(tmp_path):
    spans = [span for number in range(5) for span in genai_spans(f"{number + 1}" * 32)]
    results = list(read_runs(write_rows(tmp_path / "a.jsonl", [otlp_row(*spans)])))
    assert [result.error for result in results] == [""] * 5
    assert len({result.record.metadata["trace_id"] for result in results}) == 5


def test_trace_that_is_too_large_is_reported_and_the_others_are_read(tmp_path, monkeypatch):
    small, large = genai_spans("1" * 32), genai_spans("2" * 32)
    large[1]["attributes"].append({"key": "padding", "value": {"stringValue": "x" * 20_000}})
    path = write_rows(tmp_path / "a.jsonl", [*large, *small])
    errors = [(result.position, result.error) for result in read_runs(path, max_document_bytes=20_000)]
    assert errors == [(1, "file_too_large"), (5, "")]
    values = max(trace_files.value_count(json.dumps(span).encode()) for span in small)
    monkeypatch.setattr(trace_files, "MAX_VALUES", values + 1)
    assert {result.error for result in read_runs(path)} == {"too_many_values"}
