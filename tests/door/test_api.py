"""A04, A05, B02: who may ask the API, by which token, and what it refuses to be asked."""

from __future__ import annotations

import json
import logging
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from lseval.door.models import ApiToken
from lseval.door.tokens import create_token
from lseval.errors import ConflictError
from lseval.models import Role, Study, User, Verdict
from tests.factories import give_verdict, make_run, make_study, make_user

ME = "/api/me/"
STUDIES = "/api/studies/"


def bearer(text: str) -> dict[str, str]:
    return {"authorization": f"Bearer {text}"}


@pytest.fixture
def token(lead: User) -> str:
    return create_token(lead, "notebook", 30)[1]


def test_token_is_made_shown_once_used_and_revoked(client: Client, lead: User) -> None:
    client.force_login(lead)
    page = client.post(reverse("token_create"), {"name": "notebook", "lifetime_days": "90"})
    text = page.context["new_token_text"]
    assert text in page.content.decode()
    assert text not in client.get(reverse("account")).content.decode()
    program = Client()
    answer = program.get(ME, headers=bearer(text))
    assert answer.status_code == 200
    assert answer.json()["username"] == "lead"
    assert answer.json()["token"]["name"] == "notebook"
    assert "last used" in client.get(reverse("account")).content.decode().lower()
    assert ApiToken.objects.get().last_used_at is not None
    client.post(reverse("token_revoke", args=[ApiToken.objects.get().public_id]))
    refused = program.get(ME, headers=bearer(text))
    assert refused.status_code == 401
    assert refused["WWW-Authenticate"] == "Bearer"


def test_token_is_kept_as_a_digest_only(token: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(t)::text FROM lseval_door_apitoken t")
        stored = cursor.fetchone()[0]
    assert token not in stored
    assert token[20:] not in stored


@pytest.mark.parametrize("name", ["token", "access_token", "api_key", "key", "auth", "Authorization"])
def test_token_in_the_address_opens_nothing(token: str, name: str) -> None:
    assert Client().get(ME, {name: token}).status_code == 401
    assert Client().get(ME, {name: f"Bearer {token}"}).status_code == 401
    assert Client().post(ME, {name: token}).status_code == 401


def test_token_beside_a_good_one_in_the_address_is_refused(token: str) -> None:
    assert Client().get(ME, {"token": token}, headers=bearer(token)).status_code == 400


@pytest.mark.parametrize("change", ["revoked", "expired", "disabled owner", "simulated owner", "owner gone"])
def test_token_that_no_longer_holds(token: str, lead: User, change: str) -> None:
    assert Client().get(ME, headers=bearer(token)).status_code == 200
    if change == "revoked":
        ApiToken.objects.all().delete()
    elif change == "expired":
        ApiToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    elif change == "disabled owner":
        User.objects.update(is_active=False)
    elif change == "simulated owner":
        User.objects.update(is_simulated=True)
    else:
        lead.delete()
    assert Client().get(ME, headers=bearer(token)).status_code == 401


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Bearer lst_" + "0" * 64,
        "Bearer lst_" + "0" * 64 + "\n",
        "Bearer lst_" + "0" * 60 + "\x00\x00\x00\x00",
        "Bearer \xff\xfe",
        "Bearer lst_" + "é" * 64,
        "Bearer a b c",
        "Bearer " + "a" * 100_000,
        "Token lst_" + "0" * 64,
        "Basic bGVhZDpwdw==",
        "",
    ],
)
def test_what_is_no_token_is_401(token: str, header: str) -> None:
    assert Client().get(ME, headers={"authorization": header}).status_code == 401


def test_token_opens_the_api_only(token: str, study: Study) -> None:
    for address in (reverse("studies"), reverse("account"), reverse("outcome", args=[study.slug])):
        assert Client().get(address, headers=bearer(token)).status_code == 302


def test_no_log_holds_a_token_or_a_password(token: str, lead: User, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = Client(raise_request_exception=False)
    client.get(ME, headers=bearer(token))
    client.get(ME, {"token": token})
    client.get(ME, headers=bearer(token[:-1] + "0"))
    client.get(f"/api/studies/{token}/", headers=bearer(token))
    client.post("/login/", {"username": "lead", "password": "hunter-2-hunter"})
    client.post("/login/", {"username": "typed-password-as-name", "password": "x"})
    written = "\n".join(formatted(record) for record in caplog.records)
    assert "denied=401" in written
    for secret in (token, token[20:], "hunter-2-hunter", "typed-password-as-name"):
        assert secret not in written


def formatted(record: logging.LogRecord) -> str:
    handler = next(found for found in logging.getLogger().handlers if type(found).__name__ == "StreamHandler")
    return handler.format(record)


def test_another_persons_token_cannot_be_revoked(client: Client, token: str, annotator: User) -> None:
    client.force_login(annotator)
    assert client.post(reverse("token_revoke", args=[ApiToken.objects.get().public_id])).status_code == 404
    assert ApiToken.objects.count() == 1


def test_number_of_tokens_is_bounded(lead: User) -> None:
    for number in range(20):
        create_token(lead, f"t{number}", 30)
    with pytest.raises(ConflictError, match="20 tokens"):
        create_token(lead, "one more", 30)


@pytest.mark.parametrize(
    "given",
    [
        {"name": "", "lifetime_days": "30"},
        {"name": "x" * 61, "lifetime_days": "30"},
        {"name": "a\nb", "lifetime_days": "30"},
        {"name": "x", "lifetime_days": "36500"},
        {"name": "x"},
    ],
)
def test_token_needs_a_name_and_a_known_lifetime(client: Client, lead: User, given: dict[str, str]) -> None:
    client.force_login(lead)
    assert client.post(reverse("token_create"), given).status_code == 400
    assert not ApiToken.objects.exists()


def test_annotator_is_told_no_count(annotator: User, study: Study) -> None:
    make_run(study)
    client = Client()
    client.force_login(annotator)
    listed = client.get(STUDIES).json()["results"][0]
    assert listed.keys() == {"slug", "name", "description", "role", "url"}
    assert client.get(f"{STUDIES}s1/").json() == listed


def test_answers_to_an_annotator_do_not_depend_on_verdicts(annotator: User, study: Study) -> None:
    run = make_run(study)
    client = Client()
    client.force_login(annotator)

    def answers() -> list[tuple[int, bytes, list[tuple[str, str]]]]:
        asked = [client.get(address) for address in (ME, STUDIES, f"{STUDIES}s1/")]
        return [(answer.status_code, answer.content, sorted(answer.items())) for answer in asked]

    before = answers()
    give_verdict(run, "C", "I")
    assert answers() == before
    Verdict.objects.all().delete()
    assert answers() == before


def test_lead_and_researcher_get_the_counts(token: str, study: Study) -> None:
    run = make_run(study)
    give_verdict(run, "C", "I")
    answer = Client().get(f"{STUDIES}s1/", headers=bearer(token)).json()
    assert answer["role"] == "lead"
    assert answer["counts"] == {
        "runs": 1,
        "answer_groups": 2,
        "judged_groups": 2,
        "labels_by_people": 0,
        "simulated_labels": 0,
    }


def test_studies_of_others_are_neither_listed_nor_found(token: str) -> None:
    make_study("secret")
    client = Client()
    assert [row["slug"] for row in client.get(STUDIES, headers=bearer(token)).json()["results"]] == ["s1"]
    others = client.get(f"{STUDIES}secret/", headers=bearer(token))
    nowhere = client.get(f"{STUDIES}no-such/", headers=bearer(token))
    assert others.status_code == nowhere.status_code == 404
    assert others.content == nowhere.content


@pytest.mark.parametrize("address", [ME, STUDIES, f"{STUDIES}s1/"])
@pytest.mark.parametrize(
    "query",
    [
        "h1_label__value=C",
        "ordering=auto_conf",
        "search=lead",
        "slug__startswith=s",
        "memberships__user__password__startswith=a",
        "format=api",
        "page_size=1",
        "page=1&page=2",
        "page=1&ordering=name",
        "Page=1",
        "page%00=1",
        "=1",
        "x",
        "\x1b[31m=1",
    ],
)
def test_what_looks_like_a_filter_is_refused(token: str, address: str, query: str) -> None:
    answer = Client().get(f"{address}?{query}", headers=bearer(token))
    assert answer.status_code == 400
    assert answer.json()["code"] == "bad_input"
    assert "\x1b" not in answer.json()["message"]


@pytest.mark.parametrize("page", ["0", "-1", "x", "", "1.0", "²", "99999999999999999999", "2", "1e3", " 1"])
def test_a_page_that_is_not_there_is_refused(token: str, page: str) -> None:
    assert Client().get(STUDIES, {"page": page}, headers=bearer(token)).status_code == 400


def test_pages_of_studies(token: str, lead: User) -> None:
    for number in range(60):
        study = make_study(f"n{number}")
        study.memberships.create(user=lead, role=Role.LEAD)
    first = Client().get(STUDIES, headers=bearer(token)).json()
    second = Client().get(STUDIES, {"page": "2"}, headers=bearer(token)).json()
    assert (first["count"], first["pages"], len(first["results"]), len(second["results"])) == (61, 2, 50, 11)
    slugs = {row["slug"] for row in first["results"] + second["results"]}
    assert len(slugs) == 61


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options", "trace"])
def test_the_api_reads_only(token: str, method: str) -> None:
    for address in (ME, STUDIES, f"{STUDIES}s1/"):
        answer = getattr(Client(), method)(address, headers=bearer(token))
        assert answer.status_code == 405


def test_api_answers_in_json_whatever_is_asked_for(token: str) -> None:
    answer = Client().get(ME, headers={**bearer(token), "accept": "application/json"})
    assert answer["Content-Type"] == "application/json"
    assert "no-store" in answer["Cache-Control"]
    refused = Client().get(ME, headers={"accept": "application/json"})
    assert set(refused.json()) == {"code", "message"}


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", "application/x-www-form-urlencoded"])
def test_session_without_its_form_token_changes_nothing(
    strict_client: Client, lead: User, content_type: str
) -> None:
    strict_client.force_login(lead)
    for address in (ME, STUDIES):
        body = json.dumps({"role": "lead"})
        assert strict_client.post(address, body, content_type=content_type).status_code == 403
    assert strict_client.get(ME).status_code == 200


def test_make_user_gives_no_token(db: None) -> None:
    """A new login has no way in but its password."""
    assert not make_user("fresh").auth_token_set.exists()
