"""Exports of 200,000 labeled items while labels arrive: time, memory, and whether the count is exact.

On an embedded PostgreSQL of its own. A thread of another process appends labels one by one while each file is put
together; the peak of the exporting process's memory is taken over all of them and held against what it was after a
first export of 1,000 rows. The naive way beside it reads rows into a list and writes them at the end;
it is given a tenth of them, since it takes ten times as long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lseval.database.server import EmbeddedServer

ROOT = Path(__file__).resolve().parents[1]
ITEMS = 200_000
GROWTH_BAR_MIB = 40.0


def run() -> Iterator[dict[str, Any]]:
    """Seconds, rows a second and growth of the memory in MiB of each file. Leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="lseval-bench-") as folder:
        var = Path(folder) / "var"
        environ = {**os.environ, "LSEVAL_VAR": str(var), "PYTHONPATH": str(ROOT), "TMPDIR": folder}
        for name in ("DATABASE_URL", "LSEVAL_PRODUCTION", "DJANGO_SETTINGS_MODULE"):
            environ.pop(name, None)
        try:
            made = _part(environ, "make", ITEMS)
            with _labels_arriving(environ):
                for what in ("jsonl", "csv"):
                    yield _result(what, _part(environ, "export", what), made)
                yield {"name": "exports.naive_jsonl", **_part(environ, "naive", "jsonl")}
        finally:
            EmbeddedServer(var).stop()


def _result(what: str, found: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    is_exact = found["rows"] == found["counted"] == found["lines"] and found["rows"] >= made["labels"]
    return {
        "name": f"exports.labels_{what}",
        **found,
        "arrived_before": found["rows"] - made["labels"],
        "growth_bar_mib": GROWTH_BAR_MIB,
        "ok": is_exact and found["growth_mib"] < GROWTH_BAR_MIB,
    }


def _part(environ: dict[str, str], *arguments: Any) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench._exports", *map(str, arguments)]
    done = subprocess.run(command, env=environ, cwd=ROOT, stdout=subprocess.PIPE, check=True)  # noqa: S603
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class _labels_arriving:
    """Within it, a process of its own appends labels."""

    def __init__(self, environ: dict[str, str]) -> None:
        self._environ = environ

    def __enter__(self) -> None:
        command = [sys.executable, "-m", "bench._exports", "arrive"]
        self._process = subprocess.Popen(command, env=self._environ, cwd=ROOT)  # noqa: S603

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
