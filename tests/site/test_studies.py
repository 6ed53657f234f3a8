"""The list of studies, a study's home, and the door."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import LabelVersion, Slot
from lseval.models import Membership, Role, Study, Verdict
from lseval.site.selectors.home import study_home_of
from lseval.site.selectors.studies import study_rows
from tests.factories import give_verdict, make_run, make_study, make_user
from tests.site.building import World, give_judgements, make_world, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world()


def test_list_holds_the_persons_own_studies_with_their_role(world: World) -> None:
    make_study("strange")
    Membership.objects.create(study=make_study("second"), user=world.lead, role=Role.ANNOTATOR)
    rows = study_rows(world.lead)
    assert [(row.study.slug, row.role) for row in rows] == [("second", "annotator"), ("s1", "lead")]


def test_counts_show_to_those_only_who_see_results(world: World) -> None:
    (row,) = study_rows(world.researcher)
    assert row.counts is not None
    assert (row.counts.runs, row.counts.groups, row.counts.judged.counts, row.counts.labels) == (1, 2, "2 of 2", 0)
    (row,) = study_rows(world.annotator)
    assert row.counts is None


def test_simulated_labels_are_counted_apart_from_peoples(world: World) -> None:
    Slot.objects.filter(pk=world.slot.pk).update(status="labeled")
    simulated = world.audit.queues.create(role="H1", is_simulated=True)
    for slot in world.queue.slots.all():
        Slot.objects.create(queue=simulated, item=slot.item, position=slot.position, status="labeled")
    (row,) = study_rows(world.lead)
    assert row.counts is not None
    assert (row.counts.labels, row.counts.simulated_labels) == (1, world.queue.slots.count())


def test_annotators_list_is_the_same_whatever_machine_and_others_say(world: World) -> None:
    client = signed_in(world.annotator)
    before = client.get(reverse("studies")).content
    Verdict.objects.update(label="U")
    Slot.objects.exclude(pk=world.slot.pk).update(status="labeled")
    run = make_run(world.study, "t2", "m2")
    give_verdict(run, "I", "I")
    after = client.get(reverse("studies")).content
    token = "csrfmiddlewaretoken"
    assert [line for line in before.splitlines() if token.encode() not in line] == [
        line for line in after.splitlines() if token.encode() not in line
    ]


def test_person_without_a_study_is_told_what_to_do() -> None:
    page = signed_in(make_user("new")).get(reverse("studies")).content.decode()
    assert "You belong to no study yet" in page
    assert "python manage.py import_runs my-study PATH" in page
    assert "make demo" in page


def test_list_is_paged() -> None:
    user = make_user("busy")
    for number in range(51):
        Membership.objects.create(study=make_study(f"s{number}"), user=user, role=Role.LEAD)
    page = signed_in(user).get(reverse("studies"), {"page": 2}).content.decode()
    assert "51–51 of 51" in page
    assert "Study s0" in page


def test_list_asks_the_database_as_often_for_many_studies_as_for_one(
    world: World, django_assert_num_queries
) -> None:
    client = signed_in(world.lead)
    # Session with user; studies and their number, roles, runs, groups, labels.
    with django_assert_num_queries(7):
        client.get(reverse("studies"))
    for number in range(10):
        study = make_study(f"n{number}")
        Membership.objects.create(study=study, user=world.lead, role=Role.LEAD)
        make_run(study)
    with django_assert_num_queries(7):
        client.get(reverse("studies"))


def _home(study: Study, user: object) -> str:
    return signed_in(user).get(reverse("study_home", args=[study.slug])).content.decode()  # type: ignore[arg-type]


def test_home_shows_every_stage_at_a_glance(world: World) -> None:
    home = study_home_of(world.study)
    assert home.counts["rounds"] == 2
    assert home.judged.counts == "2 of 2"
    assert (home.labels.correct, home.labels.incorrect) == (1, 1)
    assert home.process.nodes == 1
    assert [(row.progress.queue.role, row.labeled.counts) for row in home.queues] == [
        ("H1", f"0 of {world.queue.slots.count()}"),
        ("H2", f"0 of {world.audit.queues.get(role='H2').slots.count()}"),
    ]
    page = _home(world.study, world.researcher)
    for name in ("outcome", "process", "audit", "agreement", "report"):
        assert reverse(name, args=["s1"]) in page
    assert "2 = 1 set aside + 1 dual-judged" in page
    assert "1 = 1 evaluable + 0 skipped after judging" in page
    assert "test, version 1" in page


def test_home_sends_an_annotator_to_their_queues(world: World) -> None:
    response = signed_in(world.annotator).get(reverse("study_home", args=["s1"]))
    assert (response.status_code, response.url) == (302, reverse("audit", args=["s1"]))


def test_home_names_the_next_command() -> None:
    study = make_study("fresh")
    lead = make_user("lead", study, Role.LEAD)
    assert "python manage.py import_runs fresh PATH" in _home(study, lead)
    run = make_run(study)
    page = _home(study, lead)
    assert "Have the judges go through 2 answer groups and 1 round:" in page
    assert "python manage.py evaluate fresh" in page
    assert "python manage.py draw_audit fresh" in page
    give_verdict(run, "C", "C")
    give_judgements(run, 2, "non_error", "non_error")
    page = _home(study, lead)
    assert "python manage.py evaluate fresh" not in page
    assert "python manage.py draw_audit fresh" in page


def test_home_says_when_nobody_sits_at_a_queue(world: World) -> None:
    # H1 has its annotator, H2 nobody.
    page = _home(world.study, world.lead)
    assert "nobody sits at H2 yet" in page
    assert "python manage.py add_member s1 USERNAME annotator --create" in page


def test_home_with_everything_labeled_asks_for_nothing(world: World) -> None:
    Slot.objects.update(status="labeled")
    assert study_home_of(world.study).next_steps == []
    assert LabelVersion.objects.count() == 0


def test_home_asks_the_database_as_often_for_many_runs_as_for_few(world: World, django_assert_num_queries) -> None:
    client = signed_in(world.lead)
    address = reverse("study_home", args=["s1"])
    # Session with user, study with role; 7 counts, runs and labels, judges, 8 of Stage 2, 11 of the audits.
    with django_assert_num_queries(36):
        client.get(address)
    for number in range(10):
        run = make_run(world.study, f"x{number}", f"y{number}")
        give_verdict(run, "C", "I")
    with django_assert_num_queries(36):
        client.get(address)


def test_login_leads_to_the_page_asked_for_and_wrong_passwords_nowhere(world: World) -> None:
    client = Client()
    address = reverse("outcome", args=["s1"])
    login = client.get(address).url
    wrong = client.post(login, {"username": "s1-lead", "password": "no"})
    assert (wrong.status_code, "_auth_user_id" in client.session) == (200, False)
    right = client.post(login, {"username": "s1-lead", "password": "pw"})
    assert (right.status_code, right.url) == (302, address)
    assert client.get(reverse("login")).status_code == 302


def test_login_never_leads_to_another_site(world: World) -> None:
    response = Client().post(
        reverse("login") + "?next=https://evil.example/", {"username": "s1-lead", "password": "pw"}
    )
    assert response.url == reverse("studies")


def test_health_check_answers_without_a_session(django_assert_num_queries) -> None:
    with django_assert_num_queries(1):
        response = Client().get(reverse("healthz"))
    assert (response.status_code, response.content, response["Content-Type"]) == (200, b"ok\n", "text/plain")


def test_style_guide_is_not_served_in_a_deployment(settings) -> None:
    assert Client().get(reverse("styleguide")).status_code == 200
    settings.IS_LOCAL = False
    assert Client().get(reverse("styleguide")).status_code == 404
