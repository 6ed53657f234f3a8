"""What calls came to moves with a study, and is never taken for a reply. I10."""

from __future__ import annotations

import json
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from lseval.models import Call, MovedCall, Phase, Study
from lseval.pipeline.budgets import BudgetGuard
from lseval.pipeline.costs import costs_of
from lseval.pipeline.evaluation_import import import_evaluation
from lseval.pipeline.evaluation_import.reports import ADDED, KEPT, REFUSED
from lseval.pipeline.ledger_store import Cell, look_up, replies_of, replies_of_run
from lseval.providers.errors import BudgetSpentError
from lseval.site.report_manifest import data_digests
from lseval.site.selectors.home_glances import money_of
from lseval.site.tables.catalog import TABLES
from lseval.site.tables.facts import StudyFacts
from tests.pipeline.evaluation_import.making import (
    FORMATS,
    edit,
    export_all,
    make_evaluated,
    make_twin,
    plain,
    put,
)

pytestmark = pytest.mark.django_db


CALL_VALUES = (
    "phase", "kind", "task_id", "model_id", "role", "digest", "repeat", "attempt", "provider", "asked_model",
    "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "cost_usd", "upper_cost_usd", "latency_s",
)  # fmt: skip


def table_a11(study: Study) -> str:
    return json.dumps(TABLES["a11"].build(StudyFacts(study)).as_dict(), default=str)


@pytest.mark.parametrize("file_format", FORMATS)
def test_costs_of_the_twin_equal_those_of_the_study(tmp_path: Path, file_format: str) -> None:
    study = make_evaluated()
    folder = export_all(study, tmp_path / "out", file_format)
    twin = make_twin(folder)
    report = import_evaluation(twin, [folder])
    assert not report.problems
    assert report.rows["calls", ADDED] == 6
    assert plain(twin, "calls") == plain(study, "calls")
    assert table_a11(twin) == table_a11(study)
    assert costs_of(twin) == costs_of(study)
    assert money_of(twin) == money_of(study)
    # Without the fetched page 5; without a price one judge's call. 0.000000000001 + 0.005 + 0.000000000001.
    spent = costs_of(twin).total.spent
    assert (spent.calls, spent.failed, spent.unpriced) == (5, 1, 1)
    assert spent.cost_usd == Decimal("0.005000000002")
    assert data_digests(twin)["calls"] == data_digests(study)["calls"]
    assert not Call.objects.filter(study=twin).exists()


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_second_import_and_the_own_export_add_nothing(tmp_path: Path, file_format: str) -> None:
    study = make_evaluated()
    path = export_all(study, tmp_path / "out", file_format) / f"calls.{file_format}"
    twin = make_twin(tmp_path / "out")
    assert +import_evaluation(study, [path]).rows == {("calls", KEPT): 6}
    assert +import_evaluation(twin, [path]).rows == {("calls", ADDED): 6}
    assert +import_evaluation(twin, [path], replace=True).rows == {("calls", KEPT): 6}
    again = export_all(twin, tmp_path / "again", file_format)
    assert +import_evaluation(study, [again / path.name]).rows == {("calls", KEPT): 6}
    assert not MovedCall.objects.filter(study=study).exists()


@pytest.mark.parametrize("replace", [False, True])
def test_call_that_differs_is_kept_and_named(twin: Study, folder: Path, replace: bool) -> None:
    import_evaluation(twin, [folder])
    before = table_a11(twin)
    path = edit(folder / "calls.jsonl", put(cost_usd="9.5", output_tokens=None))
    report = import_evaluation(twin, [path], replace=replace)
    assert report.problems == [
        "calls.jsonl:1: the call is here and differs in output_tokens, cost_usd; it was kept"
    ]
    assert (report.rows["calls", KEPT], report.rows["calls", REFUSED]) == (5, 1)
    assert table_a11(twin) == before


def test_rows_of_a_task_or_model_that_is_not_there_are_told_once_and_the_others_stored(
    twin: Study, folder: Path
) -> None:
    path = edit(folder / "calls.jsonl", put(task_key="t9"))
    edit(path, put(task_key="t9"), 1)
    edit(path, put(model="m9"), 2)
    report = import_evaluation(twin, [path])
    assert [problem.partition("; ")[0] for problem in report.problems] == [
        "calls.jsonl:1: 2 rows from here on: study two has no task t9",
        "calls.jsonl:3: study two has no model m9",
    ]
    assert (report.rows["calls", ADDED], report.rows["calls", REFUSED]) == (3, 3)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (put(cost_usd=0.5), "cost_usd: should be a valid string"),
        (put(cost_usd="-1"), "cost_usd: '-1' is no amount of dollars in plain digits"),
        (put(cost_usd="1e5"), "cost_usd"),
        (put(cost_usd="0.0000000000001"), "cost_usd"),
        (put(cost_usd="123456789"), "cost_usd"),
        (put(upper_cost_usd="\u0661"), "upper_cost_usd"),
        (put(input_tokens=-1), "input_tokens"),
        (put(input_tokens=2**53 + 1), "input_tokens"),
        (put(latency_s=-0.1), "latency_s"),
        (put(latency_s=86_401), "latency_s"),
        (put(latency_s=1.7e308), "latency_s"),
        (put(called_at="9999-12-31T23:59:59-12:00"), "called_at"),
        (put(called_at="0001-01-01T00:00:00+14:00"), "called_at"),
        (put(attempt=0), "attempt"),
        (put(phase="stage3"), "phase"),
        (put(kind="mail"), "kind"),
        (put(digest="0"), "digest: is no SHA-256"),
        (put(called_at="2024-01-01T00:00:00"), "called_at"),
        (put(reply={"text": "C"}), "reply: is no value of such a row"),
        (lambda row: row.pop("task_key") and None, "task_key: is missing"),
        (lambda row: "{", "not JSON"),
    ],
)
def test_row_at_fault_is_refused_and_the_others_are_stored(
    twin: Study, folder: Path, change: Any, told: str
) -> None:
    report = import_evaluation(twin, [edit(folder / "calls.jsonl", change, 1)])
    [problem] = report.problems
    assert problem.startswith("calls.jsonl:2: ")
    assert told in problem
    assert (report.rows["calls", ADDED], report.rows["calls", REFUSED]) == (5, 1)


def test_call_that_is_asked_again_after_a_move_moves_on_as_one_of_its_own(
    twin: Study, folder: Path, tmp_path: Path
) -> None:
    """A ledger counts attempts by itself, so that the key of a call asked again is that of the moved one."""
    import_evaluation(twin, [folder])
    moved = MovedCall.objects.filter(study=twin, error_code="", cost_usd__isnull=False)
    for call in moved:
        values = {name: getattr(call, name) for name in CALL_VALUES}
        Call.objects.create(study=twin, request={}, reply={"text": "again"}, **values)
    out = export_all(twin, tmp_path / "later")
    third = make_twin(out, "three")
    report = import_evaluation(third, [out])
    assert not report.problems
    assert report.rows["calls", ADDED] == 6 + moved.count() > 6
    assert costs_of(third) == costs_of(twin)
    assert table_a11(third) == table_a11(twin)
    assert +import_evaluation(third, [out / "calls.jsonl"]).rows == {("calls", KEPT): 6 + moved.count()}


def test_calls_of_what_was_never_run_here_are_told(twin: Study, folder: Path) -> None:
    twin.runs.all().delete()
    report = import_evaluation(twin, [folder / "calls.jsonl"])
    assert report.rows["calls", ADDED] == 6
    [note] = report.notes
    assert "are of a task and a model that have no run here" in note


def test_what_is_told_of_a_file_cannot_steer_the_terminal(twin: Study, folder: Path) -> None:
    path = edit(folder / "calls.jsonl", put(task_key="t\x1b[2J\nall is well"))
    told = StringIO()
    with pytest.raises(CommandError):
        call_command("import_evaluation", twin.slug, str(path), stdout=told, stderr=told)
    assert "\x1b[2J" not in told.getvalue().replace("\\x1b", "")
    assert "\nall is well" not in told.getvalue()


def test_digest_of_calls_follows_all_that_table_a11_prints(twin: Study, folder: Path) -> None:
    import_evaluation(twin, [folder])
    digests = {data_digests(twin)["calls"]["sha256"]}
    moved = MovedCall.objects.filter(study=twin, cost_usd__isnull=False)
    changes = {"cost_usd": "0.75", "cached_tokens": 17, "reasoning_tokens": 19, "error_code": "timeout"}
    for name, value in changes.items():
        moved.update(**{name: value})
        digests.add(data_digests(twin)["calls"]["sha256"])
    assert len(digests) == 5


def test_moved_call_is_never_taken_for_a_reply(twin: Study, folder: Path) -> None:
    """Whoever asks the same request here asks the provider, whatever the digest of a moved call is."""
    import_evaluation(twin, [folder])
    moved = MovedCall.objects.filter(study=twin)
    assert moved.count() == 6
    for call in moved:
        cell = Cell(twin.pk, call.phase, call.task_id, call.model_id, call.role)
        assert look_up(cell, call.digest, call.repeat) is None
        assert replies_of(cell) == {}
    first = moved.filter(kind="chat", phase=Phase.COLLECTION, error_code="").get()
    assert replies_of_run(twin.pk, first.phase, first.task_id, first.model_id) == {}


def test_moved_calls_count_for_the_budget(twin: Study, folder: Path) -> None:
    import_evaluation(twin, [folder])
    Study.objects.filter(pk=twin.pk).update(settings={"budget": {"calls": 5}})
    with pytest.raises(BudgetSpentError, match="budget of 5 calls is spent"):
        BudgetGuard(twin.pk).begin()


def test_moved_calls_go_with_their_study(twin: Study, folder: Path) -> None:
    import_evaluation(twin, [folder])
    twin.delete()
    assert not MovedCall.objects.exists()


def test_command_tells_of_calls(twin: Study, folder: Path) -> None:
    out = StringIO()
    call_command("import_evaluation", "two", str(folder), "--json", stdout=out)
    assert json.loads(out.getvalue())["rows"]["calls"]["added"] == 6
    edit(folder / "calls.jsonl", put(kind="search"))
    errors = StringIO()
    with pytest.raises(CommandError, match="1 rows were refused"):
        call_command("import_evaluation", "two", str(folder), stdout=StringIO(), stderr=errors)
    assert "differs in kind" in errors.getvalue()
