"""Versions of the codebook: publishing, what labelers read, what labels keep, and examples made of items."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation import adjudication, administration, codebooks
from annotation.codebook import QUESTIONS
from annotation.codebook_meanings import meanings_in
from annotation.codebook_text import TO_FILL_IN, first_text, to_fill_in
from annotation.events import AuditClosedError
from annotation.examples import example_of, title_of
from annotation.models import AuditEvent, CodebookVersion, LabelVersion
from annotation.sampling import Plan
from lseval.domain.taxonomy import ErrorType
from lseval.errors import ConflictError, InputError
from lseval.models import Role
from tests.annotation.making import Made, give, make_audit, next_slot, submit
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Made:
    return make_audit()


def text_of(client: Client, url: str) -> str:
    return unescape(client.get(url).content.decode())


def text_of_reply(reply: HttpResponse) -> str:
    return unescape(reply.content.decode())


def test_first_version_tells_every_label_and_every_type_with_border_and_example() -> None:
    text = first_text()
    for question in QUESTIONS.values():
        for choice in question.choices:
            assert f"**{choice.word}** ({choice.key}): {choice.meaning} *Example:* " in text
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| **")]
    assert [row[0] for row in rows] == [f"| **{kind.display_name}**" for kind in ErrorType]
    assert all(len(row) == 4 and all(cell.strip(" |") for cell in row) for row in rows)


class TestMeanings:
    """What the buttons say of a label is what the codebook in force says, never another version's words."""

    OWN = (
        "## Answer groups\n\nLook at the page.\n\n"
        "- **Correct** (c): All *eleven* fields are\n  borne out. *Example:* x\n"
        "- **incorrect**: A `cited` page disagrees.\n- Unverifiable is everything else.\n\n"
        "## Round-group links\n\n* **Does not** (d): Nothing is shared.\n\n- **Correct** (c): of no link\n"
        "## Elsewhere\n\n- **Unverifiable** (u): not here\n"
    )

    def test_first_version_reads_back_as_it_was_written(self) -> None:
        found = meanings_in(first_text())
        for kind, question in QUESTIONS.items():
            assert found[kind] == {choice.value: choice.meaning for choice in question.choices}

    def test_entries_define_the_labels_of_their_section(self) -> None:
        assert meanings_in(self.OWN) == {
            "group": {"C": "All eleven fields are borne out.", "I": "A cited page disagrees."},
            "round": {},
            "link": {"does_not": "Nothing is shared."},
        }

    def test_buttons_and_guidelines_follow_the_version_in_force(self, client: Client, made: Made) -> None:
        client.force_login(made.first)
        url = reverse("label", args=[made.h1.pk])
        first = QUESTIONS["group"].choices[0].meaning
        assert f'title="{first}"' in text_of(client, url)
        codebooks.publish_codebook(made.study, self.OWN, "our own", made.lead, [made.audit])
        page = text_of(client, url)
        assert 'title="All eleven fields are borne out."' in page
        assert not any(choice.meaning in page for choice in QUESTIONS["group"].choices)
        # A label that this version does not define has no words of another one.
        button = page.split('name="label" value="U"')[1].split(">")[0]
        assert "title=" not in button

    def test_lead_is_told_before_publishing_which_buttons_have_no_description(
        self, client: Client, made: Made
    ) -> None:
        client.force_login(made.lead)
        url = reverse("publish_codebook", args=["s1"])
        own = unescape(client.post(url, {"text": self.OWN, "note": "own"}).content.decode())
        told = own.split("will have no description")[1].split("</ul>")[0]
        assert re.findall(r"<li>(.*?)</li>", told) == [
            "Answer groups: Unverifiable",
            "Rounds: Error",
            "Rounds: No error",
            "Rounds: Nothing to judge",
            "Round–group links: Corresponds",
            "Round–group links: Cannot tell",
        ]
        changed = client.post(url, {"text": first_text() + "\nMore.", "note": "more"}).content.decode()
        assert "As labelers will read it" in changed
        assert "no description" not in changed

    def test_adjudicators_buttons_follow_it_too(self, client: Client) -> None:
        made = make_audit(Plan(h2_tasks=3, link_trajectories=0, round_trajectories=0))
        slot = made.h2.slots.first()
        submit(give(slot, made.second), made.second, "C")
        submit(give(made.h1.slots.get(item=slot.item_id), made.first), made.first, "I")
        adjudication.rebuild_queue(made.audit, made.lead)
        adjudication.seat_adjudicator(made.audit, made.lead, made.lead)
        codebooks.publish_codebook(made.study, self.OWN, "our own", made.lead, [made.audit])
        client.force_login(made.lead)
        queue = made.audit.queues.get(role="adjudicator")
        page = text_of(client, reverse("adjudicate", args=[queue.pk]))
        assert 'title="A cited page disagrees."' in page
        assert QUESTIONS["group"].choices[1].meaning not in page


class TestPublish:
    def test_labels_keep_the_version_they_were_given_under(self, made: Made) -> None:
        submit(next_slot(made.h1, made.first), made.first)
        version = codebooks.publish_codebook(made.study, "# New", "all of it", made.lead, [made.audit])
        submit(next_slot(made.h1, made.first), made.first)
        assert version.number == 2
        assert list(LabelVersion.objects.order_by("id").values_list("codebook_version", flat=True)) == ["1", "2"]
        event = AuditEvent.objects.get(action="codebook")
        assert (event.by, event.detail) == (made.lead, {"version": "2", "before": "1"})

    def test_audit_that_is_not_named_keeps_its_version(self, made: Made) -> None:
        codebooks.publish_codebook(made.study, "# New", "all of it", made.lead)
        made.audit.refresh_from_db()
        assert made.audit.codebook_version == "1"

    def test_closed_audit_takes_no_new_version_and_nothing_is_published(self, made: Made) -> None:
        administration.close_audit(made.audit, None)
        with pytest.raises(AuditClosedError):
            codebooks.publish_codebook(made.study, "# New", "all of it", made.lead, [made.audit])
        assert not CodebookVersion.objects.exists()

    @pytest.mark.parametrize(
        ("text", "note"),
        [("", "x"), ("  \n", "x"), ("x" * 50_001, "x"), ("# New", ""), ("# New", "x" * 301), (first_text(), "x")],
    )
    def test_what_is_empty_too_long_or_unchanged_is_refused(self, made: Made, text: str, note: str) -> None:
        with pytest.raises(InputError):
            codebooks.publish_codebook(made.study, text, note, made.lead)

    def test_audit_of_another_study_is_refused(self, made: Made) -> None:
        with pytest.raises(InputError):
            codebooks.publish_codebook(made.study, "# New", "x", made.lead, [make_audit(slug="s2").audit])

    def test_published_version_cannot_be_changed(self, made: Made) -> None:
        codebooks.publish_codebook(made.study, "# New", "x", made.lead)
        with pytest.raises(IntegrityError, match="only ever added to"), transaction.atomic():
            CodebookVersion.objects.update(text="other")


class TestGuidelines:
    def test_labeler_reads_the_version_in_force(self, client: Client, made: Made) -> None:
        client.force_login(made.first)
        url = reverse("guidelines", args=[made.h1.pk])
        before = text_of(client, url)
        assert "Codebook version 1" in before
        assert "Two ferries are reported as one unit." in before
        codebooks.publish_codebook(made.study, "## Only by the pages", "shorter", made.lead, [made.audit])
        after = text_of(client, url)
        assert "Codebook version 2" in after
        assert "Only by the pages</h2>" in after

    def test_nothing_in_a_published_text_becomes_active(self, client: Client, made: Made) -> None:
        """X03."""
        hostile = (
            "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) ![](http://a.example/)"
        )
        codebooks.publish_codebook(made.study, hostile, "<b>x</b>", made.lead, [made.audit])
        client.force_login(made.first)
        pages = [client.get(reverse("guidelines", args=[made.h1.pk])).content.decode()]
        client.force_login(made.lead)
        pages.append(client.get(reverse("codebook", args=["s1"])).content.decode())
        for page in pages:
            assert "<script>alert" not in page
            assert "<img" not in page
            assert 'href="javascript' not in page
        assert "&lt;b&gt;x&lt;/b&gt;" in pages[1]


class TestPages:
    def test_text_is_shown_before_it_is_published(self, client: Client, made: Made) -> None:
        client.force_login(made.lead)
        url = reverse("publish_codebook", args=["s1"])
        assert "Judge by the pages shown" in text_of(client, url)
        sent = {"text": "## Mine", "note": "mine", "audits": [made.audit.pk]}
        assert "Mine</h3>" in client.post(url, sent).content.decode()
        assert not CodebookVersion.objects.exists()
        assert client.post(url, {**sent, "publish": "yes"}).url == reverse("codebook", args=["s1"])
        version = CodebookVersion.objects.get()
        assert (version.text, version.note, version.published_by) == ("## Mine", "mine", made.lead)

    def test_audit_of_another_study_cannot_be_chosen(self, client: Client, made: Made) -> None:
        other = make_audit(slug="s2")
        client.force_login(made.lead)
        sent = {"text": "## Mine", "note": "mine", "audits": [other.audit.pk], "publish": "yes"}
        assert client.post(reverse("publish_codebook", args=["s1"]), sent).status_code == 400
        other.audit.refresh_from_db()
        assert other.audit.codebook_version == "1"

    def test_researcher_reads_every_version_and_writes_none(self, client: Client, made: Made) -> None:
        codebooks.publish_codebook(made.study, "## Mine", "mine", made.lead)
        client.force_login(make_user("researcher", made.study, Role.RESEARCHER))
        assert "Mine</h2>" in text_of(client, reverse("codebook", args=["s1"]))
        first = text_of(client, reverse("codebook_version", args=["s1", 1]))
        assert "Judge by the pages shown" in first
        assert "Write the next version" not in first
        assert client.get(reverse("codebook_version", args=["s1", 3])).status_code == 404


class TestExamples:
    def test_decided_item_becomes_the_beginning_of_an_example(self, client: Client, made: Made) -> None:
        item = made.audit.items.exclude(slots__queue=made.h2).first()
        while not made.h1.slots.filter(item=item, status="labeled").exists():
            submit(next_slot(made.h1, made.first), made.first)
        client.force_login(made.lead)
        page = text_of(client, reverse("publish_codebook", args=["s1"]) + f"?example={item.pk}")
        assert f"### Example: answer group on “{item.run.task.question}”" in page
        assert item.group.text.splitlines()[0] in page

    def test_item_that_somebody_has_yet_to_label_is_refused(self, client: Client, made: Made) -> None:
        """An example would tell H2 what H1's label was."""
        item = made.h2.slots.first().item
        while not made.h1.slots.filter(item=item, status="labeled").exists():
            submit(next_slot(made.h1, made.first), made.first)
        with pytest.raises(ConflictError, match="yet to label"):
            example_of(item)
        client.force_login(made.lead)
        assert client.get(reverse("publish_codebook", args=["s1"]) + f"?example={item.pk}").status_code == 409

    @pytest.mark.parametrize(
        "line",
        [
            TO_FILL_IN,
            "**Label:** … , because …",
            "**Label:** Correct, because …",
            "**Label:** …, because it says so",
            "**Label:** Correct, because",
            "**Label:**",
        ],
    )
    def test_example_that_is_not_filled_in_is_neither_offered_for_publishing_nor_published(
        self, client: Client, made: Made, line: str
    ) -> None:
        client.force_login(made.lead)
        url = reverse("publish_codebook", args=["s1"])
        sent = {"text": f"{first_text()}\n### Example\n\n> a ferry\n\n{line}\n", "note": "one more"}
        preview = text_of_reply(client.post(url, sent))
        assert f"is not filled in: “{line}”" in preview
        assert "As labelers will read it" in preview
        assert 'name="publish"' not in preview
        refused = client.post(url, {**sent, "publish": "yes"})
        assert refused.status_code == 400
        assert "is not filled in" in text_of_reply(refused)
        assert not CodebookVersion.objects.exists()
        filled = {**sent, "text": sent["text"].replace(line, "**Label:** Correct, because it says “1962 …” there")}
        assert 'name="publish"' in text_of_reply(client.post(url, filled))
        assert client.post(url, {**filled, "publish": "yes"}).status_code == 302

    def test_dots_elsewhere_are_nothing_to_fill_in(self) -> None:
        assert to_fill_in(f"{first_text()}\n> **Label:** …\n\nBecause …\n") == ""

    @pytest.mark.parametrize(
        ("question", "title"),
        [
            ("Which ferries?", "Which ferries?"),
            ("Which\n ferries?", "Which ferries?"),
            ("Which “ferries”?", "Which ‘ferries’?"),
            (f"Find “{'ferry ' * 60}” now", f"Find ‘{' '.join(['ferry'] * 32)} …’"),
            (f'Find "{"ferry " * 60}" now', f'Find "{" ".join(["ferry"] * 32)} …"'),
            (f"{'ferry ' * 32}“ {'ferry' * 5}”", f"{' '.join(['ferry'] * 32)} …"),
        ],
    )
    def test_title_of_an_example_keeps_its_quotes_right(self, question: str, title: str) -> None:
        assert title_of(question) == title

    @pytest.mark.parametrize("asked", ["x", "9" * 30, "-1", "²"])
    def test_what_is_no_item_is_not_found(self, client: Client, made: Made, asked: str) -> None:
        client.force_login(made.lead)
        assert client.get(reverse("publish_codebook", args=["s1"]), {"example": asked}).status_code == 404

    def test_item_of_another_study_is_not_found(self, client: Client, made: Made) -> None:
        item = make_audit(slug="s2").audit.items.first()
        client.force_login(made.lead)
        assert client.get(reverse("publish_codebook", args=["s1"]), {"example": item.pk}).status_code == 404
