"""Opinions of judges that come in: which are new, which are there, and how they are stored with their times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from lseval.errors import InputError
from lseval.pipeline.evaluation_import.reports import ADDED, KEPT, REPLACED

_BATCH = 500


@dataclass(slots=True)
class Changes:
    """What is to be stored of a run's opinions: those that are new, and those that take another time."""

    new: list[Any] = field(default_factory=list)
    retimed: list[Any] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)

    def settle(self, known: Any, told: Any, *, same: bool, replace: bool, differs: str) -> str:
        """What becomes of an opinion where `known` is there, or nothing; `same` is whether it says the same.

        Raises InputError with `differs` where it says something else and may not replace it.
        """
        if known is None:
            self.new.append(told)
            return ADDED
        if same:
            if not replace or known.judged_at == told.judged_at:
                return KEPT
            known.judged_at = told.judged_at
            self.retimed.append(known)
            return REPLACED
        if not replace:
            raise InputError(f"{differs}; it was kept. --replace puts this one in its place")
        self.replaced.append(known.pk)
        self.new.append(told)
        return REPLACED

    def save(self, manager: Any) -> None:
        """Store them."""
        manager.filter(pk__in=self.replaced).delete()
        _create_as_of(manager, self.new)
        _put_times(manager, self.retimed)


def _create_as_of(manager: Any, rows: Sequence[Any]) -> None:
    """Insert rows with the `judged_at` that they have, in place of which Django would put the present time."""
    times = [row.judged_at for row in rows]
    manager.bulk_create(rows, batch_size=_BATCH)
    for row, time in zip(rows, times, strict=True):
        row.judged_at = time
    _put_times(manager, rows)


def _put_times(manager: Any, rows: Sequence[Any]) -> None:
    """Store the `judged_at` of rows. One statement whose cost grows with the rows, as `bulk_update`'s does not."""
    table = manager.model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET judged_at = given.at "  # noqa: S608 - the name of a table of ours
            f"FROM unnest(%s::bigint[], %s::timestamptz[]) AS given(id, at) WHERE {table}.id = given.id",
            [[row.pk for row in rows], [row.judged_at for row in rows]],
        )
