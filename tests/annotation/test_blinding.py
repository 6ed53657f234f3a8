"""Nothing that reaches a labeler tells what the machine or anybody else made of an item."""

from __future__ import annotations

import ast
import inspect
import re
import uuid

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver, reverse

from annotation import (
    evidence,
    flags,
    labeler_selectors,
    labeler_views,
    labels,
    leases,
    presenting,
    services,
    turns,
)
from annotation.models import Queue, SlotStatus
from annotation.sampling import Plan
from lseval.models import EvaluatedModel, Judgement, Link, Round, RoundConsensus, Run, Study, Task, User, Verdict
from tests.annotation.making import add_link, next_slot, submit
from tests.factories import make_run, make_study, make_user

pytestmark = pytest.mark.django_db

FORBIDDEN_TABLES = [
    "lseval_verdict",
    "lseval_judgement",
    "lseval_roundconsensus",
    "lseval_failurenode",
    "lseval_link",
    "lseval_evaluatedmodel",
    "lseval_referencelabel",
]
FORBIDDEN_COLUMNS = ["skip_reason", "gold_answer", "source_name", "model_id", "metadata", "reasoning"]
LABELER_ROUTES = {
    "label",
    "label_skip",
    "label_undo",
    "label_flag",
    "label_ahead",
    "label_heartbeat",
    "label_page",
    "label_recent",
    "guidelines",
    "revealed_verdict",
}
OTHER_ROUTES = {
    "adjudicate",
    "adjudicate_heartbeat",
    "adjudicate_page",
    "adjudicate_skip",
    "adjudicate_undo",
    "adjudication",
    "rebuild_adjudication",
    "seat_adjudicator",
    "audit",
    "audit_progress",
    "change_audit",
    "codebook",
    "codebook_version",
    "draw_audit",
    "export_labels",
    "extend_audit",
    "publish_codebook",
    "reassign_seat",
    "release_lease",
    "seat_labeler",
}
CANARIES = {
    "reason": "canary-of-the-verdict",
    "judge": "canary-of-the-judge",
    "explanation": "canary-of-the-judgement",
    "model": "canary-of-the-model",
    "family": "canary-of-the-family",
    "gold": "canary-of-the-gold-answer",
    "source": "canary-of-the-source",
    "skip": "listing_only",
    "type": "mapping_error",
    "comment": "canary-of-another-labeler",
    "other": "canary-of-the-other-role",
}


@pytest.fixture
def queue() -> Queue:
    """H1 with every kind of item, and a canary in every opinion and every name that a labeler must not see."""
    study = make_study()
    for task in ("t1", "t2"):
        run = make_run(
            study, task, CANARIES["model"], model_family=CANARIES["family"], gold_answer=CANARIES["gold"]
        )
        add_link(run)
    Run.objects.update(source_name=CANARIES["source"], metadata={"note": CANARIES["source"]})
    Verdict.objects.update(reason=CANARIES["reason"], judge=CANARIES["judge"])
    Round.objects.filter(number=1).update(skip_reason=CANARIES["skip"])
    for found in Round.objects.filter(number=2):
        RoundConsensus.objects.create(round=found, verdict="error")
        for role in "AB":
            Judgement.objects.create(
                round=found,
                judge_role=role,
                verdict="error",
                error_type=CANARIES["type"],
                explanation=CANARIES["explanation"],
                judge=CANARIES["judge"],
                judge_version="1",
            )
    audit = services.create_audit(study, Plan(), 1, "A", None)
    queues = {found.role: found for found in audit.queues.all()}
    for role, name in (("H1", "first"), ("H1", "also-first"), ("H2", "second")):
        services.seat(queues[role], make_user(name, study))
    second = User.objects.get(username="second")
    while queues["H2"].slots.filter(status=SlotStatus.OPEN).exists():
        submit(next_slot(queues["H2"], second), second, "I", comment=CANARIES["other"])
    also_first = User.objects.get(username="also-first")
    submit(next_slot(queues["H1"], also_first), also_first, "U", comment=CANARIES["comment"])
    return queues["H1"]


def every_page(client: Client, queue: Queue) -> list[HttpResponse]:
    """Label the whole queue as `first`, and return every response of every route that a labeler has."""
    user = User.objects.get(username="first")
    client.force_login(user)
    url = reverse("label", args=[queue.pk])
    responses = [client.get(reverse("audit", args=["s1"])), client.get(reverse("guidelines", args=[queue.pk]))]
    labels_of = {"group": "C", "round": "non_error", "link": "corresponds"}
    while True:
        page = client.get(url)
        responses.append(page)
        slot = queue.slots.filter(status=SlotStatus.OPEN, lease__user=user).select_related("item").first()
        if slot is None:
            break
        address = reverse("label_page", args=[queue.pk, slot.pk, 1])
        if slot.item.kind == "group":
            responses.append(client.get(address, headers={"hx-request": "true"}))
        responses.append(client.post(reverse("label_heartbeat", args=[queue.pk]), {"slot": slot.pk}))
        sent = {"slot": slot.pk, "request_key": str(uuid.uuid4()), "base_version": 0}
        responses.append(client.post(url, {**sent, "label": "nonsense"}))
        responses.append(client.post(url, {**sent, "label": labels_of[slot.item.kind]}))
        responses.append(client.post(url, {**sent, "label": labels_of[slot.item.kind], "comment": "changed"}))
        responses.append(client.get(f"{url}?slot={slot.pk}"))
    responses.append(client.post(reverse("label_undo", args=[queue.pk]), {"request_key": str(uuid.uuid4())}))
    slot = queue.slots.get(status=SlotStatus.OPEN)
    sent = {"slot": slot.pk, "request_key": str(uuid.uuid4()), "base_version": slot.version, "reason": "unsure"}
    responses.append(client.post(reverse("label_skip", args=[queue.pk]), sent))
    responses.append(client.get(reverse("audit", args=["s1"])))
    return responses


def test_no_page_holds_a_canary(client: Client, queue: Queue) -> None:
    responses = every_page(client, queue)
    assert {response.status_code for response in responses} == {200, 302, 400, 409}
    # 4 groups less the one that the colleague has labeled, 4 rounds, 2 links.
    assert queue.slots.filter(versions__user__username="first").distinct().count() == 9
    for response in responses:
        told = response.content.decode() + str(dict(response.headers))
        if response.resolver_match and response.resolver_match.url_name == "guidelines":
            continue
        for name, canary in CANARIES.items():
            # The ten types are the options of a list, the same for every round.
            assert canary not in told.replace('<option value="mapping_error">', ""), (name, response.request)


def sent(captured: CaptureQueriesContext) -> list[str]:
    """The statements that were sent, also where several went as one message."""
    return [part.strip() for query in captured.captured_queries for part in query["sql"].split(";\n")]


@pytest.mark.usefixtures("as_written")
def test_no_query_of_a_labelers_page_reads_an_opinion(client: Client, queue: Queue) -> None:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        every_page(client, queue)
    statements = sent(captured)
    assert len(statements) > 100
    assert any('FROM "annotation_labelversion"' in statement for statement in statements)
    for statement in statements:
        for table in FORBIDDEN_TABLES:
            assert table not in statement, statement
        for column in FORBIDDEN_COLUMNS:
            assert not re.search(rf'["."]{column}\b', statement), statement


@pytest.mark.usefixtures("as_written")
def test_labels_of_others_are_read_by_nobody_but_their_owner(client: Client, queue: Queue) -> None:
    """Every read of versions is narrowed to the person who asks, or to the slot that they are writing to."""
    user = User.objects.get(username="first")
    with CaptureQueriesContext(connection) as captured:
        every_page(client, queue)
    reads = [
        statement
        for statement in sent(captured)
        if statement.startswith("SELECT") and 'FROM "annotation_labelversion"' in statement
    ]
    assert not [
        statement for statement in sent(captured) if re.search(r"(FROM|JOIN) annotation_labelversion", statement)
    ]
    assert reads
    for statement in reads:
        column = '"annotation_labelversion"."user_id"'
        own = any(f"{column} {of}" in statement for of in (f"= {user.pk}", f"BETWEEN {user.pk} AND {user.pk} "))
        of_one_slot = re.search(r'"annotation_labelversion"."slot_id" = \d', statement)
        assert own or of_one_slot, statement


def test_names_in_the_labelers_modules_reach_no_opinion() -> None:
    opinions = {"Verdict", "Judgement", "FailureNode", "Link", "RoundConsensus", "EvaluatedModel", "ReferenceLabel"}
    for module in (labeler_selectors, labeler_views, evidence, presenting, leases, labels, turns, flags):
        tree = ast.parse(inspect.getsource(module))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        imported = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not opinions & (names | attributes | imported), module.__name__
        assert not {"verdict", "judgements", "failure_nodes", "links", "model", "consensus"} & attributes


def test_every_route_of_the_app_is_known_here() -> None:
    """A new route has to be put with the labeler's, where these tests walk it, or with the others."""
    patterns = next(
        found
        for found in get_resolver().url_patterns
        if "annotation.urls" in str(getattr(found, "urlconf_name", ""))
    )
    assert {pattern.name for pattern in patterns.url_patterns} == LABELER_ROUTES | OTHER_ROUTES


def test_number_of_links_is_not_told_before_the_groups_are_done(client: Client, queue: Queue) -> None:
    """How many links there are depends on which groups the machine calls incorrect."""
    client.force_login(User.objects.get(username="first"))
    text = client.get(reverse("audit", args=["s1"])).content.decode()
    assert "Answer groups" in text
    assert "link" not in text.lower().split("<main")[1].split("</main")[0]


def test_models_used_here_exist() -> None:
    """The tables that must not be read are those of the models that hold opinions and names."""
    models = [Verdict, Judgement, RoundConsensus, Link, EvaluatedModel]
    assert {model._meta.db_table for model in models} <= set(FORBIDDEN_TABLES)
    for model, column in ((Round, "skip_reason"), (Task, "gold_answer"), (Run, "source_name"), (Study, "slug")):
        assert model._meta.get_field(column).column == column
