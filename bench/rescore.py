"""Scoring 10,000 groups again from the ledger, with the model that judged them gone."""

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

GROUPS = int(os.environ.get("LSEVAL_BENCH_GROUPS", "10000"))


def run() -> Iterator[dict[str, Any]]:
    """Seconds for `GROUPS` verdicts by a model judge from its kept replies, pages of 8,000 characters."""
    folder = Path(tempfile.mkdtemp(prefix="lseval-bench-"))
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "bench._rescore.measure", str(GROUPS)],
            env={**os.environ, "LSEVAL_VAR": str(folder), "DATABASE_URL": ""},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout.splitlines()[-1])
    finally:
        EmbeddedServer(folder).stop()
        shutil.rmtree(folder, ignore_errors=True)
    yield {
        "name": "rescore: Stage 1 from the ledger",
        "value": found["rescored_s"],
        "unit": "s",
        "bar": 60.0,
        "groups_a_second": found["groups"] / found["rescored_s"],
        **found,
    }
