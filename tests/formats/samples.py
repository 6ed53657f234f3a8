"""The smallest valid row of each format, made anew at each call so that a test may change it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lseval.formats import RowResult, read_runs
from tests.formats.samples_chats import browsecomp_plus_row, inspect_row, openai_chat_row
from tests.formats.samples_traces import langfuse_row, langsmith_tree, otlp_row


def lseval_row(**changes: Any) -> dict[str, Any]:
    row = {
        "format": "lseval-run/1",
        "task": {"key": "t1", "question": "Which river?"},
        "model": {"name": "m1"},
        "messages": [
            {
                "role": "assistant",
                "content": "Reading.",
                "tool_calls": [{"id": "a", "name": "read_page", "arguments": {"url": "https://one.example/"}}],
            },
            {
                "role": "tool",
                "tool_call_id": "a",
                "content": "The Example.",
                "page": {"url": "https://one.example/"},
            },
        ],
        "final_answer": "The Example [1]",
    }
    return row | changes


def langgraph_row() -> dict[str, Any]:
    return {
        "metadata": {"model_name": "m1", "thread_id": "thread-1", "run_attempt": 1},
        "created_at": "2026-01-25T09:39:56+00:00",
        "values": {
            "title": "Rivers",
            "artifacts": [],
            "messages": [
                {"type": "human", "content": [{"type": "text", "text": "Which river?"}]},
                {
                    "type": "ai",
                    "content": "",
                    "additional_kwargs": {"reasoning_content": "I should read."},
                    "tool_calls": [{"id": "c1", "name": "web_fetch", "args": {"url": "https://one.example/"}}],
                },
                {
                    "type": "tool",
                    "name": "web_fetch",
                    "tool_call_id": "c1",
                    "status": "success",
                    "content": "# Rivers\n\nThe Example.",
                },
                {"type": "ai", "content": "It is the Example.", "tool_calls": []},
            ],
        },
    }


def webdancer_row() -> dict[str, Any]:
    call = json.dumps({"name": "visit", "arguments": {"url": ["https://one.example/"], "goal": "the river"}})
    return {
        "type": "chatml",
        "task": "agent/multiturn_search",
        "messages": [
            {"role": "system", "content": "Seek."},
            {"role": "user", "content": "A conversation between User and Assistant.\n\nUser: Which river?"},
            {
                "role": "assistant",
                "content": f"<think>\nI should read.\n</think>\n<tool_call>\n{call}\n</tool_call>",
            },
            {
                "role": "user",
                "content": "<tool_response>\nThe useful information in https://one.example/ for user goal the "
                "river as follows: \n\nEvidence in page: \nThe Example.\n\nSummary: \nIt is the Example.\n"
                "</tool_response>",
            },
            {"role": "assistant", "content": "<think>\nClear.\n</think>\n<answer>\nThe Example.\n</answer>"},
        ],
        "answer": [["Example"]],
        "tag": "e2hqa",
    }


def who_and_when_row() -> dict[str, Any]:
    return {
        "question": "Which river?",
        "question_ID": "q1",
        "ground_truth": "Example",
        "is_correct": False,
        "level": "2",
        "history": [
            {"name": "River_Expert", "role": "assistant", "content": "Run this:\n```python\nprint('Sample')\n```"},
            {"name": "Computer_terminal", "role": "user", "content": "exitcode: 0 (execution succeeded)\nSample"},
            {"name": "Check_Expert", "role": "user", "content": "It is the Sample."},
            {"name": "Check_Expert", "role": "user", "content": "TERMINATE"},
        ],
        "mistake_agent": "River_Expert",
        "mistake_step": "0",
        "mistake_reason": "It printed a constant.",
    }


def cited_report_row() -> dict[str, Any]:
    return {"id": 7, "prompt": "Which river?", "article": "The Example [1].\n\n[1] https://one.example/"}


ROWS = {
    "inspect": inspect_row,
    "openai_chat": openai_chat_row,
    "browsecomp_plus": browsecomp_plus_row,
    "langfuse": langfuse_row,
    "langsmith": langsmith_tree,
    "otel_spans": otlp_row,
    "lseval": lseval_row,
    "langgraph": langgraph_row,
    "webdancer": webdancer_row,
    "who_and_when": who_and_when_row,
    "cited_reports": cited_report_row,
}


def write_rows(path: Path, rows: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_one(path: Path, row: Any, **options: Any) -> RowResult:
    """The one result of a file at `path` that holds only `row`."""
    (result,) = read_runs(write_rows(path, [row]), **options)
    return result
