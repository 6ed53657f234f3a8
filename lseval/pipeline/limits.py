"""What a record may hold at most, so that no row of a file can break the import of the others."""

from __future__ import annotations

import hashlib

from lseval.domain.trajectory import RunRecord
from lseval.errors import InputError
from lseval.models import EvaluatedModel, Task

MOST_ATTEMPTS = 10_000
LARGEST_COUNT = 1_000_000
LARGEST_STEP = 2**31 - 1
EARLIEST_YEAR, LATEST_YEAR = 1970, 2200
LONGEST_KEY = 600
"""Characters of a canonical key that are stored as they are; PostgreSQL indexes about 2,700 bytes at most."""


def stored_key(key: str) -> str:
    """A page's canonical key as it is stored: a very long one is cut, and told apart by its digest."""
    if len(key) <= LONGEST_KEY:
        return key
    return f"{key[:LONGEST_KEY]}#sha256:{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def check_limits(record: RunRecord) -> None:
    """Raise InputError naming each part of the record that is longer or larger than can be stored."""
    task, model = Task._meta, EvaluatedModel._meta
    lengths = [
        ("the task's key", record.task_key, task.get_field("key").max_length),
        ("the task's topic", record.task_topic, task.get_field("topic").max_length),
        ("the task's language", record.task_language, task.get_field("language").max_length),
        ("the model's name", record.model_name, model.get_field("name").max_length),
        ("the model's family", record.model_family, model.get_field("family").max_length),
    ]
    problems = [
        f"{name} has {len(text):,} characters, {longest} at most"
        for name, text, longest in lengths
        if longest is not None and len(text) > longest
    ]
    numbers = [("the number of attempts", record.attempts, MOST_ATTEMPTS)]
    if record.rubric is not None:
        numbers.append(("the required count", record.rubric.required_count, LARGEST_COUNT))
    numbers += [
        ("a turn's source step", turn.source_step, LARGEST_STEP) for turn in record.turns if turn.source_step
    ]
    numbers += [("a reference's step", reference.step, LARGEST_STEP) for reference in record.references]
    problems += [f"{name} is {number:,}, {most:,} at most" for name, number, most in numbers if abs(number) > most]
    if problems:
        raise InputError("; ".join(problems[:5]) + ".")
