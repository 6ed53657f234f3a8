"""The readers on public runs that nobody here wrote."""

import re
from functools import cache

import pytest

from lseval.formats import detect_format, iter_sources, read_runs, write_run
from tests.shared import shared_path

FOLDERS = {
    "deerflow_threads": ("langgraph", 4, 4),
    "webdancer": ("webdancer", 1, 100),
    "who_and_when": ("who_and_when", 92, 92),
    "drb_reports": ("cited_reports", 2, 198),
}


@cache
def results_in(folder):
    return [result for path in iter_sources([folder]) for result in read_runs(path)]


def records_in(name):
    return [result.record for result in results_in(shared_path(f"data/{name}"))]


@pytest.mark.parametrize("name", FOLDERS)
def test_every_run_of_a_folder_is_read_and_nothing_else(name):
    format_name, files, runs = FOLDERS[name]
    folder = shared_path(f"data/{name}")
    sources = iter_sources([folder])
    assert len(sources) == files
    assert {detect_format(path) for path in sources} == {format_name}
    assert len(sources) + len(sources.skipped) == sum(path.is_file() for path in folder.rglob("*"))
    results = results_in(folder)
    assert [result.message for result in results if result.error] == []
    assert len(results) == runs


@pytest.mark.parametrize("name", FOLDERS)
def test_i10_every_run_is_equal_after_writing_and_reading_it(name, tmp_path):
    records = records_in(name)
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(write_run(record) + "\n" for record in records), encoding="utf-8")
    assert [result.record for result in read_runs(path)] == records


def test_fetched_pages_of_threads_are_recorded_with_their_text():
    by_key = {record.task_key[:8]: record for record in records_in("deerflow_threads")}
    assert {key: [page.outcome for page in record.pages] for key, record in by_key.items()} == {
        "21cfea46": [],
        "3823e443": ["ok", "ok", "empty", "empty"],
        "7f9dc56c": ["ok"],
        "d3e5adaf": ["ok", "unavailable", "ok"],
    }
    pages = [page for record in by_key.values() for page in record.pages if page.outcome == "ok"]
    assert all(len(page.text) > 1000 and page.title for page in pages)
    assert {record.model_name for record in by_key.values()} == {"deepseek-v3.2"}


@pytest.mark.parametrize(
    ("key", "sidecar"),
    [
        ("3823e443", "3823e443__fei-fei-li-podcast-timeline.md"),
        ("7f9dc56c", "7f9dc56c__leica-master-photography-article.md"),
        ("d3e5adaf", "d3e5adaf__diana_hu_research.md"),
    ],
)
def test_answer_of_a_research_thread_is_its_report(key, sidecar):
    (record,) = [record for record in records_in("deerflow_threads") if record.task_key.startswith(key)]
    beside = shared_path(f"data/deerflow_threads/{sidecar}").read_text(encoding="utf-8")
    # The file beside the thread is the same text with its markdown tidied and its images moved.
    words = [re.findall(r"\w+", re.sub(r"\]\([^)]*\.jpg\)|_", "", text)) for text in (record.final_answer, beside)]
    assert words[0] == words[1]
    assert record.metadata["report_source"]["kind"] == "file"


def test_thread_that_is_no_research_is_read_too():
    (record,) = [record for record in records_in("deerflow_threads") if record.task_key.startswith("21cfea46")]
    assert record.question.startswith(
        "Explain what MOE is to a 12-year-old boy\n\nThe one related to AI models\n\nCool!"
    )
    assert record.final_answer.startswith("Perfect! I've created a Doraemon comic strip")
    assert {call.name for turn in record.turns for call in turn.tool_calls} >= {"read_file", "write_file", "bash"}


def test_webdancer_runs_have_calls_answers_and_visited_pages():
    records = records_in("webdancer")
    calls = [call for record in records for turn in record.turns for call in turn.tool_calls]
    assert len(calls) == 105
    assert sorted({(call.name, call.original_name) for call in calls}) == [
        ("read_page", "visit"),
        ("web_search", "search"),
    ]
    assert all(call.observation for call in calls)
    assert all(record.final_answer and record.gold_answer for record in records)
    # One run visits three pages in one call, another one page.
    assert sorted(len(record.pages) for record in records)[-3:] == [0, 1, 3]
    assert all("Summary:" in page.text for record in records for page in record.pages)
    # Thirteen questions were asked twice.
    assert len({record.task_key for record in records}) == 87


def test_every_experts_step_finds_its_turn():
    records = records_in("who_and_when")
    for record in records:
        (reference,) = record.references
        steps = [turn.source_step for turn in record.turns]
        assert steps.count(reference.step) == 1
        assert steps == sorted(steps)
    subsets = [record.metadata["subset"] for record in records]
    assert (subsets.count("algorithm-generated"), subsets.count("hand-crafted")) == (63, 29)


def test_agent_at_the_experts_step_differs_only_in_the_three_runs_known_for_it():
    differing = [
        record for record in records_in("who_and_when") if any("mistake_agent" in w for w in record.warnings)
    ]
    assert len(differing) == 3


def test_keys_are_unique_within_each_subset_of_who_and_when():
    records = records_in("who_and_when")
    assert len({(record.task_key, record.model_name) for record in records}) == 92


def test_hand_crafted_runs_have_pages_and_printed_answers():
    records = [record for record in records_in("who_and_when") if record.metadata["subset"] == "hand-crafted"]
    # One of them crashed before it could answer.
    assert sum(not record.final_answer for record in records) == 1
    assert sum(bool(record.pages) for record in records) >= 20
    surfed = [
        call
        for record in records
        for turn in record.turns
        for call in turn.tool_calls
        if call.original_name == "WebSurfer"
    ]
    # 271 messages of the surfer, 5 of them answers without a screenshot.
    assert len(surfed) == 271
    assert sum(call.name == "extract" for call in surfed) == 5
    assert not any("FINAL ANSWER" in (call.observation or "") for call in surfed)


def test_reports_have_their_model_topic_and_language():
    records = records_in("drb_reports")
    models = [record.model_name for record in records]
    assert (models.count("gpt-4.1"), models.count("claude4-sonnet")) == (100, 98)
    assert all(record.task_topic and record.task_language in ("en", "zh") for record in records)
    assert all(record.final_answer and not record.turns for record in records)
