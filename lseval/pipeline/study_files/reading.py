"""Reading a study file: TOML, checked strictly, every problem with its line and field."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from lseval.pipeline.study_files.checking import problems_of, secrets_in
from lseval.pipeline.study_files.errors import Problem, StudyFileError
from lseval.pipeline.study_files.positions import KeyPath, line_numbers, line_of
from lseval.pipeline.study_files.schema import StudyFile, TaskEntry
from lseval.pipeline.study_files.task_files import read_tasks

_PLACE = re.compile(r"at line (?P<line>\d+)")  # how tomllib tells it in every Python that we run on


def read_study_file(path: Path) -> StudyFile:
    """The study that the file describes. The tasks of its `tasks_file` are in `tasks`, after those in the file.

    Raises:
        StudyFileError: it cannot be read or used; `problems` names every line that is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise StudyFileError([Problem(path.name, None, "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise StudyFileError([Problem(path.name, None, "", "is not UTF-8 text")]) from error
    return read_study_text(text, path.name, path.parent)


def read_study_text(text: str, name: str = "study file", folder: Path | None = None) -> StudyFile:
    """The study that a text describes; see `read_study_file`. Without a folder it can name no file of tasks."""
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise StudyFileError([_not_toml(error, name, text.count("\n") + 1)]) from error
    lines = line_numbers(text)
    problems = secrets_in(data, name, lines)
    if problems:
        raise StudyFileError(problems)
    try:
        found = StudyFile.model_validate(data)
    except ValidationError as error:
        raise StudyFileError(problems_of(error, StudyFile, name, lines)) from error
    tasks = [*found.tasks, *_tasks_in_file(found, name, folder, lines)]
    problems = _repeated([model.name for model in found.models], "models", "name", name, lines)
    problems += _repeated([task.key for task in tasks], "tasks", "key", name, lines)
    if problems:
        raise StudyFileError(problems)
    study = found.study.model_copy(update={"tasks_file": ""})
    return found.model_copy(update={"study": study, "tasks": tasks})


def _not_toml(error: Exception, name: str, last_line: int) -> Problem:
    if isinstance(error, RecursionError):
        return Problem(name, None, "", "is nested too deep")
    place = _PLACE.search(str(error))
    return Problem(name, int(place["line"]) if place else last_line, "", f"is not TOML: {error}")


def _tasks_in_file(
    found: StudyFile, name: str, folder: Path | None, lines: Mapping[KeyPath, int]
) -> list[TaskEntry]:
    given = found.study.tasks_file
    if not given:
        return []
    if folder is None:
        line = line_of(lines, ("study", "tasks_file"))
        told = "no file can be read from here: write the tasks into the study file, or use manage.py create_study"
        raise StudyFileError([Problem(name, line, "study.tasks_file", told)])
    return read_tasks(folder / given)


def _repeated(names: list[str], table: str, field: str, file: str, lines: Mapping[KeyPath, int]) -> list[Problem]:
    twice = {name for name, count in Counter(names).items() if count > 1}
    seen: set[str] = set()
    problems = []
    for number, name in enumerate(names):
        if name in seen and name in twice:
            line = lines.get((table, number, field))
            problems.append(
                Problem(file, line, f"{table}[{number + 1}].{field}", f"{name[:80]!r} is there already")
            )
        seen.add(name)
    return problems
