"""Text from outside that would be markup, on every page that shows it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory
from django.urls import reverse

from annotation.sampling import Plan
from annotation.services import create_audit, queue_of, seat
from annotation.simulation import simulate_labels
from lseval.domain.trajectory import PageRecord, ReferenceRecord, RubricRecord, ToolCallRecord, TurnRecord
from lseval.errors import InputError
from lseval.models import Citation, EvaluatedModel, Page, Study, Task, ToolCall, User, Verdict
from lseval.site.middleware import errors_as_pages
from tests.factories import give_verdict, make_run, make_study, make_user
from tests.site.building import give_judgements, signed_in

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert('x')</script><img src=x onerror=alert(1)>\"'><svg onload=alert(2)>"
BAD_URL = "javascript:alert(document.cookie)//https://x.example/"


@pytest.fixture
def study() -> Study:
    """A study all of whose free text is hostile."""
    study = make_study("s1")
    Study.objects.filter(pk=study.pk).update(name=HOSTILE, description=HOSTILE)
    answer = f"1. {HOSTILE}: opened in 1962 [1]\n2. [press]({BAD_URL}) [2]\n\nSources\n[1] https://f.example/a\n"
    run = make_run(
        study,
        answer=answer,
        question=HOSTILE,
        gold_answer=HOSTILE,
        rubric=RubricRecord(2, (HOSTILE,), HOSTILE, (HOSTILE,)),
        turns=(
            TurnRecord(
                HOSTILE,
                (ToolCallRecord(HOSTILE, HOSTILE, {HOSTILE: HOSTILE, "url": BAD_URL}, HOSTILE),),
                agent=HOSTILE,
                reasoning=HOSTILE,
                source_step=1,
            ),
        ),
        pages=(PageRecord("https://f.example/a", HOSTILE, HOSTILE),),
        references=(ReferenceRecord(1, HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
    )
    labels = ["I"] * run.answer_groups.count()
    give_verdict(run, *labels)
    Verdict.objects.update(
        reason=HOSTILE,
        judge=HOSTILE,
        judge_version=HOSTILE,
        claims=[{"claim": HOSTILE, "status": HOSTILE, "note": HOSTILE, "quotation": {"text": HOSTILE}}],
    )
    give_judgements(run, 1, "error", "error", error_type=HOSTILE[:40], groups=[1])
    EvaluatedModel.objects.update(name=HOSTILE, family=HOSTILE)
    Task.objects.update(key=HOSTILE)
    Citation.objects.filter(run=run).exclude(url="").update(url=BAD_URL, marker=HOSTILE)
    Page.objects.update(url=BAD_URL)
    return study


class _Active(HTMLParser):
    """Collects what a browser would run or follow."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag == "script" and not (values.get("src") or "").startswith("/static/"):
            self.found.append(f"script {values}")
        if tag in ("img", "iframe", "object", "embed", "base") and not (values.get("src") or "").startswith("/"):
            self.found.append(f"{tag} {values}")
        for name, value in values.items():
            if name.startswith("on") or name == "style":
                self.found.append(f"{tag} {name}")
            if name in ("href", "src", "action", "formaction", "xlink:href") and not _leads_to_a_page(value or ""):
                self.found.append(f"{tag} {name}={value}")


def _leads_to_a_page(address: str) -> bool:
    """Whether an address is on the web, on this site, or one of our own from the page on: `rounds/12/`."""
    lowered = address.strip().lower()
    return lowered.startswith(("/", "#", "?", "http://", "https://")) or bool(re.fullmatch(r"rounds/\d+/", lowered))


def _active(html: str) -> list[str]:
    parser = _Active()
    parser.feed(html)
    return parser.found


def _addresses(study: Study) -> dict[str, str]:
    run = study.runs.get()
    call = ToolCall.objects.get(turn__run=run)
    of_study = {name: reverse(name, args=["s1"]) for name in ("study_home", "outcome", "process", "report")}
    return {
        "studies": reverse("studies"),
        **of_study,
        "outcome, runs": reverse("outcome", args=["s1"]) + "?view=runs",
        "outcome, filtered": reverse("outcome", args=["s1"], query={"task": HOSTILE, "model": HOSTILE}),
        "outcome, unknown": reverse("outcome", args=["s1"], query={"task": HOSTILE + "x", "sort": HOSTILE}),
        "group": reverse("run_group", args=["s1", run.pk, 1]),
        "run": reverse("run", args=["s1", run.pk]),
        "observation": reverse("observation", args=["s1", run.pk, call.pk]),
        "page": reverse("page", args=["s1", run.pages.get().pk], query={"start": HOSTILE, "end": "1"}),
    }


def test_hostile_text_is_shown_as_text_on_every_page(study: Study) -> None:
    client = signed_in(make_user("lead", study, "lead"))
    for name, address in _addresses(study).items():
        response = client.get(address)
        assert response.status_code == 200, name
        html = response.content.decode()
        assert _active(html) == [], name
        assert "&lt;script&gt;alert(" in html, name


@pytest.fixture
def audited(study: Study) -> Study:
    """The study with an audit of a hostile name, labeled by simulated labelers, one queue of it with a person."""
    audit = create_audit(study, Plan(tasks=1, responses_per_task=1, h2_tasks=1), 1, "A", None)
    said = {"group": "I", "link": "corresponds", "round": "error"}
    for role, shift in (("H1", 0), ("H2", 1)):
        simulate_labels(
            audit, role, lambda item, shift=shift: "IC"[shift] if item.kind == "group" else said[item.kind], 1, 0
        )
    queue = queue_of(audit, "H1")
    seat(queue, make_user("annotator", study, "annotator"))
    type(audit).objects.filter(pk=audit.pk).update(name=HOSTILE)
    User.objects.filter(is_simulated=True, username__startswith="simulated-h1").update(username=HOSTILE[:150])
    return study


AUDIT_PAGES = ("audit", "draw_audit", "codebook", "publish_codebook")
AGREEMENT_PAGES = {
    "agreement": {},
    "agreement_people": {},
    "agreement_process": {},
    "agreement_study": {},
    "agreement_leaderboard": {},
    "agreement_items": {"list": "differ"},
    "agreement_items of a link's row": {"list": "links", "by_model": HOSTILE},
    "agreement_items of a round's cell": {"list": "rounds", "first": "error", "second": "error"},
    "agreement_responses": {"score": "as", "x": "0.0", "y": "0.0"},
}


def test_hostile_text_is_shown_as_text_on_agreement_pages(audited: Study) -> None:
    client = signed_in(make_user("lead", audited, "lead"))
    for page, query in AGREEMENT_PAGES.items():
        response = client.get(reverse(page.split()[0], args=["s1"], query={"labels": "simulated", **query}))
        assert response.status_code == 200, page
        html = response.content.decode()
        assert _active(html) == [], page
        assert "&lt;script&gt;alert(" in html, page


def test_hostile_text_is_shown_as_text_on_audit_pages(audited: Study) -> None:
    lead, audit = signed_in(make_user("lead", audited, "lead")), audited.audits.get()
    addresses = [reverse(page, args=["s1"]) for page in AUDIT_PAGES]
    addresses += [reverse(page, args=["s1", audit.pk]) for page in ("extend_audit", "adjudication")]
    for address in addresses:
        response = lead.get(address)
        assert response.status_code == 200, address
        assert _active(response.content.decode()) == [], address
        # The name of the study is in the head of each.
        assert "&lt;script&gt;alert(" in response.content.decode(), address


def test_hostile_text_is_shown_as_text_to_a_labeler(audited: Study) -> None:
    queue = audited.audits.get().queues.get(role="H1", is_simulated=False)
    client = signed_in(User.objects.get(username="annotator"))
    for page in ("label", "guidelines"):
        response = client.get(reverse(page, args=[queue.pk]))
        assert response.status_code == 200, page
        assert _active(response.content.decode()) == [], page
    assert "&lt;script&gt;alert(" in client.get(reverse("label", args=[queue.pk])).content.decode()


def test_hostile_text_is_data_in_the_files_of_agreement(audited: Study) -> None:
    client = signed_in(make_user("lead", audited, "lead"))
    for form in ("md", "tex", "csv", "json"):
        response = client.get(reverse("agreement_file", args=["s1", "all", form]))
        assert response["Content-Disposition"].startswith('attachment; filename="s1-')
        assert response["X-Content-Type-Options"] == "nosniff"
        text = response.content.decode()
        if form == "md":
            assert "<script" not in text.replace("\\<script", "")
    for address in (
        reverse("agreement_figure", args=["s1", "models", "svg"]),
        reverse("agreement_figure", args=["s1", "people", "svg"]),
        reverse("agreement_leaderboard_figure", args=["s1", "as", "svg"]),
    ):
        svg = client.get(address).content.decode()
        assert "<script" not in svg
        assert "onload=" not in svg.replace("onload=alert(2)&gt;", "")


def test_the_check_itself_finds_what_is_active() -> None:
    assert {word.split()[0] for word in _active(f"<p>{HOSTILE}</p>")} == {"script", "img", "svg"}
    assert _active(f'<a href="{BAD_URL}">x</a>') == [f"a href={BAD_URL}"]


def test_script_address_is_shown_but_never_a_link(study: Study) -> None:
    client = signed_in(make_user("lead", study, "lead"))
    for name in ("run", "page"):
        html = client.get(_addresses(study)[name]).content.decode()
        assert "javascript:alert(document.cookie)" in html
        assert 'href="javascript' not in html


def test_error_message_is_shown_as_text() -> None:
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    response = errors_as_pages(lambda request: None).process_exception(request, InputError(HOSTILE))  # type: ignore[arg-type, return-value]
    assert response is not None
    assert response.status_code == 400
    assert _active(response.content.decode()) == []
    assert "&lt;script&gt;" in response.content.decode()


def test_study_name_in_files_is_data(study: Study) -> None:
    client = signed_in(make_user("lead", study, "lead"))
    markdown = client.get(reverse("report_md", args=["s1"]))
    assert markdown["Content-Type"].startswith("text/markdown")
    assert "<script" not in markdown.content.decode().replace("\\<script", "")
    report = client.get(reverse("report_json", args=["s1"]))
    assert report.json()["study"]["name"] == HOSTILE
    assert "attachment" in report["Content-Disposition"]
