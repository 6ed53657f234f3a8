"""Reading in processes of their own: what hangs or bursts is killed, and the next page is read all the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from lseval.providers.extract import ExtractLimits, Extractor, extract
from tests.providers.test_extract import ARTICLE, TEXT, html, pdf

SLOW_PDF = pdf(content=b"BT /F1 12 Tf (ferry) Tj ET\n" * 1_500_000)
"""40 kB that take minutes to draw."""


@pytest.fixture
def extractor() -> Iterator[Extractor]:
    made = Extractor(ExtractLimits(cpu_s=2, wall_s=6.0), processes=1)
    yield made
    made.close()


def test_child_reads_as_this_process_does(extractor: Extractor) -> None:
    for content, kind in (
        (html(ARTICLE), "text/html"),
        (pdf("Opened in 1962"), ""),
        (b"words", "text/plain"),
        (b"", ""),
    ):
        assert extractor(content, kind) == extract(content, kind)


def test_pdf_that_never_ends_is_given_up_and_the_next_page_is_read(extractor: Extractor) -> None:
    """R10."""
    assert extractor(html(ARTICLE), "text/html").outcome == "ok"
    (child,) = [held._process for held in extractor._idle]
    began = time.monotonic()
    found = extractor(SLOW_PDF, "text/html")
    assert (found.outcome, found.sniffed_type, found.text) == ("pdf_failed", "application/pdf", "")
    assert time.monotonic() - began < 30
    assert child.poll() is not None
    assert extractor(html(ARTICLE), "text/html").outcome == "ok"


def test_wall_time_is_kept_where_no_cpu_is_used() -> None:
    """R10."""
    extractor = Extractor(ExtractLimits(cpu_s=60, wall_s=1.0), processes=1)
    try:
        extractor(b"words", "text/plain")
        (child,) = [held._process for held in extractor._idle]
        os.kill(child.pid, signal.SIGSTOP)
        found = extractor(html(ARTICLE), "text/html")
        assert found.outcome == "extract_failed"
        assert child.poll() is not None
        assert extractor(html(ARTICLE), "text/html").outcome == "ok"
    finally:
        extractor.close()


def test_page_that_needs_too_much_memory_is_given_up() -> None:
    """R10."""
    extractor = Extractor(ExtractLimits(memory_bytes=150 << 20, cpu_s=60, wall_s=60), processes=1)
    try:
        assert extractor(html(ARTICLE), "text/html").outcome == "ok"
        found = extractor(SLOW_PDF, "application/pdf")
        assert (found.outcome, found.text) == ("pdf_failed", "")
        assert "memory" in found.detail
        assert extractor(html(ARTICLE), "text/html").outcome == "ok"
    finally:
        extractor.close()


def test_child_that_is_killed_from_outside_costs_one_page_at_most(extractor: Extractor) -> None:
    extractor(b"words", "text/plain")
    (child,) = [held._process for held in extractor._idle]
    child.kill()
    child.wait()
    assert extractor(html(ARTICLE), "text/html").outcome == "extract_failed"
    assert extractor(html(ARTICLE), "text/html").outcome == "ok"


def test_many_threads_share_few_children() -> None:
    extractor = Extractor(processes=2)
    try:
        pages = [html(f"<p>{TEXT} Number {number}.</p>") for number in range(40)]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda page: extractor(page, "text/html").text, pages))
        assert found == [f"{TEXT} Number {number}." for number in range(40)]
        assert len(extractor._idle) <= 2
    finally:
        extractor.close()


def test_child_knows_no_secret_and_ends_with_us() -> None:
    code = (
        "import json, os, sys\n"
        "from lseval.providers.extract import Extractor\n"
        "extractor = Extractor(processes=1)\n"
        "extractor(b'words', 'text/plain')\n"
        "pid = extractor._idle[0]._process.pid\n"
        "print(json.dumps([pid, open(f'/proc/{pid}/environ').read()]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, timeout=60, env={**os.environ, "SOME_KEY": "sk-4711"},
    )  # fmt: skip
    pid, environment = json.loads(done.stdout)
    assert "sk-4711" not in environment
    until = time.monotonic() + 10
    while _is_alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _is_alive(pid)


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_sanitiser_does_not_hang_on_deep_markup(extractor: Extractor) -> None:
    """R12."""
    extractor(b"words", "text/plain")
    began = time.monotonic()
    assert extractor.sanitised(html("<div>" * 200_000), "text/html", 2.0) == ""
    assert time.monotonic() - began < 15
    assert "<p>" in extractor.sanitised(html(ARTICLE), "text/html", 2.0)


def test_child_of_a_large_process_is_not_thought_large() -> None:
    ballast = bytearray(b"x") * (700 << 20)
    extractor = Extractor(processes=1)
    try:
        assert extractor(html(ARTICLE), "text/html").outcome == "ok"
        assert len(extractor._idle) == 1
    finally:
        extractor.close()
    assert ballast[-1:] == b"x"
