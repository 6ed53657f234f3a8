"""Tables and figures of any study: their identities, their page and files, and how often they ask the database."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agreement.charts import CONTENT_TYPES
from annotation.sampling import Plan
from annotation.services import create_audit
from annotation.simulation import simulate_labels
from lseval.domain.taxonomy import ErrorType
from lseval.domain.trajectory import TOOLS, ToolCallRecord, TurnRecord
from lseval.models import Call, FailureNode, Link, Phase, Round, Study, ToolCall
from lseval.site.figures.catalog import FIGURES
from lseval.site.tables import cells
from lseval.site.tables.catalog import PARTS, TABLES
from lseval.site.tables.facts import StudyFacts
from lseval.site.tables.identities import identities_of
from lseval.site.tables.rendering import FORMATS
from lseval.site.tables.rubrics import StoredRubric, stability_of
from lseval.site.tables.table import Column, Table
from tests.factories import PAGE_TEXT, give_verdict, make_run, make_study
from tests.site.building import World, give_judgements, make_world, reading_turns, signed_in

pytestmark = pytest.mark.django_db


def _values(table: Table, key: str) -> list[Any]:
    place = [column.key for column in table.columns].index(key)
    return [row[place].value for row in table.rows]


def _line(table: Table, words: str) -> Any:
    return next(row[1].value for row in table.rows if row[0].text == words)


_ROUND = st.tuples(
    st.sampled_from(["listing_only", "", "", ""]),
    st.sampled_from(["error", "non_error", "skipped", "unjudged", ""]),
    st.sampled_from(["error", "non_error", "skipped"]),
    st.sampled_from(["", *map(str, ErrorType)]),
    st.lists(st.sampled_from([1, 2]), unique=True),
)
_STUDIES = st.lists(
    st.tuples(st.lists(_ROUND, max_size=5), st.tuples(st.sampled_from("CIU"), st.sampled_from("CIU"))),
    min_size=1,
    max_size=4,
)


def _build(runs: list[Any], slug: str) -> Study:
    """A study of two models, its runs in turn theirs; links only to incorrect groups, as Stage 2 keeps them."""
    study = make_study(slug)
    for place, (rounds, labels) in enumerate(runs):
        run = make_run(study, f"t{place // 2}", f"m{place % 2}", turns=reading_turns(len(rounds)))
        give_verdict(run, *labels)
        wrong = [number for number, label in enumerate(labels, 1) if label == "I"]
        for number, (skip, first, second, error_type, named) in enumerate(rounds, 1):
            if skip or not first:
                run.rounds.filter(number=number).update(skip_reason=skip)
            else:
                groups = [group for group in named if group in wrong]
                give_judgements(run, number, first, second, error_type=error_type, groups=groups)
    return study


@settings(
    max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(_STUDIES)
def test_the_papers_identities_hold_on_any_study(runs: list[Any]) -> None:
    study = _build(runs, f"s{Study.objects.count()}")
    try:
        _check_identities(StudyFacts(study))
    finally:
        study.delete()


def _check_identities(facts: StudyFacts) -> None:
    tables = {key: spec.build(facts) for key, spec in TABLES.items()}
    figures = {key: spec.data(facts) for key, spec in FIGURES.items()}
    identities = identities_of(tables, figures)
    assert len(identities) > 20
    assert [identity for identity in identities if not identity.holds] == []
    # What both sides of an identity could miss together is counted here from the rows themselves.
    study = facts.study
    flow = {row[1].text: row[2].value for row in figures["a3"].rows if row[0].text == "a"}
    assert flow["All rounds"] == Round.objects.filter(run__study=study).count()
    assert flow["Pre-skipped"] == Round.objects.filter(run__study=study).exclude(skip_reason="").count()
    assert _line(tables["2"], "All automatically flagged candidate nodes") == (
        FailureNode.objects.filter(run__study=study).count()
    )
    assert _line(tables["2"], "Linked candidate nodes") == (
        Link.objects.filter(run__study=study).values("node").distinct().count()
    )
    calls = ToolCall.objects.filter(turn__run__study=study, name__in=TOOLS).count()
    place = [column.key for column in tables["a7"].columns].index("tools")
    assert sum(row[place].count or 0 for row in tables["a7"].rows) == calls


def test_an_identity_that_is_broken_is_seen(world: World) -> None:
    facts = StudyFacts(world.study)
    tables = {key: spec.build(facts) for key, spec in TABLES.items()}
    figures = {key: spec.data(facts) for key, spec in FIGURES.items()}
    FailureNode.objects.filter(run__study=world.study).delete()
    later = StudyFacts(world.study)
    broken = identities_of({**tables, "2": TABLES["2"].build(later)}, figures)
    assert {identity.what for identity in broken if not identity.holds} >= {"flagged nodes of Tables 2 and A1"}


def test_a_run_is_counted_in_search_behavior_and_evidence_use() -> None:
    """Two searches, a read of a page, a failed read, and a tool of the source's own; two hosts opened."""
    study = make_study()
    turns = (
        TurnRecord("", tuple(ToolCallRecord("web_search", "s", {"q": n}, "found") for n in range(2))),
        TurnRecord("", (ToolCallRecord("read_page", "r", {"url": "https://ferries.example/aldis"}, PAGE_TEXT),)),
        TurnRecord("", (ToolCallRecord("read_page", "r", {"url": "https://x.example"}, "timed out", True),)),
        TurnRecord("", (ToolCallRecord("calculator", "c", {"sum": "1+1"}, "2"),)),
    )
    give_verdict(make_run(study, turns=turns), "C", "U")
    give_verdict(make_run(study, "t2", turns=(), pages=()), "C", "C")
    facts = StudyFacts(study)
    row = dict(
        zip(
            (column.key for column in TABLES["1"].build(facts).columns),
            TABLES["1"].build(facts).rows[0],
            strict=True,
        )
    )
    assert (row["mean_rounds"].text, row["mean_rounds"].of) == ("4.00", 1)
    assert row["mean_searches"].text == "2.00"
    assert row["mean_domains"].text == "1.00"
    assert row["mean_read_kchars"].value == len(PAGE_TEXT) / 1000
    assert (row["mean_final_urls"].count, row["mean_final_urls"].of) == (4, 2)
    assert row["unverifiable_group_rate"].full_text == "25.00 [0.00, 50.00] (1 of 4)"
    assert row["unverifiable_group_rate"].as_dict() == {"value": 25.0, "text": "25.00", "count": 1, "of": 4} | (
        {"interval": [0.0, 50.0]}
    )
    seven = TABLES["a7"].build(facts)
    assert [column.key for column in seven.columns][-3:] == ["tools", "other", "rounds"]
    assert [cell.text for cell in seven.rows[0]][2:] == [
        "2.00",
        "0.00",
        "2.00",
        "0.00",
        "0.00",
        "4.00",
        "1.00",
        "4.00",
    ]


def test_pages_that_a_collected_run_opened_are_its_domains() -> None:
    study = make_study()
    opened = {
        "p1": {"url": "https://www.a.example/1", "final_url": "https://a.example/2"},
        "p2": {"url": "https://B.example/1", "final_url": ""},
        "p3": "not an object",
    }
    make_run(study, pages=(), metadata={"pages": opened})
    make_run(study, "t2", pages=(), metadata={"pages": ["a list"]})
    assert [done.domains for done in StudyFacts(study).activity.values()] == [2]


def test_stability_by_hand() -> None:
    """t1: 3, 3, 4 has the mode 3 twice; t2: 5, 6 is tied. Rules that differ in case and stops are the same."""
    found = stability_of(
        [
            [StoredRubric(3, 1, "One ferry."), StoredRubric(3, 2, "one  FERRY"), StoredRubric(4, 3, "a line")],
            [StoredRubric(5, 1, ""), StoredRubric(6, 1, "")],
            [],
        ]
    )
    required = found.fields["required_count"]
    assert (required.modal, required.tied_tasks, required.unique_modes, required.distinct) == (3, 1, [2], (2, 2))
    assert found.fields["grouping_rule"].modes == (2, 2)
    assert (found.tasks, found.rubrics, found.most) == (2, 5, 3)


def test_costs_are_those_of_the_ledger() -> None:
    study = make_study()
    Call.objects.create(
        study=study, phase=Phase.STAGE_1, digest="d", provider="p", request={}, reply={}, input_tokens=1_250_000,
        output_tokens=5_000, cost_usd="1.005", upper_cost_usd="2.005",
    )  # fmt: skip
    table = TABLES["a11"].build(StudyFacts(study))
    assert [cell.text for cell in table.rows[1]] == ["Stage 1", "1", "1.25", "0.01", "2.01", "1.01", "0"]
    assert [cell.text for cell in table.rows[-1]][1:] == ["1", "1.25", "0.01", "2.01", "1.01", "0"]


def test_every_form_of_a_table_says_the_same(world: World) -> None:
    client = signed_in(world.researcher)
    files = {
        ending: client.get(reverse("table_file", args=["s1", "a6", ending])).content.decode() for ending in FORMATS
    }
    rows = list(csv.DictReader(io.StringIO(files["csv"])))
    assert (rows[0]["model"], rows[0]["rounds"], rows[0]["flagged"]) == ("m1", "2", "1")
    assert json.loads(files["json"])["rows"][0]["flagged"] == {"value": 1, "text": "1"}
    assert "| m1 | 1 | 2 | 1 | 1 | 1 | 1 | 1 |" in files["md"]
    assert r"m1 & 1 & 2 & 1 & 1 & 1 & 1 & 1 \\" in files["tex"]
    assert r"\toprule" in files["tex"]


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.mark.parametrize("part", PARTS)
def test_page_shows_every_table_and_figure_of_a_part(world: World, part: str) -> None:
    page = signed_in(world.researcher).get(reverse("tables", args=["s1"]), {"part": part}).content.decode()
    for key, spec in TABLES.items():
        if spec.part == part and spec.on_page:
            for ending in FORMATS:
                assert reverse("table_file", args=["s1", key, ending]) in page
    for key, figure in FIGURES.items():
        if figure.part == part:
            for ending in CONTENT_TYPES:
                assert reverse("figure_file", args=["s1", key, ending]) in page


def test_unknown_part_table_or_figure_is_refused(world: World) -> None:
    client = signed_in(world.researcher)
    assert client.get(reverse("tables", args=["s1"]), {"part": "x"}).status_code == 400
    for name, key, ending in (
        ("table_file", "a5", "csv"), ("table_file", "a6", "exe"), ("figure_file", "a1", "svg"), ("figure_file",
        "3", "gif"),
    ):  # fmt: skip
        assert client.get(reverse(name, args=["s1", key, ending])).status_code == 404


def test_latex_sets_an_interval_below_its_number_and_keeps_brackets_from_being_arguments() -> None:
    columns = (Column("model", "Model", align="left"), Column("score", "AS"))
    rows = [[cells.name("[a] & *"), cells.with_interval(cells.decimal(50, 2), 40.0, 60.0)]]
    written = FORMATS["tex"][1](Table("x", "9", "Scores_1.", columns, rows))
    assert r"{}[a] \& * & \shortstack[r]{50.00\\{\scriptsize [40.00, 60.00]}} \\" in written
    assert r"\caption{Scores\_1.}" in written


def test_undefined_is_shown_with_its_reason() -> None:
    study = make_study("bare")
    table = TABLES["2"].build(StudyFacts(study))
    assert table.undefined == ["no run has a link"]
    assert "Undefined: no run has a link." in FORMATS["md"][1](table)
    assert FORMATS["csv"][1](table).splitlines()[-1].startswith("Earliest association by round 20,,0,0,")


# Session with user, study with role; then what the part's tables and figures are made of.
_QUERIES = {"outcome": 25, "process": 22, "people": 4, "setup": 8}


@pytest.mark.parametrize("part", PARTS)
def test_page_asks_the_database_as_often_for_many_runs_as_for_few(
    world: World, part: str, django_assert_num_queries: Any
) -> None:
    client = signed_in(world.lead)
    address = reverse("tables", args=["s1"])
    with django_assert_num_queries(_QUERIES[part]):
        client.get(address, {"part": part})
    for number in range(5):
        give_verdict(make_run(world.study, f"x{number}", f"y{number}"), "C", "I")
    with django_assert_num_queries(_QUERIES[part]):
        client.get(address, {"part": part})


def test_validation_by_simulated_labels_says_so_and_asks_as_often_for_many_items(
    world: World, django_assert_num_queries: Any
) -> None:
    truth = {"group": "C", "link": "corresponds", "round": "non_error"}
    simulate_labels(world.audit, "H1", lambda item: truth[item.kind], 1, 0.0)
    client = signed_in(world.researcher)
    address = reverse("tables", args=["s1"])
    # Session with user, study with role; audits with labels, groups twice, judges, and what was drawn and labeled.
    with django_assert_num_queries(10):
        page = client.get(address, {"part": "people"}).content.decode()
    assert "Simulated labels." in page
    table = TABLES["a8"].build(StudyFacts(world.study))
    assert table.is_simulated
    assert [cell.text for cell in table.rows[-1]][1:5] == ["2", "0", "0", "2"]
    assert "SIMULATED LABELS." in FORMATS["tex"][1](table)
    for number in range(5):
        give_verdict(make_run(world.study, f"x{number}", f"y{number}"), "C", "I")
    second = create_audit(world.study, Plan(), 2, "second", None)
    simulate_labels(second, "H1", lambda item: truth[item.kind], 1, 0.0)
    with django_assert_num_queries(10):
        client.get(address, {"part": "people"})
