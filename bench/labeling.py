"""Labeling under load: the product's `next` and `submit`, beside a bare view that claims a row.

gunicorn with 2 workers on an embedded PostgreSQL of its own, 7,685 items in one queue, and 1, 8 and 50 clients in
another process. The floor runs on the same database in the same way: a Django view with no middleware that claims
a row with SKIP LOCKED and returns a line of HTML. `ratio` is the product's worse p95 over the floor's p95 with as
many clients.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lseval.database.server import EmbeddedServer

ROOT = Path(__file__).resolve().parents[1]
CLIENTS = (1, 8, 50)
SLICES = [("floor", 1.0), ("product", 3.0)] * 6
WARM_UP_S = 10
WORKERS = 2
BAR = 5.0
EXPORT_BAR_S = 2.0
_APPLICATIONS = {"product": "lseval.wsgi:application", "floor": "bench._labeling.floor:application"}


def run() -> Iterator[dict[str, Any]]:
    """Median and p95 of next and submit in ms, errors, items beyond their overlap, lost labels.

    Leaves nothing behind.
    """
    with tempfile.TemporaryDirectory(prefix="lseval-bench-") as folder:
        var = Path(folder) / "var"
        environ = {**os.environ, "LSEVAL_VAR": str(var), "PYTHONPATH": str(ROOT)}
        for name in ("DATABASE_URL", "LSEVAL_PRODUCTION", "DJANGO_SETTINGS_MODULE"):
            environ.pop(name, None)
        try:
            made = _data(environ, "make", "")
            acknowledged: list[Any] = []
            with _served("floor", environ) as floor_port, _served("product", environ) as port:
                for clients in CLIENTS:
                    found = _load({"floor": floor_port, "product": port}, clients, made)
                    acknowledged += found["product"]["acknowledged"]
                    yield _result(clients, found["product"], found["floor"])
            told = Path(folder) / "acknowledged.json"
            told.write_text(json.dumps(acknowledged))
            checked = _data(environ, "check", str(told))
            yield {"name": "labeling.kept", **checked, "ok": not checked["lost"] and not checked["beyond_overlap"]}
            exported = _data(environ, "export", str(Path(folder) / "labels"))
            yield {
                "name": "labeling.export",
                "rows": exported["rows"],
                **{f"{name}_s": round(exported[name], 2) for name in ("csv", "jsonl")},
                "bar_s": EXPORT_BAR_S,
            }
        finally:
            EmbeddedServer(var).stop()


def _result(clients: int, found: dict[str, Any], floor: dict[str, Any]) -> dict[str, Any]:
    floor_p95 = _quantile(floor["next_s"], 0.95)
    result: dict[str, Any] = {"name": f"labeling.{clients}_clients", "unit": "ms", "clients": clients}
    for what in ("next", "submit"):
        times = found[f"{what}_s"]
        result[f"{what}_median"] = _ms(_quantile(times, 0.5))
        result[f"{what}_p95"] = _ms(_quantile(times, 0.95))
    worst = max(_quantile(found[f"{what}_s"], 0.95) for what in ("next", "submit"))
    return {
        **result,
        "labels": len(found["acknowledged"]),
        "errors": len(found["errors"]) + len(floor["errors"]),
        "first_errors": [*found["errors"], *floor["errors"]][:3],
        "floor_median": _ms(_quantile(floor["next_s"], 0.5)),
        "floor_p95": _ms(floor_p95),
        "ratio": round(worst / floor_p95, 2),
        "bar": BAR,
    }


def _quantile(times: list[float], share: float) -> float:
    """The smallest time that so many of the times do not exceed."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 1)


def _data(environ: dict[str, str], what: str, file: str) -> Any:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "bench._labeling.data", what, file],
        cwd=ROOT,
        env=environ,
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(done.stdout.splitlines()[-1])


def _load(ports: dict[str, int], clients: int, made: dict[str, Any]) -> Any:
    given = {"ports": ports, "clients": clients, "slices": SLICES, **made}
    done = subprocess.run(
        [sys.executable, "-m", "bench._labeling.client"],
        cwd=ROOT,
        input=json.dumps(given).encode(),
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(done.stdout)


@contextmanager
def _served(kind: str, environ: dict[str, str]) -> Iterator[int]:
    """A port on which gunicorn serves the application, with its own kind of worker, one request at a time."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {"floor": "bench._labeling.floor_settings", "product": "lseval.settings"}[kind]
    server = subprocess.Popen(  # noqa: S603 - our own program
        [
            sys.executable, "-m", "gunicorn", _APPLICATIONS[kind], "--bind", f"127.0.0.1:{port}",
            "--workers", str(WORKERS), "--log-level", "error", "--no-control-socket",
        ],
        cwd=ROOT,
        env={**environ, "DJANGO_SETTINGS_MODULE": settings},
    )  # fmt: skip
    try:
        _wait_for(port, server)
        yield port
    finally:
        server.terminate()
        server.wait(15)


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                time.sleep(WARM_UP_S)
                return
        if server.poll() is not None:
            break
        time.sleep(0.05)
    raise RuntimeError("gunicorn did not start")
