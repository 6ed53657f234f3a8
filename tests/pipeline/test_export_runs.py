"""`manage.py export_runs`: what a study holds of its runs goes out and comes in again without loss."""

from __future__ import annotations

import gc
import json
import os
from dataclasses import asdict, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lseval.domain.labels import PageOutcome
from lseval.domain.trajectory import PageRecord, ReferenceRecord, RubricRecord, RunRecord, UsageRecord
from lseval.errors import LsevalError
from lseval.formats import read_runs, write_run
from lseval.models import Run, Study, Turn
from lseval.pipeline.export_runs import run_records
from lseval.pipeline.import_runs import import_run
from tests.factories import make_record, make_study
from tests.formats.test_round_trip import runs
from tests.shared import shared_path

pytestmark = pytest.mark.django_db


def export(study: Study, out: Path, *options: str) -> str:
    told = StringIO()
    call_command("export_runs", study.slug, str(out), *options, stdout=told)
    return told.getvalue()


def import_all(study: Study, path: Path) -> list[Any]:
    results = list(read_runs(path))
    assert [result.message for result in results if result.error] == []
    return [import_run(study, result.record, source_format="lseval") for result in results if result.record]


def full_record(**changes: Any) -> RunRecord:
    return replace(
        make_record(),
        model_family="family",
        task_topic="Rivers",
        task_language="en",
        gold_answer="Example",
        rubric=RubricRecord(2, ("It flows.",), "One group a river.", ("name",)),
        usage=UsageRecord(10, 5, 3, 1),
        references=(ReferenceRecord(0, "agent", "type", "reason", "source"),),
        attempts=3,
        is_final_only=True,
        started_at="2026-01-25T09:39:56+00:00",
        metadata={"temperature": 0.5, "=1": ["-2", None]},
        **changes,
    )


def test_everything_a_run_holds_comes_back(tmp_path: Path) -> None:
    one, two = make_study("one"), make_study("two")
    record = full_record()
    import_run(one, record, source_format="lseval")
    assert list(run_records(one)) == [replace(record, warnings=())]
    assert export(one, tmp_path / "runs.jsonl") == f"1 run written to {tmp_path / 'runs.jsonl'}\n"
    assert [outcome.status for outcome in import_all(two, tmp_path / "runs.jsonl")] == ["created"]
    assert list(run_records(two)) == list(run_records(one))


def test_importing_an_export_into_its_own_study_adds_nothing(tmp_path: Path) -> None:
    study = make_study("one")
    import_run(study, full_record(), source_format="lseval")
    export(study, tmp_path / "runs.jsonl")
    assert [outcome.status for outcome in import_all(study, tmp_path / "runs.jsonl")] == ["unchanged"]
    assert Run.objects.count() == 1


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(record=runs(), number=st.integers(0, 10**9))
def test_i10_any_run_that_was_imported_is_exported_and_imported_without_loss(
    tmp_path: Path, record: RunRecord, number: int
) -> None:
    one, two = (Study.objects.create(slug=f"s{number}-{name}-{os.urandom(4).hex()}", name=name) for name in "ab")
    try:
        import_run(one, replace(record, started_at=None), source_format="lseval")
    except LsevalError:
        return  # a key or a count beyond what a column holds
    first = list(run_records(one))
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(write_run(found) + "\n" for found in first), encoding="utf-8", newline="\n")
    import_all(two, path)
    assert list(run_records(two)) == first
    assert first[0].final_answer == record.final_answer
    assert plain([asdict(turn) for turn in first[0].turns]) == plain([asdict(turn) for turn in record.turns])
    assert plain(first[0].metadata) == plain(record.metadata)


def plain(value: Any) -> Any:
    """`value` with numbers as doubles: the database keeps a number and not whether it was written with a point."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def test_number_that_the_database_writes_out_in_full_comes_back(tmp_path: Path) -> None:
    one, two = make_study("one"), make_study("two")
    import_run(one, replace(make_record(), metadata={"large": 1e300, "whole": 2**63 - 1}), source_format="lseval")
    export(one, tmp_path / "runs.jsonl")
    import_all(two, tmp_path / "runs.jsonl")
    (record,) = run_records(two)
    assert record.metadata == {"large": 1e300, "whole": 2**63 - 1}


def test_page_of_any_outcome_comes_back(tmp_path: Path) -> None:
    one, two = make_study("one"), make_study("two")
    pages = tuple(
        PageRecord(f"https://{name}.example/", "text" if name == "ok" else "", "title", name.value)
        for name in PageOutcome
    )
    import_run(one, replace(make_record(), pages=pages), source_format="lseval")
    export(one, tmp_path / "runs.jsonl")
    import_all(two, tmp_path / "runs.jsonl")
    (record,) = run_records(two)
    assert record.pages == pages


def test_published_runs_come_back_equal(tmp_path: Path) -> None:
    one, two = make_study("one"), make_study("two")
    for name in ("inspect_logs/docent_sample_log.eval", "langfuse/pydantic-ai-tools-2025-12-04.trace.json"):
        import_all(one, shared_path("data") / name)
    export(one, tmp_path / "runs.jsonl")
    import_all(two, tmp_path / "runs.jsonl")
    assert len(list(run_records(two))) == 16
    assert list(run_records(two)) == list(run_records(one))


def test_queries_grow_by_tens_of_runs_and_not_by_runs() -> None:
    study = make_study("one")

    def asked(number: int) -> int:
        for index in range(Run.objects.count(), number):
            import_run(study, make_record(f"t{index}"), source_format="lseval")
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert len(list(run_records(study))) == number
        return len(queries)

    assert (asked(2), asked(10), asked(12)) == (7, 7, 13)


def test_a_run_that_was_written_is_let_go_at_once() -> None:
    """What is read with a run refers back to it: left so, it would fill the memory until a collection."""
    study = make_study()
    for task in range(25):
        import_run(study, make_record(f"t{task:02}"), source_format="lseval")
    gc.collect()
    before = turns_in_memory()
    gc.disable()
    try:
        most = max(turns_in_memory() - before for _ in run_records(study))
    finally:
        gc.enable()
    of_one_run = Turn.objects.filter(run__task__key="t00").count()
    assert 0 < most <= 10 * of_one_run


def turns_in_memory() -> int:
    # By `type`: to ask a lazy object for its class would make it.
    return sum(type(found) is Turn for found in gc.get_objects())


def test_inspect_logs_are_one_for_each_model(tmp_path: Path) -> None:
    study = make_study("one")
    for model in ("org/m 1", "org-m 1", "m2"):
        import_run(study, replace(make_record(), model_name=model), source_format="lseval")
    told = export(study, tmp_path / "logs", "--format", "inspect")
    paths = sorted((tmp_path / "logs").iterdir())
    assert len(paths) == 3
    assert all(str(path) in told for path in paths)
    assert sorted(json.loads(path.read_text())["eval"]["model"] for path in paths) == ["m2", "org-m 1", "org/m 1"]
    again = make_study("two")
    for path in paths:
        assert [outcome.status for outcome in import_all(again, path)] == ["created"]


def test_one_model_can_be_asked_for_and_an_unknown_one_is_told(tmp_path: Path) -> None:
    study = make_study("one")
    for model in ("m1", "m2"):
        import_run(study, replace(make_record(), model_name=model), source_format="lseval")
    export(study, tmp_path / "runs.jsonl", "--model", "m2")
    assert [result.record.model_name for result in read_runs(tmp_path / "runs.jsonl") if result.record] == ["m2"]
    with pytest.raises(CommandError, match=r"has no model 'm9'\. It has: m1, m2"):
        export(study, tmp_path / "runs.jsonl", "--model", "m9")


def test_i11_disk_full_half_way_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study("one")
    import_run(study, make_record(), source_format="lseval")

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LsevalError, match="No space left on device"):
        export(study, tmp_path / "runs.jsonl")
    with pytest.raises(LsevalError, match="No space left on device"):
        export(study, tmp_path / "logs", "--format", "inspect")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
