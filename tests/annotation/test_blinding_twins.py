"""Databases that differ only in others' labels and the machine's give a labeler the same bytes (B02, B03)."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation import adjudication, services
from annotation.models import Queue, SlotStatus
from annotation.sampling import Plan
from lseval.models import Judgement, Role, RoundConsensus, Run, User, Verdict
from tests.annotation.making import next_slot, submit
from tests.annotation.test_blinding import LABELER_ROUTES
from tests.factories import make_run, make_study, make_user

pytestmark = pytest.mark.django_db

OF_ONE_REQUEST = [
    rb'name="csrfmiddlewaretoken" value="[^"]*"',
    rb"<time[^>]*>[^<]*</time>",
    rb'"expires_at": "[^"]*"',
]
"""What differs between any two requests: the token against forged ones, and the clock."""


@dataclass(frozen=True)
class Opinions:
    """What everybody but the labeler under test says of every item."""

    label: str
    verdict: str
    words: str


ONE = Opinions("C", "C", "all is well")
OTHER = Opinions("I", "U", "a much longer explanation of all that went wrong in this answer, with a canary")


def make_twin(opinions: Opinions) -> dict[str, Queue]:
    """A study in which H1 has labeled all of their queue, and a colleague in H2 has begun on theirs."""
    study = make_study("twin")
    for task in ("t1", "t2", "t3"):
        run = make_run(study, task, "m1")
        _judge(run, opinions)
    # Everything to both roles, so that H2 meets each kind of page.
    plan = Plan(h2_tasks=3, link_trajectories=0, round_trajectories=0)
    audit = services.create_audit(study, plan, 1, "A", None)
    queues = {found.role: found for found in audit.queues.select_related("audit__study")}
    first, colleague, second = (make_user(name, study) for name in ("first", "colleague", "second"))
    lead = make_user("lead", study, Role.LEAD)
    services.seat(queues["H1"], first)
    services.seat(queues["H2"], colleague)
    services.seat(queues["H2"], second)
    while queues["H1"].slots.filter(status=SlotStatus.OPEN).exists():
        submit(next_slot(queues["H1"], first), first, opinions.label, comment=opinions.words)
    for _ in range(2):
        slot = next_slot(queues["H2"], colleague)
        submit(slot, colleague, opinions.label, comment=opinions.words)
    adjudication.rebuild_queue(audit, lead, with_automatic=True)
    return queues


def _judge(run: Run, opinions: Opinions) -> None:
    for group in run.answer_groups.all():
        Verdict.objects.create(
            group=group, label=opinions.verdict, reason=opinions.words, judge=opinions.words, judge_version="1"
        )
    for found in run.rounds.all():
        verdict = "error" if opinions is OTHER else "non_error"
        RoundConsensus.objects.create(round=found, verdict=verdict)
        for role in "AB":
            Judgement.objects.create(
                round=found,
                judge_role=role,
                verdict=verdict,
                explanation=opinions.words,
                judge="j",
                judge_version="1",
            )


class Walk:
    """A labeler who asks for everything that they can reach, and keeps what came back."""

    def __init__(self, queue: Queue, user: User) -> None:
        self.client = Client()
        self.client.force_login(user)
        self.queue, self.user = queue, user
        self.kept: list[tuple[str, int, dict[str, str], bytes]] = []
        self.names: set[str] = set()
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
        self.kept.append((f"{method} {address}", response.status_code, headers, body))
        if response.resolver_match:
            self.names.add(response.resolver_match.url_name)
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
            slot = self.queue.slots.filter(status=SlotStatus.OPEN, lease__user=self.user).first()
            if slot is None:
                break
            self.one_item(slot.pk, label)
        self.keep("post", self.to("label_undo"), {"request_key": self.key()})
        slot = self.queue.slots.get(status=SlotStatus.OPEN)
        skipped = {"slot": slot.pk, "request_key": self.key(), "base_version": slot.version, "reason": "unsure"}
        self.keep("post", self.to("label_skip"), skipped)
        self.every(reverse("audit", args=["twin"]))
        for query in ("?h1_label__value=C", "?ordering=auto_conf", "?search=canary", "?slot=1&slot=2"):
            for address in (label, self.to("guidelines"), reverse("audit", args=["twin"])):
                assert self.keep("get", address + query).status_code == 400
        return self

    def one_item(self, slot: int, label: str) -> None:
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
        self.keep("post", label, {**sent, "label": "U"})
        self.keep("post", label, {**sent, "label": "C", "comment": "changed"})
        self.keep("post", self.to("label_heartbeat"), {"slot": slot})
        self.keep("post", self.to("revealed_verdict", slot))
        self.every(f"{label}?slot={slot}")


def walks_of(make: Callable[[Opinions], Walk]) -> list[Walk]:
    """The same walk in two databases, each rolled back, so that ids and names are the same too."""
    walks = []
    for opinions in (ONE, OTHER):
        with transaction.atomic():
            sequences_restart()
            walks.append(make(opinions))
            transaction.set_rollback(True)
    return walks


def walk_of_h2(opinions: Opinions) -> Walk:
    queues = make_twin(opinions)
    return Walk(queues["H2"], User.objects.get(username="second")).run()


@pytest.fixture
def walks() -> list[Walk]:
    return walks_of(walk_of_h2)


def test_every_response_is_the_same_byte_by_byte_with_its_headers(walks: list[Walk]) -> None:
    one, other = walks
    assert len(one.kept) == len(other.kept) > 80
    for first, second in zip(one.kept, other.kept, strict=True):
        assert first == second, first[0]


def test_the_walk_takes_every_route_that_a_labeler_has(walks: list[Walk]) -> None:
    assert walks[0].names >= LABELER_ROUTES
    assert {status for _, status, _, _ in walks[0].kept} == {200, 204, 302, 400, 404, 405, 409}


def test_nothing_may_be_kept_by_a_cache_and_nothing_tells_when_it_changed(walks: list[Walk]) -> None:
    """B04: what a person has been shown must not come back to somebody else, or to them in another role."""
    for address, _, headers, _ in walks[0].kept:
        assert "no-store" in headers["cache-control"], address
        assert not {"etag", "last-modified"} & headers.keys(), address


def test_opinions_differ_between_the_two(walks: list[Walk]) -> None:
    """So that the comparison means something: with the same walk, a lead's page differs."""

    def leads_page(opinions: Opinions) -> bytes:
        make_twin(opinions)
        client = Client()
        client.force_login(User.objects.get(username="lead"))
        return client.get(reverse("outcome", args=["twin"])).content

    pages = []
    for opinions in (ONE, OTHER):
        with transaction.atomic():
            sequences_restart()
            pages.append(re.sub(OF_ONE_REQUEST[0], b"", leads_page(opinions)))
            transaction.set_rollback(True)
    assert pages[0] != pages[1]


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
            cursor.execute(f'ALTER SEQUENCE "{name}" RESTART WITH 1000000')
