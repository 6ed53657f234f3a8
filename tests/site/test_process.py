"""Stage 2 in counts."""

from __future__ import annotations

import pytest
from django.urls import reverse

from lseval.domain.labels import SkipReason
from lseval.models import Study
from lseval.site.selectors.process import process_of
from tests.factories import give_verdict, make_run, make_study, make_user
from tests.site.building import give_judgements, reading_turns, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Two runs with rounds that end in every way there is.

    m1 on t1, ten rounds, groups I and I: 1 pre-skipped; 2 error, typed and agreed, linked to groups 1 and 2;
    3 error, unassigned, not linked; 4 split; 5 non-error; 6 skipped by judge B; 7 unjudged; 8 to 10 waiting.
    m2 on t1, six rounds, groups I and C: 1 to 5 non-error; 6 error of the same type, linked to group 1.
    """
    study = make_study()
    first = make_run(study, "t1", "m1", turns=reading_turns(10))
    give_verdict(first, "I", "I")
    first.rounds.update(skip_reason="")
    first.rounds.filter(number=1).update(skip_reason=SkipReason.LISTING_ONLY)
    give_judgements(first, 2, "error", "error", error_type="temporal_error", groups=[1, 2])
    give_judgements(first, 3, "error", "error")
    give_judgements(first, 4, "error", "non_error", error_type="scope_error")
    give_judgements(first, 5, "non_error", "non_error")
    give_judgements(first, 6, "non_error", "skipped")
    give_judgements(first, 7, "unjudged", "error")
    second = make_run(study, "t1", "m2", turns=reading_turns(6))
    give_verdict(second, "I", "C")
    second.rounds.update(skip_reason="")
    for number in range(1, 6):
        give_judgements(second, number, "non_error", "non_error")
    give_judgements(second, 6, "error", "error", error_type="temporal_error", groups=[1])
    return study


def test_every_round_is_accounted_for_once(study: Study) -> None:
    accounting = process_of(study).accounting
    assert accounting.as_dict() == {
        "rounds": 16,
        "pre_skipped": 1,
        "dual_judged": 12,
        "evaluable": 10,
        "error": 3,
        "non_error": 7,
        "split": 1,
        "post_judging_skipped": 1,
        "unjudged": 1,
        "waiting": 3,
        "final_skipped": 2,
    }
    assert sum(part["count"] for part in accounting.parts) == 16


def test_models_add_up_to_the_study(study: Study) -> None:
    process = process_of(study)
    for name, total in process.accounting.as_dict().items():
        assert sum(model.accounting.as_dict()[name] for model in process.models) == total
    assert [(model.name, model.nodes, model.runs_with_node, model.linked_nodes) for model in process.models] == [
        ("m1", 2, 1, 1),
        ("m2", 1, 1, 1),
    ]


def test_nodes_links_and_types_as_in_table_2(study: Study) -> None:
    process = process_of(study)
    assert (process.nodes, process.linked_nodes, process.unlinked_nodes) == (3, 2, 1)
    assert (process.typed, process.unassigned) == (2, 1)
    assert (process.links, process.linked_groups, process.runs_with_link) == (3, 3, 2)
    assert (process.incorrect_groups, process.unlinked_incorrect_groups) == (3, 0)
    # The first link of m1's run is at round 2, that of m2's at round 6.
    assert [(number, share.counts) for number, share in process.earliest] == [(5, "1 of 2"), (20, "2 of 2")]


def test_incorrect_group_without_a_link_is_counted(study: Study) -> None:
    third = make_run(study, "t2", "m1")
    give_verdict(third, "I", "U")
    process = process_of(study)
    assert (process.incorrect_groups, process.unlinked_incorrect_groups) == (4, 1)


def test_unassigned_nodes_are_left_out_of_a_models_type_shares(study: Study) -> None:
    first, _ = process_of(study).models
    assert (first.typed, first.unassigned) == (1, 1)
    shares = {share.counts for share, _ in first.type_cells if share.count}
    assert shares == {"1 of 1"}


def test_judges_are_counted_beside_each_other(study: Study) -> None:
    pairs = process_of(study).pairs
    assert dict(pairs.counts) == {
        ("error", "error"): 3,
        ("error", "non_error"): 1,
        ("non_error", "non_error"): 6,
        ("non_error", "skipped"): 1,
        ("unjudged", "error"): 1,
    }
    assert (pairs.judged, pairs.agreed.counts, pairs.split) == (12, "9 of 12", 1)
    assert pairs.types_agreed.counts == "2 of 3"
    matrix = pairs.matrix
    assert [row["total"] for row in matrix["rows"]] == [4, 7, 0, 1]
    assert matrix["column_totals"] == [4, 7, 1, 0]
    assert matrix["total"] == 12


def test_skip_reasons_are_shares_of_all_rounds(study: Study) -> None:
    found = {code: share for code, _, share in process_of(study).skip_reasons}
    assert found["listing_only"].counts == "1 of 16"
    assert found["duplicate"].counts == "0 of 16"


def test_study_without_rounds_has_undefined_shares_and_no_error() -> None:
    process = process_of(make_study("bare"))
    assert process.accounting.rounds == 0
    assert [share.value for _, share in process.earliest] == [None, None]
    assert process.pairs.agreed.value is None
    assert process.as_dict()["earliest_association"]["by_round_5"]["reason"] == "no run has a link"


def test_process_page_shows_the_numbers_and_names_both_judges(study: Study) -> None:
    page = signed_in(make_user("lead", study, "lead")).get(reverse("process", args=[study.slug])).content.decode()
    assert "16 = 1 set aside + 12 dual-judged + 3 waiting" in page
    assert "12 = 10 evaluable + 1 skipped after judging + 1 unjudged" in page
    assert "judge A of a test, version 1" in page
    assert "judge B of a test, version 1" in page


def test_process_page_asks_the_database_as_often_for_many_runs_as_for_few(
    study: Study, django_assert_num_queries
) -> None:
    client = signed_in(make_user("lead", study, "lead"))
    address = reverse("process", args=[study.slug])
    # Session with user, study with role; rounds, nodes twice, links, models, groups, first rounds, pairs,
    # judges; markers twice; groups named, nodes, types of both judges, types with links.
    with django_assert_num_queries(17):
        client.get(address)
    for number in range(10, 20):
        run = make_run(study, f"t{number}", f"m{number}")
        give_verdict(run, "I", "I")
        give_judgements(run, 2, "error", "error", error_type="scope_error", groups=[1])
    with django_assert_num_queries(17):
        client.get(address)
