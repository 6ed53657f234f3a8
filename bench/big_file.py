"""A file of 2 GB of runs, 200 lines of 10 MB each, imported by the real command, which is killed in the middle.

On an embedded PostgreSQL of its own, in a folder that is removed afterwards; 8 GB of disk have to be free. The
command is started again after the kill: it leaves alone what is there and goes on. Peak memory is that of the
command's process.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from lseval.database.server import DATABASE, SUPERUSER, EmbeddedServer

ROOT = Path(__file__).resolve().parents[1]
RUNS = 200
OBSERVATIONS = 10
OBSERVATION_BYTES = 2**20
NEEDED_BYTES = 8 * 2**30
PEAK_BAR_MIB = 300.0


def run() -> Iterator[dict[str, Any]]:
    """Seconds, rows and peak memory until the kill, and after it. Leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="lseval-bench-") as folder:
        if shutil.disk_usage(folder).free < NEEDED_BYTES:
            yield {"name": "big_file", "ok": False, "reason": "less than 8 GB of disk are free"}
            return
        var, path = Path(folder) / "var", Path(folder) / "runs.jsonl"
        environ = {**os.environ, "LSEVAL_VAR": str(var), "PYTHONPATH": str(ROOT), "TMPDIR": folder}
        for name in ("DATABASE_URL", "LSEVAL_PRODUCTION", "DJANGO_SETTINGS_MODULE"):
            environ.pop(name, None)
        server = EmbeddedServer(var)
        try:
            subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], env=environ, cwd=ROOT, check=True)
            _write(path)
            yield {"name": "big_file.written", "rows": RUNS, "gb": round(path.stat().st_size / 1e9, 2)}
            killed = _import(environ, path, server, kill_at=RUNS // 2)
            there = _stored(server)
            yield {"name": "big_file.killed", **killed, "rows": there, "ok": killed["peak_mib"] < PEAK_BAR_MIB}
            resumed = _import(environ, path, server)
            rows = resumed.pop("printed")["runs"]
            is_whole = rows == {"created": RUNS - there, "unchanged": there, "further": 0, "failed": 0}
            yield {
                "name": "big_file.resumed",
                **resumed,
                "rows": rows,
                "peak_bar_mib": PEAK_BAR_MIB,
                "ok": is_whole and _stored(server) == RUNS and resumed["peak_mib"] < PEAK_BAR_MIB,
            }
        finally:
            server.stop()


def _write(path: Path) -> None:
    """Runs whose bulk is what their pages say: words in a random order, which do not pack to nothing."""
    rng = random.Random(946)  # noqa: S311 - only has to be the same each time
    known = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 11))) for _ in range(50_000)]
    texts = []
    for _ in range(OBSERVATIONS):
        text = " ".join(rng.choices(known, k=OBSERVATION_BYTES // 6))
        texts.append(text[:OBSERVATION_BYTES])
    with path.open("w", encoding="utf-8") as out:
        for number in range(RUNS):
            head = json.dumps({"key": f"t{number}", "question": f"Which ferries of lake {number} are open?"})
            out.write(f'{{"format": "lseval-run/1", "task": {head}, "model": {{"name": "m"}}, "messages": [')
            for place, text in enumerate(texts):
                url = f"https://ferries.example/{number}/{place}"
                call = {"id": str(place), "name": "read_page", "arguments": {"url": url}}
                asked = {"role": "assistant", "content": f"I read page {place}.", "tool_calls": [call]}
                answer = {"role": "tool", "tool_call_id": str(place), "content": f"{number}.{place} {text}"}
                out.write(f"{', ' if place else ''}{json.dumps(asked)}, {json.dumps(answer)}")
            out.write('], "final_answer": "1. Lake Aldis ferry [1]\\n\\n[1] https://ferries.example/aldis"}\n')


def _import(environ: dict[str, str], path: Path, server: EmbeddedServer, kill_at: int = 0) -> dict[str, Any]:
    """Import the file; with `kill_at` the process is killed once so many runs are stored."""
    command = [sys.executable, "manage.py", "import_runs", "big", str(path), "--json"]
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(command, env=environ, cwd=ROOT, stdout=printed)  # noqa: S603
        while kill_at and _is_at_work(process) and _stored(server) < kill_at:
            time.sleep(0.2)
        if kill_at:
            process.kill()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        found = {
            "seconds": round(time.perf_counter() - begun, 1),
            "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
            "peak_mib": round(used.ru_maxrss / 1024, 1),
        }
        if kill_at:
            return found
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        printed.seek(0)
        return {**found, "printed": json.loads(printed.read())}


def _is_at_work(process: subprocess.Popen[bytes]) -> bool:
    """Whether the process has not ended; what it used is still to be asked for afterwards."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def _stored(server: EmbeddedServer) -> int:
    """How many runs the database holds."""
    address = server.ensure_running()
    with psycopg.connect(
        host=str(address.socket_dir), port=address.port, user=SUPERUSER, dbname=DATABASE, autocommit=True
    ) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM lseval_run").fetchall()
    return int(count)
