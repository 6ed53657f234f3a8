"""Where the shared material lies, for the tests that try the program on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("LSEVAL_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def shared_path(relative: str) -> Path:
    """The path of a shared file or folder; skips the calling test where it is absent."""
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"needs shared/{relative}, which a checkout on its own does not have")
    return path
