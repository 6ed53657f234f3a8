"""The lead's page: what it tells of queues and people, live, and what its buttons do."""

from __future__ import annotations

import re
import uuid
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from annotation import adjudication, administration, flags, labels, services
from annotation.models import Audit, LabelVersion, Lease, Queue, Seat, Slot
from lseval.models import Role, User
from tests.annotation.making import Made, give, make_audit, next_slot, submit
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db

HTMX = {"hx-request": "true"}


@pytest.fixture
def made() -> Made:
    return make_audit()


@pytest.fixture
def lead(client: Client, made: Made) -> Client:
    client.force_login(made.lead)
    return client


def page(client: Client) -> str:
    return unescape(client.get(reverse("audit", args=["s1"])).content.decode())


def live(client: Client, made: Made) -> str:
    reply = client.get(reverse("audit_progress", args=["s1", made.audit.pk]), headers=HTMX)
    assert reply.status_code == 200
    return unescape(reply.content.decode())


def label_all(queue: Queue, user: User, label: str, seconds: float) -> None:
    while queue.slots.filter(status="open").exists():
        submit(next_slot(queue, user), user, label, seconds_on_task=seconds)


def marks(text: str) -> list[str]:
    """What people's times are marked as, in the order of the page."""
    return re.findall(r">(fast|slow)<", text)


def stats(text: str) -> dict[str, str]:
    """The page's numbers of what is drawn."""
    found = dict(re.findall(r'<dt>([^<]+)</dt><dd><span class="stat-value num">([^<]+)</span>', text))
    return {name: found[name] for name in ("Answer groups", "Tasks", "Responses")}


class TestNumbers:
    def test_agreement_so_far_with_its_interval(self, lead: Client, made: Made) -> None:
        assert "no answer group has both labels" in page(lead)
        label_all(made.h1, made.first, "C", 30)
        label_all(made.h2, made.second, "C", 30)
        n = made.h2.slots.count()
        assert f"{n} of {n} answer groups" in page(lead)
        assert "100.0%" in page(lead)

    def test_simulated_and_late_labels_are_no_agreement(self, lead: Client, made: Made) -> None:
        from annotation.simulation import simulate_labels

        for role in ("H1", "H2"):
            simulate_labels(made.audit, role, lambda item: "C", 1)
        assert "no answer group has both labels" in page(lead)

    def test_pace_and_time_left_come_from_active_time(self, lead: Client, made: Made) -> None:
        """Two items in 60 s: 120 an hour; the 10 that are left take 300 s."""
        for _ in range(2):
            submit(next_slot(made.h1, made.first), made.first, seconds_on_task=30)
        text = page(lead)
        assert '<td class="num">120</td>' in text
        assert "5 min of work" in text

    def test_person_far_from_the_others_time_stands_out(self, lead: Client, made: Made) -> None:
        """12 items of 3 s beside 4 of 30 s: of four items nobody is judged, and with four nobody is compared."""
        label_all(made.h1, made.first, "C", 3)
        label_all(made.h2, made.second, "C", 30)
        text = page(lead)
        assert marks(text) == []
        assert "3 s for answer groups</span>" in text
        other = services.create_audit(made.study, services.Plan(h2_tasks=3), 2, "B", None)
        queues = {queue.role: queue for queue in other.queues.all()}
        services.seat(queues["H1"], made.first)
        services.seat(queues["H2"], made.second)
        for queue, user, seconds in ((queues["H1"], made.first, 3), (queues["H2"], made.second, 30)):
            for _ in range(12):
                submit(next_slot(queue, user), user, "C", seconds_on_task=seconds)
        # In B each is compared with the other one there: 3 s is a tenth of 30 s, 30 s ten times 3 s. In A the first
        # has too few others and is compared with those of both audits, the second has labeled four items only.
        text = page(lead)
        assert marks(text) == ["fast", "slow", "fast"]
        assert "3 s for answer groups, others: 30 s" in text
        assert "30 s for answer groups, others: 3 s" in text
        assert "3 s for answer groups, others in the study: 30 s" in text

    def test_one_who_is_alone_on_a_kind_and_cannot_have_read_stands_out(self, client: Client) -> None:
        made = make_audit(services.Plan(link_trajectories=0))
        client.force_login(made.lead)
        assert made.h1.slots.filter(item__kind="round").count() == 12
        while made.h1.slots.filter(status="open").exists():
            slot = next_slot(made.h1, made.first)
            is_round = slot.item.kind == "round"
            label, seconds = ("non_error", 0.1) if is_round else ("C", 30)
            submit(slot, made.first, label, seconds_on_task=seconds)
        text = page(client)
        assert marks(text) == ["fast"]
        assert "0.1 s for rounds, nobody reads one in less than 1.5 s" in text

    def test_programs_are_compared_with_nobody(self, lead: Client, made: Made) -> None:
        label_all(made.h1, made.first, "C", 3)
        simulated = Queue.objects.create(audit=made.audit, role="H2", is_simulated=True)
        program = make_user("program", made.study)
        User.objects.filter(pk=program.pk).update(is_simulated=True)
        for slot in made.h1.slots.all():
            own = Slot.objects.create(
                queue=simulated, item=slot.item, position=slot.position, status="labeled", version=1
            )
            LabelVersion.objects.create(
                slot=own, number=1, action="label", label="C", user=program, is_simulated=True,
                codebook_version="1", evidence_digest="", request_key=uuid.uuid4(), seconds_on_task=30,
            )  # fmt: skip
        text = page(lead)
        assert marks(text) == []
        assert "30 s for" not in text

    def test_tasks_and_responses_are_those_of_all_draws(self, client: Client) -> None:
        plan = services.Plan(tasks=2, responses_per_task=1, link_trajectories=0, round_trajectories=0)
        made = make_audit(plan, tasks=4)
        client.force_login(made.lead)
        assert stats(page(client)) == {"Answer groups": "4", "Tasks": "2", "Responses": "2"}
        more = services.Plan(tasks=1, responses_per_task=2, link_trajectories=0, round_trajectories=0)
        administration.extend_audit(made.audit, made.lead, more)
        text = page(client)
        assert stats(text) == {"Answer groups": "8", "Tasks": "3", "Responses": "4"}
        assert "Draw 1</h3>" in text

    def test_flagged_item_is_told_with_its_note(self, lead: Client, made: Made) -> None:
        slot = next_slot(made.h1, made.first)
        flags.raise_flag(slot.pk, made.first, "which ferry?", request_key=uuid.uuid4())
        assert "which ferry?" in page(lead)
        flags.take_flag_back(slot.pk, made.first, request_key=uuid.uuid4())
        assert "which ferry?" not in page(lead)

    def test_one_who_left_stays_in_the_table_with_what_they_did(self, lead: Client, made: Made) -> None:
        submit(next_slot(made.h1, made.first), made.first)
        lead.post(reverse("reassign_seat", args=["s1", made.audit.pk]), {"leaving": made.first.pk})
        assert 'first-s1 <span class="soft">(left)</span>' in page(lead)

    def test_log_tells_who_did_what(self, lead: Client, made: Made) -> None:
        lead.post(reverse("change_audit", args=["s1", made.audit.pk, "pause"]))
        assert "lead-s1 paused the audit" in page(lead)
        assert "A command gave first-s1 a place as H1" in page(lead)


class TestExamples:
    """A flagged item is offered as an example where it can be one."""

    def flagged(self, made: Made) -> Slot:
        """An item of both queues that H1 has labeled and flagged."""
        slot = give(made.h1.slots.get(item=made.h2.slots.first().item_id), made.first)
        submit(slot, made.first)
        flags.raise_flag(slot.pk, made.first, "which ferry?", request_key=uuid.uuid4())
        return slot

    def offered(self, client: Client) -> str:
        found = re.search(r"An example waits for ([^<]*)<|(\?example=)", page(client))
        assert found
        return found[1] or found[2]

    def test_it_waits_for_whoever_has_yet_to_label_it(self, lead: Client, made: Made) -> None:
        slot = self.flagged(made)
        assert self.offered(lead) == "H2"
        submit(give(made.h2.slots.get(item=slot.item_id), made.second), made.second)
        assert self.offered(lead) == "?example="
        url = reverse("publish_codebook", args=["s1"])
        assert lead.get(url, {"example": slot.item_id}).status_code == 200

    def test_it_waits_for_adjudication_until_that_is_settled(self, lead: Client, made: Made) -> None:
        slot = self.flagged(made)
        other = give(made.h2.slots.get(item=slot.item_id), made.second)
        submit(other, made.second, "I")
        adjudication.rebuild_queue(made.audit, made.lead)
        assert self.offered(lead) == "adjudication"
        other.refresh_from_db()
        submit(other, made.second, "C")
        assert self.offered(lead) == "?example="

    def test_it_waits_for_another_audit_that_is_not_closed(self, lead: Client, made: Made) -> None:
        slot = self.flagged(made)
        administration.close_audit(made.audit, None)
        assert self.offered(lead) == "?example="
        other = services.create_audit(made.study, services.Plan(h2_tasks=3), 2, "B", None)
        assert self.offered(lead) == "H1 in B and H2 in B"
        url = reverse("publish_codebook", args=["s1"])
        refused = lead.get(url, {"example": slot.item_id})
        assert refused.status_code == 409
        assert "It waits for H1 in B and H2 in B" in refused.content.decode()
        administration.close_audit(other, None)
        assert self.offered(lead) == "?example="

    def test_researcher_is_offered_nothing(self, client: Client, made: Made) -> None:
        self.flagged(made)
        client.force_login(make_user("researcher", made.study, Role.RESEARCHER))
        assert "which ferry?" in page(client)
        assert "An example waits" not in page(client)


class TestPlaces:
    """Who may be given a place."""

    def listed(self, client: Client, made: Made) -> set[str]:
        found = re.search(rf'<select id="user-{made.audit.pk}".*?</select>', page(client))
        return set(re.findall(r">([^<]+)</option>", found[0])) if found else set()

    def test_people_with_a_place_are_left_out(self, lead: Client, made: Made) -> None:
        assert self.listed(lead, made) == set()
        assert "No annotator of the study is without a place here" in page(lead)
        assert f'<a href="{reverse("members", args=["s1"])}">Members</a>' in page(lead)
        make_user("third", made.study)
        assert self.listed(lead, made) == {"third"}
        assert "is without a place here" not in page(lead)

    def test_each_audit_has_its_own_list(self, lead: Client, made: Made) -> None:
        other = services.create_audit(made.study, services.Plan(), 2, "B", None)
        assert self.listed(lead, made) == set()
        assert f'<select id="user-{other.pk}"' in page(lead)

    def test_adjudicator_has_a_place(self, lead: Client, made: Made) -> None:
        third = make_user("third", made.study)
        adjudication.rebuild_queue(made.audit, made.lead)
        adjudication.seat_adjudicator(made.audit, third, made.lead)
        assert self.listed(lead, made) == set()


class TestLive:
    def test_part_of_the_page_renews_itself_and_is_the_same_alone(self, lead: Client, made: Made) -> None:
        text = page(lead)
        url = reverse("audit_progress", args=["s1", made.audit.pk])
        assert f'hx-get="{url}" hx-trigger="every 10s"' in text
        next_slot(made.h1, made.first)

        def plain(html: str) -> str:
            return re.sub(r'value="[A-Za-z0-9]{64}"', "", html)

        assert plain(live(lead, made)).strip() in plain(page(lead))

    def test_without_script_it_leads_to_the_page(self, lead: Client, made: Made) -> None:
        reply = lead.get(reverse("audit_progress", args=["s1", made.audit.pk]))
        assert reply.url == reverse("audit", args=["s1"])

    def test_closed_audit_is_not_asked_for_again(self, lead: Client, made: Made) -> None:
        lead.post(reverse("change_audit", args=["s1", made.audit.pk, "close"]), {"confirm": "yes"})
        assert "hx-trigger" not in page(lead)

    def test_researcher_sees_it_without_buttons(self, client: Client, made: Made) -> None:
        next_slot(made.h1, made.first)
        client.force_login(make_user("researcher", made.study, Role.RESEARCHER))
        assert "held by" not in live(client, made)
        assert "Close…" not in page(client)


class TestButtons:
    def test_pause_resume_and_close(self, lead: Client, made: Made) -> None:
        for change, status in (("pause", "paused"), ("resume", "open"), ("close", "open")):
            lead.post(reverse("change_audit", args=["s1", made.audit.pk, change]))
            assert Audit.objects.get().status == status
        reply = lead.post(
            reverse("change_audit", args=["s1", made.audit.pk, "close"]), {"confirm": "yes"}, follow=True
        )
        assert Audit.objects.get().status == "closed"
        assert "Nothing in it can be changed" in reply.content.decode()
        reply = lead.post(reverse("change_audit", args=["s1", made.audit.pk, "resume"]), follow=True)
        assert "This audit is closed" in reply.content.decode()
        assert lead.post(reverse("change_audit", args=["s1", made.audit.pk, "delete"])).status_code == 404

    def test_release(self, lead: Client, made: Made) -> None:
        slot = next_slot(made.h1, made.first)
        assert f'id="release-{slot.pk}"' in page(lead)
        lead.post(reverse("release_lease", args=["s1", made.audit.pk, slot.pk]))
        lease = Lease.objects.get()
        assert lease.expires_at == lease.leased_at
        assert f'id="release-{slot.pk}"' not in page(lead)

    def test_lease_of_another_audit_is_not_found(self, lead: Client, made: Made) -> None:
        """A01."""
        other = make_audit(slug="s2")
        slot = next_slot(other.h1, other.first)
        assert lead.post(reverse("release_lease", args=["s1", made.audit.pk, slot.pk])).status_code == 404
        assert lead.post(reverse("release_lease", args=["s1", other.audit.pk, slot.pk])).status_code == 404
        assert Lease.objects.get().expires_at > Lease.objects.get().leased_at

    def test_reassign(self, lead: Client, made: Made) -> None:
        third = make_user("third", made.study)
        url = reverse("reassign_seat", args=["s1", made.audit.pk])
        reply = lead.post(url, {"leaving": made.first.pk, "to": third.pk}, follow=True)
        assert "third goes on" in reply.content.decode()
        assert set(Seat.objects.values_list("user__username", flat=True)) == {"third", "second-s1"}
        stranger = make_user("stranger")
        for sent in ({"leaving": stranger.pk}, {"leaving": third.pk, "to": stranger.pk}, {}):
            lead.post(url, sent)
            assert Seat.objects.filter(user=third).exists()

    def test_extension_is_shown_before_it_is_stored(self, client: Client) -> None:
        made = make_audit(
            services.Plan(tasks=2, responses_per_task=1, link_trajectories=0, round_trajectories=0), tasks=4
        )
        client.force_login(made.lead)
        url = reverse("extend_audit", args=["s1", made.audit.pk])
        assert 'name="tasks" value="2"' in client.get(url).content.decode()
        sent = {"tasks": 1, "responses_per_task": 2, "h2_tasks": 1, "trajectories": 0}
        shown = client.post(url, sent)
        digest = shown.context["frame"]["digest"]
        assert made.audit.items.count() == 4
        make_run(made.study, "t9", "m1")
        assert client.post(url, {**sent, "confirm": digest}).status_code == 409
        again = client.post(url, sent).context["frame"]["digest"]
        client.post(url, {**sent, "confirm": again})
        assert made.audit.items.filter(draw=2).exists()
        assert "extended the audit by draw 2" in page(client)

    def test_audit_that_holds_everything_says_so(self, lead: Client, made: Made) -> None:
        sent = {"tasks": 1, "responses_per_task": 2, "trajectories": 0}
        reply = lead.post(reverse("extend_audit", args=["s1", made.audit.pk]), sent)
        assert reply.status_code == 400
        assert "already holds every response" in reply.content.decode()


def test_closed_audit_page_tells_so_to_its_labelers(client: Client, made: Made, lead: Client) -> None:
    submit(next_slot(made.h1, made.first), made.first)
    lead.post(reverse("change_audit", args=["s1", made.audit.pk, "close"]), {"confirm": "yes"})
    client.force_login(made.first)
    text = client.get(reverse("label", args=[made.h1.pk])).content.decode()
    assert "The audit is closed" in text
    sent = {"request_key": str(uuid.uuid4())}
    reply = client.post(reverse("label_undo", args=[made.h1.pk]), sent, follow=True)
    assert "closed" in reply.content.decode()
    assert made.h1.slots.get(status="labeled").version == 1


def test_skip_is_decided_and_not_labeled(made: Made) -> None:
    from annotation.selectors import audits_of

    slot = next_slot(made.h1, made.first)
    labels.skip(slot.pk, made.first, "unclear", request_key=uuid.uuid4(), base_version=0)
    (found,) = audits_of(made.study)
    (queue,) = [queue for queue in found.queues if queue.queue == made.h1]
    assert (queue.labeled, queue.skipped, queue.open, queue.decided) == (0, 1, 11, 1)
