"""The lists of a study's rows: what they hold, how they are paged and filtered, and what they cost."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import LabelVersion
from lseval.models import Round, Task, Verdict
from lseval.site.api.resources import LISTS
from lseval.site.figures.catalog import FIGURES
from lseval.site.tables.catalog import TABLES
from lseval.site.tables.facts import StudyFacts
from lseval.site.tables.rendering import as_json
from tests.api.conftest import Program
from tests.factories import give_verdict, make_run
from tests.site.building import World, give_judgements, make_world

STUDY = "/api/studies/s1"


def rows(program: Program, address: str) -> list[dict]:
    answer = program.get(f"{STUDY}/{address}")
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


@pytest.mark.parametrize("name", LISTS)
def test_a_list_holds_every_row_of_the_study_and_none_of_another(world: World, lead: Program, name: str) -> None:
    other = make_world("s2")
    give_verdict(other.run, "C", "I")
    view = LISTS[name][0]
    expected = list(view().rows(world.study).order_by("pk").values_list("pk", flat=True))
    assert expected
    assert [row["id"] for row in rows(lead, f"{name}/")] == expected


@pytest.mark.parametrize("name", LISTS)
def test_one_row_is_as_its_list_has_it(lead: Program, name: str) -> None:
    listed = rows(lead, f"{name}/")[0]
    assert lead.get(f"{STUDY}/{name}/{listed['id']}/").json() == listed


def test_a_round_comes_with_its_turns_and_tool_calls(world: World, lead: Program) -> None:
    last = rows(lead, "rounds/?number=2")[0]
    assert (last["run"], last["verdict"], last["is_split"]) == (world.run.pk, "error", False)
    [call] = last["turns"][0]["tool_calls"]
    assert call["name"] == "read_page"
    assert call["arguments"] == {"url": "https://ferries.example/aldis", "task": "t1"}
    assert call["observation"].startswith("Lake Aldis ferry")
    first = rows(lead, "rounds/?number=1")[0]
    assert (first["verdict"], first["is_split"]) == (None, None)


def test_rows_name_what_they_belong_to(world: World, lead: Program) -> None:
    [link] = rows(lead, "links/")
    [node] = rows(lead, "nodes/")
    groups = {group["number"]: group for group in rows(lead, "groups/")}
    assert (link["node"], link["round_number"], link["group"]) == (node["id"], 2, groups[2]["id"])
    assert groups[1]["citations"][0]["url"] == "https://ferries.example/aldis"
    [run] = rows(lead, "runs/")
    assert (run["task_key"], run["model_name"], run["rubric"]["required_count"]) == ("t1", "m1", 2)
    [label] = rows(lead, "labels/")
    assert (label["labeler"], label["label"], label["is_in_force"]) == ("s1-annotator", "C", True)
    assert {row["judge_role"]: row["groups"] for row in rows(lead, "judgements/")} == {
        "A": [groups[2]["id"]],
        "B": [groups[2]["id"]],
    }


def test_pages_follow_each_other_by_id_whatever_is_added_meanwhile(world: World, lead: Program) -> None:
    for number in range(6):
        Task.objects.create(study=world.study, key=f"more-{number}", question="?")
    before = list(world.study.tasks.order_by("pk").values_list("key", flat=True))
    found, address = [], f"{STUDY}/tasks/?limit=3"
    while address:
        answer = lead.get(address).json()
        assert len(answer["results"]) <= 3
        found += [row["key"] for row in answer["results"]]
        address = answer["next"]
        if len(found) == 3:
            Task.objects.create(study=world.study, key="meanwhile", question="?")
    assert found == [*before, "meanwhile"]


def test_the_next_page_keeps_the_filter(world: World, lead: Program) -> None:
    for number in range(2, 5):
        make_run(world.study, f"t{number}", "m1")
        make_run(world.study, f"t{number}", "m2")
    answer = lead.get(f"{STUDY}/runs/?model_name=m1&limit=2").json()
    again = lead.get(answer["next"]).json()
    assert [run["task_key"] for run in (*answer["results"], *again["results"])] == ["t1", "t2", "t3", "t4"]
    assert again["next"] is None


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("groups/?label=C", 1),
        ("groups/?label=unjudged", 0),
        ("verdicts/?label=I&judge=test", 1),
        ("verdicts/?judge=tes", 0),
        ("nodes/?error_type=wrong_entity&is_type_agreed=true", 1),
        ("nodes/?is_type_agreed=false", 0),
        ("judgements/?judge_role=A", 1),
        ("rounds/?verdict=error", 1),
        ("rounds/?verdict=non_error", 0),
        ("labels/?labeler=s1-annotator&kind=group&role=H1&is_simulated=false", 1),
        ("labels/?action=undo", 0),
        ("audits/?name=first&status=open", 1),
        ("runs/?is_valid_final=true&task_key=t1", 1),
        ("tasks/?key=T1", 0),
        ("models/?family=m", 1),
        ("runs/?task=9223372036854775807", 0),
    ],
)
def test_a_filter_compares_by_equality(lead: Program, asked: str, count: int) -> None:
    assert len(rows(lead, asked)) == count


@pytest.mark.parametrize(
    "asked",
    [
        "runs/?run=1",
        "runs/?task__key=t1",
        "runs/?task__study__memberships__user__password=x",
        "groups/?label__startswith=C",
        "groups/?label=c",
        "groups/?label=",
        "groups/?label=C&label=I",
        "verdicts/?ordering=label",
        "tasks/?limit=0",
        "tasks/?limit=501",
        "rounds/?limit=101",
        "tasks/?limit=1e2",
        "tasks/?limit=²",
        "tasks/?after=-1",
        "tasks/?after=9223372036854775808",
        "tasks/?after=" + "9" * 5000,
        "tasks/?key=a%00b",
        "tasks/?key=" + "x" * 501,
        "runs/?is_premature=1",
        "runs/?is_premature=True",
        "agreement/?labels=robots",
        "agreement/?section=secret",
        "agreement/?audit=none",
        "reports/study/?format=csv",
        "exports/labels.csv?audit=1",
    ],
)
def test_what_cannot_be_asked_for_is_refused(lead: Program, asked: str) -> None:
    answer = lead.get(f"{STUDY}/{asked}")
    assert answer.status_code == 400
    assert answer.json()["code"] == "bad_input"


@pytest.mark.parametrize(
    "address",
    [
        "runs/9223372036854775808/",
        "runs/" + "9" * 5000 + "/",
        "runs/0/",
        "reports/no-such/",
        "exports/tasks.csv",
        "exports/labels.xlsx",
        "nothing/",
    ],
)
def test_what_is_not_there_is_404(lead: Program, address: str) -> None:
    assert lead.get(f"{STUDY}/{address}").status_code == 404


def _grow(world: World, task: str) -> None:
    run = make_run(world.study, task, "m2")
    give_verdict(run, "C", "I")
    last = run.rounds.order_by("number").last()
    give_judgements(run, last.number, "error", "error", error_type="wrong_entity", groups=[2])
    slot = world.slot
    for number in range(2, 4):
        LabelVersion.objects.create(
            slot=slot,
            number=slot.versions.count() + 1,
            action="skip",
            user=world.annotator,
            codebook_version="1",
            evidence_digest="",
            request_key=f"00000000-0000-4000-8000-0000000{run.pk % 1000:03d}{number:02d}",
        )


QUERIES = {
    # who asks takes one, the study two at most; then one for the rows and one for each list within them
    **dict.fromkeys(
        ["tasks", "models", "runs", "verdicts", "second-verdicts", "nodes", "links", "audits", "labels"], 1
    ),
    "rounds": 3,
    "groups": 2,
    "judgements": 2,
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_takes_as_many_queries_however_long_it_is(world: World, lead: Program, name: str) -> None:
    lead.get("/api/me/")
    with CaptureQueriesContext(connection) as door:
        lead.get(f"{STUDY}/reports/")
    for task in ("t8", "t9"):
        _grow(world, task)
        with CaptureQueriesContext(connection) as taken:
            rows(lead, f"{name}/")
        assert len(taken) - len(door) == QUERIES[name]


@pytest.mark.parametrize("name", ["progress", "own/progress", "own/labels", "reports/study", "reports/costs"])
def test_other_answers_take_as_many_queries_however_much_there_is(world: World, name: str) -> None:
    program = Program(world.annotator if name.startswith("own") else world.lead)
    address = f"{STUDY}/{name}/"
    assert program.get(address).status_code == 200
    with CaptureQueriesContext(connection) as few:
        program.get(address)
    for task in ("t8", "t9"):
        _grow(world, task)
    with CaptureQueriesContext(connection) as many:
        program.get(address)
    assert len(many) == len(few)


def test_a_browser_gets_its_json_in_lines(lead: Program) -> None:
    plain = lead.get(f"{STUDY}/tasks/").content
    shown = lead.get(f"{STUDY}/tasks/", accept="text/html,application/xhtml+xml,*/*;q=0.8")
    assert b"\n" not in plain
    assert shown.content.count(b"\n") > 5
    assert shown["Content-Type"] == "application/json"


def test_text_of_any_kind_comes_as_it_is(world: World, lead: Program) -> None:
    text = "=1+1 <script>\u2028 𝔘 \x1b[31m"
    Verdict.objects.filter(group__run=world.run).update(reason=text)
    assert {verdict["reason"] for verdict in rows(lead, "verdicts/")} == {text}
    assert Round.objects.count() == 2


def test_progress_counts_jobs_queues_and_people(lead: Program) -> None:
    told = lead.get(f"{STUDY}/progress/").json()
    [audit] = told["audits"]
    queue = next(queue for queue in audit["queues"] if queue["role"] == "H1" and not queue["is_simulated"])
    assert queue["labeled"] + queue["open"] + queue["skipped"] == queue["total"]
    assert [(who["labeler"], who["labeled"]) for who in queue["people"]] == [("s1-annotator", 1)]


def test_reports_and_agreement_are_what_the_pages_hold(world: World, lead: Program) -> None:
    named = lead.get(f"{STUDY}/reports/").json()
    assert [report["name"] for report in named[:4]] == ["study", "judges", "leaderboard", "costs"]
    figures = {spec.file_name: spec for spec in FIGURES.values()}
    assert {report["name"] for report in named[4:]} == {f"table-{key}" for key in TABLES} | figures.keys()
    made = {report["name"]: lead.get(report["url"]).json() for report in named}
    assert made["study"]["counts"]["runs"] == 1
    assert made["judges"]["judge_pairs"] == made["study"]["process"]["judge_pairs"]
    for key, spec in TABLES.items():
        assert made[f"table-{key}"] == json.loads(as_json(spec.build(StudyFacts(world.study))))
    for name, figure in figures.items():
        assert made[name] == json.loads(as_json(figure.data(StudyFacts(world.study))))
    assert made["study"]["outcome"]["models"][0]
    assert made["costs"]["total"]["label"] == "total"
    told = lead.get(f"{STUDY}/agreement/?section=all&audit=first&labels=people").json()
    assert (told["audit"], told["is_simulated"]) == ("first", False)
    assert lead.get(f"{STUDY}/agreement/").json()["auto_h1"]["n"] == 1


@pytest.mark.parametrize("address", ["/api/nosuch/", "/api/studies/s1/runs/%00/", "/api/studies/s1/runs/x/y/"])
def test_address_that_leads_nowhere_is_told_as_any_other_error(lead: Program, address: str) -> None:
    reply = lead.get(address)
    assert reply.status_code == 404
    assert reply.json().keys() == {"code", "message"}
    assert reply.json()["code"] == "not_found"
    assert lead.get("/nosuch/")["Content-Type"].startswith("text/html")
