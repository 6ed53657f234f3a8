"""`manage.py work`: does the jobs that wait, whichever study they belong to."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

from django.core.management.base import CommandError, CommandParser

from lseval.models import Job, JobState
from lseval.pipeline import jobs
from lseval.pipeline.dispatch import has_broker, send_due
from lseval.pipeline.jobs import Claim
from lseval.pipeline.ledger_store import is_connection_lost
from lseval.pipeline.studies import find_study
from lseval.pipeline.working import Worker
from lseval.site.management.base import PagelessCommand
from lseval.site.stopping import stop_on_signals

_SWEEP_EVERY_S = 15.0
_PARENT_EVERY_S = 1.0


class Command(PagelessCommand):
    help = (
        "Do jobs as they come, until Ctrl-C: collecting runs, and both stages. `serve` starts this by itself. "
        "With a broker, Celery workers do the jobs, and this with --sweep sends them what is due."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--threads", type=int, default=8, help="jobs at once; default 8")
        parser.add_argument("--study", help="only this study's jobs, and end when none is left")
        parser.add_argument("--sweep", action="store_true", help="send due jobs to the broker every 15 s, do none")
        parser.add_argument("--with-parent", action="store_true", help="end with the process that started this")
        parser.add_argument("--job", type=int, help="do one job that the caller has claimed")
        parser.add_argument("--claim", type=int, help="the number of that claim")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["job"] is not None:
            self._do_one(options["job"], options["claim"])
        elif options["sweep"]:
            self._sweep()
        else:
            self._work(options)

    def _work(self, options: dict[str, Any]) -> None:
        study = find_study(options["study"]) if options["study"] else None
        worker = Worker(threads=options["threads"], study=study, until_idle=study is not None)
        if options["with_parent"]:
            threading.Thread(target=_follow, args=(os.getppid(), worker), daemon=True).start()
        with stop_on_signals(worker.stop, lambda number: None):
            worker.run()

    def _sweep(self) -> None:
        if not has_broker():
            raise CommandError("there is no broker to send jobs to: set CELERY_BROKER_URL, see docs/deploy.md.")
        stopping = threading.Event()
        with stop_on_signals(stopping.set, lambda number: None):
            while not stopping.is_set():
                try:
                    jobs.take_back_lost_claims()
                    sent = send_due()
                    if sent:
                        self.stdout.write(f"sent {sent}")
                except OSError as error:
                    self.stderr.write(f"{error}; trying again")
                except Exception as error:
                    if not is_connection_lost(error):
                        raise
                    self.stderr.write("the database is away; trying again")
                stopping.wait(_SWEEP_EVERY_S)

    def _do_one(self, job_id: int, number: int | None) -> None:
        if number is None:
            raise CommandError("--job goes with --claim.")
        held = Job.objects.filter(pk=job_id, claim=number, state=JobState.CLAIMED).values_list(
            "id", "claim", "kind", "study_id", "task_id", "model_id", "run_id", "lost_claims"
        )
        row = held.first()
        if row is None:
            sys.exit(0)  # somebody else has it by now
        claim = Claim(*row)
        jobs.do_alone(claim)
        Worker(threads=1).run_one(claim)


def _follow(parent: int, worker: Worker) -> None:
    """Stop the worker once the process that started it is gone."""
    while os.getppid() == parent:
        time.sleep(_PARENT_EVERY_S)
    worker.stop()
