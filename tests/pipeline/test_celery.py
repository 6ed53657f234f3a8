"""Celery with a real broker, a real worker process and a PostgreSQL of its own: whatever is killed, each cell ends
once and no finished call is made again."""

from __future__ import annotations

import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.pipeline.installation import (
    Broker,
    Installation,
    an_installation,
    free_port,
    kill_tree,
    wait_until,
)
from tests.pipeline.pretend import turn_of, turns_so_far
from tests.providers import bad_llm
from tests.providers.bad_llm import BadLLM
from tests.providers.loopback import Behaviour, SeenRequest

TURNS = 6
TASKS = 6
LONG = 180


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with an_installation() as made:
        yield made


@pytest.fixture(scope="module")
def broker(installation: Installation) -> Iterator[Broker]:
    made = Broker(installation.folder)
    made.start()
    installation.environ["CELERY_BROKER_URL"] = made.url
    yield made
    made.stop()


def slowly(request: SeenRequest) -> Behaviour:
    messages = request.json()["messages"]
    return bad_llm.after(0.05, turn_of(turns_so_far(messages), TURNS))


def start_worker(installation: Installation) -> subprocess.Popen[bytes]:
    return installation.start(
        *("celery", "-A", "lseval", "worker", "--beat", "--concurrency", "2", "--loglevel", "INFO"),
        *("--schedule", str(installation.folder / "beat"), "--pidfile="),
        log="celery.log",
    )


def enqueue(installation: Installation, slug: str) -> None:
    """As the page's button does: queue, and tell the workers."""
    installation.manage(
        "shell",
        "-v0",
        "-c",
        f"from lseval.models import Study; from lseval.pipeline.starting import start_collection\n"
        f"start_collection(Study.objects.get(slug={slug!r}))",
    )


def mine(slug: str) -> str:
    return f"study_id = (SELECT id FROM lseval_study WHERE slug = '{slug}')"


def is_done(installation: Installation, slug: str) -> bool:
    return installation.count("job", f"{mine(slug)} AND state = 'done'") == TASKS


def check(installation: Installation, slug: str, asked: list[bytes], most_repeated: int) -> None:
    """Each cell ended once, and only calls that were under way when something was killed were made again."""
    assert installation.count("run", mine(slug)) == TASKS
    assert installation.count("call", f"{mine(slug)} AND kind = 'chat' AND error_code = ''") == TASKS * (TURNS + 1)
    repeated = sum(count - 1 for count in Counter(asked).values())
    assert repeated == len(asked) - TASKS * (TURNS + 1)
    assert repeated <= most_repeated
    attempts = installation.sql(
        "SELECT count(*) FROM lseval_attempt WHERE run_id IN (SELECT id FROM lseval_run WHERE " + mine(slug) + ")"
    )
    claims = installation.sql(f"SELECT sum(claim) FROM lseval_job WHERE {mine(slug)}")
    assert attempts == claims


def test_worker_broker_and_database_die_in_turn_and_every_cell_ends_once(
    installation: Installation, broker: Broker
) -> None:
    """K07, K09."""
    with BadLLM(slowly) as llm:
        installation.make_study(llm.base_url, slug="celery", tasks=TASKS)
        enqueue(installation, "celery")
        worker = start_worker(installation)
        try:
            wait_until(lambda: len(llm.requests) >= 4, LONG)
            kill_tree(worker)
            worker = start_worker(installation)
            wait_until(lambda: len(llm.requests) >= 12, LONG)
            broker.stop()
            time.sleep(0.3)
            broker.start()
            wait_until(lambda: len(llm.requests) >= 24, LONG)
            installation.server.stop()
            installation.server.ensure_running()
            wait_until(lambda: is_done(installation, "celery"), LONG)
        finally:
            worker.send_signal(signal.SIGTERM)
            try:
                worker.wait(20)
            except subprocess.TimeoutExpired:
                kill_tree(worker)
        check(installation, "celery", [request.body for request in llm.requests], most_repeated=2)


def test_a_killed_child_of_the_pool_has_its_job_done_again(installation: Installation, broker: Broker) -> None:
    """K01."""
    with BadLLM(slowly) as llm:
        installation.make_study(llm.base_url, slug="child", tasks=TASKS)
        enqueue(installation, "child")
        worker = start_worker(installation)
        try:
            wait_until(lambda: len(llm.requests) >= 5, LONG)
            (holder,) = installation.sql(
                f"SELECT claimed_by FROM lseval_job WHERE {mine('child')} AND state = 'claimed' LIMIT 1"
            )
            pid = holder[0].split("|")[1].partition("@")[0]
            subprocess.run(["kill", "-9", pid], check=True)
            wait_until(lambda: is_done(installation, "child"), LONG)
        finally:
            kill_tree(worker)
        check(installation, "child", [request.body for request in llm.requests], most_repeated=1)


def test_a_job_that_kills_its_child_is_parked_and_the_rest_finish(
    installation: Installation, broker: Broker
) -> None:
    """K06."""

    def choose(request: SeenRequest) -> Behaviour:
        messages = request.json()["messages"]
        question = next(message["content"] for message in messages if message["role"] == "user")
        return turn_of(turns_so_far(messages), TURNS, question)

    with BadLLM(choose) as llm:
        installation.make_study(llm.base_url, slug="crash", tasks=TASKS)
        installation.environ["LSEVAL_PRETEND_CRASH"] = "number 3"
        enqueue(installation, "crash")
        worker = start_worker(installation)
        try:
            wait_until(lambda: installation.count("job", f"{mine('crash')} AND state = 'parked'") == 1, LONG)
            wait_until(lambda: installation.count("run", mine("crash")) == TASKS - 1, LONG)
        finally:
            kill_tree(worker)
            del installation.environ["LSEVAL_PRETEND_CRASH"]


def test_a_broker_that_is_down_costs_seconds_and_the_sweeper_sends_later_once(
    installation: Installation, broker: Broker
) -> None:
    """K03."""
    installation.make_study("http://127.0.0.1:9/v1", slug="down", tasks=TASKS)
    told = installation.manage(
        "shell",
        "-v0",
        "-c",
        f"import os; os.environ['CELERY_BROKER_URL'] = 'redis://127.0.0.1:{free_port()}/0'\n"
        "import time; import lseval.celery; from lseval.models import Study\n"
        "from lseval.pipeline.starting import start_collection\n"
        "begin = time.monotonic(); start_collection(Study.objects.get(slug='down'))\n"
        "print('took', time.monotonic() - begin)",
    )
    assert float(told.split("took")[1]) < 3
    assert installation.count("job", f"{mine('down')} AND state = 'waiting' AND sent_at IS NULL") == TASKS
    send = "from lseval.pipeline.dispatch import send_due; print('sent', send_due())"
    assert installation.manage("shell", "-v0", "-c", send).split() == ["sent", str(TASKS)]
    assert installation.manage("shell", "-v0", "-c", send).split() == ["sent", "0"]


def test_nothing_is_sent_when_the_transaction_rolls_back(installation: Installation, broker: Broker) -> None:
    """K04."""
    installation.make_study("http://127.0.0.1:9/v1", slug="rolled", tasks=1)
    code = """
from django.db import transaction
from lseval.models import Job, Study
from lseval.pipeline import dispatch
from lseval.pipeline.starting import start_collection
published = []
real, dispatch._publish = dispatch._publish, lambda ids: published.append(ids) or len(ids)
try:
    with transaction.atomic():
        start_collection(Study.objects.get(slug="rolled"))
        raise ZeroDivisionError
except ZeroDivisionError:
    pass
print(published, Job.objects.filter(study__slug="rolled").count())
with transaction.atomic():
    start_collection(Study.objects.get(slug="rolled"))
    print(published)
print(len(published))
"""
    assert installation.manage("shell", "-v0", "-c", code).splitlines() == ["[] 0", "[]", "1"]


def test_messages_of_other_releases_are_taken(installation: Installation, broker: Broker) -> None:
    """K08."""
    with BadLLM(slowly) as llm:
        installation.make_study(llm.base_url, slug="old", tasks=3)
        code = """
from lseval.celery import app
from lseval.models import Study
from lseval.models import Job
from lseval.pipeline.jobs import enqueue_collection
enqueue_collection(Study.objects.get(slug="old"))
first, second, third = Job.objects.filter(study__slug="old").values_list("pk", flat=True)
Job.objects.filter(study__slug="old").update(sent_at="2100-01-01T00:00:00Z")
app.send_task("lseval.run_job", (first, "an argument of old"), {"extra": 1})
app.send_task("lseval.pipeline.run_job", (second,))
app.send_task("lseval.run_job", (), {"job": third})
app.send_task("lseval.run_job", (10**9,))
"""
        installation.manage("shell", "-v0", "-c", code)
        worker = start_worker(installation)
        try:
            wait_until(lambda: installation.count("run", mine("old")) == 3, LONG)
        finally:
            kill_tree(worker)
