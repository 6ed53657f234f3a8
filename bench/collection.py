"""Collecting 100 runs of 28 turns and 54 tool calls from a loopback LLM, every call durable before it is used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lseval.database.server import EmbeddedServer

RUNS = 100
THREADS = 64


def run() -> Iterator[dict[str, Any]]:
    """The share of the ideal rate where the LLM takes 500 ms, and CPU per call where it takes 50 ms.

    Ideal is what 64 runs at once would take if nothing but the LLM took time: two waves of 28 turns. Client, LLM
    and PostgreSQL share this machine's cores.
    """
    slow = _measured(500)
    yield {
        "name": "collection_500ms",
        "value": slow["share_of_ideal"],
        "unit": "share of the ideal rate",
        "bar": 0.9,
        "ideal_is": "ceil(runs / threads) x turns x wait",
        **slow,
    }
    quick = _measured(50)
    yield {"name": "collection_50ms", "value": quick["cpu_ms_per_call"], "unit": "CPU ms/call", "bar": 2.0, **quick}


def _measured(wait_ms: int) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp(prefix="lseval-bench-"))
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "bench._collection.measure", str(wait_ms), str(RUNS), str(THREADS)],
            env={**os.environ, "LSEVAL_VAR": str(folder), "DATABASE_URL": ""},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return dict(json.loads(done.stdout.splitlines()[-1]))
    finally:
        EmbeddedServer(folder).stop()
        shutil.rmtree(folder, ignore_errors=True)
