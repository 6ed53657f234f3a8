"""Runs brought in from the page: all of a file or nothing, and a report of what happened."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from lseval.formats import write_run
from lseval.models import Role, Run, Task
from lseval.site import import_page, importing
from tests.factories import make_record, make_study, make_user
from tests.formats.samples import ROWS
from tests.formats.test_archives import hostile
from tests.site.building import signed_in

pytestmark = pytest.mark.django_db
GOOD = write_run(make_record()) + "\n"
BAD = '{"format": "lseval-run/1", "task": {}}\n'


@pytest.fixture
def client() -> Client:
    study = make_study("s1")
    return signed_in(make_user("lead", study, Role.LEAD))


def send(
    client: Client, text: str = "", *, upload: bytes | None = None, name: str = "runs.jsonl", **given: Any
) -> Any:
    data: dict[str, Any] = {"text": text, "format": "auto", **given}
    if upload is not None:
        data["upload"] = SimpleUploadedFile(name, upload)
    return client.post(reverse("import_runs", args=["s1"]), data)


def test_file_is_tried_first_and_saves_nothing(client: Client) -> None:
    response = send(client, GOOD)
    assert response.status_code == 200
    assert b"The file can be imported. Nothing was saved yet." in response.content
    assert not Task.objects.exists()
    done = send(client, GOOD, **{"import": "yes"})
    assert b"1 new run imported." in done.content
    assert Run.objects.get().source_name == "pasted.jsonl"


def test_after_a_check_the_page_says_that_an_upload_has_to_be_chosen_again(client: Client) -> None:
    assert b"choose the file again and press Import" in send(client, upload=GOOD.encode()).content
    assert b"choose the file again" not in send(client, GOOD).content


def test_uploaded_file_keeps_its_name_without_its_folders(client: Client) -> None:
    send(client, upload=GOOD.encode(), name="../../etc/my runs$(x).jsonl", **{"import": "yes"})
    assert Run.objects.get().source_name == "my runs-x-.jsonl"


def test_one_bad_row_keeps_the_whole_file_out(client: Client) -> None:
    response = send(client, GOOD + BAD, **{"import": "yes"})
    assert response.status_code == 400
    assert b"1 row cannot be imported, so nothing was saved" in response.content
    assert b"pasted.jsonl:2: task.key: is missing" in response.content
    assert b"/tmp" not in response.content
    assert not Task.objects.exists()


def test_the_others_are_imported_where_that_is_asked_for(client: Client) -> None:
    response = send(client, GOOD + BAD, leave_out_faulty="on", **{"import": "yes"})
    assert response.status_code == 200
    assert b"1 new run imported; 1 row left out." in response.content
    assert Run.objects.count() == 1


def test_i05_same_file_twice_adds_nothing(client: Client) -> None:
    send(client, GOOD, **{"import": "yes"})
    response = send(client, GOOD + GOOD, **{"import": "yes"})
    assert b"0 new runs imported." in response.content
    assert Run.objects.count() == 1


@pytest.mark.parametrize("name", ROWS)
def test_every_format_is_taken(client: Client, name: str) -> None:
    response = send(client, json.dumps(ROWS[name]()) + "\n", model="m9", **{"import": "yes"})
    assert (response.status_code, Run.objects.count()) == (200, 1)
    assert Run.objects.get().source_format == name


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"text": " "}, b"Choose a file or paste its text."),
        ({"text": "x", "format": "csv"}, b"csv is not one of the available choices"),
        ({"text": "", "upload": b""}, b"the file is empty"),
        ({"text": "x"}, b"not JSON"),
        ({"text": '{"a": 1}'}, b"holds no run in a known format"),
        ({"text": "", "upload": "{}".encode("utf-16")}, b"UTF-16"),
    ],
)
def test_what_is_no_file_of_runs_is_refused_with_the_reason(
    client: Client, given: dict[str, Any], told: bytes
) -> None:
    response = send(client, **given, **{"import": "yes"})
    assert response.status_code == 400
    assert told in response.content
    assert not Task.objects.exists()


def test_i06_hostile_archive_is_refused(client: Client, tmp_path: Any) -> None:
    path = hostile(tmp_path, "../evil.json")
    response = send(client, upload=path.read_bytes(), name="log.eval", **{"import": "yes"})
    assert response.status_code == 400
    assert b"leads out" in response.content


def test_file_over_the_limit_is_sent_to_the_command(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_page, "LARGEST_BYTES", 100)
    response = send(client, upload=GOOD.encode(), **{"import": "yes"})
    assert (response.status_code, b"manage.py import_runs" in response.content) == (400, True)
    monkeypatch.undo()
    monkeypatch.setattr(importing, "MOST_RUNS", 1)
    response = send(client, GOOD + write_run(make_record("t2")), **{"import": "yes"})
    assert (response.status_code, b"more than 1 runs" in response.content) == (400, True)
    assert not Run.objects.exists()


def test_i07_multipart_of_100_000_parts_is_refused(client: Client) -> None:
    for head in ('name="a"', 'name="upload"; filename="a"'):
        part = f"--b\r\nContent-Disposition: form-data; {head}\r\n\r\nx\r\n"
        body = part * 100_000 + "--b--\r\n"
        response = client.post(
            reverse("import_runs", args=["s1"]), data=body.encode(), content_type="multipart/form-data; boundary=b"
        )
        assert response.status_code in (400, 413)
    assert not Task.objects.exists()


def test_hostile_text_in_a_file_is_shown_as_text(client: Client) -> None:
    row = json.loads(GOOD) | {"<script>alert(1)</script>": 1}
    response = send(client, json.dumps(row))
    assert b"<script>alert" not in response.content
    assert b"&lt;script&gt;alert" in response.content


def test_text_that_begins_like_a_formula_is_kept_as_it_is(client: Client) -> None:
    send(client, write_run(make_record("=1+1")), **{"import": "yes"})
    assert Task.objects.get().key == "=1+1"


def test_leads_find_the_page_from_the_home_page(client: Client) -> None:
    assert reverse("import_runs", args=["s1"]).encode() in client.get(reverse("study_home", args=["s1"])).content
