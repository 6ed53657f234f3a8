"""The sums of what models did are kept until the study's runs are others."""

from __future__ import annotations

import pytest

from lseval.models import Run
from lseval.site.tables.activity import activity_of
from tests.factories import make_run, make_study

pytestmark = pytest.mark.django_db


def test_sums_are_kept_and_follow_the_runs(django_assert_num_queries) -> None:
    study = make_study()
    run = make_run(study, "t1", "m1")
    first = activity_of(study)
    with django_assert_num_queries(1):
        assert activity_of(study) is first
    make_run(study, "t2", "m1")
    assert activity_of(study)[run.model_id].runs == 2
    Run.objects.filter(pk=run.pk).delete()
    assert activity_of(study)[run.model_id].runs == 1


def test_sums_follow_the_citations() -> None:
    study = make_study()
    run = make_run(study, "t1", "m1")
    before = activity_of(study)[run.model_id].urls
    run.citations.create(url="https://new.example/", canonical_key="new.example/", is_inline=True)
    assert activity_of(study)[run.model_id].urls == before + 1
