"""A study's home: work under way, money, and agreement with people at a glance."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation.simulation import simulate_labels
from lseval.models import Call, Job, JobKind, JobState, Phase
from lseval.site.selectors.home_glances import agreement_of, money_of, work_of
from tests.factories import make_study
from tests.site.building import make_world, signed_in

pytestmark = pytest.mark.django_db


def test_work_counts_what_is_not_done_by_kind() -> None:
    world = make_world()
    Job.objects.create(study=world.study, kind=JobKind.VERIFY, run=world.run, state=JobState.FAILED)
    Job.objects.create(study=world.study, kind=JobKind.AUDIT, run=world.run, state=JobState.DONE)
    work = work_of(world.study)
    assert [(line.name, line.waiting, line.at_work, line.stopped) for line in work.lines] == [
        ("Stage 1 on a run", 0, 0, 1)
    ]
    assert not work.is_under_way


def test_money_is_by_phase_and_unpriced_is_not_nothing() -> None:
    study = make_study()
    for phase, digest, cost in ((Phase.COLLECTION, "a", "12.5"), (Phase.STAGE_2, "b", None)):
        Call.objects.create(
            study=study, phase=phase, digest=digest, provider="p", request={}, reply={}, input_tokens=10,
            output_tokens=2, cost_usd=cost, upper_cost_usd=cost,
        )  # fmt: skip
    money = money_of(study)
    assert (money.calls, money.cost) == (2, "$12.50")
    assert money.phases == [("collection", "$12.50", "10", "2"), ("Stage 2", "unpriced", "10", "2")]
    assert money_of(make_study("bare")).phases == []


def test_agreement_is_none_before_the_first_label_and_marked_where_simulated() -> None:
    world = make_world()
    assert agreement_of(world.study) is None
    truth = {"group": "C", "link": "corresponds", "round": "non_error"}
    simulate_labels(world.audit, "H1", lambda item: truth[item.kind], 1, 0.0)
    found = agreement_of(world.study)
    assert found is not None
    assert found.is_simulated
    # The verdicts are C and I, and H1 says C of both.
    assert (found.automatic_h1.counts, found.h1_h2.value, found.links.counts) == ("1 of 2", None, "1 of 1")


def test_page_leads_to_tables_leaderboard_and_comparison() -> None:
    world = make_world()
    page = signed_in(world.researcher).get(reverse("study_home", args=["s1"])).content.decode()
    for name in ("tables", "agreement_leaderboard", "compare", "costs", "collection"):
        assert reverse(name, args=["s1"]) in page
