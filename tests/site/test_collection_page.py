"""The pages of collection and of costs: what a lead may start, what stands in the way, and what it cost."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db.models.functions import Now
from django.urls import reverse

from lseval.domain.chat import ChatReply, ChatRequest, Endpoint, Message, Usage
from lseval.domain.pricing import Price
from lseval.models import EvaluatedModel, Job, JobState, Phase, Role, Study
from lseval.pipeline import jobs
from lseval.pipeline.ledger import Ledger
from tests.factories import make_run, make_study, make_user
from tests.site.building import signed_in

pytestmark = pytest.mark.django_db
PRICE = Price(Decimal("2"), Decimal("10"), Decimal("0.5"))


@pytest.fixture
def study() -> Study:
    """Three tasks, two models with endpoints."""
    made = make_study()
    for number in range(3):
        made.tasks.create(key=f"t{number}", question=f"Question {number}?")
    for number in range(2):
        EvaluatedModel.objects.create(
            study=made, name=f"m{number}", settings={"base_url": "https://llm.example/v1", "model": "m"}
        )
    return made


def page(study: Study, role: str = Role.LEAD, name: str = "collection") -> str:
    user = make_user(f"u{study.memberships.count()}", study, role)
    response = signed_in(user).get(reverse(name, args=[study.slug]))
    assert response.status_code == 200
    return response.content.decode()


def act(study: Study, action: str, **fields: object) -> str:
    user = make_user(f"u{study.memberships.count()}", study, Role.LEAD)
    response = signed_in(user).post(
        reverse("collection_act", args=[study.slug]), {"action": action, **fields}, follow=True
    )
    assert response.status_code == 200
    return response.content.decode()


def fail_all(code: str, message: str) -> None:
    while (claim := jobs.claim_next()) is not None:
        jobs.fail(claim, code, message)


def test_a_lead_starts_and_it_only_queues(study: Study) -> None:
    assert "Start 6 runs" in page(study)
    assert "6 runs queued." in act(study, "start")
    assert Job.objects.filter(state=JobState.WAITING).count() == 6
    assert "6 runs queued." in act(study, "start")
    assert Job.objects.count() == 6


def test_a_researcher_sees_progress_and_no_button(study: Study) -> None:
    shown = page(study, Role.RESEARCHER)
    assert "of 6" in shown
    assert 'name="action"' not in shown


def test_pausing_keeps_workers_from_starting_and_resuming_lets_them(study: Study) -> None:
    act(study, "start")
    assert "Paused" in act(study, "pause")
    assert jobs.claim_next() is None
    act(study, "resume")
    assert jobs.claim_next() is not None


def test_what_failed_is_shown_with_advice_and_can_be_tried_again_by_model(study: Study) -> None:
    act(study, "start")
    fail_all("access_refused", "The key of llm.example is not set.")
    shown = page(study)
    assert "The key of llm.example is not set." in shown
    assert "Workers read keys from their environment" in shown
    assert "Try 6 again" in shown
    first = study.models.first()
    assert "3 runs queued again." in act(study, "retry", model=first.pk)
    assert set(Job.objects.filter(state="failed").values_list("model", flat=True)) == {study.models.last().pk}


def test_a_model_of_another_study_is_not_retried(study: Study) -> None:
    other = make_study("other")
    other.tasks.create(key="t", question="Q?")
    model = EvaluatedModel.objects.create(study=other, name="m", settings={"base_url": "https://l.example/v1"})
    jobs.enqueue_collection(other)
    fail_all("unavailable", "down")
    assert "0 runs queued again." in act(study, "retry", model=model.pk)
    assert Job.objects.get(study=other).state == JobState.FAILED


@pytest.mark.parametrize("fields", [{}, {"action": "delete"}, {"action": "retry", "model": "9" * 30}])
def test_nonsense_changes_nothing(study: Study, fields: dict) -> None:
    act(study, fields.pop("action", ""), **fields)
    assert not Job.objects.exists()


def test_a_worker_that_is_missing_is_named_with_its_command(study: Study) -> None:
    act(study, "start")
    assert "nobody makes them" not in page(study)
    Job.objects.update(not_before="2020-01-01T00:00:00Z")
    assert "python manage.py work" in page(study)


def test_runs_in_the_making_show_how_far_they_are_and_lost_workers(study: Study) -> None:
    act(study, "start")
    claim = jobs.claim_next()
    jobs.heartbeat({claim: jobs.Beat({"iterations": 17, "tool_calls": 31}, 1.0)})
    shown = page(study)
    assert '<td class="num">17</td><td class="num">31</td>' in shown
    assert "worker lost" not in shown
    Job.objects.filter(pk=claim.job_id).update(claimed_until="2020-01-01T00:00:00Z")
    assert "worker lost" in page(study)


def test_time_left_follows_from_the_pace_of_what_was_finished(study: Study) -> None:
    act(study, "start")
    assert "known after two runs" in page(study)
    done = list(Job.objects.values_list("pk", flat=True)[:3])
    Job.objects.filter(pk__in=done).update(state="done", finished_at=Now())
    first = Job.objects.get(pk=done[0])
    first.finished_at = first.finished_at - (first.finished_at - first.finished_at.replace(microsecond=0))
    Job.objects.filter(pk=done[0]).update(finished_at=first.finished_at)
    assert "at the pace of the last ten minutes" in page(study)


def test_the_live_part_asks_again_only_while_something_is_under_way(study: Study) -> None:
    assert "hx-get" not in page(study)
    act(study, "start")
    assert "hx-get" in page(study)
    user = make_user("asker", study, Role.LEAD)
    live = signed_in(user).get(reverse("collection_progress", args=[study.slug]), headers={"HX-Request": "true"})
    assert live.content.strip().startswith(b'<div id="collection-live"')


def test_the_page_of_many_cells_asks_as_little_as_that_of_few(study: Study, django_assert_max_num_queries) -> None:
    study.tasks.bulk_create(study.tasks.model(study=study, key=f"k{n}", question="Q?") for n in range(500))
    jobs.enqueue_collection(study)
    client = signed_in(make_user("lead", study, Role.LEAD))
    with django_assert_max_num_queries(20):
        assert client.get(reverse("collection", args=[study.slug])).status_code == 200


def test_a_study_of_imported_runs_says_what_is_needed() -> None:
    imported = make_study()
    make_run(imported)
    assert "Nothing to collect" in page(imported)
    assert "there is nothing to collect" in act(imported, "start").lower()


def pay(study: Study, text: str, price: Price | None) -> None:
    reply = ChatReply(text, usage=Usage(1_000_000, 400_000, 50_000, 20_000))
    request = ChatRequest(Endpoint("https://llm.example/v1", "m"), (Message("user", text),))
    Ledger(study, Phase.COLLECTION, model_id=study.models.first().pk).chat(lambda asked: reply, price=price)(
        request
    )


def test_costs_show_both_scenarios_and_what_is_unpriced(study: Study) -> None:
    assert "No calls yet" in page(study, name="costs")
    pay(study, "one", PRICE)
    pay(study, "two", None)
    shown = page(study, name="costs")
    # 600,000 at $2, 400,000 at $0.5 and 50,000 at $10 per million; without the discount 1,000,000 at $2.
    assert "$1.9000" in shown
    assert "$2.5000" in shown
    assert "without 1 unpriced call" in shown
    assert "2.00 M" in shown


def test_costs_without_any_price_are_unpriced_and_never_zero_dollars(study: Study) -> None:
    pay(study, "one", None)
    shown = page(study, name="costs")
    assert "unpriced" in shown
    assert "$0" not in shown
