"""I10 for runs: what is written is read back equal."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from lseval.errors import InputError
from lseval.formats import read_runs, write_run

# NUL and surrogates are what reading mends; everything else has to come back as it was.
texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)
filled = texts.filter(str.strip)
integers = st.integers(-(2**63), 2**63 - 1)
counts = st.none() | st.integers(0, 2**40)
moments = st.none() | st.datetimes().map(lambda moment: moment.isoformat())
values = st.recursive(
    st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(texts, values, max_size=3)
calls = st.builds(
    ToolCallRecord,
    name=filled,
    original_name=texts,
    arguments=objects,
    observation=st.none() | texts,
    is_error=st.booleans(),
)
turns = st.builds(
    TurnRecord,
    text=texts,
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    agent=texts,
    reasoning=texts,
    source_step=st.none() | st.integers(0, 9),
)
urls = st.from_regex(r"https://[a-z]{1,5}\.example/[a-z]{0,5}", fullmatch=True)


@st.composite
def pages(draw):
    url, title, retrieved_at = draw(urls), draw(texts), draw(moments)
    outcome = draw(st.sampled_from(PageOutcome)).value
    return PageRecord(url, draw(texts) if outcome == "ok" else "", title, outcome, retrieved_at)


rubrics = st.builds(
    RubricRecord,
    required_count=st.integers(1, 50),
    constraints=st.lists(texts, max_size=2).map(tuple),
    grouping_rule=texts,
    required_fields=st.lists(texts, max_size=2).map(tuple),
)


@st.composite
def runs(draw):
    taken = draw(st.lists(turns, max_size=4).map(tuple))
    steps = [turn.source_step for turn in taken if turn.source_step is not None]
    references = st.builds(
        ReferenceRecord,
        step=st.sampled_from(steps or [0]),
        agent=texts,
        error_type=texts,
        reason=texts,
        source=texts,
    )
    return RunRecord(
        task_key=draw(filled),
        question=draw(filled),
        model_name=draw(filled),
        final_answer=draw(texts),
        turns=taken,
        pages=tuple(draw(st.lists(pages(), max_size=3, unique_by=lambda page: page.url))),
        model_family=draw(texts),
        task_topic=draw(texts),
        task_language=draw(texts),
        gold_answer=draw(texts),
        rubric=draw(st.none() | rubrics),
        usage=draw(st.builds(UsageRecord, counts, counts, counts, counts)),
        references=tuple(draw(st.lists(references, max_size=2))) if steps else (),
        attempts=draw(st.integers(1, 9)),
        is_final_only=draw(st.booleans()),
        started_at=draw(moments),
        metadata=draw(objects),
        warnings=tuple(draw(st.lists(texts, max_size=2, unique=True))),
    )


@settings(deadline=None, max_examples=150)
@given(st.lists(runs(), min_size=1, max_size=3))
def test_run_written_and_read_is_equal(records):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "runs.jsonl")
        path.write_text("".join(write_run(record) + "\n" for record in records), encoding="utf-8", newline="\n")
        results = list(read_runs(path))
    assert [result.message for result in results if result.error] == []
    assert [result.record for result in results] == records


def test_written_run_is_one_line_for_any_tool():
    record = RunRecord("t", "q", "m", "a\nb\u2028c\u2029d\x85e\x0bf\x1cg", metadata={"k\u2028": "v"})
    line = write_run(record)
    assert len(line.splitlines()) == 1
    assert json.loads(line)["final_answer"] == record.final_answer


def test_defaults_are_left_out():
    assert json.loads(write_run(RunRecord("t", "q", "m", ""))) == {
        "format": "lseval-run/1",
        "task": {"key": "t", "question": "q"},
        "model": {"name": "m"},
        "messages": [],
        "final_answer": "",
    }


def test_lone_surrogate_is_written_escaped_and_mended_on_reading(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(write_run(RunRecord("t", "q", "m", "x\ud800y")), encoding="utf-8")
    (result,) = read_runs(path)
    assert result.record.final_answer == "x�y"
    assert result.record.warnings == ("final_answer: a lone surrogate replaced by U+FFFD",)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}])
def test_what_is_no_json_is_refused_with_the_run_named(value):
    with pytest.raises(InputError, match="run of m on t: cannot be written as JSON"):
        write_run(RunRecord("t", "q", "m", "", metadata={"k": value}))
