"""Judges groups by a model on loopback, then all of them again from the ledger with the model gone.

`python -m bench._rescore.measure GROUPS` in a fresh `LSEVAL_VAR`; prints one JSON object.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

GROUPS_A_RUN: Final = 10
PAGE_CHARS: Final = 8_000
THREADS: Final = 16


class _Judge(BaseHTTPRequestHandler):
    """Says of every statement that it is supported, and quotes the page."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        user = asked["messages"][1]["content"]
        numbers = re.findall(r"^(\d+)\. ", user.split("The statements to decide")[1], re.MULTILINE)
        checks = [
            {"id": int(n), "status": "supported", "quotation": "opened in 19", "page": 1, "note": ""}
            for n in numbers
        ]
        message = {"role": "assistant", "content": json.dumps({"checks": checks})}
        reply = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3_000, "completion_tokens": 80, "total_tokens": 3_080},
        }
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def main(groups: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lseval.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from lseval.models import Call, Study, Verdict
    from lseval.pipeline.evaluation import evaluate

    server = ThreadingHTTPServer(("127.0.0.1", 0), _Judge)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    study = Study.objects.create(
        slug="rescore",
        name="Re-scoring",
        settings={
            "judges": {"stage1": {"base_url": f"{origin}/v1", "model": "judge"}},
            "providers": {"allow": [origin]},
        },
    )
    _save_runs(study, groups // GROUPS_A_RUN)
    began = time.perf_counter()
    counts = evaluate(study, ("1",), threads=THREADS)["verdicts"]
    judged_s = time.perf_counter() - began
    server.shutdown()
    server.server_close()
    calls = Call.objects.count()
    assert counts["C"] == groups == calls, counts
    Verdict.objects.all().delete()
    began, cpu = time.perf_counter(), time.process_time()
    again = evaluate(study, ("1",), threads=2)["verdicts"]
    taken, cpu = time.perf_counter() - began, time.process_time() - cpu
    assert again == counts, again
    assert Call.objects.count() == calls
    print(json.dumps({"groups": groups, "judged_s": judged_s, "rescored_s": taken, "rescored_cpu_s": cpu}))


def _save_runs(study: Any, runs: int) -> None:
    from lseval.domain.trajectory import PageRecord, RubricRecord, RunRecord
    from lseval.pipeline.import_runs import import_run

    filler = " ".join(f"Word{n} of the page tells of boats and of their crews." for n in range(PAGE_CHARS // 52))
    for number in range(runs):
        urls = [f"https://ferries.example/{number}/{place}" for place in range(1, GROUPS_A_RUN + 1)]
        lines = [f"{place}. Ferry {place}: opened in 19{10 + place} [{place}]" for place in range(1, len(urls) + 1)]
        sources = [f"[{place}] {url}" for place, url in enumerate(urls, 1)]
        record = RunRecord(
            task_key=f"t{number}",
            question="Which ferries opened before 1975?",
            model_name="m1",
            model_family="m",
            final_answer="\n".join([*lines, "", "Sources", *sources]),
            turns=(),
            pages=tuple(
                PageRecord(url, f"Ferry {place} opened in 19{10 + place}. {filler}", f"Ferry {place}")
                for place, url in enumerate(urls, 1)
            ),
            rubric=RubricRecord(GROUPS_A_RUN, ("opened before 1975",), "one ferry is one group", ()),
        )
        import_run(study, record, source_format="bench")


if __name__ == "__main__":
    main(int(sys.argv[1]))
