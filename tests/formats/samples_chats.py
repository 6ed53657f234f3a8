"""Rows in the formats of chats and logs: the same short run in each, made anew at each call."""

from __future__ import annotations

import json
from typing import Any

QUESTION = "Which river?"
ANSWER = "It is the Example [1].\n\n[1] https://one.example/"
PAGE = "The Example is a river."
URL = "https://one.example/"


def openai_chat_row(**changes: Any) -> dict[str, Any]:
    row = {
        "id": "q1",
        "model": "m1",
        "messages": [
            {"role": "system", "content": "Seek."},
            {"role": "user", "content": QUESTION},
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "I should read.",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "fetch_url", "arguments": json.dumps({"url": URL})},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": PAGE},
            {"role": "assistant", "content": ANSWER},
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 40},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
    }
    return row | changes


def browsecomp_plus_row(**changes: Any) -> dict[str, Any]:
    row = {
        "metadata": {"model": "m1", "output_dir": "runs", "max_tokens": 10},
        "query_id": "769",
        "query": QUESTION,
        "tool_call_counts": {"search": 1, "get_document": 1},
        "status": "completed",
        "retrieved_docids": ["5"],
        "usage": {"input_tokens": 100, "output_tokens": 20, "included_reasoning_tokens": 5},
        "result": [
            {"type": "reasoning", "tool_name": None, "arguments": None, "output": ["I should search."]},
            {
                "type": "tool_call",
                "tool_name": "search",
                "arguments": '{"query": "river"}',
                "output": '[{"docid": "5", "snippet": "The Example"}]',
            },
            {
                "type": "tool_call",
                "tool_name": "get_document",
                "arguments": {"docid": "5"},
                "output": json.dumps({"docid": "5", "text": PAGE, "url": URL}),
            },
            {"type": "output_text", "tool_name": None, "arguments": None, "output": ANSWER},
        ],
    }
    return row | changes


def inspect_sample(**changes: Any) -> dict[str, Any]:
    sample = {
        "id": "s1",
        "epoch": 1,
        "input": QUESTION,
        "target": ["Example", "the Example"],
        "messages": [
            {"role": "system", "content": "Seek."},
            {"role": "user", "content": QUESTION, "source": "input"},
            {
                "role": "assistant",
                "content": [{"type": "reasoning", "reasoning": "I should read."}, {"type": "text", "text": ""}],
                "tool_calls": [{"id": "c1", "function": "web_browser_go", "arguments": {"url": URL}}],
            },
            {"role": "tool", "content": PAGE, "tool_call_id": "c1", "function": "web_browser_go"},
            {"role": "assistant", "content": ANSWER, "source": "generate"},
        ],
        "output": {"model": "m1", "choices": [{"message": {"role": "assistant", "content": ANSWER}}]},
        "scores": {"includes": {"value": "C"}},
        "metadata": {"level": 2},
        "model_usage": {"m1": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}},
    }
    return sample | changes


def inspect_row(*samples: dict[str, Any], **changes: Any) -> dict[str, Any]:
    log = {
        "version": 2,
        "status": "success",
        "eval": {
            "run_id": "r1",
            "created": "2026-01-25T09:39:56+00:00",
            "task": "rivers",
            "dataset": {"samples": 1},
            "model": "m1",
            "config": {},
        },
        "plan": {"name": "plan", "steps": []},
        "samples": list(samples) or [inspect_sample()],
    }
    return log | changes
