"""A study made from the page."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from lseval.models import Study
from tests.factories import make_study, make_user
from tests.pipeline.test_study_files_saving import TEXT, _collect, _save
from tests.site.building import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    user = make_user("admin")
    user.is_superuser = True
    user.save()
    return signed_in(user)


def test_a_file_is_checked_and_shown_before_it_makes_anything(client: Client) -> None:
    response = client.post(reverse("new_study"), {"text": TEXT})
    assert response.status_code == 200
    assert b"new models: 1 (m1)" in response.content
    assert b"Make the study" in response.content
    assert not Study.objects.exists()
    made = client.post(reverse("new_study"), {"text": TEXT, "make": "yes"})
    assert made.status_code == 302
    assert made.url == reverse("study_home", args=["s1"])
    assert Study.objects.get().models.get().name == "m1"


def test_an_uploaded_file_is_read_and_shown_in_the_form(client: Client) -> None:
    upload = SimpleUploadedFile("study.toml", TEXT.encode("utf-8-sig"))
    response = client.post(reverse("new_study"), {"text": "", "upload": upload})
    assert response.status_code == 200
    assert b"slug = &quot;s1&quot;" in response.content


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"text": " "}, b"Paste a study file or choose one."),
        ({"upload": SimpleUploadedFile("s.toml", b"\xff\xfe")}, b"not UTF-8 text"),
        ({"text": TEXT + "surplus = 1\n"}, b"line 42: tasks[1].surplus"),
        ({"text": '[study]\nslug = "a"\nname = "<script>"\nx = 1'}, b"line 4"),
        ({"text": '[study]\nslug = "a"\ntasks_file = "/etc/passwd"'}, b"no file can be read from here"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_by_line(client: Client, given: dict, told: bytes) -> None:
    response = client.post(reverse("new_study"), {**given, "make": "yes"})
    assert response.status_code == 400
    assert told in response.content
    assert b"<script>" not in response.content
    assert not Study.objects.exists()


def test_a_file_that_would_change_what_runs_were_made_under_is_a_conflict(client: Client) -> None:
    _collect(_save())
    changed = TEXT.replace("iterations = 40", "iterations = 41")
    response = client.post(reverse("new_study"), {"text": changed, "make": "yes"})
    assert response.status_code == 409
    assert b"Collecting has begun" in response.content


def test_only_superusers_find_the_way_and_may_go_it(client: Client) -> None:
    assert reverse("new_study").encode() in client.get(reverse("studies")).content
    lead = signed_in(make_user("lead", make_study(), "lead"))
    assert reverse("new_study").encode() not in lead.get(reverse("studies")).content
    assert lead.post(reverse("new_study"), {"text": TEXT, "make": "yes"}).status_code == 403
    assert Study.objects.count() == 1
