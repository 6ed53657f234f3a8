"""A cited PDF on the labeling page: fetched from a server, read by the extractor, shown to who labels."""

from __future__ import annotations

from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from annotation import leases, services
from annotation.models import Queue
from lseval.domain.labels import PageOutcome
from lseval.domain.page_words import OUTCOME_WORDS
from lseval.models import Page, PageSource, User
from lseval.pipeline.cited_pages import cited_without_snapshot
from lseval.pipeline.snapshots import fetch_for
from tests.annotation.making import GROUPS_ONLY
from tests.factories import make_run, make_study, make_user
from tests.providers.bad_web import BadWeb, content, fetcher
from tests.providers.test_extract import pdf

pytestmark = pytest.mark.django_db

SAID = "The Lake Aldis ferry opened in 1962 and carried 210,000 passengers in 2023."
ANSWER = """1. Lake Aldis ferry: opened in 1962 [1]
2. Lake Borun ferry: opened in 1971 [2]

Sources
[1] {origin}/report.pdf
[2] {origin}/scan.pdf
"""


@pytest.fixture
def labeling() -> tuple[Queue, User]:
    """An audit of a response that cites a PDF with words and one that is a picture; both are fetched."""
    study = make_study()
    files = {"/report.pdf": pdf(SAID, "Second line: 840 metres."), "/scan.pdf": pdf(content=b"0 0 612 792 re f")}
    with BadWeb({path: content(body, "application/pdf") for path, body in files.items()}) as web:
        make_run(study, answer=ANSWER.format(origin=web.origin), pages=())
        fetch = fetch_for(study, fetcher(web))
        for url in cited_without_snapshot(study):
            fetch(url)
    audit = services.create_audit(study, GROUPS_ONLY, 1, "A", None)
    queue = audit.queues.get(role="H1")
    person = make_user("first", study)
    services.seat(queue, person)
    return queue, person


def shown(client: Client, labeling: tuple[Queue, User], group: int) -> tuple[str, Page]:
    """The labeling page of a group, and the snapshot that it cites."""
    queue, person = labeling
    slot = queue.slots.get(item__group__number=group)
    leases.hold(slot.pk, person)
    client.force_login(person)
    text = unescape(client.get(reverse("label", args=[queue.pk])).content.decode())
    return text, Page.objects.get(pk=slot.item.snapshots[0]["page"])


def test_words_of_a_pdf_are_shown_as_what_was_read(client: Client, labeling: tuple[Queue, User]) -> None:
    text, page = shown(client, labeling, 1)
    assert (page.outcome, page.source, page.sniffed_type) == ("ok", PageSource.FETCHED, "application/pdf")
    in_snapshot = text.split('id="snapshot"')[1]
    assert "carried 210,000 passengers in 2023." in in_snapshot
    assert "Second line: 840 metres." in in_snapshot
    assert page.text_digest[:12] in text
    assert "report.pdf" in text


def test_pdf_without_words_says_how_the_reading_ended(client: Client, labeling: tuple[Queue, User]) -> None:
    text, page = shown(client, labeling, 2)
    assert page.outcome == PageOutcome.PDF_FAILED
    assert f"no text came back: {OUTCOME_WORDS[PageOutcome.PDF_FAILED]}." in text
