"""Databases that differ only in others' labels and the machine's give a labeler the same bytes (B02, B03)."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

import pytest
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve, reverse

from annotation import adjudication, flags, labels, services
from annotation.models import ItemKind, Queue, SlotStatus
from annotation.sampling import Plan
from lseval.models import (
    EvaluatedModel,
    FailureNode,
    Judgement,
    Link,
    ReferenceLabel,
    Role,
    Round,
    RoundConsensus,
    Rubric,
    Run,
    SecondVerdict,
    Task,
    User,
    Verdict,
)
from tests.annotation.making import next_slot, submit
from tests.annotation.test_blinding import LABELER_ROUTES
from tests.factories import make_run, make_study, make_user
from tests.site.test_every_route import ADDRESSES, ROUTES

pytestmark = pytest.mark.django_db

_Found = TypeVar("_Found")

OF_ONE_REQUEST = [
    rb'name="csrfmiddlewaretoken" value="[^"]*"',
    rb"<time[^>]*>[^<]*</time>",
    rb'"expires_at": "[^"]*"',
    rb'"created_at":"[^"]*"',
]
"""What differs between any two requests: the token against forged ones, and the clock."""

CLOCK_HEADERS = {"date", "expires"}

FIRST_ID: Final = 1_000_000
"""Where the ids of every table begin in a twin."""

IN_ADDRESSES = {"study": "twin", "int": FIRST_ID, "uuid": uuid.UUID(int=0), "slug": "csv", "str": "csv"}
"""What stands for the parts of an address that no walk has chosen: rows that are there where a study has any."""

NOT_WALKED: dict[str, str] = {}
"""Routes that an annotator may open and that no twin is asked for, each with the reason."""

OPENED = (200, 204, 302)


@dataclass(frozen=True)
class Opinions:
    """What everybody but the labeler under test says of every item, and what the models are called."""

    label: str
    verdict: str
    words: str
    round: str
    link: str
    error_type: str
    model: str

    def of(self, kind: str) -> dict[str, str]:
        """The label of an item of a kind, and the type of an error."""
        label = {ItemKind.GROUP: self.label, ItemKind.ROUND: self.round, ItemKind.LINK: self.link}[ItemKind(kind)]
        return {"label": label, "error_type": self.error_type if label == "error" else ""}


ONE = Opinions("C", "C", "all is well", "non_error", "corresponds", "wrong_entity", "m1")
OTHER = Opinions(
    "I",
    "U",
    "a much longer explanation of all that went wrong in this answer, with a canary",
    "error",
    "does_not",
    "scope_error",
    "another-model-with-a-long-name",
)


def make_twin(opinions: Opinions) -> dict[str, Queue]:
    """A study in which H1 has labeled all of their queue, and a colleague in H2 has begun on theirs."""
    queues = _make_audit(opinions, ("t1", "t2", "t3"))
    first, colleague, second = (User.objects.get(username=name) for name in ("first", "colleague", "second"))
    services.seat(queues["H1"], first)
    services.seat(queues["H2"], colleague)
    services.seat(queues["H2"], second)
    _label_all(queues["H1"], first, opinions)
    for _ in range(2):
        _label_next(queues["H2"], colleague, opinions)
    _compare_all(queues["H1"])
    return queues


def make_twin_for_h1(opinions: Opinions) -> dict[str, Queue]:
    """A study in which H2 has labeled and flagged, and a colleague in H1 has done one item.

    How far H2 is differs too: it is done with everything in one, and has set an item aside in the other.
    """
    queues = _make_audit(opinions, ("t1", "t2"))
    first, colleague, second = (User.objects.get(username=name) for name in ("first", "colleague", "second"))
    services.seat(queues["H1"], first)
    services.seat(queues["H1"], colleague)
    services.seat(queues["H2"], second)
    if opinions is ONE:
        _label_all(queues["H2"], second, opinions)
    else:
        slot = next_slot(queues["H2"], second)
        flags.raise_flag(slot.pk, second, opinions.words, request_key=uuid.uuid4())
        labels.skip(slot.pk, second, opinions.words, request_key=uuid.uuid4(), base_version=slot.version)
        _label_next(queues["H2"], second, opinions)
    _label_next(queues["H1"], colleague, opinions)
    _compare_all(queues["H1"])
    return queues


def _make_audit(opinions: Opinions, tasks: tuple[str, ...]) -> dict[str, Queue]:
    """An audit of everything: H1 gets each kind of item, H2 the answer groups, as H2 always does."""
    study = make_study("twin")
    for task in tasks:
        _judge(make_run(study, task, opinions.model, model_family="m"), opinions)
    _name(opinions)
    audit = services.create_audit(study, Plan(h2_tasks=len(tasks)), 1, "A", None)
    for name in ("first", "colleague", "second"):
        make_user(name, study)
    make_user("lead", study, Role.LEAD)
    return {found.role: found for found in audit.queues.select_related("audit__study")}


def _name(opinions: Opinions) -> None:
    """What the study keeps of models and sources, and no labeler may see."""
    EvaluatedModel.objects.update(settings={"note": opinions.words})
    Run.objects.update(
        source_name=opinions.words, metadata={"note": opinions.words}, output_tokens=len(opinions.words)
    )
    Task.objects.update(gold_answer=opinions.words)
    Rubric.objects.update(origin=opinions.words)
    Round.objects.filter(number=1).update(skip_reason="listing_only" if opinions is OTHER else "")


def _judge(run: Run, opinions: Opinions) -> None:
    """Group 1 is incorrect in either twin and linked to the second round, so that the same items are drawn."""
    for group in run.answer_groups.all():
        label = "I" if group.number == 1 else opinions.verdict
        said = {"reason": opinions.words, "judge": opinions.words, "judge_version": opinions.model}
        claims = [{"claim": opinions.words, "status": "refuted", "note": opinions.words, "quotation": None}]
        Verdict.objects.create(group=group, label=label, claims=claims, flags=["repaired"], **said)
        if opinions is OTHER:
            SecondVerdict.objects.create(group=group, label="U", **said)
    for found in run.rounds.all():
        _judge_round(found, "error" if found.number == 2 else opinions.round, opinions)
    ReferenceLabel.objects.create(run=run, step=1, error_type=opinions.error_type, reason=opinions.words)


def _judge_round(found: Round, verdict: str, opinions: Opinions) -> None:
    run = found.run
    RoundConsensus.objects.create(round=found, verdict=verdict)
    for role in "AB":
        judgement = Judgement.objects.create(
            round=found,
            judge_role=role,
            verdict=verdict,
            error_type=opinions.error_type if verdict == "error" else "",
            explanation=opinions.words,
            judge=opinions.words,
            judge_version="1",
        )
        if verdict == "error":
            # Only one twin's judges tie the other group to the round too; a link goes to an incorrect one alone.
            judgement.groups.set(
                run.answer_groups.all() if opinions is OTHER else run.answer_groups.filter(number=1)
            )
    if verdict == "error":
        node = FailureNode.objects.create(
            run=run, round=found, error_type=opinions.error_type, is_type_agreed=opinions is ONE
        )
        if found.number == 2:
            Link.objects.create(run=run, node=node, round=found, group=run.answer_groups.get(number=1))


def _label_next(queue: Queue, user: User, opinions: Opinions) -> None:
    slot = next_slot(queue, user)
    submit(slot, user, **opinions.of(slot.item.kind), comment=opinions.words)


def _label_all(queue: Queue, user: User, opinions: Opinions) -> None:
    while queue.slots.filter(status=SlotStatus.OPEN).exists():
        _label_next(queue, user, opinions)


def _compare_all(queue: Queue) -> None:
    adjudication.rebuild_queue(queue.audit, User.objects.get(username="lead"), with_automatic=True)


OWN_LABELS: Final = {
    ItemKind.GROUP: ({"label": "U"}, {"label": "C", "comment": "changed"}),
    ItemKind.ROUND: (
        {"label": "error", "error_type": "temporal_error"},
        {"label": "non_error", "comment": "changed"},
    ),
    ItemKind.LINK: ({"label": "cannot_tell"}, {"label": "corresponds", "comment": "changed"}),
}
"""What the labeler under test says of an item, and what they offer once it is decided."""


@dataclass(frozen=True)
class Kept:
    """A response without what belongs to its one request. `name` is its route's."""

    asked: str
    name: str
    status: int
    headers: dict[str, str]
    body: bytes


class Walk:
    """A labeler who asks for everything that they can reach, and keeps what came back."""

    def __init__(self, queue: Queue, user: User) -> None:
        self.client = Client()
        self.client.force_login(user)
        self.queue, self.user = queue, user
        self.kept: list[Kept] = []
        self.kinds: list[str] = []
        self._keys = 0

    def key(self) -> str:
        self._keys += 1
        return str(uuid.uuid5(uuid.NAMESPACE_OID, str(self._keys)))

    def keep(self, method: str, address: str, *given: Any, **options: Any) -> HttpResponse:
        response = getattr(self.client, method)(address, *given, **options)
        body = response.content
        for pattern in OF_ONE_REQUEST:
            body = re.sub(pattern, b"", body)
        headers = {name.lower(): value for name, value in response.headers.items()}
        timeless = {name: value for name, value in headers.items() if name not in CLOCK_HEADERS}
        name = resolve(address.partition("?")[0]).url_name or ""
        self.kept.append(Kept(f"{method} {address}", name, response.status_code, timeless, body))
        return response

    def every(self, address: str, **options: Any) -> None:
        """Also what an address says of itself, and to a browser that has a copy."""
        self.keep("get", address, **options)
        self.keep("head", address)
        self.keep("options", address)
        self.keep("get", address, headers={"if-modified-since": "Mon, 30 Nov 2026 00:00:00 GMT"})

    def to(self, name: str, *args: Any) -> str:
        return reverse(name, args=[self.queue.pk, *args])

    def run(self) -> Walk:
        label = self.to("label")
        self.every("/")
        self.every(reverse("audit", args=["twin"]))
        self.every(self.to("guidelines"))
        while True:
            self.every(label)
            slots = self.queue.slots.filter(status=SlotStatus.OPEN, lease__user=self.user)
            slot = slots.select_related("item").first()
            if slot is None:
                break
            self.kinds.append(slot.item.kind)
            self.one_item(slot.pk, label, *OWN_LABELS[ItemKind(slot.item.kind)])
        self.keep("post", self.to("label_undo"), {"request_key": self.key()})
        slot = self.queue.slots.get(status=SlotStatus.OPEN)
        skipped = {"slot": slot.pk, "request_key": self.key(), "base_version": slot.version, "reason": "unsure"}
        self.keep("post", self.to("label_skip"), skipped)
        self.every(reverse("audit", args=["twin"]))
        for query in ("?h1_label__value=C", "?ordering=auto_conf", "?search=canary", "?slot=1&slot=2"):
            for address in (label, self.to("guidelines"), reverse("audit", args=["twin"])):
                assert self.keep("get", address + query).status_code == 400
        self.everywhere()
        return self

    def everywhere(self) -> None:
        """Every other address of the program, and at the end those that need no account, as nobody."""
        for name, address in ADDRESSES.items():
            if name in LABELER_ROUTES | NOT_WALKED.keys() | {"logout"}:
                continue
            route, asked = ROUTES[name], reverse(name, kwargs=filled(address))
            if route.method == "get" and route.annotator in OPENED:
                self.every(asked)
            else:
                self.keep(route.method, asked)
        self.keep("post", reverse("logout"))
        for name, route in ROUTES.items():
            if route.method == "get" and route.anonymous == 200:
                self.keep("get", reverse(name, kwargs=filled(ADDRESSES[name])))

    def one_item(self, slot: int, label: str, said: dict[str, str], said_later: dict[str, str]) -> None:
        part = self.to("label_page", slot, 1)
        self.every(part, headers={"hx-request": "true"})
        self.every(self.to("revealed_verdict", slot))
        self.every(self.to("label_ahead"))
        self.every(self.to("label_recent"))
        self.every(self.to("label_recent"), headers={"hx-request": "true"})
        self.keep("post", self.to("label_heartbeat"), {"slot": slot})
        self.keep("post", self.to("label_flag"), {"slot": slot, "request_key": self.key(), "note": "look"})
        self.keep("post", self.to("label_flag"), {"slot": slot, "request_key": self.key(), "take_back": "1"})
        sent = {"slot": slot, "request_key": self.key(), "base_version": 0}
        self.keep("post", label, {**sent, "label": "nonsense"})
        self.keep("post", label, {**sent, **said})
        self.keep("post", label, {**sent, **said_later})
        self.keep("post", self.to("label_heartbeat"), {"slot": slot})
        self.keep("post", self.to("revealed_verdict", slot))
        self.every(f"{label}?slot={slot}")


def filled(address: str) -> dict[str, Any]:
    """A value for each part of an address that varies."""
    parts = re.findall(r"<(\w+):(\w+)>", address)
    return {name: IN_ADDRESSES["study" if name == "slug" else converter] for converter, name in parts}


MAKERS: Final = {"H1": (make_twin_for_h1, "first"), "H2": (make_twin, "second")}


@cache
def walks_as(role: str) -> tuple[Walk, Walk]:
    """The same walk in two databases, each rolled back, so that ids and names are the same too."""
    make, username = MAKERS[role]
    one, other = in_twins(make, lambda queues: Walk(queues[role], User.objects.get(username=username)).run())
    return one, other


def in_twins(
    make: Callable[[Opinions], dict[str, Queue]], ask: Callable[[dict[str, Queue]], _Found]
) -> list[_Found]:
    """What is found in either twin, made one after the other in a database that is then as before."""
    found = []
    for opinions in (ONE, OTHER):
        with transaction.atomic():
            sequences_restart()
            found.append(ask(make(opinions)))
            transaction.set_rollback(True)
    return found


@pytest.fixture(params=MAKERS)
def walks(request: pytest.FixtureRequest) -> tuple[Walk, Walk]:
    return walks_as(request.param)


def test_every_response_is_the_same_byte_by_byte_with_its_headers(walks: tuple[Walk, Walk]) -> None:
    one, other = walks
    assert len(one.kept) == len(other.kept) > 300
    for first, second in zip(one.kept, other.kept, strict=True):
        assert first == second, first.asked


def test_h1_meets_every_kind_of_item_and_h2_answer_groups() -> None:
    assert [set(walk.kinds) for walk in walks_as("H1")] == [{"group", "round", "link"}] * 2
    assert [set(walk.kinds) for walk in walks_as("H2")] == [{"group"}] * 2


def test_the_walk_takes_every_route_that_a_labeler_has(walks: tuple[Walk, Walk]) -> None:
    assert {kept.name for kept in walks[0].kept} >= LABELER_ROUTES
    assert {kept.status for kept in walks[0].kept} == {200, 204, 302, 400, 403, 404, 405, 409}


def test_every_route_that_an_annotator_may_open_is_walked(walks: tuple[Walk, Walk]) -> None:
    """A new route of any app: one whose address needs more than the study's name has to be asked for in `Walk`."""
    opened = {(name, route.annotator) for name, route in ROUTES.items() if route.annotator in OPENED}
    met = {(kept.name, kept.status) for kept in walks[0].kept}
    not_met = {name for name, _ in opened - met}
    assert not_met == NOT_WALKED.keys(), "walk it in both twins, or say in NOT_WALKED why not"
    assert all(NOT_WALKED.values())


def test_every_other_route_is_asked_for_too(walks: tuple[Walk, Walk]) -> None:
    assert {kept.name for kept in walks[0].kept} == ADDRESSES.keys() - NOT_WALKED.keys()


def test_nothing_may_be_kept_by_a_cache_and_nothing_tells_when_it_changed(walks: tuple[Walk, Walk]) -> None:
    """B04: what a person has been shown must not come back to somebody else, or to them in another role."""
    for kept in walks[0].kept:
        assert "no-store" in kept.headers["cache-control"], kept.asked
        assert not {"etag", "last-modified"} & kept.headers.keys(), kept.asked


@pytest.mark.parametrize("role", MAKERS)
@pytest.mark.parametrize("page", ["outcome", "process", "agreement_items"])
def test_opinions_differ_between_the_two(role: str, page: str) -> None:
    """So that the comparison means something: a lead's page differs."""

    def leads_page(queues: dict[str, Queue]) -> bytes:
        client = Client()
        client.force_login(User.objects.get(username="lead"))
        response = client.get(reverse(page, args=["twin"]))
        assert response.status_code == 200
        return re.sub(OF_ONE_REQUEST[0], b"", response.content)

    one, other = in_twins(MAKERS[role][0], leads_page)
    assert one != other


def test_who_left_the_role_or_the_study_gets_nothing_stale() -> None:
    """B04."""
    queues = make_twin(ONE)
    second = User.objects.get(username="second")
    client = Client()
    client.force_login(second)
    label = reverse("label", args=[queues["H2"].pk])
    assert client.get(label).status_code == 200
    second.memberships.update(role=Role.RESEARCHER)
    assert client.get(label).status_code == 403
    second.memberships.all().delete()
    assert client.get(label).status_code == 404
    client.logout()
    gone = client.get(label)
    assert (gone.status_code, "no-store" in gone["Cache-Control"]) == (302, True)


def sequences_restart() -> None:
    """Begin the ids of every table anew; a rollback takes that back."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'")
        for (name,) in cursor.fetchall():
            cursor.execute(f'ALTER SEQUENCE "{name}" RESTART WITH {FIRST_ID}')
