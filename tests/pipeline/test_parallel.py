"""Steps on many runs in several processes."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import connection

from lseval.models import Study
from lseval.pipeline import parallel
from lseval.pipeline.parallel import on_runs


def name_of_database(run_id: int) -> Counter[str]:
    """A step that looks into the database that its process is connected to."""
    Study.objects.count()
    return Counter([str(connection.settings_dict["NAME"])])


def fails_on_seven(run_id: int) -> Counter[str]:
    """A step that cannot do run 7."""
    if run_id == 7:
        raise ValueError("run 7")
    return Counter(done=1)


@pytest.mark.django_db(transaction=True)
def test_further_processes_work_on_the_same_database(monkeypatch):
    monkeypatch.setattr(parallel, "FEWEST_RUNS", 10)
    advanced = []
    counted = on_runs(name_of_database, list(range(20)), lambda: advanced.append(1), processes=2)
    assert counted == {connection.settings_dict["NAME"]: 20}
    assert len(advanced) == 20


def test_an_error_in_another_process_is_raised_here(monkeypatch):
    monkeypatch.setattr(parallel, "FEWEST_RUNS", 10)
    monkeypatch.setattr(parallel, "_database_name", lambda: "unused")
    with pytest.raises(ValueError, match="run 7"):
        on_runs(fails_on_seven, list(range(20)), lambda: None, processes=2)


def test_few_runs_are_done_in_this_process():
    assert on_runs(fails_on_seven, [1, 2, 3], lambda: None, processes=2) == {"done": 3}
