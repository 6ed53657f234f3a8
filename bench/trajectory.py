"""The trajectory page in a browser: its first paint, beside that of an empty page of the same program.

gunicorn on an embedded PostgreSQL of its own; Chromium opens each page in turn, so that whatever else the
machine does weighs on all alike. `largest` is the run with the most text of the shared data, where that is there,
`made` one of 130 rounds with 200,000 characters of observation each. The empty page is the list of studies. `ratio`
is the page's median first paint over the empty page's.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from bench.labeling import _served
from lseval.database.server import EmbeddedServer

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("LSEVAL_SHARED", ROOT.parent / "shared"))
TIMES = 9
BAR_MS = 300
_MOST_LOOKS, _LOOK_MS = 600, 50
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
_ARGUMENTS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def run() -> Iterator[dict[str, Any]]:
    """First paint and the server's time in ms, bytes, and the ratio to the empty page. Leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="lseval-bench-") as folder:
        var = Path(folder) / "var"
        environ = {**os.environ, "LSEVAL_VAR": str(var), "PYTHONPATH": str(ROOT)}
        for name in ("DATABASE_URL", "LSEVAL_PRODUCTION", "DJANGO_SETTINGS_MODULE"):
            environ.pop(name, None)
        try:
            _python(environ, "manage.py", "migrate", "-v0")
            made = json.loads(_python(environ, "-m", "bench._trajectory", str(SHARED / "data")).splitlines()[-1])
            with _served("product", environ) as port:
                yield from _measured(f"http://127.0.0.1:{port}", made)
        finally:
            EmbeddedServer(var).stop()


def _python(environ: dict[str, str], *words: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, *words], cwd=ROOT, env=environ, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def _measured(origin: str, made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    pages = {"empty": "/", **made["addresses"]}
    served: dict[str, list[float]] = {name: [] for name in pages}
    sizes = {}
    with httpx.Client(base_url=origin, cookies={"sessionid": made["session"]}, timeout=120) as client:
        for _ in range(TIMES + 1):
            for name, address in pages.items():
                started = time.perf_counter()
                response = client.get(address)
                served[name].append(1000 * (time.perf_counter() - started))
                response.raise_for_status()
                sizes[name] = len(response.content)
    paints = _paints(origin, pages, made["session"])
    for name in made["addresses"]:
        result: dict[str, Any] = {
            "name": f"trajectory.{name}",
            "unit": "ms",
            "rounds": made["rounds"][name],
            "bytes": sizes[name],
            "served_median": round(statistics.median(served[name][1:]), 1),
            "empty_served_median": round(statistics.median(served["empty"][1:]), 1),
            "bar_ms": BAR_MS,
        }
        if paints is None:
            yield {**result, "skipped": "there is no Chromium on this machine"}
            continue
        page, empty = statistics.median(paints[name]), statistics.median(paints["empty"])
        yield {
            **result,
            "first_paint_median": round(page, 1),
            "empty_first_paint_median": round(empty, 1),
            "ratio": round(page / empty, 2),
        }


def _paints(origin: str, pages: dict[str, str], session: str) -> dict[str, list[float]] | None:
    """First contentful paints of each page in ms, after one visit that fills the cache; None without a browser."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        return None
    from playwright.sync_api import sync_playwright

    found: dict[str, list[float]] = {name: [] for name in pages}
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=[*_ARGUMENTS, *(["--no-sandbox"] if as_root else [])]
        )
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.add_cookies([{"name": "sessionid", "value": session, "url": origin}])
        page = context.new_page()
        for turn in range(TIMES + 1):
            for name, address in pages.items():
                page.goto(origin + address, wait_until="load")
                paint = _first_paint(page)
                if turn:
                    found[name].append(paint)
        browser.close()
    return found


def _first_paint(page: Any) -> float:
    """When the page first painted, in ms; it may do so after it has loaded.

    Asked again and again from here: Playwright's own way of waiting evaluates text in the page, which the page's
    policy forbids.
    """
    for _ in range(_MOST_LOOKS):
        if (paint := page.evaluate(_PAINT)) is not None:
            return float(paint)
        page.wait_for_timeout(_LOOK_MS)
    raise RuntimeError(f"{page.url} did not paint within {_MOST_LOOKS * _LOOK_MS / 1000:g} s")
