"""J15: twenty thousand cells wait, and a worker does them with so many at once and no more memory than at first."""

from __future__ import annotations

import gc
import threading
import tracemalloc

import pytest

from lseval.domain.chat import CalledTool, Chat, ChatReply, ChatRequest, Usage
from lseval.models import EvaluatedModel, Job, JobState, Study
from lseval.pipeline import jobs
from lseval.pipeline.jobs import Claim
from lseval.pipeline.working import Watcher, Worker
from tests.pipeline.pretend import ANSWER, fetch_of, search_of, turns_so_far

__all__ = ["chat_of", "fetch_of", "search_of"]

THREADS = 4
WARM_RUNS = 80
RUNS = 240
MOST_GROWTH_BYTES = 160_000
"""A thousand for each run in between; each holds ten thousand and more while it is made."""

_lock = threading.Lock()
_under_way: list[int] = []
_most_under_way: list[int] = []


def chat_of(study: Study, model: EvaluatedModel) -> Chat:
    """This module as a provider: a model that opens a page, reads it and answers, and counts who asks at once."""

    def chat(request: ChatRequest) -> ChatReply:
        with _lock:
            _under_way.append(1)
            _most_under_way.append(len(_under_way))
            del _most_under_way[:-1000]
        turn = turns_so_far([{"role": message.role} for message in request.messages])
        calls = (("open_page", '{"url": "https://ferries.example/1"}'), ("read_page", '{"page_id": "p1"}'))
        with _lock:
            _under_way.pop()
        if turn >= len(calls):
            return ChatReply(ANSWER, usage=Usage(10, 0, 10))
        return ChatReply("I read.", (CalledTool("c1", *calls[turn]),), usage=Usage(10, 0, 10))

    return chat


class Measuring(Watcher):
    """Stops the worker after so many runs, and tells how much memory is held early and at the end."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.held: dict[int, int] = {}
        self._ended = 0

    def job_ended(self, claim: Claim, outcome: str, message: str) -> None:
        with _lock:
            self._ended += 1
            if self._ended in (WARM_RUNS, RUNS):
                gc.collect()
                self.held[self._ended] = tracemalloc.get_traced_memory()[0]
        if self._ended >= RUNS and self.worker is not None:
            self.worker.stop()


@pytest.mark.django_db(transaction=True)
def test_the_memory_of_a_worker_is_flat_and_its_calls_at_once_are_bounded(settings) -> None:
    settings.LSEVAL_PROVIDERS = {"sandbox": __name__}
    study = Study.objects.create(
        slug="many", name="Many", settings={"search": {"provider": "sandbox"}, "fetch": {"provider": "sandbox"}}
    )
    EvaluatedModel.objects.bulk_create(
        EvaluatedModel(study=study, name=f"m{n}", settings={"provider": "sandbox", "model": f"m{n}"})
        for n in range(20)
    )
    study.tasks.bulk_create(study.tasks.model(study=study, key=str(n), question="Q?") for n in range(1000))
    assert jobs.enqueue_collection(study) == 20_000
    watcher = Measuring()
    watcher.worker = Worker(threads=THREADS, study=study, watcher=watcher, poll_s=0.05)
    tracemalloc.start()
    try:
        watcher.worker.run()
    finally:
        tracemalloc.stop()
    assert Job.objects.filter(study=study, state=JobState.FAILED).count() == 0
    assert study.runs.count() >= RUNS
    assert max(_most_under_way) <= THREADS
    assert watcher.held[RUNS] - watcher.held[WARM_RUNS] < MOST_GROWTH_BYTES
