"""Tasks of the made-up world for a study file that names the world and no tasks of its own."""

from __future__ import annotations

from lseval.pipeline.study_files.schema import RubricEntry, StudyFile, TaskEntry
from lseval.sandbox.world import make_world

LANGUAGE = "en"


def with_sandbox_tasks(file: StudyFile) -> StudyFile:
    """The file with the tasks that its `[sandbox]` sets; as it is where it has tasks, or no such table."""
    if file.sandbox is None or file.tasks:
        return file
    world = make_world(file.sandbox.seed, file.sandbox.tasks)
    tasks = [
        TaskEntry(
            key=task.key,
            question=task.question,
            topic=task.kind.topic,
            language=LANGUAGE,
            rubric=RubricEntry.model_validate(task.rubric),
        )
        for task in world.tasks
    ]
    return file.model_copy(update={"tasks": tasks})
