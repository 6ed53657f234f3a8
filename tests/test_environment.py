"""A09: outside a local run the program refuses to start with a default secret, debug or an open door."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lseval.environment import read_environment
from lseval.errors import SettingsError

ROOT = Path(__file__).resolve().parent.parent
GOOD_SECRET = "k3J9-" + "qwZ7xT2mB8vN4hL6pR1sD5fG0yC" * 3
DEPLOYED = {"LSEVAL_PRODUCTION": "1", "LSEVAL_SECRET_KEY": GOOD_SECRET, "LSEVAL_ALLOWED_HOSTS": "eval.example"}


def test_complete_deployment_starts(tmp_path: Path) -> None:
    environment = read_environment(DEPLOYED, tmp_path)
    assert not environment.is_local
    assert environment.allowed_hosts == ("eval.example",)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"LSEVAL_SECRET_KEY": ""}, "LSEVAL_SECRET_KEY is not set"),
        ({"LSEVAL_SECRET_KEY": "short"}, "too short"),
        ({"LSEVAL_SECRET_KEY": "a" * 80}, "too plain"),
        ({"LSEVAL_SECRET_KEY": "django-insecure-" + GOOD_SECRET}, "placeholder"),
        ({"LSEVAL_SECRET_KEY": "change-me-" + GOOD_SECRET}, "placeholder"),
        ({"LSEVAL_ALLOWED_HOSTS": ""}, "LSEVAL_ALLOWED_HOSTS is not set"),
        ({"LSEVAL_ALLOWED_HOSTS": "*"}, "open door"),
        ({"LSEVAL_ALLOWED_HOSTS": "eval.example,.example"}, "open door"),
        ({"LSEVAL_DEBUG": "1"}, "LSEVAL_DEBUG"),
    ],
)
@pytest.mark.parametrize("trigger", [{"LSEVAL_PRODUCTION": "1"}, {"DATABASE_URL": "postgresql://db.example/x"}])
def test_unsafe_deployment_is_refused(
    tmp_path: Path, change: dict[str, str], said: str, trigger: dict[str, str]
) -> None:
    given = {key: value for key, value in DEPLOYED.items() if key != "LSEVAL_PRODUCTION"}
    with pytest.raises(SettingsError, match=said):
        read_environment({**given, **trigger, **change}, tmp_path)


def test_every_problem_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        read_environment({"LSEVAL_PRODUCTION": "yes", "LSEVAL_DEBUG": "true"}, tmp_path)
    assert all(name in str(caught.value) for name in ("LSEVAL_DEBUG", "LSEVAL_SECRET_KEY", "LSEVAL_ALLOWED_HOSTS"))


def test_local_run_serves_loopback_only(tmp_path: Path) -> None:
    assert "localhost" in read_environment({}, tmp_path).allowed_hosts
    with pytest.raises(SettingsError, match="LSEVAL_PRODUCTION=1"):
        read_environment({"LSEVAL_ALLOWED_HOSTS": "localhost,eval.example"}, tmp_path)


def test_local_secret_is_made_once_and_private(tmp_path: Path) -> None:
    first = read_environment({}, tmp_path)
    assert first.secret_key == read_environment({}, tmp_path).secret_key
    assert len(first.secret_key) >= 50
    assert stat.S_IMODE((tmp_path / "var" / "secret_key").stat().st_mode) == 0o600
    assert read_environment({}, tmp_path / "other").secret_key != first.secret_key


def test_a_flag_that_is_neither_yes_nor_no_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="use 1 or 0"):
        read_environment({"LSEVAL_PRODUCTION": "maybe"}, tmp_path)


def _manage(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    ours = ("LSEVAL_", "DATABASE_URL", "DJANGO_ALLOW")
    plain = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**plain, **environ},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_commands_say_what_to_set_instead_of_starting() -> None:
    done = _manage("check", LSEVAL_PRODUCTION="1")
    assert done.returncode != 0
    assert "LSEVAL_SECRET_KEY is not set" in done.stderr
    assert "Traceback" not in done.stderr


def test_deployment_checks_are_clean() -> None:
    done = _manage("check", "--deploy", "--fail-level", "WARNING", **DEPLOYED)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("environ", "level"), [({}, "WARNING"), (DEPLOYED, "INFO")])
def test_deployment_also_logs_strangers_who_are_sent_to_the_login(
    tmp_path: Path, environ: dict[str, str], level: str
) -> None:
    asked = "import logging; print(logging.getLevelName(logging.getLogger('lseval.denials').getEffectiveLevel()))"
    done = _manage("shell", "-v0", "-c", asked, LSEVAL_VAR=str(tmp_path), **environ)
    assert done.stdout.strip() == level, done.stderr


def test_demo_is_refused_in_a_deployment() -> None:
    done = _manage("demo", **DEPLOYED)
    assert done.returncode != 0
    assert "local" in done.stderr


def test_an_address_that_cannot_be_read_is_refused_without_showing_it() -> None:
    done = _manage("check", **{**DEPLOYED, "DATABASE_URL": "postgresql://user:hunter2@[bad/x"})
    assert done.returncode != 0
    assert "DATABASE_URL cannot be read" in done.stderr
    assert "hunter2" not in done.stderr
