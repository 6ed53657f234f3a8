"""A transaction that the database gives up, or whose connection breaks, is run again as a whole (C09, C10)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, connections, transaction

from annotation import flags, labels, leases, retrying
from annotation.history import differences
from annotation.labels import Submission
from annotation.models import Flag, LabelVersion, Lease, Slot, SlotStatus
from annotation.retrying import MOST_TRIES, in_one_transaction_retried
from tests.annotation.making import Made, make_audit, next_slot, submit

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def made() -> Made:
    return make_audit()


def in_a_thread(function: Callable[[], Any]) -> Any:
    """The function's result, over a connection of its own."""
    try:
        return function()
    finally:
        connection.close()


class TestDecorator:
    """By itself, with real errors of PostgreSQL."""

    def raising(self, state: str, times: int) -> Callable[[], list[int]]:
        """A function that PostgreSQL fails with the given SQLSTATE the first times; it returns its attempts."""
        attempts = self.attempts = []

        @in_one_transaction_retried
        def run() -> list[int]:
            attempts.append(len(attempts) + 1)
            with transaction.atomic(), connection.cursor() as cursor:
                if len(attempts) <= times:
                    cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'forced' USING ERRCODE = '{state}'; END $$")
            return attempts

        return run

    @pytest.fixture(autouse=True)
    def _at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(retrying, "FIRST_PAUSE_S", 0.0)

    @pytest.mark.parametrize("state", ["40001", "40P01"])
    def test_serialization_failure_and_deadlock_are_tried_again(self, state: str) -> None:
        assert self.raising(state, 2)() == [1, 2, 3]

    def test_tries_are_bounded_and_the_error_is_raised_then(self) -> None:
        run = self.raising("40001", 100)
        with pytest.raises(OperationalError, match="forced"):
            run()
        assert len(self.attempts) == MOST_TRIES == 5

    @pytest.mark.parametrize("state", ["23505", "22012", "55P03"])
    def test_other_errors_are_not_tried_again(self, state: str) -> None:
        attempts = []

        @in_one_transaction_retried
        def run() -> None:
            attempts.append(1)
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'forced' USING ERRCODE = '{state}'; END $$")

        with pytest.raises(Exception, match="forced"):
            run()
        assert len(attempts) == 1

    def test_within_the_callers_transaction_nothing_is_repeated(self) -> None:
        run = self.raising("40001", 1)
        with pytest.raises(OperationalError), transaction.atomic():
            run()
        assert run() == [1, 2]


def services_of(made: Made) -> dict[str, tuple[Callable[[], Any], Callable[[], int]]]:
    """Each service as a call, and a count that must be 1 after it, however often it had to begin anew."""
    held = next_slot(made.h1, made.first)
    key = uuid.uuid4()
    return {
        "submit": (
            lambda: submit(held, made.first, request_key=key),
            LabelVersion.objects.filter(action="label").count,
        ),
        "skip": (
            lambda: labels.skip(held.pk, made.first, "unsure", request_key=key, base_version=0),
            LabelVersion.objects.filter(action="skip").count,
        ),
        "flag": (lambda: flags.raise_flag(held.pk, made.first, request_key=key), Flag.objects.count),
        "claim": (lambda: leases.claim_next(made.h2, made.second), Lease.objects.filter(user=made.second).count),
        "heartbeat": (lambda: leases.heartbeat(held.pk, made.first), Lease.objects.count),
    }


# A heartbeat is one statement, which the database commits by itself.
SERVICES = ["submit", "skip", "flag", "claim", "heartbeat", "undo"]


def prepared(made: Made, name: str) -> tuple[Callable[[], Any], Callable[[], int]]:
    if name == "undo":
        submit(next_slot(made.h1, made.first), made.first)
        key = uuid.uuid4()
        return (
            lambda: labels.undo_last(made.h1, made.first, request_key=key),
            LabelVersion.objects.filter(action="undo").count,
        )
    return services_of(made)[name]


@contextmanager
def serialization_failure_at_first_commit() -> Iterator[list[int]]:
    """The first commit of a write fails with a real 40001, raised by a deferred trigger; yields its calls."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            CREATE SEQUENCE forced_failures;
            CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('forced_failures') = 1 THEN
                    RAISE EXCEPTION 'forced' USING ERRCODE = 'serialization_failure';
                END IF;
                RETURN NULL;
            END $$;
            """
        )
        for table in ("labelversion", "flag", "lease"):
            cursor.execute(
                f"CREATE CONSTRAINT TRIGGER fail_once AFTER INSERT OR UPDATE ON annotation_{table} "
                "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail_once()"
            )
    calls: list[int] = []
    try:
        yield calls
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT last_value FROM forced_failures")
            calls.append(cursor.fetchone()[0])
            cursor.execute("DROP FUNCTION fail_once() CASCADE; DROP SEQUENCE forced_failures")


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_survives_a_serialization_failure_at_commit(made: Made, name: str) -> None:
    call, count = prepared(made, name)
    with serialization_failure_at_first_commit() as calls:
        call()
    assert calls[0] >= 2, "the failure was never met"
    assert count() == 1
    assert differences(made.audit) == []


@contextmanager
def killed_at_first_commit(monkeypatch: pytest.MonkeyPatch, *, after: bool) -> Iterator[list[str]]:
    """The server ends this connection right before the first commit, or right after it and before its reply."""
    happened: list[str] = []
    wrapper = type(connections[connection.alias])
    commit = wrapper._commit

    def broken(self: Any) -> Any:
        if happened:
            return commit(self)
        pid = self.connection.info.backend_pid
        if after:
            commit(self)
        happened.append("after" if after else "before")
        with psycopg.connect(**_address()) as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        if after:
            with self.wrap_database_errors:
                self.connection.execute("SELECT 1")
        return commit(self)

    with monkeypatch.context() as patch:
        patch.setattr(wrapper, "_commit", broken)
        yield happened


def _address() -> dict[str, Any]:
    given = connection.get_connection_params()
    return {key: given[key] for key in ("dbname", "user", "password", "host", "port") if given.get(key)}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", sorted({*SERVICES} - {"heartbeat"}))
def test_connection_cut_during_commit_leaves_exactly_one(
    made: Made, monkeypatch: pytest.MonkeyPatch, name: str, after: bool
) -> None:
    call, count = prepared(made, name)
    with killed_at_first_commit(monkeypatch, after=after) as happened:
        given = call()
    assert happened == ["after" if after else "before"]
    assert count() == 1
    if isinstance(given, Submission | flags.Flagging):
        # What was committed before the cut is found by its key; what was not is stored by the second try.
        assert given.is_repeat is after
    assert differences(made.audit) == []


def test_person_who_gets_an_error_and_sends_again_finds_their_label(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C10 with no second try of the server's own: the reply is lost, and the browser sends the same key again."""
    slot = next_slot(made.h1, made.first)
    key = uuid.uuid4()
    monkeypatch.setattr(retrying, "MOST_TRIES", 1)
    with killed_at_first_commit(monkeypatch, after=True), pytest.raises(OperationalError):
        submit(slot, made.first, "I", request_key=key)
    connection.close()
    again = submit(slot, made.first, "I", request_key=key)
    assert again.is_repeat
    assert list(LabelVersion.objects.values_list("label", flat=True)) == ["I"]


def test_two_that_deadlock_are_both_stored(made: Made) -> None:
    """A real 40P01: each transaction locks its own slot first and then wants the other's."""
    slots = list(made.h1.slots.order_by("position")[:2])
    for slot in slots:
        leases.hold(slot.pk, made.first)
    barrier = Barrier(2)
    attempts: list[int] = []

    def run(mine: Slot, other: Slot) -> Submission:
        @in_one_transaction_retried
        def locking_both() -> Submission:
            attempts.append(mine.pk)
            with transaction.atomic():
                Slot.objects.select_for_update().get(pk=mine.pk)
                if len(attempts) <= 2:
                    barrier.wait(timeout=20)
                Slot.objects.select_for_update().get(pk=other.pk)
                return submit(mine, made.first)

        return in_a_thread(locking_both)

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(run, slots, slots[::-1]))
    assert len(attempts) == 3, "one of them must have met the deadlock"
    assert not any(submission.is_repeat for submission in done)
    assert Slot.objects.filter(status=SlotStatus.LABELED).count() == 2
