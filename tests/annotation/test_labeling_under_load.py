"""Fifty at once on real PostgreSQL, and a worker process that is killed while it labels."""

from __future__ import annotations

import signal
import subprocess
import sys
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from django.db import connection

from annotation import labels, leases, services
from annotation.history import differences
from annotation.models import LabelVersion, Lease, Queue, Slot, SlotStatus
from annotation.sampling import Plan
from lseval.models import Study, User
from tests.annotation.making import GROUPS_ONLY
from tests.factories import make_run, make_study, make_user

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[2]


def make_queue(tasks: int, plan: Plan = GROUPS_ONLY) -> Queue:
    """H1 over so many tasks with two responses of two groups each."""
    study = make_study()
    for task in range(tasks):
        for model in ("m1", "n1"):
            make_run(study, f"t{task}", model)
    return services.create_audit(study, plan, 1, "A", None).queues.get(role="H1")


def seat_people(queue: Queue, count: int) -> list[User]:
    study = Study.objects.get()
    people = [make_user(f"p{number}", study) for number in range(count)]
    for person in people:
        services.seat(queue, person)
    return people


def test_fifty_at_once_on_forty_items_never_share_one() -> None:
    """C01: everybody asks at the same moment; 40 get an item each and 10 get none."""
    queue = make_queue(10)
    assert queue.slots.count() == 40
    people = seat_people(queue, 50)
    barrier = Barrier(50)

    def ask(person: User) -> Slot | None:
        try:
            barrier.wait(timeout=60)
            return leases.claim_next(queue, person)
        finally:
            connection.close()

    with ThreadPoolExecutor(50) as pool:
        given = list(pool.map(ask, people))
    slots = [slot.pk for slot in given if slot is not None]
    assert len(slots) == len(set(slots)) == 40
    assert given.count(None) == 10
    assert Lease.objects.count() == 40
    # 20 responses for the first 20 who ask, and only then a second person at any of them.
    assert set(Counter(slot.run_id for slot in given if slot is not None).values()) == {2}


def test_fifty_label_forty_items_to_the_end_and_every_one_once() -> None:
    """Everybody claims and submits until nothing is left; each submit is sent twice, as a double click is (C02)."""
    queue = make_queue(10)
    people = seat_people(queue, 50)

    def work(person: User) -> list[uuid.UUID]:
        done = []
        try:
            while (slot := leases.claim_next(queue, person)) is not None:
                key = uuid.uuid4()
                for _ in range(2):
                    labels.submit_label(slot.pk, person, "C", request_key=key, base_version=slot.version)
                done.append(key)
        finally:
            connection.close()
        return done

    with ThreadPoolExecutor(50) as pool:
        acknowledged = [key for keys in pool.map(work, people) for key in keys]
    assert len(acknowledged) == 40
    assert set(LabelVersion.objects.values_list("request_key", flat=True)) == set(acknowledged)
    assert set(queue.slots.values_list("status", "version")) == {(SlotStatus.LABELED, 1)}
    assert not Lease.objects.exists()
    assert differences(queue.audit) == []


def start(queue: Queue, person: User) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.annotation.worker_under_load"]
    name = connection.settings_dict["NAME"]
    return subprocess.Popen(
        [*command, str(name), str(queue.pk), person.username], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def test_every_acknowledged_label_outlives_a_killed_worker() -> None:
    """Two processes label; one is killed with SIGKILL in the middle of it, and another takes its place."""
    queue = make_queue(30)
    assert queue.slots.count() == 120
    first, second = seat_people(queue, 2)
    workers = [start(queue, first), start(queue, second)]
    acknowledged: list[str] = []
    try:
        victim, survivor = workers
        assert victim.stdout is not None
        for line in victim.stdout:
            acknowledged.append(line.strip())
            if len(acknowledged) > 10:
                break
        victim.send_signal(signal.SIGKILL)
        # What it had acknowledged and nobody had read yet counts as well.
        acknowledged += [line.strip() for line in victim.communicate(timeout=60)[0].splitlines()]
        assert victim.returncode == -signal.SIGKILL
        workers.append(start(queue, first))
        for worker in (survivor, workers[-1]):
            told, _ = worker.communicate(timeout=180)
            assert worker.returncode == 0
            acknowledged += told.splitlines()
    finally:
        for worker in workers:
            worker.kill()
            worker.wait(timeout=30)
    keys = [key for key in acknowledged if key != "ready"]
    stored = Counter(str(key) for key in LabelVersion.objects.values_list("request_key", flat=True))
    assert set(keys) <= set(stored), "an acknowledged label is lost"
    assert set(stored.values()) == {1}
    assert len(stored) == 120, "every item is labeled once, whoever did it"
    # One request at most was stored and never acknowledged: the one during which the worker died.
    assert len(set(stored) - set(keys)) <= 1
    assert differences(queue.audit) == []
