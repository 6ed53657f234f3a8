"""The lists behind cells, rows and dots."""

from __future__ import annotations

import pytest

from agreement.listing import listed_groups, listing_of, responses_of_dot
from agreement.selectors import SIMULATED
from annotation.models import LabelerRole
from annotation.sampling import Plan
from annotation.services import create_audit
from annotation.simulation import simulate_labels
from lseval.errors import InputError
from lseval.models import Verdict
from tests.agreement.conftest import Audited
from tests.agreement.test_agreement_pages import client_of
from tests.factories import give_verdict, make_run, make_study
from tests.site.building import give_judgements


def found(audited: Audited, **asked: str) -> set[tuple[str, str]]:
    listing = listing_of(audited.audit, SIMULATED, asked)
    return {(row.task_id, row.group_id) for row in listing.rows}


def test_a_cell_lists_the_groups_that_its_count_counts(audited: Audited) -> None:
    # Automatic and H1: t1 C-C, C-I; t2 C-C, I-I; t3 U-U, I-C.
    assert found(audited, list="auto_h1", first="C", second="C") == {("t1", "G1"), ("t2", "G1")}
    assert found(audited, list="auto_h1", first="I", second="C") == {("t3", "G2")}
    assert found(audited, list="auto_h1", first="U", second="I") == set()
    # H1 and H2: t2's second group is I and C.
    assert found(audited, list="h1_h2", first="I", second="C") == {("t2", "G2")}


def test_disagreements_are_the_groups_on_which_two_sources_differ(audited: Audited) -> None:
    assert found(audited, list="differ") == {("t1", "G2"), ("t2", "G2"), ("t3", "G2")}


def test_an_unjudged_group_differs_from_nobody(audited: Audited) -> None:
    Verdict.objects.filter(group__run__task__key="t1", group__number=2).update(label="unjudged")
    assert ("t1", "G2") not in found(audited, list="differ")


def test_listed_groups_know_model_title_and_run(audited: Audited) -> None:
    listing = listing_of(audited.audit, SIMULATED, {"list": "auto_h1", "first": "I", "second": "C"})
    [group] = listed_groups(listing.rows)
    assert (group.place.model, group.number) == ("m1", 2)
    assert group.run_id == audited.study.runs.get(task__key="t3").pk
    assert group.place.title == audited.study.runs.get(task__key="t3").answer_groups.get(number=2).title


@pytest.mark.parametrize(
    "asked",
    [
        {"list": "none"},
        {"list": "auto_h1", "first": "C"},
        {"list": "auto_h1", "first": "C", "second": "X"},
        {"list": "rounds", "first": "error", "second": "U"},
    ],
)
def test_a_list_that_is_not_there_is_refused(audited: Audited, asked: dict[str, str]) -> None:
    with pytest.raises(InputError):
        listing_of(audited.audit, SIMULATED, asked)


def test_a_dot_lists_its_responses(audited: Audited) -> None:
    # AS automatic, H1: t1 100, 50; t2 50, 50; t3 0, 50.
    text, rows = responses_of_dot(audited.audit, SIMULATED, {"score": "as", "x": "100.0", "y": "50.0"})
    assert text == "Answer Score: automatic 100.0, H1 50.0, 1 response"
    assert [(row.task, row.model, row.groups, row.automatic, row.h1) for row in rows] == [
        ("t1", "m1", 2, "C C", "C I")
    ]


@pytest.mark.parametrize(
    "asked",
    [
        {"score": "as", "x": "1", "y": "1"},
        {"score": "upper", "x": "100.0", "y": "50.0"},
        {"score": "as", "x": "nan", "y": "nan"},
        {"score": "as", "x": "a", "y": "50"},
        {},
    ],
)
def test_a_dot_that_is_not_there_is_refused(audited: Audited, asked: dict[str, str]) -> None:
    with pytest.raises(InputError):
        responses_of_dot(audited.audit, SIMULATED, asked)


def test_a_long_list_comes_in_pages(audited: Audited, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agreement.views.PAGE_SIZE", 2)
    client = client_of("r", audited.study)
    first, second = (
        client.get(f"/studies/s1/agreement/items/?list=differ&page={page}").content.decode() for page in (1, 2)
    )
    runs = {run.task.key: run.pk for run in audited.study.runs.all()}
    assert f"/runs/{runs['t1']}/#g2" in first
    assert f"/runs/{runs['t3']}/#g2" not in first
    assert f"/runs/{runs['t3']}/#g2" in second


def test_labeled_links_and_rounds_are_listed_with_their_places(db: None) -> None:
    study = make_study()
    run = make_run(study)
    give_verdict(run, "I", "C")
    give_judgements(run, 2, "error", "error", error_type="temporal_error", groups=[1])
    plan = Plan(tasks=1, responses_per_task=1, link_trajectories=1, round_trajectories=1)
    audit = create_audit(study, plan, 1, "A", None)
    said = {"group": "C", "link": "corresponds", "round": "non_error"}
    simulate_labels(audit, LabelerRole.H1, lambda item: said[item.kind], 1, 0)
    client = client_of("r", study)
    links = client.get("/studies/s1/agreement/items/?list=links&by_type=temporal_error").content.decode()
    assert "Labeled links: Temporal error" in links
    assert f"/runs/{run.pk}/#r2" in links
    assert f"/runs/{run.pk}/#g1" in links
    assert not listing_of(audit, SIMULATED, {"list": "links", "label": "does_not"}).rows
    rounds = client.get("/studies/s1/agreement/items/?list=rounds&first=non_error&second=error").content.decode()
    assert f"/runs/{run.pk}/#r2" in rounds
    page = client.get("/studies/s1/agreement/process/").content.decode()
    assert "1 of 1" in page
    # People call no round an error: the recall of errors is undefined, and its precision 0 of 1.
    assert "0 / 0: people call no round an error" in page
    assert "0 of 1" in page
