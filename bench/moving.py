"""A study of 208 runs moved by files: exported, and imported into another study, each by its own command.

On an embedded PostgreSQL of its own. The study has everything that moves: runs with their pages, both stages, the
ledger's calls, and an audit with simulated labels. How long the import takes is held against the export of the same
rows. `peak_mib` is the most memory that the command's process held.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench._moving import SLUG
from lseval.database.server import EmbeddedServer

ROOT = Path(__file__).resolve().parents[1]
TASKS = 13
PEAK_BAR_MIB = 300.0


def run() -> Iterator[dict[str, Any]]:
    """Seconds, CPU seconds and peak memory of each command. Leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="lseval-bench-") as folder:
        var, out = Path(folder) / "var", Path(folder) / "out"
        environ = {**os.environ, "LSEVAL_VAR": str(var), "PYTHONPATH": str(ROOT), "TMPDIR": folder}
        for name in ("DATABASE_URL", "LSEVAL_PRODUCTION", "DJANGO_SETTINGS_MODULE"):
            environ.pop(name, None)
        try:
            made = json.loads(_command(environ, "-m", "bench._moving", str(TASKS))[0])
            yield {"name": "moving.study", **made}
            exported = _timed(environ, "export", SLUG, "all", str(out))
            files = [path for path in out.iterdir() if path.suffix == ".jsonl"]
            size = sum(path.stat().st_size for path in files)
            rows = sum(path.read_bytes().count(b"\n") for path in files)
            yield {"name": "moving.export", "rows": rows, "mib": round(size / 2**20, 1), **exported}
            yield from _imports(environ, out, made["runs"], exported["seconds"])
        finally:
            EmbeddedServer(var).stop()


def _imports(environ: dict[str, str], out: Path, runs: int, export_s: float) -> Iterator[dict[str, Any]]:
    text = (out / "study.toml").read_text(encoding="utf-8").replace(f'slug = "{SLUG}"', 'slug = "moved"', 1)
    (out / "study.toml").write_text(text, encoding="utf-8")
    _timed(environ, "create_study", str(out / "study.toml"))
    total_s = 0.0
    for name, command in (
        ("import_runs", ["import_runs", "moved", str(out / "runs.jsonl"), "--json"]),
        ("import_evaluation", ["import_evaluation", "moved", str(out), "--json", "--members"]),
        ("import_again", ["import_evaluation", "moved", str(out), "--json"]),
    ):
        found = _timed(environ, *command)
        total_s += found["seconds"] * (name != "import_again")
        yield {
            "name": f"moving.{name}",
            **found,
            "ms_per_run": round(found["seconds"] / runs * 1000),
            "peak_bar_mib": PEAK_BAR_MIB,
            "ok": found["peak_mib"] < PEAK_BAR_MIB,
        }
    yield {"name": "moving.import_in_exports", "ratio": round(total_s / export_s, 1)}


def _timed(environ: dict[str, str], *command: str) -> dict[str, Any]:
    begun = time.perf_counter()
    _, used = _command(environ, "manage.py", *command)
    return {
        "seconds": round(time.perf_counter() - begun, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_mib": round(used.ru_maxrss / 1024, 1),
    }


def _command(environ: dict[str, str], *arguments: str) -> tuple[str, Any]:
    """What a Python process printed, and what it used. Raises where it fails."""
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen([sys.executable, *arguments], env=environ, cwd=ROOT, stdout=printed)  # noqa: S603
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, arguments)
        printed.seek(0)
        return printed.read().decode(), used
