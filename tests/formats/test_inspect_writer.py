"""Runs written as an Inspect log, and read again."""

import json
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings

from lseval.domain.trajectory import RunRecord
from lseval.errors import InputError
from lseval.formats import read_runs
from lseval.formats.inspect_writer import LogHeading, inspect_log
from tests.formats.samples import ROWS, read_one
from tests.formats.test_round_trip import runs

NOW = datetime(2026, 1, 25, 9, 39, 56, tzinfo=UTC)


def heading(*records, model="m1"):
    return LogHeading("rivers", model, NOW, [record.task_key for record in records])


def written(folder, *records):
    path = Path(folder, "log.json")
    path.write_text("".join(inspect_log(heading(*records), records)), encoding="utf-8")
    return path


def told(record):
    """What an Inspect log says of a run: pages, references and warnings are not in it."""
    turns = [turn for turn in record.turns if turn.text.strip() or turn.reasoning.strip() or turn.tool_calls]
    return (
        record.task_key,
        record.task_topic,
        record.task_language,
        record.model_family,
        record.attempts,
        record.is_final_only,
        [[call.original_name or call.name for call in turn.tool_calls] for turn in turns],
        [[dict(call.arguments) for call in turn.tool_calls] for turn in turns],
    )


@pytest.mark.parametrize("name", ["openai_chat", "langgraph", "who_and_when", "webdancer"])
def test_imported_run_is_written_and_read_again(tmp_path, name):
    record = read_one(tmp_path / "a.jsonl", ROWS[name]()).record
    (result,) = read_runs(written(tmp_path, record))
    again = result.record
    assert (again.question, again.final_answer, again.usage) == (record.question, record.final_answer, record.usage)
    assert told(again) == told(record)
    assert [call.observation for turn in again.turns for call in turn.tool_calls] == [
        call.observation for turn in record.turns for call in turn.tool_calls
    ]
    assert [turn.reasoning for turn in again.turns] == [turn.reasoning for turn in record.turns]


@settings(deadline=None, max_examples=60)
@given(runs())
def test_any_run_can_be_written_and_read(record):
    record = replace(record, final_answer="The Example.", model_name="m1", metadata={})
    with tempfile.TemporaryDirectory() as folder:
        (result,) = read_runs(written(folder, record))
    assert result.error == ""
    assert result.record.final_answer == record.final_answer
    assert told(result.record) == told(record)


def test_log_is_made_a_run_at_a_time():
    record = RunRecord("t1", "Which river?", "m1", "The Example.")
    taken = []

    def records():
        for number in range(3):
            taken.append(number)
            yield replace(record, task_key=f"t{number}")

    pieces = inspect_log(LogHeading("rivers", "m1", NOW, ["t0", "t1", "t2"]), records())
    next(pieces)
    assert taken == []
    next(pieces)
    assert taken == [0]
    log = json.loads("".join(inspect_log(LogHeading("rivers", "m1", NOW, ["t0", "t1", "t2"]), records())))
    assert log["eval"]["dataset"]["sample_ids"] == [sample["id"] for sample in log["samples"]]


def test_run_that_is_no_json_is_refused_by_name():
    record = RunRecord("t1", "q", "m1", "a", metadata={"x": float("nan")})
    with pytest.raises(InputError, match="run of m1 on t1: cannot be written as JSON"):
        list(inspect_log(heading(record), [record]))
