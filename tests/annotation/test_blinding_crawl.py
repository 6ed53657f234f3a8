"""A labeler follows every link and form, tries every method, and guesses addresses: no canary comes back (B01)."""

from __future__ import annotations

import itertools
import random
import re
import uuid
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation import flags
from annotation.leases import claim_next
from annotation.models import Audit, Item, LabelVersion, Queue, Seat, Slot
from lseval.models import AnswerGroup, Page, Round, Run, ToolCall, User
from tests.annotation.making import next_slot, submit
from tests.annotation.test_blinding import CANARIES
from tests.annotation.test_blinding import queue as queue  # the world with its canaries, as a fixture
from tests.factories import make_user

pytestmark = pytest.mark.django_db

METHODS = ("get", "head", "options", "post", "put", "patch", "delete", "trace")
MOST_GUESSES = 25
"""Addresses tried per route, where more ids could be put together."""
NOT_CRAWLED = {"logout"}
OF_THE_CODEBOOK = ("mapping_error", "Mapping error", "listing_only")
"""Words of the guidelines and of the list of types, which stand there for every item alike."""
REFERENCE = ("/api/", "/api/schema/")
"""What the API can be asked, its lists of words included: the same for everybody, whatever a study holds."""


class Crawler:
    """A browser of the labeler that keeps every answer and looks for canaries in it."""

    def __init__(self, user: User) -> None:
        self.client = Client(raise_request_exception=False)
        self.client.force_login(user)
        self.user = user
        self.seen: set[tuple[str, str]] = set()
        self.statuses: dict[str, set[int]] = {}
        self.bytes_read = 0
        self.rng = random.Random(1)

    def ask(self, method: str, address: str, data: dict[str, Any] | None = None, **headers: str) -> Any:
        response = getattr(self.client, method)(address, data or {}, headers=headers)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        told = body.decode("utf-8", "replace") + str(dict(response.headers))
        self.bytes_read += len(told)
        assert response.status_code < 500, (method, address)
        # What the page was asked with, it may say again.
        for word in (address, *map(str, (data or {}).values())):
            told = told.replace(word, "")
        for name, canary in CANARIES.items():
            if canary in OF_THE_CODEBOOK and urlsplit(address).path in REFERENCE:
                continue
            if canary in OF_THE_CODEBOOK:
                told_of_types = re.sub(r'<option value="mapping_error"[^>]*>', "", told)
                assert canary not in told_of_types, (name, method, address)
            else:
                assert canary not in told, (name, method, address)
        self.statuses.setdefault(method, set()).add(response.status_code)
        return response, body.decode("utf-8", "replace")

    def crawl(self, *starts: str) -> None:
        """Follow every link, part and form from here, each once, in every way in which it can be asked."""
        left = list(starts)
        while left:
            address = left.pop()
            if ("get", address) in self.seen or not address.startswith("/") or address.startswith("/static/"):
                continue
            self.seen.add(("get", address))
            _, text = self.ask("get", address)
            for method in ("head", "options"):
                self.ask(method, address)
            self.ask("get", address, **{"hx-request": "true"})
            self.ask("get", address, accept="application/json")
            left += self.links(address, text)
            # In another order each time, since the first decision on an item leaves the others stale.
            forms = list(self.forms(address, text))
            self.rng.shuffle(forms)
            left += [found for form in forms for found in self.send(*form)]

    def links(self, base: str, text: str) -> Iterator[str]:
        for found in re.findall(r'(?:href|src|hx-get)="([^"]*)"', text):
            target = urlsplit(urljoin(base, unescape(found)))
            if not target.netloc:
                yield target.path + (f"?{target.query}" if target.query else "")

    def forms(self, base: str, text: str) -> Iterator[tuple[str, str, dict[str, str]]]:
        for attributes, body in re.findall(r"<form([^>]*)>(.*?)</form>", text, re.DOTALL):
            given = dict(re.findall(r'(\w+)="([^"]*)"', attributes))
            fields = {
                name: unescape(value)
                for name, value in re.findall(r'<input[^>]*name="(\w+)"(?:[^>]*value="([^"]*)")?', body)
                if name != "csrfmiddlewaretoken"
            }
            buttons = re.findall(r'<button[^>]*name="(\w+)" value="([^"]*)"', body) or [("", "")]
            for name, value in buttons:
                sent = {**fields, **({name: unescape(value)} if name else {})}
                yield given.get("method", "get"), urljoin(base, unescape(given.get("action", base))), sent

    def send(self, method: str, address: str, fields: dict[str, str]) -> Iterator[str]:
        if address in {reverse(name) for name in NOT_CRAWLED} or (method, address + str(fields)) in self.seen:
            return
        self.seen.add((method, address + str(fields)))
        for extra in ({}, {"reason": "unsure", "note": "look", "comment": "mine", "error_type": "scope_error"}):
            response, _ = self.ask(method, address, {**fields, **extra})
            if response.status_code in (301, 302):
                yield response.url


def ids() -> list[int]:
    """The ids of everything that there is, in no order that tells them apart."""
    models = (Audit, Queue, Slot, Item, LabelVersion, Seat, Run, Round, AnswerGroup, Page, ToolCall, User)
    return sorted({pk for model in models for pk in model.objects.values_list("pk", flat=True)})


def guesses() -> Iterator[str]:
    """Addresses of every route with ids that exist, at most `MOST_GUESSES` a route, drawn by a seed."""
    rng = random.Random(1)
    known = ids()
    for pattern in _patterns(get_resolver().url_patterns):
        if pattern.name in NOT_CRAWLED:
            continue
        converters = pattern.pattern.converters
        values = [
            ["s1"] if "slug" in name else known if type(kind).__name__ == "IntConverter" else ["csv", "svg", "1"]
            for name, kind in converters.items()
        ]
        combinations = list(itertools.islice(itertools.product(*values), 20_000))
        for chosen in rng.sample(combinations, min(MOST_GUESSES, len(combinations))):
            try:
                yield reverse(pattern.name, args=chosen)
            except Exception:  # noqa: BLE001 - not every word fits every converter
                continue


def _patterns(patterns: list[Any]) -> Iterator[URLPattern]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _patterns(pattern.url_patterns)
        else:
            yield pattern


@pytest.fixture
def crawler(queue: Queue) -> Crawler:
    """A labeler of the queue with every kind of item, who has labeled two.

    A colleague in the same queue, the other role, a flag and the machine have all left canaries.
    """
    also_first = User.objects.get(username="also-first")
    held = next_slot(queue, also_first)
    flags.raise_flag(held.pk, also_first, CANARIES["comment"], request_key=uuid.uuid4())
    first = User.objects.get(username="first")
    for _ in range(2):
        slot = next_slot(queue, first)
        submit(slot, first, "C")
    return Crawler(first)


def test_following_everything_finds_no_canary(crawler: Crawler, queue: Queue) -> None:
    """After each crawl one more item is labeled, so that the crawl meets every kind of item."""
    label = reverse("label", args=[queue.pk])
    words = {"group": "C", "round": "non_error", "link": "corresponds"}
    crawler.crawl("/", reverse("audit", args=["s1"]))
    while (slot := claim_next(queue, crawler.user)) is not None:
        crawler.seen.discard(("get", label))
        crawler.crawl(label)
        slot = claim_next(queue, crawler.user)
        if slot is None:
            break
        submit(slot, crawler.user, words[slot.item.kind])
    reached = {address for _, address in crawler.seen}
    assert any(address.startswith(reverse("guidelines", args=[queue.pk])) for address in reached)
    assert crawler.bytes_read > 200_000
    done = queue.slots.filter(versions__user=crawler.user)
    assert set(done.values_list("item__kind", flat=True)) >= {"group", "round"}
    assert set(done.values_list("versions__action", flat=True)) == {"label", "skip", "undo"}
    assert {200, 302} <= crawler.statuses["get"] | crawler.statuses["post"]


def test_guessing_every_address_with_every_method_finds_no_canary(crawler: Crawler) -> None:
    tried = 0
    for address in guesses():
        for method in METHODS:
            crawler.ask(method, address)
            tried += 1
        crawler.client.force_login(crawler.user)
    assert tried > 1000


def test_guesses_change_nothing_of_others(crawler: Crawler, queue: Queue) -> None:
    def state() -> list[Any]:
        return [
            list(LabelVersion.objects.exclude(user=crawler.user).values_list("pk", "label", "comment")),
            list(Seat.objects.values_list("user_id", "queue_id")),
            list(Audit.objects.values_list("pk", "status", "codebook_version")),
            list(Slot.objects.exclude(queue=queue).values_list("pk", "status", "version")),
        ]

    before = state()
    for address in guesses():
        crawler.ask("post", address)
        crawler.client.force_login(crawler.user)
    assert state() == before


def test_the_crawler_would_find_one(queue: Queue) -> None:
    """The same crawl as a lead comes upon the canaries at once."""
    lead = make_user("lead", queue.audit.study, "lead")
    with pytest.raises(AssertionError, match="outcome"):
        Crawler(lead).crawl(reverse("outcome", args=["s1"]))
