"""An evaluated study, its export, and an empty study with its runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from lseval.models import (
    Study,
)
from tests.pipeline.evaluation_import.making import export_and_forget, make_evaluated, make_twin


@pytest.fixture
def study() -> Study:
    return make_evaluated()


@pytest.fixture(scope="module")
def exported(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The export of a study that is not there any more."""
    return export_and_forget(make_evaluated, tmp_path_factory.mktemp("exported"), django_db_blocker)


@pytest.fixture
def folder(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "out"))


@pytest.fixture
def twin(folder: Path) -> Study:
    return make_twin(folder)
