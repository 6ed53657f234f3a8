"""Exports: whole, of one moment, countable and checkable, over HTTP and by the command. I08, I10, I11."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Audit, LabelVersion
from lseval.csv_cells import plain_cell
from lseval.formats import write_run
from lseval.models import Call, Judgement, Link, Membership, Page, Run, SecondVerdict, Verdict
from lseval.pipeline.export_runs import run_records
from lseval.pipeline.import_runs import import_run
from lseval.site.api import export_views
from lseval.site.api.exports import EXPORTS, FILE_FORMATS, Tally, export_lines
from tests.api.conftest import Program
from tests.factories import make_record, make_run, make_study
from tests.site.building import World, give_label, give_second_verdict, make_world

STUDY = "/api/studies/s1"


def fetched(program: Program, what: str, file_format: str = "jsonl") -> Any:
    answer = program.get(f"{STUDY}/exports/{what}.{file_format}")
    assert answer.status_code == 200
    return answer


def body_of(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


def table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


@pytest.mark.parametrize("file_format", FILE_FORMATS)
@pytest.mark.parametrize("what", EXPORTS)
def test_headers_let_a_reader_check_what_arrived(lead: Program, what: str, file_format: str) -> None:
    answer = fetched(lead, what, file_format)
    data = body_of(answer)
    digest = hashlib.sha256(data)
    rows = len(table(data)) if file_format == "csv" else data.count(b"\n")
    assert rows == {
        "labels": 1, "verdicts": 2, "links": 1, "runs": 1, "pages": 2, "answers": 1, "second_verdicts": 1,
        "judgements": 2, "calls": 0, "members": 3,
        "audits": 18,  # a run, an audit, two queues, five items, seven slots, two events
    }[what]  # fmt: skip
    assert answer["LSEval-Rows"] == str(rows)
    assert answer["LSEval-SHA256"] == digest.hexdigest()
    assert answer["Repr-Digest"] == f"sha-256=:{base64.b64encode(digest.digest()).decode()}:"
    assert answer["Content-Length"] == str(len(data))
    assert answer["Content-Disposition"] == f'attachment; filename="s1-{what}.{file_format}"'


def test_a_program_may_accept_csv_only(lead: Program) -> None:
    answer = lead.get(f"{STUDY}/exports/links.csv", accept="text/csv")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/csv")


def test_rows_hold_what_the_database_holds(world: World, lead: Program) -> None:
    [link] = [json.loads(line) for line in body_of(fetched(lead, "links")).splitlines()]
    assert link == {
        "run_id": world.run.pk, "task_key": "t1", "model": "m1", "round_number": 2, "group_number": 2,
        "error_type": "wrong_entity", "is_type_agreed": True,
    }  # fmt: skip
    verdicts = [json.loads(line) for line in body_of(fetched(lead, "verdicts")).splitlines()]
    assert [(verdict["group_number"], verdict["label"], verdict["claims"]) for verdict in verdicts] == [
        (1, "C", []),
        (2, "I", []),
    ]
    [label] = [json.loads(line) for line in body_of(fetched(lead, "labels")).splitlines()]
    assert (label["labeler"], label["label"], label["is_in_force"]) == ("s1-annotator", "C", True)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "'=1", 'a "b", c\r\nd', "plain"])
def test_cells_cannot_be_formulas_and_come_back(world: World, lead: Program, text: str) -> None:
    Verdict.objects.filter(group__run=world.run).update(reason=text, claims=[{"claim": text}])
    rows = table(body_of(fetched(lead, "verdicts", "csv")))
    assert {plain_cell(row["reason"]) for row in rows} == {text}
    assert all(not row["reason"].startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows)
    assert json.loads(rows[0]["claims"]) == [{"claim": text}]
    lines = body_of(fetched(lead, "verdicts")).decode().split("\n")[:-1]
    assert {json.loads(line)["reason"] for line in lines} == {text}


def test_runs_come_back_without_loss(world: World, lead: Program) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        path.write_bytes(body_of(fetched(lead, "runs")))
        copy = make_study("copy")
        call_command("import_runs", "copy", str(path), verbosity=0)
    assert [write_run(record) for record in run_records(copy)] == [
        write_run(record) for record in run_records(world.study)
    ]


@pytest.mark.parametrize("what", EXPORTS)
def test_queries_do_not_grow_with_the_rows(world: World, what: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as taken:
            for _ in export_lines(world.study, what, "csv", lambda tally: None):
                pass
        return len(taken)

    few = queries()
    for number in range(2, 12):
        make_run(world.study, f"t{number}")
    assert queries() == few


def _add_label(world: World) -> None:
    LabelVersion.objects.create(
        slot=world.slot,
        number=world.slot.versions.count() + 1,
        action="skip",
        user=world.annotator,
        codebook_version="1",
        evidence_digest="",
        request_key=uuid4(),
    )


def _add_call(world: World) -> None:
    digest = f"{Call.objects.count():064x}"
    Call.objects.create(study=world.study, phase="stage1", digest=digest, provider="p", request={}, reply={})


def _in_thread(do: Callable[[], Any]) -> None:
    """Do it over a connection of its own, and commit."""

    def work() -> None:
        try:
            do()
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@pytest.fixture
def committed(transactional_db: None) -> World:
    made = make_world()
    give_label(made)
    give_second_verdict(made)
    return made


def _changes(world: World) -> dict[str, Callable[[], Any]]:
    """What another connection writes while the export is being read."""
    return {
        "labels": lambda: _add_label(world),
        "verdicts": lambda: Verdict.objects.filter(group__run=world.run).update(reason="changed"),
        "links": lambda: Link.objects.all().delete(),
        "runs": lambda: import_run(world.study, make_record("t99"), source_format="test"),
        "pages": lambda: Page.objects.filter(study=world.study).update(title="changed"),
        "answers": lambda: import_run(world.study, make_record("t99"), source_format="test"),
        "second_verdicts": lambda: SecondVerdict.objects.update(reason="changed"),
        "judgements": lambda: Judgement.objects.update(explanation="changed"),
        "audits": lambda: Audit.objects.update(status="paused"),
        "calls": lambda: _add_call(world),
        "members": lambda: Membership.objects.filter(user=world.annotator).delete(),
    }


@pytest.mark.parametrize("what", EXPORTS)
def test_an_export_is_of_one_moment(committed: World, what: str) -> None:
    """A change that is committed after the first line is not in the rest, and is in the next export."""
    for number in range(2, 30):  # more than one chunk of runs
        make_run(committed.study, f"t{number}")
    _add_label(committed)
    _add_call(committed)

    def whole() -> list[str]:
        return list(export_lines(committed.study, what, "jsonl", lambda tally: None))

    before = whole()
    told: list[Tally] = []
    lines = export_lines(committed.study, what, "jsonl", told.append)
    first = next(lines)
    _in_thread(_changes(committed)[what])
    assert [first, *lines] == before
    assert told[0].rows == len(before)
    assert whole() != before


def test_exports_while_labels_arrive_hold_exactly_what_was_there(committed: World, lead_of: Any) -> None:
    """Labels arrive one after the other; each export holds the first so many of them and none beyond."""
    stop = threading.Event()

    def arrive() -> None:
        while not stop.is_set():
            _add_label(committed)

    writer = threading.Thread(target=lambda: _in_thread(arrive))
    writer.start()
    try:
        counts = []
        for file_format in (*FILE_FORMATS, *FILE_FORMATS):
            file, tally = export_views.spooled(committed.study, "labels", file_format)
            with file:
                data = file.read()
            rows = table(data) if file_format == "csv" else [json.loads(line) for line in data.splitlines()]
            assert tally.rows == len(rows)
            assert [int(row["version"]) for row in rows] == list(range(1, len(rows) + 1))
            counts.append(len(rows))
    finally:
        stop.set()
        writer.join()
    assert counts == sorted(counts)
    assert LabelVersion.objects.count() >= counts[-1]


@pytest.fixture
def lead_of(committed: World) -> Program:
    return Program(committed.lead)


def test_an_export_that_is_given_up_leaves_no_transaction(committed: World) -> None:
    lines = export_lines(committed.study, "labels", "jsonl", lambda tally: None)
    next(lines)
    assert connection.in_atomic_block
    lines.close()
    assert not connection.in_atomic_block
    _add_label(committed)
    assert LabelVersion.objects.count() == 2


class _FullDisk:
    """A file on a disk that is full."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._left = 100

    def write(self, data: bytes) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise OSError(28, os.strerror(28))
        return len(data)

    def flush(self) -> None: ...

    def close(self) -> None:
        raise OSError(28, os.strerror(28))


def test_full_disk_of_the_server_sends_nothing_and_says_why(lead: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_views.tempfile, "TemporaryFile", _FullDisk)
    answer = lead.get(f"{STUDY}/exports/labels.csv")
    assert answer.status_code == 507
    assert answer.json()["code"] == "not_written"
    assert "No space left on device" in answer.json()["message"]
    assert "Nothing was sent" in answer.json()["message"]


@pytest.mark.parametrize(("name", "file_format"), [("out.csv", "csv"), ("out.jsonl", "jsonl"), ("out", "jsonl")])
def test_command_writes_the_file_and_says_its_digest(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, file_format: str
) -> None:
    out = tmp_path / name
    call_command("export", "s1", "verdicts", str(out))
    told = capsys.readouterr()
    data = out.read_bytes()
    assert told.out == f"{hashlib.sha256(data).hexdigest()}  {out}\n"
    assert told.err.startswith(f"2 rows, {len(data):,} bytes, as of ")
    assert (len(table(data)) if file_format == "csv" else data.count(b"\n")) == 2


def test_command_leaves_no_partial_file_on_a_full_disk(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full half-way: what was there before is untouched, and nothing else is left."""
    out = tmp_path / "labels.csv"
    out.write_text("before")

    def half(*args: Any) -> Iterator[str]:
        yield "a line\n"
        raise OSError(28, os.strerror(28))

    monkeypatch.setitem(EXPORTS, "labels", half)
    with pytest.raises(CommandError, match="No space left on device"):
        call_command("export", "s1", "labels", str(out))
    assert out.read_text() == "before"
    assert os.listdir(tmp_path) == ["labels.csv"]


def test_command_says_what_it_does_not_know(world: World, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("export", "s1", "tasks", str(tmp_path / "x"))
    with pytest.raises(CommandError, match="could not be written"):
        call_command("export", "s1", "links", str(tmp_path / "no" / "x"))
    assert Run.objects.count() == 1
