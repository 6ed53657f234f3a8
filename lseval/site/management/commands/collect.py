"""`manage.py collect STUDY`: the runs that a study still lacks."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection

from lseval.door.log_lines import printable
from lseval.models import JobKind, JobState, Study
from lseval.pipeline import jobs
from lseval.pipeline.costs import spent_in
from lseval.pipeline.studies import find_study
from lseval.pipeline.working import Worker
from lseval.site.management.base import PagelessCommand
from lseval.site.selectors.collection import CollectionState, collection_of
from lseval.site.stopping import stop_on_signals
from lseval.site.watching import CollectionBar, Tally

MOST_THREADS = 64
THREADS_AN_ENDPOINT = 8


class Command(PagelessCommand):
    help = (
        "Make the runs that a study still lacks: each model with an endpoint on each task. Ctrl-C ends it after "
        "the calls under way; the same command goes on where it was stopped, and pays for no finished call again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument(
            "--threads",
            type=int,
            help=f"runs at once; default {THREADS_AN_ENDPOINT} for each endpoint, {MOST_THREADS} at most",
        )
        parser.add_argument("--parked", action="store_true", help="try parked jobs again too")
        parser.add_argument("--json", action="store_true", help="print the result as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        self._check(study)
        states = [JobState.FAILED, *([JobState.PARKED] if options["parked"] else [])]
        jobs.close_jobs_with_runs(study)
        jobs.enqueue_collection(study)
        jobs.try_again(study, *states, kind=JobKind.COLLECT)
        jobs.go_on(study)
        before = collection_of(study)
        if not before.cells:
            raise CommandError(
                f"study {study.slug} has nothing to collect: it needs tasks and a model with an endpoint. "
                "Describe them in a file and run `manage.py create_study FILE`."
            )
        threads = options["threads"] or threads_for(study)
        if not 1 <= threads <= MOST_THREADS:
            raise CommandError(f"--threads is from 1 to {MOST_THREADS}.")
        tally = Tally()
        with CollectionBar(before, tally, quiet=options["json"]) as bar:
            worker = Worker(threads=threads, study=study, kinds=(JobKind.COLLECT,), until_idle=True, watcher=tally)
            with stop_on_signals(worker.stop, self._say(bar.note)):
                why = worker.run()
        connection.close()  # it has lain idle for as long as the work took, and may be gone
        self._report(study, why, tally, as_json=options["json"])

    def _check(self, study: Study) -> None:
        if study.is_paused:
            raise CommandError(
                f"study {study.slug} is paused, so no run is started. Resume it on its page Collection."
            )

    @staticmethod
    def _say(note: Callable[[str], None]) -> Callable[[int], None]:
        def say(number: int) -> None:
            what = "Ctrl-C" if number == signal.SIGINT else "told to stop"
            note(f"{what}: waiting for the calls under way. Once more ends at once; what is answered is kept.")

        return say

    def _report(self, study: Study, why: str, tally: Tally, *, as_json: bool) -> None:
        after = collection_of(study)
        spent = spent_in_collection(study)
        if as_json:
            counts = {"runs": after.done, "cells": after.cells, **after.states, "calls_made": tally.calls}
            self.stdout.write(json.dumps({"study": study.slug, "ended": why, **counts, "spent": spent}))
        else:
            self.stdout.write(f"study {study.slug}: {after.done:,} of {after.cells:,} runs")
            for line in tally.lines():
                self.stdout.write(f"  {line}")
        trouble = _trouble(after, why)
        if trouble:
            raise CommandError(trouble, returncode=1)


def threads_for(study: Study) -> int:
    """Eight threads for each endpoint that the study's models are served at, 64 at most."""
    settings = study.models.values_list("settings", flat=True)
    endpoints = {str(given.get("base_url") or given.get("provider", "")) for given in settings if given}
    return min(MOST_THREADS, THREADS_AN_ENDPOINT * max(1, len(endpoints)))


def spent_in_collection(study: Study) -> dict[str, Any]:
    """What collection has come to, as JSON."""
    from lseval.models import Phase

    return spent_in(study, Phase.COLLECTION).as_dict()


def _trouble(after: CollectionState, why: str) -> str:
    """Why the study is not complete, and what to do; empty where it is."""
    if why == "budget":
        return after.problems[0].message if after.problems else "the study's budget is spent."
    if why == "paused":
        return "the study was paused. Resume it on its page Collection, then run the same command again."
    if why == "stopped":
        return "stopped. Run the same command again to go on: no finished call is paid again."
    bad = after.states["failed"] + after.states["parked"]
    if not bad:
        return ""
    told = "\n".join(
        # A provider's words are in the message, and a terminal obeys some characters.
        f"  {found.jobs:,}: {found.code}: {printable(found.message)} {found.advice}"
        for found in after.problems
    )
    return f"{bad:,} runs could not be made.\n{told}\nMend what is named, then run the same command again."
