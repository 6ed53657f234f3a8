"""An evaluated study, its export, and an empty study with its runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from lseval.models import (
    Study,
)
from tests.pipeline.evaluation_import.making import export_all, make_evaluated, make_twin


@pytest.fixture
def study() -> Study:
    return make_evaluated()


@pytest.fixture(scope="module")
def exported(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The export of a study that is not there any more."""
    with django_db_blocker.unblock(), transaction.atomic():
        folder = export_all(make_evaluated(), tmp_path_factory.mktemp("exported"))
        transaction.set_rollback(True)
    return folder


@pytest.fixture
def folder(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "out"))


@pytest.fixture
def twin(folder: Path) -> Study:
    return make_twin(folder)
