"""Validity on examples worked by hand, and its page and command."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from agreement.stats.undefined import Undefined
from lseval.domain.taxonomy import ErrorType
from lseval.models import EvaluatedModel, Membership, Role, Study, User
from lseval.sandbox.models import GroupTruth, InjectedError, RunTruth
from lseval.site.validity.measuring import (
    JudgedGroup,
    JudgedRun,
    PlantedError,
    earliest_report,
    link_report,
    node_report,
    verdict_report,
)
from lseval.site.validity.selectors import validity_of
from tests.site.building import World, make_world, signed_in


def error(kind: str, rounds: tuple[int, ...], groups: tuple[int, ...] = ()) -> PlantedError:
    return PlantedError(kind, frozenset(rounds), frozenset(groups))


def run(
    task: int,
    errors: tuple[PlantedError, ...] = (),
    nodes: dict[int, str] | None = None,
    links: tuple[tuple[int, int], ...] = (),
    evaluable: tuple[int, ...] = (),
    wrong: tuple[int, ...] = (),
) -> JudgedRun:
    return JudgedRun(task, errors, nodes or {}, frozenset(links), frozenset(evaluable), frozenset(wrong))


def test_verdict_report_counts_truth_by_verdict() -> None:
    groups = [
        JudgedGroup(1, "C", "C", True),
        JudgedGroup(1, "C", "I", True),
        JudgedGroup(2, "I", "I", True),
        JudgedGroup(2, "I", "unjudged", True),
        JudgedGroup(3, "U", "U", False),
        JudgedGroup(3, "C", "U", True),
    ]
    report = verdict_report(groups)
    assert report["matrix"] == [[1, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    assert report["accuracy"].point == pytest.approx(3 / 6)
    assert report["recall"]["C"].point == pytest.approx(1 / 3)
    assert report["precision"]["U"].point == pytest.approx(1 / 2)
    assert report["precision"]["I"].point == pytest.approx(1 / 2)
    assert report["always"] == {"label": "C", "accuracy": 0.5}
    assert report["unreadable"] == {
        "u_though_readable": 1,
        "not_u_though_unreadable": 0,
        "truth_u_though_readable": 0,
    }


def test_node_is_right_in_the_round_where_an_error_enters_or_is_stated() -> None:
    """Rounds 3 and 5 are covered. Nodes at 3 (right, right type) and 4 (wrong): precision 1/2.

    The second run's two errors: one has a node of another type at 2, one, mended, has none. So of three errors two
    are found (2/3), one of two found with its type (1/2); 4 of 8 evaluable rounds are covered.
    """
    runs = [
        run(
            1,
            (error("temporal_error", (3, 5), (1,)),),
            {3: "temporal_error", 4: "scope_error"},
            evaluable=(3, 4, 5, 6),
        ),
        run(
            2,
            (error("wrong_entity", (2,), (1,)), error("mapping_error", (9,))),
            {2: "scope_error"},
            evaluable=(1, 2, 8, 9),
        ),
    ]
    report = node_report(runs)
    assert report["precision"].point == pytest.approx(2 / 3)
    assert report["chance"].point == pytest.approx(4 / 8)
    assert report["recall"].point == pytest.approx(2 / 3)
    assert report["recall_of_consequence"].point == 1.0
    assert report["recall_of_mended"].point == 0.0
    assert report["type_agreed"].point == pytest.approx(1 / 2)
    assert report["by_type"]["temporal_error"]["precision"].point == 1.0
    assert report["by_type"]["scope_error"]["precision"].point == 0.0
    assert isinstance(report["by_type"]["scope_error"]["recall"].point, Undefined)
    assert sum(map(sum, report["confusion"])) == 2


def test_link_is_right_where_the_rounds_error_made_its_group_wrong() -> None:
    """Links: (3, 1) right; (3, 2) wrong group; (4, 1) wrong round. Pairs: (e1, 1) found, (e2, 2) not, whose group
    Stage 1 does not call incorrect. Both links at 3 are of a temporal error, as e1 is: 1 of 2 is right."""
    runs = [
        run(
            1,
            (error("temporal_error", (3, 5), (1,)), error("scope_error", (7,), (2,))),
            {3: "temporal_error", 4: "scope_error"},
            links=((3, 1), (3, 2), (4, 1)),
            wrong=(1,),
        )
    ]
    report = link_report(runs)
    assert report["precision"].point == pytest.approx(1 / 3)
    assert report["recall"].point == pytest.approx(1 / 2)
    assert report["recall_where_incorrect"].point == 1.0
    by_type = report["by_type"]
    assert [by_type["temporal_error"][way].point for way in ("recall", "precision")] == [1.0, 0.5]
    assert [by_type["scope_error"][way].point for way in ("recall", "precision")] == [0.0, 0.0]
    assert by_type["wrong_entity"]["recall"].point == Undefined("none made a group wrong")
    assert by_type["wrong_entity"]["precision"].point == Undefined("no link has this type")
    assert isinstance(report["precision"].interval, Undefined), "one task gives no interval"


def test_link_of_another_type_than_the_errors_is_right_but_not_by_type() -> None:
    runs = [run(1, (error("temporal_error", (3,), (1,)),), {3: "scope_error"}, links=((3, 1),), wrong=(1,))]
    report = link_report(runs)
    assert report["precision"].point == report["by_type"]["temporal_error"]["recall"].point == 1.0
    assert report["by_type"]["scope_error"]["precision"].point == 0.0


def test_earliest_association_is_measured_from_where_the_first_error_enters() -> None:
    """Distances 0, 2 (stated round: exact all the same) and 10; one run has links and no error, one the reverse."""
    consequence = error("scope_error", (4, 6), (1,))
    runs = [
        run(1, (consequence,), links=((4, 1),)),
        run(2, (consequence, error("mapping_error", (1,))), links=((6, 1), (9, 1))),
        run(3, (consequence,), links=((14, 1),)),
        run(4, links=((2, 1),)),
        run(5, (consequence,)),
    ]
    report = earliest_report(runs)
    assert report["median_rounds"] == 2.0
    assert report["mean_rounds"] == pytest.approx(4.0)
    assert report["exact"].point == pytest.approx(2 / 3)
    assert report["near"].point == pytest.approx(2 / 3)
    assert (report["only_linked"], report["only_planted"]) == (1, 1)


def test_nothing_known_is_undefined_and_never_zero() -> None:
    assert isinstance(verdict_report([])["accuracy"].point, Undefined)
    assert isinstance(node_report([])["precision"].point, Undefined)
    assert isinstance(link_report([])["recall"].point, Undefined)
    assert isinstance(earliest_report([])["median_rounds"], Undefined)


@pytest.fixture
def world(db: None) -> World:
    """A study with one run whose truth is known: its verdicts are right but for one group."""
    made = make_world()
    made.study.settings = {"sandbox": {"seed": 1}}
    made.study.save()
    groups = list(made.run.answer_groups.select_related("verdict"))
    truth = RunTruth.objects.create(run=made.run, units=len(groups), groups=len(groups), is_matched=True)
    for place, group in enumerate(groups):
        label = group.verdict.label if place else ("I" if group.verdict.label == "C" else "C")
        GroupTruth.objects.create(truth=truth, number=group.number, label=label)
    InjectedError.objects.create(
        truth=truth, round_number=1, stated_round_number=2, error_type="scope_error", group_numbers=[1]
    )
    return made


def test_page_shows_matrices_and_shares(world: World) -> None:
    found = validity_of(world.study)
    right = found.report["verdicts"]["accuracy"].point
    groups = world.run.answer_groups.count()
    assert right == pytest.approx((groups - 1) / groups)
    page = signed_in(world.researcher).get(reverse("validity", args=[world.study.slug])).content.decode()
    assert "Planted type and type given" in page
    assert "Links by type" in page
    assert f"of {groups:,} groups" in page
    assert "no measure of how they do on real pages" in page


def test_page_of_a_study_without_truth_says_so(world: World) -> None:
    RunTruth.objects.all().delete()
    page = signed_in(world.lead).get(reverse("validity", args=[world.study.slug])).content.decode()
    assert "No truth is known" in page


def test_tab_shows_only_in_sandbox_studies_and_never_to_annotators(world: World) -> None:
    address = reverse("validity", args=[world.study.slug])
    home = reverse("study_home", args=[world.study.slug])
    assert address in signed_in(world.lead).get(home).content.decode()
    Study.objects.filter(pk=world.study.pk).update(settings={})
    assert address not in signed_in(world.lead).get(home).content.decode()
    annotator = User.objects.create(username="blind")
    Membership.objects.create(study=world.study, user=annotator, role=Role.ANNOTATOR)
    assert signed_in(annotator).get(address).status_code == 403
    assert Client().get(address).status_code == 302


def test_number_of_queries_does_not_grow_with_the_study(world: World, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(12):  # type: ignore[operator]
        validity_of(world.study)


def test_command_prints_a_table_and_json(world: World) -> None:
    EvaluatedModel.objects.filter(study=world.study).update(settings={"provider": "sandbox"})
    text, parsed = StringIO(), StringIO()
    call_command("validity", world.study.slug, stdout=text)
    call_command("validity", world.study.slug, "--json", stdout=parsed)
    assert "Failure nodes" in text.getvalue()
    assert text.getvalue().count("by type") == 2  # of failure nodes, and of links
    assert "Earliest association" in text.getvalue()
    report = json.loads(parsed.getvalue())
    assert report["runs"] == 1
    assert len(report["verdicts"]["matrix"]) == 3
    assert len(report["nodes"]["confusion"]) == 10


def test_command_prints_nodes_and_links_by_type_as_markdown(world: World) -> None:
    EvaluatedModel.objects.filter(study=world.study).update(settings={"provider": "sandbox"})
    out = StringIO()
    call_command("validity", world.study.slug, "--markdown", stdout=out)
    found = validity_of(world.study).report
    rows = [line.strip("| ").split(" | ") for line in out.getvalue().splitlines() if line.startswith("| ")]
    by_name = {row[0]: row for row in rows}
    for kind in ErrorType:
        shown, wanted = by_name[kind.display_name], found["nodes"]["by_type"][str(kind)]
        assert shown[1:3] == [str(wanted["recall"].n), str(wanted["precision"].n)]
        point = wanted["recall"].point
        assert shown[3] == "–" if isinstance(point, Undefined) else shown[3].startswith(f"{100 * point:.1f}%")
    assert f"of {world.study.slug}" in out.getvalue()


def test_command_refuses_a_study_of_imported_runs(world: World) -> None:
    EvaluatedModel.objects.filter(study=world.study).update(settings={})
    with pytest.raises(CommandError, match="no simulated model"):
        call_command("validity", world.study.slug)
