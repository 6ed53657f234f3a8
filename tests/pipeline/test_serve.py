"""`manage.py serve` on a port of its own: pages and a worker together, and both end with it."""

from __future__ import annotations

import signal
import urllib.error
import urllib.request
from pathlib import Path

from tests.pipeline.installation import an_installation, free_port, wait_until
from tests.pipeline.pretend import agent_of
from tests.providers.bad_llm import BadLLM

TURNS = 3


def test_serve_answers_pages_does_the_jobs_and_takes_its_worker_along() -> None:
    port = free_port()
    with an_installation() as installation, BadLLM(agent_of(TURNS)) as llm:
        home = installation.folder / "home"
        home.mkdir()
        installation.environ["HOME"] = str(home)
        installation.environ.pop("XDG_RUNTIME_DIR", None)  # where that is set gunicorn needs no folder in the home
        serving = installation.start("serve", "--port", str(port), "--workers", "1", log="serve.log")
        wait_until(lambda: answers(port))
        worker = worker_of(serving.pid)
        installation.make_study(llm.base_url, slug="served", tasks=2)
        installation.manage(
            "shell",
            "-v0",
            "-c",
            "from lseval.pipeline import jobs, studies\njobs.enqueue_collection(studies.find_study('served'))",
        )
        wait_until(lambda: installation.count("run") == 2)
        assert len(llm.requests) == 2 * (TURNS + 1)
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(30) == 0, (installation.folder / "serve.log").read_text()[-3000:]
        wait_until(lambda: not is_running(worker))
        assert installation.sql("SELECT DISTINCT state FROM lseval_job") == [("done",)]
        assert list(home.iterdir()) == []


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as reply:
            return reply.status == 200
    except (urllib.error.URLError, OSError):
        return False


def worker_of(pid: int) -> int:
    """The one process that does jobs among those that a process has started."""
    children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    (found,) = (child for child in children if b"\0work\0" in Path(f"/proc/{child}/cmdline").read_bytes())
    return found


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
