"""Statements written by hand, beside those that the ledger prepares on the same connection."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.db import DatabaseError, connection, transaction
from psycopg import connect

from lseval.pipeline.prepared import fetch_all
from lseval.plain_sql import Statement, row_of, rows_of_each

SUM = Statement("SELECT %(a)s::int + %(b)s::int")


def roll_back() -> None:
    with transaction.atomic():
        fetch_all("SELECT %s::int", [0])
        transaction.set_rollback(True)


@pytest.mark.django_db(transaction=True)
def test_a_rollback_after_the_ledger_used_the_connection_leaves_the_statements_usable():
    connection.close()
    assert row_of(SUM, {"a": 1, "b": 2}) == (3,)
    for number in range(8):
        assert fetch_all("SELECT %s::int", [number]) == [(number,)]
    roll_back()
    assert row_of(SUM, {"a": 2, "b": 2}) == (4,)
    roll_back()
    assert row_of(SUM, {"a": 2, "b": 3}) == (5,)


def end_connection() -> None:
    """As a restart of the server would, between two requests."""
    connection.ensure_connection()
    connection.health_check_done = False
    with connect(**connection.get_connection_params() | {"cursor_factory": None}, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.connection.info.backend_pid])


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_ended_between_requests_is_made_anew() -> None:
    for may_be_repeated in (True, False):
        end_connection()
        rows = rows_of_each([SUM, "SELECT 1"], {"a": 1, "b": 2}, may_be_repeated=may_be_repeated)
        assert rows == [[(3,)], [(1,)]]


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_ended_within_a_transaction_is_told() -> None:
    def interrupted() -> None:
        with transaction.atomic():
            assert row_of(SUM, {"a": 1, "b": 2}) == (3,)
            end_connection()
            rows_of_each([SUM], {"a": 1, "b": 2}, may_be_repeated=True)

    with pytest.raises(DatabaseError):
        interrupted()
    assert row_of(SUM, {"a": 1, "b": 2}) == (3,)


@pytest.mark.django_db(transaction=True)
def test_a_statement_is_part_of_the_transaction_that_it_begins() -> None:
    with transaction.atomic():
        rows_of_each(["CREATE TEMPORARY TABLE passing (n int)", "INSERT INTO passing VALUES (1)"])
        transaction.set_rollback(True)
    assert row_of(Statement("SELECT to_regclass('passing')")) == (None,)


@pytest.mark.django_db
def test_values_of_every_kind_come_back_as_they_went() -> None:
    given = {
        "text": "it's 100 % \\ “quoted” %(text)s",
        "number": -(2**62),
        "float": 0.1,
        "none": None,
        "truth": True,
        "list": [1, 2, 3],
        "time": datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC),
        "key": UUID(int=7),
    }
    kinds = ("text", "bigint", "float8", "text", "bool", "bigint[]", "timestamptz", "uuid")
    listed = ", ".join(f"%({name})s::{kind}" for name, kind in zip(given, kinds, strict=True))
    assert row_of(Statement(f"SELECT {listed}"), given) == tuple(given.values())
