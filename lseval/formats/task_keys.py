"""The key of a task whose source may or may not name it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

STATED_KEYS = ("task_key", "task_id", "question_id", "query_id", "example_id")


def digest_key(question: str) -> str:
    """A key for a question that has no id: 16 hexadecimal digits of its SHA-256, white space normalised."""
    return hashlib.sha256(" ".join(question.split()).encode()).hexdigest()[:16]


def stated_key(*places: Mapping[str, Any], names: tuple[str, ...] = STATED_KEYS) -> str:
    """The first id that one of `places` has under one of `names`, as text; empty where none has."""
    for place in places:
        for name in names:
            value = place.get(name)
            if isinstance(value, str) and value.strip():
                return value.strip()
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
    return ""
