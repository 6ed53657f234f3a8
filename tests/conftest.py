"""What every test may use."""

from __future__ import annotations

import os

# Tests run on the embedded database, or on DATABASE_URL where one is given, never with a deployment's secret.
if os.environ.get("DATABASE_URL"):
    import secrets

    os.environ.setdefault("LSEVAL_SECRET_KEY", secrets.token_hex(40))
    os.environ.setdefault("LSEVAL_ALLOWED_HOSTS", "testserver,localhost")

import pytest
from django.conf import LazySettings

from lseval import plain_sql


@pytest.fixture(autouse=True)
def _quick_and_plain(settings: LazySettings) -> None:
    """Quick password hashing; plain http also where the settings are a deployment's."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.SECURE_SSL_REDIRECT = False


@pytest.fixture
def as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements are sent as they are written, not prepared under a name, so that a test can read them."""
    monkeypatch.setattr(plain_sql, "is_prepared", False)
