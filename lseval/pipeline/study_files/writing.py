"""A study written back as the file that would make it."""

from __future__ import annotations

from typing import Any

import tomli_w
from pydantic import ValidationError

from lseval.errors import InputError
from lseval.models import Study
from lseval.pipeline.study_files.schema import (
    ModelEntry,
    RubricEntry,
    StudyFile,
    StudySettings,
    StudyTable,
    TaskEntry,
)


def study_file_of(study: Study) -> StudyFile:
    """The file that describes the study. A model without an endpoint, whose runs were imported, is left out.

    Raises:
        InputError: something stored is not what a study file may say.
    """
    try:
        settings = StudySettings.model_validate(
            {name: value for name, value in study.settings.items() if name in StudySettings.model_fields}
        )
        return StudyFile(
            study=StudyTable(
                slug=study.slug,
                name=study.name,
                description=study.description,
                link_policy=settings.link_policy,
                rubric_per=settings.rubric_per,
            ),
            controls=settings.controls,
            search=settings.search,
            fetch=settings.fetch,
            judges=settings.judges,
            budget=settings.budget,
            audit=settings.audit,
            providers=settings.providers,
            sandbox=settings.sandbox,
            models=[
                ModelEntry.model_validate({"name": model.name, "family": model.family, **model.settings})
                for model in study.models.all()
                if model.settings
            ],
            tasks=[
                TaskEntry(
                    key=task.key,
                    question=task.question,
                    topic=task.topic,
                    language=task.language,
                    gold=task.gold_answer,
                    rubric=RubricEntry.model_validate(task.rubric) if task.rubric else None,
                )
                for task in study.tasks.all()
            ],
        )
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(f"Study {study.slug} cannot be written as a file: {field}: {first['msg']}.") from error


def study_toml(study: Study) -> str:
    """The study as TOML; read again, it is the same study file. No key is in it: the file names their variables."""
    left_out = [model.name for model in study.models.all() if not model.settings]
    notes = [f"# {_plain(name)}: its runs were imported, so it has no endpoint here" for name in left_out]
    return "".join(f"{note}\n" for note in notes) + toml_of(study_file_of(study))


def toml_of(file: StudyFile) -> str:
    """A study file as TOML text, without what is left at its default; the controls are written whole."""
    data = file.stored()
    ordered: dict[str, Any] = {"study": data.pop("study"), "controls": file.controls.stored(), **data}
    ordered["controls"] = file.controls.stored()
    return tomli_w.dumps(ordered)


def _plain(name: str) -> str:
    return "".join(char if char.isprintable() else " " for char in name)
