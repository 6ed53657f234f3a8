"""Statements written by hand, beside those that the ledger prepares on the same connection."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from lseval.pipeline.prepared import fetch_all
from lseval.plain_sql import Statement, row_of

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
