"""A study file into the database: made once, and brought up to date by every later saving of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings
from django.db import transaction

from lseval.errors import ConflictError
from lseval.models import Call, EvaluatedModel, Phase, Study, Task
from lseval.pipeline.studies import find_or_create_study
from lseval.pipeline.study_files.schema import ControlSettings, ModelEntry, StudyFile, StudySettings, TaskEntry

COLLECTED = "collected"
_HOW_A_MODEL_IS_ASKED = ("provider", "model", "sampling", "tool_calls", "profile")
_SHOWN_NAMES = 5


@dataclass(frozen=True, slots=True)
class SavedStudy:
    """What saving a study file did. Lists hold names and keys; `kept_*` are there and not in the file."""

    study: Study
    is_new: bool
    new_tasks: tuple[str, ...]
    changed_tasks: tuple[str, ...]
    new_models: tuple[str, ...]
    changed_models: tuple[str, ...]
    kept_tasks: tuple[str, ...]
    kept_models: tuple[str, ...]
    changed_settings: tuple[str, ...]

    def lines(self) -> list[str]:
        """The same in words, one line each."""
        told = [f"study {self.study.slug}: {'new' if self.is_new else 'there already'}"]
        for words, names in (
            ("new tasks", self.new_tasks),
            ("tasks changed", self.changed_tasks),
            ("new models", self.new_models),
            ("models changed", self.changed_models),
            ("settings changed", self.changed_settings),
            ("tasks kept that the file does not name", self.kept_tasks),
            ("models kept that the file does not name", self.kept_models),
        ):
            if names:
                rest = ", ..." if len(names) > _SHOWN_NAMES else ""
                told.append(f"{words}: {len(names)} ({', '.join(names[:_SHOWN_NAMES])}{rest})")
        return told


@transaction.atomic
def save_study(file: StudyFile) -> SavedStudy:
    """Make the study of the file, or bring it up to date; saving the same file twice changes nothing.

    Tasks and models are added and changed, never removed, and what a task's entry leaves out stays as it is. What
    runs were made under stays.

    Raises:
        ConflictError: the controls, a task's question or rubric, or how a model is asked would change although runs
            were made under it; nothing is changed.
    """
    table = file.study
    study, is_new = find_or_create_study(table.slug, table.name)
    study = Study.objects.select_for_update().get(pk=study.pk)
    changed_settings = _save_settings(study, file)
    new_tasks, changed_tasks, kept_tasks = _save_tasks(study, file.tasks or _made_up_tasks(file))
    new_models, changed_models, kept_models = _save_models(study, file.models)
    return SavedStudy(
        study,
        is_new,
        new_tasks,
        changed_tasks,
        new_models,
        changed_models,
        kept_tasks,
        kept_models,
        () if is_new else changed_settings,
    )


def check_study(file: StudyFile) -> SavedStudy:
    """What saving the file would do; nothing is kept. Raises as `save_study` does."""
    with transaction.atomic():
        saved = save_study(file)
        transaction.set_rollback(True)
    return saved


def _save_settings(study: Study, file: StudyFile) -> tuple[str, ...]:
    new = file.settings.stored()
    others = {name: value for name, value in study.settings.items() if name not in StudySettings.model_fields}
    if _has_begun(study):
        _check_controls(study, new["controls"])
    settings = {**others, **new}
    changed = [
        name for name in sorted({*settings, *study.settings}) if settings.get(name) != study.settings.get(name)
    ]
    for name, value in (("name", file.study.name), ("description", file.study.description)):
        if value and getattr(study, name) != value:
            setattr(study, name, value)
            changed.append(name)
    study.settings = settings
    study.save(update_fields=["settings", "name", "description"])
    return tuple(changed)


def _has_begun(study: Study) -> bool:
    return (
        study.runs.filter(source_format=COLLECTED).exists()
        or Call.objects.filter(study=study, phase=Phase.COLLECTION).exists()
    )


def _check_controls(study: Study, new: Mapping[str, Any]) -> None:
    old = {**ControlSettings().stored(), **study.settings.get("controls", {})}
    changed = [f"{name} from {old.get(name)} to {value}" for name, value in new.items() if old.get(name) != value]
    if changed:
        raise ConflictError(
            f"Collecting has begun in study {study.slug}, and its models compare only under the same controls, so "
            f"they cannot change any more ({'; '.join(changed)}). Leave them, or make another study with a slug of "
            "its own."
        )


def _made_up_tasks(file: StudyFile) -> list[TaskEntry]:
    """The tasks of the made-up world that the file sets its study in; none where it sets it in none."""
    path = settings.LSEVAL_PROVIDERS.get("sandbox")
    if file.sandbox is None or path is None:
        return []
    given = import_module(path).tasks_of(file.sandbox.seed, file.sandbox.tasks)
    return [TaskEntry.model_validate(task) for task in given]


def _save_tasks(study: Study, entries: list[TaskEntry]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    known = {task.key: task for task in study.tasks.all()}
    with_runs = set(study.runs.values_list("task__key", flat=True).distinct())
    new, changed = [], []
    for entry in entries:
        values = {
            "question": entry.question,
            "topic": entry.topic,
            "language": entry.language,
            "gold_answer": entry.gold,
            "rubric": entry.rubric.model_dump(mode="json") if entry.rubric else None,
        }
        task = known.pop(entry.key, None)
        if task is None:
            new.append(Task(study=study, key=entry.key, **values))
            continue
        differing = [name for name, value in values.items() if value and getattr(task, name) != value]
        fixed = [name for name in differing if name in ("question", "rubric")]
        if fixed and task.key in with_runs:
            raise ConflictError(
                f"Task {task.key} has runs, so its {' and '.join(fixed)} cannot change any more. Give the new "
                "question a key of its own."
            )
        if differing:
            for name in differing:
                setattr(task, name, values[name])
            changed.append(task)
    Task.objects.bulk_create(new)
    Task.objects.bulk_update(changed, ["question", "topic", "language", "gold_answer", "rubric"])
    return tuple(task.key for task in new), tuple(task.key for task in changed), tuple(known)


def _save_models(
    study: Study, entries: list[ModelEntry]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    known = {model.name: model for model in study.models.all()}
    with_runs = set(study.runs.filter(source_format=COLLECTED).values_list("model__name", flat=True).distinct())
    new, changed = [], []
    for entry in entries:
        settings = entry.settings.stored()
        model = known.pop(entry.name, None)
        if model is None:
            new.append(EvaluatedModel(study=study, name=entry.name, family=entry.family, settings=settings))
            continue
        fixed = [name for name in _HOW_A_MODEL_IS_ASKED if model.settings.get(name) != settings.get(name)]
        if fixed and model.name in with_runs:
            raise ConflictError(
                f"Model {model.name} has runs, so how it is asked cannot change any more ({', '.join(fixed)}). "
                "Give the changed one a name of its own."
            )
        if model.family != entry.family or model.settings != settings:
            model.family, model.settings = entry.family, settings
            changed.append(model)
    EvaluatedModel.objects.bulk_create(new)
    EvaluatedModel.objects.bulk_update(changed, ["family", "settings"])
    return tuple(model.name for model in new), tuple(model.name for model in changed), tuple(known)
