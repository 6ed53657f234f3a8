"""The people behind the labels, from rows in the database to numbers."""

from __future__ import annotations

from uuid import uuid4

import pytest

from agreement.people_report import AUTOMATIC, people_of
from agreement.presenting.people import rater_square, seconds_text
from agreement.selectors import PEOPLE, SIMULATED
from annotation.models import Audit, Item, LabelVersion, Slot
from annotation.models import Queue as LabelQueue
from lseval.models import User
from tests.agreement.conftest import H1, Audited
from tests.agreement.test_agreement_pages import client_of
from tests.factories import make_user


def queue_in(audit: Audit, role: str) -> LabelQueue:
    return LabelQueue.objects.get_or_create(audit=audit, role=role, is_simulated=False)[0]


def give_label(queue: LabelQueue, item: Item, user: User, label: str, seconds: float | None = None) -> None:
    """A label in force, whoever sits where."""
    slot, _ = Slot.objects.get_or_create(queue=queue, item=item, defaults={"position": queue.slots.count() + 1})
    Slot.objects.filter(pk=slot.pk).update(version=1, status="labeled")
    LabelVersion.objects.create(
        slot=slot,
        number=1,
        action="label",
        label=label,
        user=user,
        codebook_version="1",
        evidence_digest="",
        seconds_on_task=seconds,
        request_key=uuid4(),
    )


@pytest.fixture
def shared_role(audited: Audited) -> Audited:
    """People's labels: ann labels t1 and t2 as H1, ben t3 as H1, cy all as H2 (always C), dee adjudicates t2."""
    people = {name: make_user(name) for name in ("ann", "ben", "cy", "dee")}
    h1, h2, settled = (queue_in(audited.audit, role) for role in ("H1", "H2", "adjudicator"))
    items = audited.audit.items.select_related("run__task", "group").order_by("run__task_id", "group__number")
    for place, item in enumerate(items):
        task = item.run.task.key
        first = people["ben"] if task == "t3" else people["ann"]
        give_label(h1, item, first, H1[task][item.group.number - 1], 10.0 * (place + 1))
        give_label(h2, item, people["cy"], "C")
        if task == "t2":
            give_label(settled, item, people["dee"], "U", 5.0)
    return audited


def test_people_who_share_a_role_are_raters_of_their_own(shared_role: Audited) -> None:
    report = people_of(shared_role.audit, PEOPLE)
    profiles = {entry["rater"]: entry for entry in report["profiles"]}
    assert {name: (entry["role"], entry["items"]) for name, entry in profiles.items()} == {
        "ann": ("H1", 4),
        "ben": ("H1", 2),
        "cy": ("H2", 6),
    }
    # ann says C I C I on t1 and t2; cy says C throughout: 2 of 4 agree. The machine says C C C I: 3 of 4.
    assert (profiles["ann"]["agreement"]["agreeing"], profiles["ann"]["agreement"]["of"]) == (2, 4)
    assert (profiles["ann"]["with_automatic"]["agreeing"], profiles["ann"]["with_automatic"]["of"]) == (3, 4)
    assert profiles["ann"]["median_seconds"] == 25.0  # of 10, 20, 30, 40
    assert "undefined" in profiles["cy"]["median_seconds"]


def test_an_adjudicated_label_is_never_a_raters(shared_role: Audited) -> None:
    report = people_of(shared_role.audit, PEOPLE)
    assert report["raters"] == ["ann", "cy", "ben"]
    assert report["adjudicated"] == 2
    assert {entry["person"]: entry["labels"] for entry in report["work"] if entry["role"] == "adjudicator"} == {
        "dee": 2
    }


def test_pairs_set_the_machine_beside_each_person(shared_role: Audited) -> None:
    report = people_of(shared_role.audit, PEOPLE)
    pairs = {(pair["first"], pair["second"]): pair["n"] for pair in report["pairs"]}
    assert pairs == {
        (AUTOMATIC, "ann"): 4,
        (AUTOMATIC, "cy"): 6,
        (AUTOMATIC, "ben"): 2,
        ("ann", "cy"): 4,
        ("ann", "ben"): 0,
        ("cy", "ben"): 2,
    }


def test_square_has_agreement_above_and_kappa_below(shared_role: Audited) -> None:
    square = rater_square(people_of(shared_role.audit, PEOPLE))
    names, rows = square["names"], square["rows"]
    machine, ann = names.index(AUTOMATIC), names.index("ann")
    assert rows[machine]["cells"][ann]["text"] == "0.750"
    # Margins of C C C I against C I C I: expected (3 * 2 + 1 * 2) / 16 = 1/2, so kappa is (3/4 - 1/2) / (1/2).
    assert rows[ann]["cells"][machine]["text"] == "0.500"
    assert rows[ann]["cells"][ann] is None


def test_drift_goes_by_the_order_in_which_a_person_labeled(shared_role: Audited) -> None:
    found = {entry["rater"]: entry for entry in people_of(shared_role.audit, PEOPLE)["drift"]}
    # ann against the machine, in order: agrees, differs, agrees, agrees.
    assert [part["agreeing"] for part in found["ann"]["automatic"]["by_order"]] == [1, 0, 1, 1]
    assert found["ben"]["others"]["n"] == 2
    assert found["cy"]["automatic"]["speed_trend"]["n"] == 0


def test_simulated_labelers_are_apart_from_people(shared_role: Audited) -> None:
    raters = people_of(shared_role.audit, SIMULATED)["raters"]
    assert all(name.startswith("simulated-") for name in raters)
    assert len(raters) == 2


def test_page_shows_people_pace_and_adjudication(shared_role: Audited) -> None:
    page = client_of("r", shared_role.study).get("/studies/s1/agreement/people/").content.decode()
    for text in ("ann", "ben", "cy", "25 s", "an adjudicator is never counted as a rater"):
        assert text in page


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (119.4, "119 s"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (None, "–"),
        ({"undefined": ""}, "–"),
    ],
)
def test_seconds_read_as_a_person_says_them(seconds: object, text: str) -> None:
    assert seconds_text(seconds) == text
