"""Inspect AI logs: crashed ones, NaN, epochs and retries, and the archives they come in."""

import json
import zipfile

import pytest

from lseval.formats import detect_format, iter_sources, read_runs
from tests.formats.samples import write_rows
from tests.formats.samples_chats import ANSWER, inspect_row, inspect_sample
from tests.shared import shared_path


def log_file(tmp_path, row, name="log.json"):
    path = tmp_path / name
    path.write_text(json.dumps(row, indent=1))
    return path


def archive_file(tmp_path, samples, *, header=True, name="log.eval", **changes):
    path = tmp_path / name
    row = inspect_row(**changes)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": row["eval"], "plan": {}}))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        if header:
            archive.writestr("header.json", json.dumps({key: row[key] for key in ("version", "status", "eval")}))
    return path


def test_archive_and_document_give_the_same_runs(tmp_path):
    samples = [inspect_sample(), inspect_sample(id="s/2")]
    of_archive = list(read_runs(archive_file(tmp_path, samples)))
    of_document = list(read_runs(log_file(tmp_path, inspect_row(*samples))))
    assert [result.record for result in of_archive] == [result.record for result in of_document]
    assert [result.record.task_key for result in of_archive] == ["rivers:s1", "rivers:s/2"]
    assert [result.position for result in of_archive] == [1, 2]
    assert detect_format(tmp_path / "log.eval") == "inspect"


def test_archive_in_a_folder_is_among_the_files_to_read(tmp_path):
    path = archive_file(tmp_path, [inspect_sample()])
    assert list(iter_sources([tmp_path])) == [path]


@pytest.mark.parametrize("write", [archive_file, lambda folder, samples: log_file(folder, inspect_row(*samples))])
def test_epochs_and_retries_are_attempts_of_one_run(tmp_path, write):
    crashed = inspect_sample(
        error={"message": "timed out", "traceback": ""}, messages=inspect_sample()["messages"][:3]
    )
    good = inspect_sample(epoch=2, error_retries=[{"message": "429", "traceback": ""}])
    third = inspect_sample(epoch=3)
    third["messages"][-1] = {"role": "assistant", "content": "another"}
    (result,) = read_runs(write(tmp_path, [third, crashed, good]))
    assert result.record.final_answer == ANSWER
    assert result.record.attempts == 4
    assert result.record.metadata["epoch"] == 2
    assert "3 epochs" in result.warnings[0]


def test_scores_play_no_part_in_which_epoch_is_kept(tmp_path):
    wrong = inspect_sample(scores={"includes": {"value": "I"}})
    right = inspect_sample(epoch=2, scores={"includes": {"value": "C"}})
    (result,) = read_runs(log_file(tmp_path, inspect_row(wrong, right)))
    assert result.record.metadata["scores"] == {"includes": "I"}


def test_crashed_archive_without_a_header_is_read(tmp_path):
    path = archive_file(tmp_path, [inspect_sample()], header=False)
    (result,) = read_runs(path)
    assert result.record.final_answer == ANSWER
    assert result.record.model_name == "m1"


def test_crashed_sample_keeps_its_trajectory_and_says_why_it_has_no_answer(tmp_path):
    sample = inspect_sample(error={"message": "timed out", "traceback": "..."}, output={"choices": []})
    del sample["messages"][-1]
    (result,) = read_runs(log_file(tmp_path, inspect_row(sample, status="error")))
    record = result.record
    assert (record.final_answer, len(record.turns)) == ("", 1)
    assert (record.metadata["error"], record.metadata["log_status"]) == ("timed out", "error")
    assert any("without a final answer" in warning for warning in result.warnings)


@pytest.mark.parametrize("write", [archive_file, lambda folder, samples: log_file(folder, inspect_row(*samples))])
def test_nan_becomes_null_with_a_warning(tmp_path, write):
    sample = inspect_sample(scores={"a": {"value": float("nan")}, "b": {"value": float("inf")}})
    (result,) = read_runs(write(tmp_path, [sample]))
    assert result.record.metadata["scores"] == {"a": None, "b": None}
    assert any("read as null, 2 in all" in warning for warning in result.warnings)


def test_log_cut_off_in_the_middle_is_reported(tmp_path):
    path = log_file(tmp_path, inspect_row())
    path.write_bytes(path.read_bytes()[:-200])
    assert [result.error for result in read_runs(path, "inspect")] == ["invalid_json"]


def test_sample_without_a_question_does_not_stop_the_others(tmp_path):
    samples = [inspect_sample(), inspect_sample(id="s2", input="", messages=[]), inspect_sample(id="s3")]
    results = list(read_runs(archive_file(tmp_path, samples)))
    assert [result.error for result in results] == ["", "missing_field", ""]
    assert "sample s2" in results[1].message


def test_broken_sample_in_an_archive_does_not_stop_the_others(tmp_path):
    path = archive_file(tmp_path, [inspect_sample(), inspect_sample(id="s3")])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/s2_epoch_1.json", "{")
    assert [result.error for result in read_runs(path)] == ["", "", "invalid_json"]


def test_log_without_samples_says_so(tmp_path):
    (result,) = read_runs(log_file(tmp_path, inspect_row(samples=None)))
    assert result.error == "missing_field"
    assert "without its samples" in result.message


def test_submission_is_the_answer_and_no_call(tmp_path):
    sample = inspect_sample()
    sample["messages"][-1] = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c2", "function": "submit", "arguments": {"answer": "The Example"}}],
    }
    sample["messages"].append(
        {"role": "tool", "tool_call_id": "c2", "function": "submit", "content": "The Example"}
    )
    (result,) = read_runs(log_file(tmp_path, inspect_row(sample)))
    assert result.record.final_answer == "The Example"
    assert [len(turn.tool_calls) for turn in result.record.turns] == [1]


def test_attachments_are_put_back_and_counted(tmp_path):
    name = "0" * 32
    sample = inspect_sample(attachments={name: "The Sample is a river."})
    sample["messages"][3]["content"] = f"attachment://{name}"
    (result,) = read_runs(log_file(tmp_path, inspect_row(sample)))
    assert result.record.turns[0].tool_calls[0].observation == "The Sample is a river."
    sample["attachments"][name] = "x" * 400_000
    sample["messages"][3]["content"] = f"attachment://{name} " * 100
    (result,) = read_runs(log_file(tmp_path, inspect_row(sample)))
    assert (result.error, "attachments" in result.message) == ("invalid_field", True)


def test_error_of_a_tool_marks_its_call(tmp_path):
    sample = inspect_sample()
    sample["messages"][3] |= {"content": "", "error": {"type": "timeout", "message": "took too long"}}
    (result,) = read_runs(log_file(tmp_path, inspect_row(sample)))
    (call,) = result.record.turns[0].tool_calls
    assert (call.observation, call.is_error) == ("took too long", True)
    assert [page.outcome for page in result.record.pages] == ["unavailable"]


def test_two_logs_on_lines_are_reported_and_not_half_read(tmp_path):
    path = write_rows(tmp_path / "logs.jsonl", [inspect_row(), inspect_row()])
    assert [result.error for result in read_runs(path)] == ["invalid_json"]


# Worked out by reading the files: samples, and the turns of the first one.
REAL = [
    ("2025-05-12T20-27-36-04-00_browser.json", 1, ["open_page"] * 4),
    (
        "docent_sample_log.eval",
        15,
        ["bash", "bash", "python", "python", "submit", "python", "python", "submit", "python"],
    ),
    ("log_formats.eval", 1, []),
    ("log_tool_call_error.json", 1, ["bash"] * 11),
]


@pytest.mark.parametrize(("name", "samples", "calls"), REAL)
def test_published_logs_are_read(name, samples, calls):
    results = list(read_runs(shared_path("data/inspect_logs") / name))
    assert [result.error for result in results] == [""] * samples
    first = results[0].record
    assert [call.name for turn in first.turns for call in turn.tool_calls] == calls


@pytest.mark.parametrize(
    ("name", "calls", "tokens", "answer"),
    [
        ("langgraph-python-2025-08-22.trace.json", ["web_search"], (168, 66), 'The search for "example" primarily'),
        (
            "pydantic-ai-tools-2025-12-04.trace.json",
            ["get_pun_suggestion", "get_dad_joke_suggestion", "get_one_liner_suggestion", "final_result"],
            (1315, 209),
            "Why do programmers hate nature?",
        ),
    ],
)
def test_published_traces_are_read(name, calls, tokens, answer):
    (result,) = read_runs(shared_path("data/langfuse") / name)
    record = result.record
    assert [call.name for turn in record.turns for call in turn.tool_calls] == calls
    assert (record.usage.input_tokens, record.usage.output_tokens) == tokens
    assert record.final_answer.startswith(answer)
    observed = [call.observation is not None for turn in record.turns for call in turn.tool_calls]
    # The last of the second trace is how that framework hands over its result; no tool carries it out.
    assert observed == [True] * len(calls) if len(calls) == 1 else observed == [True, True, True, False]
