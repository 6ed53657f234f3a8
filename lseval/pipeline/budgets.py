"""Stopping a study at its budget of dollars and calls."""

from __future__ import annotations

import threading
import time
from decimal import Decimal
from typing import Final

from django.db.models import Count, Sum

from lseval.domain.pricing import Budget
from lseval.models import AnyCall, CallKind, Study
from lseval.pipeline.study_settings import budget_of
from lseval.providers.errors import BudgetSpentError

_FRESH_FOR_S: Final = 2.0
_NEAR_CALLS: Final = 1_000
_NEAR_SHARE: Final = Decimal("0.1")


class BudgetGuard:
    """Lets calls of a study begin while its budget lasts. One for all threads of a process.

    What is spent is the sum over the ledger, all attempts and all processes counted; calls under way in this
    process count as spent. Between two looks at the ledger (2 s; every call once the end is near) what other
    processes spend is not seen, so a study ends at its budget and at most the calls that are under way.
    """

    def __init__(self, study_id: int) -> None:
        self._study_id = study_id
        self._lock = threading.Lock()
        self._budget = Budget()
        self._calls = 0
        self._usd = Decimal(0)
        self._under_way = 0
        self._looked_at = float("-inf")

    def begin(self) -> None:
        """Count a call as under way.

        Raises:
            BudgetSpentError: nothing is left; the message says how to go on.
        """
        if self._has_to_look_for_a_budget() and self._read() != Budget():
            with self._lock:
                self._looked_at = float("-inf")
        with self._lock:
            if self._is_due() or self._is_near_the_end():
                self._look()
            self._check()
            self._under_way += 1

    def end(self, cost_usd: Decimal | None) -> None:
        """The call is in the ledger; `cost_usd` None where it is unpriced."""
        with self._lock:
            self._under_way -= 1
            self._calls += 1
            self._usd += cost_usd or 0

    def _is_due(self) -> bool:
        return time.monotonic() - self._looked_at > _FRESH_FOR_S

    def _has_to_look_for_a_budget(self) -> bool:
        """Whether it is this thread's turn to see if a study without a budget has one by now.

        It then looks while the others go on: under the lock, one slow answer of the database would hold up all.
        """
        with self._lock:
            if self._budget != Budget() or self._looked_at == float("-inf") or not self._is_due():
                return False
            self._looked_at = time.monotonic()
            return True

    def _read(self) -> Budget:
        return budget_of(Study.objects.only("slug", "settings").get(pk=self._study_id))

    def _is_near_the_end(self) -> bool:
        budget = self._budget
        if budget.calls is not None and budget.calls - self._calls < _NEAR_CALLS:
            return True
        return budget.usd is not None and budget.usd - self._usd < budget.usd * _NEAR_SHARE

    def _look(self) -> None:
        self._budget = self._read()
        self._looked_at = time.monotonic()
        if self._budget == Budget():
            return
        spent = (
            AnyCall.objects.filter(study_id=self._study_id)
            .exclude(kind=CallKind.FETCH)
            .aggregate(calls=Count("pk"), usd=Sum("cost_usd"))
        )
        self._calls, self._usd = spent["calls"], spent["usd"] or Decimal(0)

    def _check(self) -> None:
        budget = self._budget
        how = "Raise the budget in the study's file, run create_study again, and start once more."
        if budget.calls is not None and self._calls + self._under_way >= budget.calls:
            raise BudgetSpentError(f"The study's budget of {budget.calls:,} calls is spent. {how}")
        if budget.usd is not None and self._usd >= budget.usd:
            raise BudgetSpentError(f"The study's budget of ${budget.usd:,f} is spent. {how}")


_guards: dict[int, BudgetGuard] = {}
_guards_lock = threading.Lock()


def budget_guard(study_id: int) -> BudgetGuard:
    """The study's guard in this process."""
    with _guards_lock:
        return _guards.setdefault(study_id, BudgetGuard(study_id))


def forget_budgets() -> None:
    """Look at every study's budget anew."""
    with _guards_lock:
        _guards.clear()
