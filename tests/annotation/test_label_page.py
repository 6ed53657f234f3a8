"""The labeling page through its addresses."""

from __future__ import annotations

import re
import uuid
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from lxml.html import fromstring, tostring

from annotation import leases, services
from annotation.administration import pause_audit
from annotation.models import AuditStatus, Flag, ItemKind, LabelVersion, Lease, Slot, SlotStatus
from annotation.sampling import Plan
from lseval.models import AnswerGroup, Page, Study, Task
from tests.annotation.making import Made, add_link, expire, give, make_audit, submit
from tests.factories import PAGE_TEXT, make_run, make_study, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Made:
    return make_audit()


@pytest.fixture
def page(client: Client, made: Made) -> Labeling:
    client.force_login(made.first)
    return Labeling(client, made)


class Labeling:
    """A person at the labeling page of H1."""

    def __init__(self, client: Client, made: Made) -> None:
        self.client = client
        self.queue_id = made.h1.pk
        self.url = reverse("label", args=[made.h1.pk])

    def open(self, query: str = "") -> HttpResponse:
        return self.client.get(self.url + query)

    def fields(self, response: HttpResponse, form: str = "decision-bar") -> dict[str, str]:
        """The hidden fields of one form of a page."""
        text = response.content.decode()
        found = re.search(rf'<form (?:class|id)="{form}".*?</form>', text, re.DOTALL)
        assert found is not None
        names = re.findall(r'<input type="hidden" name="(\w+)"(?: value="([^"]*)")?', found.group())
        return {name: unescape(value) for name, value in names if name != "csrfmiddlewaretoken"}

    def decide(self, response: HttpResponse, label: str, **changes: Any) -> HttpResponse:
        return self.client.post(self.url, {**self.fields(response), "label": label, **changes})

    def to(self, name: str, data: dict[str, Any]) -> HttpResponse:
        return self.client.post(reverse(name, args=[self.queue_id]), data)


def test_page_shows_what_there_is_to_judge_by(page: Labeling) -> None:
    text = page.open().content.decode()
    slot = Lease.objects.get().slot
    assert slot.item.run.task.question in text
    assert "opened before 1975" in text
    assert "one ferry is one group" in text
    assert "opening year" in text
    assert slot.item.group.title in unescape(text)
    assert "https://ferries.example/" in text


def test_open_snapshot_is_the_one_that_was_read_with_its_facts(page: Labeling, made: Made) -> None:
    slot = made.h1.slots.filter(item__group__title__contains="Aldis").first()
    give(slot, made.first)
    text = page.open().content.decode()
    snapshot = Page.objects.get(pk=slot.item.snapshots[0]["page"])
    assert snapshot.text_digest[:12] in text
    assert "recorded in the trajectory" in text
    assert re.search(r"<mark id=\"passage-1\">Lake Aldis ferry opened in 1962\.</mark>", text)
    shown = re.search(r'id="snapshot".*?<pre>(.*?)</pre>', text, re.DOTALL)
    assert unescape(re.sub(r"<[^>]+>", "", shown.group(1))) == PAGE_TEXT


def test_unread_page_says_how_the_reading_ended(page: Labeling, made: Made) -> None:
    give(made.h1.slots.filter(item__group__title__contains="Borun").first(), made.first)
    text = page.open().content.decode()
    assert "not found" in text
    assert "no text came back" in text


def test_label_leads_to_the_next_item(page: Labeling) -> None:
    first = page.open()
    reply = page.decide(first, "I", comment="says 1971", seconds_on_task="3.5")
    assert (reply.status_code, reply.url) == (302, page.url)
    version = LabelVersion.objects.get()
    assert (version.label, version.comment, version.seconds_on_task) == ("I", "says 1971", 3.5)
    assert page.fields(page.open())["slot"] != page.fields(first)["slot"]


def test_double_click_stores_one_label(page: Labeling) -> None:
    first = page.open()
    assert page.decide(first, "C").status_code == page.decide(first, "C").status_code == 302
    assert LabelVersion.objects.count() == 1


def test_same_label_from_two_windows_is_one_label(page: Labeling) -> None:
    first, second = page.open(), page.open()
    assert page.decide(first, "C").status_code == page.decide(second, "C").status_code == 302
    assert LabelVersion.objects.count() == 1


def test_stale_window_is_shown_both_labels(page: Labeling) -> None:
    """C03 on the page."""
    first = page.open()
    page.decide(first, "C", comment="from the first window")
    reply = page.decide(first, "U", comment="from the second window")
    text = reply.content.decode()
    assert reply.status_code == 409
    assert "from the first window" in text
    assert "from the second window" in text
    assert LabelVersion.objects.get().label == "C"
    # The page that was shown can be sent again and counts now.
    assert page.decide(reply, "U").status_code == 302
    assert LabelVersion.objects.last().label == "U"


def test_wrong_label_is_refused_on_the_page_and_the_comment_stays(page: Labeling) -> None:
    reply = page.decide(page.open(), "maybe", comment="half a thought")
    assert reply.status_code == 400
    assert "half a thought" in reply.content.decode()
    assert not LabelVersion.objects.exists()


@pytest.mark.parametrize("missing", ["slot", "request_key", "base_version"])
def test_request_without_its_fields_is_refused(page: Labeling, missing: str) -> None:
    fields = page.fields(page.open())
    del fields[missing]
    assert page.client.post(page.url, {**fields, "label": "C"}).status_code == 400
    assert not LabelVersion.objects.exists()


def test_changed_snapshot_is_shown_before_the_label_counts(page: Labeling) -> None:
    first = page.open()
    Page.objects.update(text_digest="f" * 64)
    reply = page.decide(first, "C", comment="seen before")
    assert reply.status_code == 409
    assert "seen before" in reply.content.decode()
    assert page.decide(reply, "C").status_code == 302


def test_late_label_is_told(page: Labeling, made: Made) -> None:
    other = make_user("third", made.study)
    services.seat(made.h1, other)
    first = page.open()
    slot = Lease.objects.get().slot
    expire(slot)
    submit(give(slot, other), other, "I")
    reply = page.client.post(page.url, {**page.fields(first), "label": "C"}, follow=True)
    assert "late version" in reply.content.decode()
    assert slot.versions.filter(is_late=True).get().label == "C"


def test_request_forged_for_an_item_of_a_colleague_is_refused_and_tells_nothing(client: Client, made: Made) -> None:
    """One of the same role names a slot that they were never given, with any key and any label."""
    held = leases.claim_next(made.h1, made.first)
    forger = make_user("third", made.study)
    services.seat(made.h1, forger)
    client.force_login(forger)
    address = reverse("label", args=[made.h1.pk])
    sent = {"slot": held.pk, "request_key": "00000000-0000-0000-0000-000000000001", "base_version": 0}
    for label, status in (("C", 409), ("nonsense", 400)):
        reply = client.post(address, {**sent, "label": label})
        assert reply.status_code == status
        assert held.item.group.title not in reply.content.decode()
    reply = client.post(reverse("label_skip", args=[made.h1.pk]), {**sent, "reason": ""})
    assert reply.status_code == 400
    assert held.item.group.title not in reply.content.decode()
    assert not LabelVersion.objects.exists()


def test_skip_with_reason_goes_on(page: Labeling) -> None:
    first = page.open()
    fields = page.fields(first, "skip-form")
    assert page.to("label_skip", {**fields, "reason": " "}).status_code == 400
    assert page.to("label_skip", {**fields, "reason": "not my language"}).status_code == 302
    assert Slot.objects.get(pk=fields["slot"]).status == SlotStatus.SKIPPED


def test_undo_shows_the_item_again(page: Labeling) -> None:
    first = page.open()
    page.decide(first, "C")
    second = page.open()
    reply = page.to("label_undo", page.fields(second, "undo-form"))
    assert reply.status_code == 302
    assert page.fields(page.open())["slot"] == page.fields(first)["slot"]


def test_earlier_decision_can_be_opened_and_changed(page: Labeling) -> None:
    first = page.open()
    slot = page.fields(first)["slot"]
    page.decide(first, "C", comment="at first sight")
    earlier = page.open(f"?slot={slot}")
    text = earlier.content.decode()
    assert "at first sight" in text
    assert re.search(r'value="C"[^>]*aria-pressed="true"', text)
    assert page.decide(earlier, "I").status_code == 302
    assert list(LabelVersion.objects.values_list("label", flat=True)) == ["C", "I"]


def test_only_a_decision_that_stands_is_told_to_be_changed(page: Labeling) -> None:
    first = page.open()
    page.decide(first, "C")
    page.to("label_undo", page.fields(page.open(), "undo-form"))
    page.decide(page.open(), "I")
    assert "Changed." not in page.open().content.decode()
    page.decide(page.open(f"?slot={page.fields(first)['slot']}"), "U")
    assert "Changed." in page.open().content.decode()


def test_heartbeat_says_whether_the_item_is_held(page: Labeling) -> None:
    slot = page.fields(page.open())["slot"]
    reply = page.to("label_heartbeat", {"slot": slot})
    assert (reply.status_code, reply.json()["held"]) == (200, True)
    page.decide(page.open(), "C")
    reply = page.to("label_heartbeat", {"slot": slot})
    assert (reply.status_code, reply.json()["held"]) == (409, False)


def test_next_item_comes_ahead_without_being_given_and_without_keys(page: Labeling, made: Made) -> None:
    for snapshot in Page.objects.all():
        Page.objects.filter(pk=snapshot.pk).update(text=f"The ferry of page {snapshot.pk} opened in 1962.")
    shown = page.fields(page.open())["slot"]
    before = list(Lease.objects.values()), list(made.first.seats.values())
    ahead = page.client.get(reverse("label_ahead", args=[page.queue_id]))
    assert (list(Lease.objects.values()), list(made.first.seats.values())) == before
    text = ahead.content.decode()
    assert ahead.status_code == 200
    assert "<form" not in text
    assert "request_key" not in text
    likely = leases.peek_next(made.first.seats.select_related("audit").get())
    page.decide(page.open(), "C")
    given = page.open()
    assert page.fields(given)["slot"] == str(likely) != shown
    for part in ("p[@class='question']", "article[@class='group']", "div[@id='snapshot']"):
        there, here = (fromstring(each).find(f".//{part}") for each in (text, given.content.decode()))
        assert tostring(there, with_tail=False) == tostring(here, with_tail=False)


def test_nothing_comes_ahead_while_the_audit_is_paused(page: Labeling, made: Made) -> None:
    page.open()
    pause_audit(made.audit, made.lead)
    assert page.client.get(reverse("label_ahead", args=[page.queue_id])).status_code == 204


def test_item_that_is_held_can_be_finished_in_a_pause(page: Labeling, made: Made) -> None:
    slot = page.fields(page.open())["slot"]
    pause_audit(made.audit, made.lead)
    again = page.open()
    assert page.fields(again)["slot"] == slot
    page.decide(again, "C")
    assert "The audit is paused" in page.open().content.decode()
    # An undo gives the item back, and it can be decided again.
    undone = page.client.post(reverse("label_undo", args=[page.queue_id]), {"request_key": uuid.uuid4()})
    assert undone.status_code == 302
    assert page.fields(page.open())["slot"] == slot


@pytest.mark.parametrize("name", ["label", "label_skip", "label_undo", "label_flag"])
def test_nothing_is_done_in_the_name_of_who_logged_in_since(page: Labeling, made: Made, name: str) -> None:
    other = make_user("third", made.study)
    services.seat(made.h1, other)
    page.decide(page.open(), "C")
    sent = {**page.fields(page.open()), "label": "I", "reason": "unclear"}
    assert sent["person"] == str(made.first.pk)
    for person in (other, make_user("outsider")):
        page.client.force_login(person)
        reply = page.client.post(reverse(name, args=[page.queue_id]), sent, headers={"accept": "application/json"})
        # The browser keeps what it is refused with 403 and sends it when its person is back.
        assert reply.status_code == 403
    assert LabelVersion.objects.get().user == made.first
    assert not Flag.objects.exists()


def test_head_names_the_kind_of_the_item_where_others_hold_the_last_groups(client: Client) -> None:
    made = make_audit(Plan(link_trajectories=0), tasks=1)
    other = make_user("third", made.study)
    services.seat(made.h1, other)
    groups = made.h1.slots.filter(stage=0)
    held = groups.first()
    groups.exclude(pk=held.pk).update(status=SlotStatus.SKIPPED)
    give(held, other)
    client.force_login(made.first)
    page = fromstring(client.get(reverse("label", args=[made.h1.pk])).content)
    (head,) = page.find_class("item-head")
    words = " ".join(head.text_content().split())
    assert words.startswith("H1 Rounds Answer groups: 3 of 4 done")


def test_nothing_comes_ahead_where_nothing_is_left(page: Labeling, made: Made) -> None:
    made.h1.slots.update(status=SlotStatus.SKIPPED)
    assert page.client.get(reverse("label_ahead", args=[page.queue_id])).status_code == 204


def test_cited_page_comes_as_a_part_with_htmx_and_as_a_page_without(page: Labeling) -> None:
    slot = page.fields(page.open())["slot"]
    url = reverse("label_page", args=[page.queue_id, slot, 1])
    part = page.client.get(url, headers={"hx-request": "true"})
    assert part.status_code == 200
    assert b"<html" not in part.content
    assert b'id="snapshot"' in part.content
    whole = page.client.get(url, follow=True)
    assert b"<html" in whole.content
    assert urlsplit(whole.redirect_chain[0][0]).path == page.url
    assert (
        page.client.get(
            reverse("label_page", args=[page.queue_id, slot, 9]), headers={"hx-request": "true"}
        ).status_code
        == 404
    )


@pytest.mark.parametrize("written", ["{}", " {} ", "+{}"])
def test_a_label_is_stored_however_its_slot_is_written(page: Labeling, written: str) -> None:
    shown = page.open()
    slot = page.fields(shown)["slot"]
    assert page.decide(shown, "C", slot=written.format(slot)).status_code == 302
    assert Slot.objects.get(pk=slot).status == SlotStatus.LABELED


def test_own_pace_is_told_once_there_is_one(page: Labeling, made: Made) -> None:
    assert " each</span>" not in page.open().content.decode()
    for seconds, told in ((10, "10 s"), (40, "25 s"), (700, "4 min")):
        page.decide(page.open(), "C", seconds_on_task=str(seconds))
        assert f">{told} each</span>" in page.open().content.decode()
    other = give(made.h2.slots.first(), made.second)
    submit(other, made.second, "C")
    assert ">4 min each</span>" in page.open().content.decode()


def test_last_decisions_come_as_a_part_with_htmx_and_as_a_page_without(page: Labeling) -> None:
    url = reverse("label_recent", args=[page.queue_id])
    assert b"decided nothing here yet" in page.client.get(url).content
    slot = page.fields(page.open())["slot"]
    page.decide(page.open(), "C")
    part = page.client.get(url, {"slot": slot}, headers={"hx-request": "true"}).content.decode()
    assert "<html" not in part
    assert f'href="{page.url}?slot={slot}"' in part
    assert part.count("<li") == part.count("aria-current") == 1
    whole = page.client.get(url).content.decode()
    assert "<html" in whole
    assert f'href="{page.url}?slot={slot}"' in whole
    assert f'hx-get="{url}"' in page.open().content.decode()
    assert f'hx-get="{url}?slot={slot}"' in page.open(f"?slot={slot}").content.decode()


def test_group_without_a_citation_says_so(page: Labeling, made: Made) -> None:
    slot = give(made.h1.slots.first(), made.first)
    slot.item.snapshots = []
    slot.item.save()
    assert "cites no page" in page.open().content.decode()


class TestEmptyStates:
    """What a labeler reads when there is nothing for them is true."""

    def test_all_done(self, page: Labeling, made: Made) -> None:
        while made.h1.slots.filter(status=SlotStatus.OPEN).exists():
            page.decide(page.open(), "C")
        assert "All done" in page.open().content.decode()

    def test_others_are_at_work_and_when_their_time_is_up(self, page: Labeling, made: Made) -> None:
        other = make_user("third", made.study)
        services.seat(made.h1, other)
        held = give(made.h1.slots.first(), other)
        made.h1.slots.exclude(pk=held.pk).update(status=SlotStatus.LABELED)
        text = page.open().content.decode()
        assert "1 item is in work" in text
        assert f"{Lease.objects.get().expires_at:%H:%M} UTC" in text

    @pytest.mark.parametrize("status", [AuditStatus.PAUSED, AuditStatus.CLOSED])
    def test_audit_is_not_served(self, page: Labeling, made: Made, status: str) -> None:
        made.audit.status = status
        made.audit.save()
        assert f"The audit is {status}" in page.open().content.decode()

    def test_nothing_was_drawn(self, page: Labeling, made: Made) -> None:
        made.h1.slots.all().delete()
        assert "Nothing was drawn for you" in page.open().content.decode()

    def test_no_queue_yet(self, client: Client, made: Made) -> None:
        client.force_login(make_user("new", made.study))
        assert "Nothing to label yet" in client.get(reverse("audit", args=["s1"])).content.decode()


class TestRoundsAndLinks:
    """The page of the other two kinds."""

    @pytest.fixture
    def study(self) -> Study:
        study = make_study()
        add_link(make_run(study))
        return study

    @pytest.fixture
    def page(self, client: Client, study: Study) -> Labeling:
        audit = services.create_audit(study, Plan(), 1, "A", None)
        user = make_user("first", study)
        queue = audit.queues.get(role="H1")
        services.seat(queue, user)
        client.force_login(user)
        self.queue = queue
        return Labeling(client, Made(study, audit, queue, queue, user, user, user))

    def go_to(self, page: Labeling, kind: str) -> HttpResponse:
        labels = {ItemKind.GROUP: "C", ItemKind.ROUND: "non_error"}
        while (reply := page.open()).status_code == 200:
            found = Slot.objects.select_related("item").get(pk=page.fields(reply)["slot"]).item.kind
            if found == kind:
                return reply
            page.decide(reply, labels[found])
        raise AssertionError(kind)

    def test_round_shows_words_call_and_observation(self, page: Labeling) -> None:
        text = unescape(self.go_to(page, ItemKind.ROUND).content.decode())
        assert "I will search for the ferries." in text
        assert "web_search" in text
        assert "1. Ferries https://ferries.example/aldis" in text

    def test_round_with_an_error_needs_its_type(self, page: Labeling) -> None:
        first = self.go_to(page, ItemKind.ROUND)
        refused = page.decide(first, "error")
        assert refused.status_code == 400
        assert "ten error types" in refused.content.decode()
        assert page.decide(refused, "error", error_type="temporal_error").status_code == 302
        assert LabelVersion.objects.last().error_type == "temporal_error"

    def test_type_is_dropped_where_there_is_no_error(self, page: Labeling) -> None:
        page.decide(self.go_to(page, ItemKind.ROUND), "non_error", error_type="temporal_error")
        assert LabelVersion.objects.last().error_type == ""

    def test_link_marks_the_words_that_round_and_group_share(self, page: Labeling) -> None:
        """Round 2 reads the Aldis page; the group says "Lake Aldis ferry: opened in 1962"."""
        text = self.go_to(page, ItemKind.LINK).content.decode()
        marks = {unescape(mark) for mark in re.findall(r"<mark>(.*?)</mark>", text)}
        assert {"Lake Aldis ferry opened", "1962"} <= marks
        assert not any("840" in mark for mark in marks)


def test_hostile_text_is_escaped_everywhere(client: Client) -> None:
    script = "<script>alert(1)</script>"
    study = make_study()
    Study.objects.filter(pk=study.pk).update(name=script)
    run = make_run(
        study,
        answer=f"1. Evil {script} <img src=x onerror=alert(2)> [x](javascript:alert(3)) [1]\n2. B [1]\n\n[1] https://ferries.example/aldis\n",
    )
    Task.objects.update(question=script)
    AnswerGroup.objects.update(title=script, fields={script: script})
    Page.objects.update(title=script, text=f"Evil {script} B", url=f"https://x.example/{script}")
    run.rubric.constraints = [script]
    run.rubric.save()
    study.refresh_from_db()
    audit = services.create_audit(study, Plan(round_trajectories=0, link_trajectories=0), 1, script, None)
    user = make_user("first", study)
    services.seat(audit.queues.get(role="H1"), user)
    client.force_login(user)
    url = reverse("label", args=[audit.queues.get(role="H1").pk])
    labeling = Labeling(client, Made(study, audit, audit.queues.get(role="H1"), None, user, user, user))
    first = client.get(url)
    refused = labeling.decide(first, script, comment=script)
    labeling.decide(first, "C", comment=script)
    earlier = client.get(f"{url}?slot={labeling.fields(first)['slot']}")
    lists = client.get(reverse("audit", args=["s1"]))
    for response in (first, refused, earlier, lists):
        text = response.content.decode()
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "javascript:" not in re.sub(r"&lt;.*?&gt;", "", text) or 'href="javascript:' not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_address_with_other_ids_finds_nothing(page: Labeling, made: Made) -> None:
    foreign = make_audit(slug="s2")
    slot = foreign.h1.slots.first()
    own = made.h1.slots.last()
    for query in (f"?slot={slot.pk}", f"?slot={own.pk}", "?slot=x", "?slot=", f"?slot={10**30}", "?slot=-1"):
        assert page.open(query).status_code == 404, query
    fields = page.fields(page.open())
    assert page.client.post(page.url, {**fields, "slot": slot.pk, "label": "C"}).status_code == 404
    assert page.to("label_heartbeat", {"slot": slot.pk}).status_code == 404
    assert page.client.get(reverse("label", args=[foreign.h1.pk])).status_code == 404
    assert page.client.get(f"/queues/{10**30}/label/").status_code == 404
    assert not LabelVersion.objects.exists()


@pytest.mark.timeout(60)
def test_a_hundred_thousand_brackets_are_shown(client: Client) -> None:
    """X05, in every text that the page shows."""
    brackets = "[" * 50_000 + "(" * 25_000 + "<" * 25_000
    study = make_study()
    run = make_run(study)
    Task.objects.update(question=brackets)
    AnswerGroup.objects.update(title=brackets[:300], text=brackets, fields={"year": brackets})
    Page.objects.update(text=brackets)
    run.rubric.constraints = [brackets]
    run.rubric.save()
    audit = services.create_audit(study, Plan(round_trajectories=0, link_trajectories=0), 1, "A", None)
    queue, user = audit.queues.get(role="H1"), make_user("first", study)
    services.seat(queue, user)
    client.force_login(user)
    page = client.get(reverse("label", args=[queue.pk]))
    assert page.status_code == 200
