"""One measurement of collection, in a process and on a database of its own: `python -m bench._collection.measure
WAIT_MS RUNS THREADS` prints it as JSON."""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")


def measure(wait_ms: float, runs: int, threads: int) -> dict[str, Any]:
    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    settings.LSEVAL_PROVIDERS = {"sandbox": "bench._collection.pretend"}
    call_command("migrate", verbosity=0)
    from bench._collection.llm import TURNS
    from lseval.models import Call, EvaluatedModel, JobKind, Run, Study
    from lseval.pipeline import jobs
    from lseval.pipeline.working import Worker

    server = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "bench._collection.llm", str(wait_ms)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    origin = f"http://127.0.0.1:{server.stdout.readline().strip()}"
    study = Study.objects.create(
        slug="bench",
        name="Bench",
        settings={
            "search": {"provider": "sandbox"},
            "fetch": {"provider": "sandbox"},
            "providers": {"allow": [origin]},
        },
    )
    model = {"base_url": f"{origin}/v1", "model": "bench", "concurrency": threads}
    EvaluatedModel.objects.create(study=study, name="bench", settings=model)
    for number in range(runs):
        study.tasks.create(key=str(number), question=f"Which ferry opened before {number}?")
    jobs.enqueue_collection(study)
    worker = Worker(threads=threads, study=study, kinds=(JobKind.COLLECT,), until_idle=True, poll_s=0.1)
    cpu, postgres, begin = own_cpu_s(), postgres_cpu_s(), time.perf_counter()
    worker.run()
    took = time.perf_counter() - begin
    cpu, postgres = own_cpu_s() - cpu, postgres_cpu_s() - postgres
    server.stdin.close()
    served = json.loads(server.stdout.readline())
    server.wait()
    calls = Call.objects.filter(kind="chat", error_code="").count()
    assert Run.objects.count() == runs, "every run was made"
    assert calls == served["served"] == runs * TURNS, "every call has its row"
    ideal_s = math.ceil(runs / threads) * TURNS * wait_ms / 1000
    return {
        "runs": runs,
        "threads": threads,
        "wait_ms": wait_ms,
        "calls": calls,
        "rows": Call.objects.count(),
        "seconds": round(took, 2),
        "calls_per_s": round(calls / took, 1),
        "ideal_calls_per_s": round(calls / ideal_s, 1),
        "share_of_ideal": round(ideal_s / took, 3),
        "cpu_ms_per_call": round(1000 * cpu / calls, 3),
        "postgres_cpu_ms_per_call": round(1000 * postgres / calls, 3),
        "server_cpu_ms_per_call": round(1000 * served["cpu_s"] / calls, 3),
    }


def own_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def postgres_cpu_s() -> float:
    """What the embedded PostgreSQL has used so far, all of its processes together."""
    folder = Path(os.environ["LSEVAL_VAR"]) / "postgres"
    postmaster = int((folder / "postmaster.pid").read_text().split()[0])
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == postmaster:
            ticks += int(fields[11]) + int(fields[12])
        elif stat.parent.name == str(postmaster):
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    print(json.dumps(measure(float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
