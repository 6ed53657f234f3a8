"""`manage.py draw_audit`."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Audit, ItemKind, Seat
from lseval.errors import ConflictError, InputError
from lseval.models import Role, Study
from tests.annotation.making import add_link
from tests.factories import make_run, make_study, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Five tasks with two models each, two groups and two rounds a run; one run has no group, one has a link."""
    study = make_study("s1")
    for task in range(1, 6):
        for model in ("m1", "n1"):
            run = make_run(study, f"t{task}", model, **({"answer": ""} if (task, model) == (5, "n1") else {}))
            if (task, model) == (1, "m1"):
                add_link(run)
    return study


def draw(*arguments: str) -> str:
    output = StringIO()
    call_command("draw_audit", *arguments, stdout=output)
    return output.getvalue()


def test_prints_frame_and_draw_and_stores_the_audit(study: Study) -> None:
    text = draw("s1", "--name", "First", "--seed", "3")
    assert "frame: tasks 5, responses 9, answer groups 18, rounds 18, links 1" in text
    assert "left out: responses without an answer group 1" in text
    assert "drawn: tasks 5, responses 9; of these to H2: tasks 1," in text
    audit = Audit.objects.get(name="First")
    assert audit.seed == 3
    rows = {
        line[:18].strip(): line.split()[-2:] for line in text.splitlines() if line[:1] in "ar" and len(line) > 20
    }
    h2 = audit.queues.get(role="H2").slots.count()
    assert rows["answer groups"] == ["18", str(h2)]
    assert rows["rounds"] == ["18", "0"]
    assert rows["round-group links"] == ["1", "0"]
    assert audit.queues.get(role="H1").slots.count() == 37


def test_options_shape_the_plan(study: Study) -> None:
    draw("s1", "--tasks", "3", "--responses-per-task", "1", "--h2-tasks", "2", "--trajectories", "2", "--no-rounds")
    audit = Audit.objects.get(name="Audit 1")
    assert audit.plan["drawn"]["responses"] == 3
    assert audit.plan["drawn"]["h2_responses"] == 2
    assert audit.plan["drawn"]["link_trajectories"] == 2
    assert not audit.items.filter(kind=ItemKind.ROUND).exists()


def test_dry_run_stores_nothing(study: Study) -> None:
    assert "Nothing was stored" in draw("s1", "--dry-run")
    assert not Audit.objects.exists()


def test_seats_people(study: Study) -> None:
    for name in ("ann", "bea", "cem"):
        make_user(name, study)
    text = draw("s1", "--h1", "ann", "bea", "--h2", "cem")
    assert "H1: ann, bea" in text
    assert dict(Seat.objects.values_list("user__username", "queue__role")) == {
        "ann": "H1",
        "bea": "H1",
        "cem": "H2",
    }


def test_name_that_exists_is_refused(study: Study) -> None:
    draw("s1", "--name", "First")
    with pytest.raises(ConflictError, match="already has an audit named 'First'"):
        draw("s1", "--name", "First")


def test_person_who_cannot_be_seated_leaves_no_audit_behind(study: Study) -> None:
    make_user("rex", study, Role.RESEARCHER)
    make_user("ann", study)
    with pytest.raises(InputError, match="rex is a researcher"):
        draw("s1", "--h1", "rex")
    with pytest.raises(ConflictError, match="never holds two roles"):
        draw("s1", "--h1", "ann", "--h2", "ann")
    with pytest.raises(CommandError, match="There is no user nobody"):
        draw("s1", "--h1", "nobody")
    assert not Audit.objects.exists()


def test_unknown_study_and_empty_study_are_told(study: Study) -> None:
    with pytest.raises(InputError, match="there is no study"):
        draw("s9")
    make_study("empty")
    with pytest.raises(InputError, match="Import runs"):
        draw("empty")
    with pytest.raises(InputError, match="tasks of 1 or more"):
        draw("s1", "--tasks", "0")


_STATED = {"tasks": 3, "responses_per_task": 1, "h2_tasks": 2, "link_trajectories": 2, "round_trajectories": 1}


def test_the_plan_of_the_studys_file_is_the_default(study: Study) -> None:
    study.settings["audit"] = _STATED
    study.save()
    draw("s1")
    draw("s1", "--tasks", "4", "--trajectories", "3")
    draw("s1", "--no-rounds")
    first, second, third = ({name: audit.plan[name] for name in _STATED} for audit in Audit.objects.order_by("pk"))
    assert first == _STATED
    assert second == {**_STATED, "tasks": 4, "link_trajectories": 3, "round_trajectories": 3}
    assert third == {**_STATED, "round_trajectories": 0}


def test_the_page_proposes_the_plan_of_the_studys_file(study: Study, client: Client) -> None:
    study.settings["audit"] = {**_STATED, "round_trajectories": 0}
    study.save()
    client.force_login(make_user("lead", study, Role.LEAD))
    form = client.get(reverse("draw_audit", args=["s1"])).context["form"]
    assert (form["tasks"].value(), form["h2_tasks"].value(), form["trajectories"].value()) == (3, 2, 2)
    assert not form["with_rounds"].value()
