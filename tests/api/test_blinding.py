"""What an annotator gets of the API does not depend on machines or on other people."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation.leases import claim_next
from annotation.models import LabelVersion
from annotation.services import seat
from lseval.models import Role, Verdict
from lseval.site.api.resources import LISTS
from tests.api.conftest import Program
from tests.factories import make_user
from tests.site.building import World, signed_in

STUDY = "/api/studies/s1"
CLOSED = [*(f"{name}/" for name in LISTS), "progress/", "agreement/", "reports/", "reports/study/", "exports/",
          "exports/labels.jsonl", "exports/runs.csv"]  # fmt: skip
OPEN = ["/api/me/", "/api/schema/", "/api/studies/", f"{STUDY}/", f"{STUDY}/own/labels/", f"{STUDY}/own/progress/"]


@pytest.mark.parametrize("address", CLOSED)
def test_annotator_is_refused_what_a_study_holds(annotator: Program, address: str) -> None:
    answer = annotator.get(f"{STUDY}/{address}")
    assert answer.status_code == 403
    assert answer.json()["code"] == "not_permitted"


def test_own_labels_and_progress_are_ones_own(annotator: Program, lead: Program) -> None:
    [label] = annotator.get(f"{STUDY}/own/labels/").json()["results"]
    assert (label["number"], label["role"], label["action"], label["label"]) == (1, "H1", "label", "C")
    [queue] = annotator.get(f"{STUDY}/own/progress/").json()
    assert (queue["audit"], queue["role"], queue["own_labels"], queue["is_finished"]) == ("first", "H1", 1, False)
    assert [stage["kind"] for stage in queue["stages"]] == ["group"]
    assert lead.get(f"{STUDY}/own/labels/").json() == {"next": None, "results": []}
    assert lead.get(f"{STUDY}/own/progress/").json() == []


def test_own_labels_come_a_page_at_a_time(world: World, annotator: Program) -> None:
    for number in range(2, 6):
        LabelVersion.objects.create(
            slot=world.slot, number=number, action="skip", user=world.annotator, codebook_version="1",
            evidence_digest="", request_key=f"00000000-0000-4000-8000-00000000000{number}",
        )  # fmt: skip
    found, address = [], f"{STUDY}/own/labels/?limit=2"
    while address:
        answer = annotator.get(address).json()
        found += [row["number"] for row in answer["results"]]
        address = answer["next"]
    assert found == [1, 2, 3, 4, 5]
    assert annotator.get(f"{STUDY}/own/labels/?after=1000000000").json()["results"] == []


def test_what_a_labeler_gets_is_the_same_whatever_machines_and_others_have_said(
    world: World, annotator: Program
) -> None:
    def told() -> list[tuple[int, bytes, list[tuple[str, str]]]]:
        asked = [annotator.get(address) for address in [*OPEN, f"{STUDY}/labels/", f"{STUDY}/verdicts/1/"]]
        return [(answer.status_code, answer.content, sorted(answer.items())) for answer in asked]

    before = told()
    Verdict.objects.filter(group__run=world.run, label="C").update(label="U", reason="changed")
    queue = world.audit.queues.filter(role="H2", is_simulated=False).first() or world.audit.queues.create(role="H2")
    second = make_user("second", world.study, Role.ANNOTATOR)
    seat(queue, second)
    claim_next(queue, second)
    other = queue.slots.first() or queue.slots.create(item=world.slot.item, position=1)
    LabelVersion.objects.create(
        slot=other, number=1, action="label", label="I", user=second, codebook_version="1", evidence_digest="",
        request_key="00000000-0000-4000-8000-000000000009",
    )  # fmt: skip
    assert told() == before
    Verdict.objects.all().delete()
    assert told() == before


def test_page_of_the_api_is_the_same_for_everybody(world: World) -> None:
    pages = [signed_in(user).get(reverse("api")) for user in (world.lead, world.annotator, world.outsider)]
    texts = [page.content.decode().partition("<main")[2] for page in pages]
    assert texts[0] == texts[1] == texts[2]
    assert "/api/studies/{slug}/own/labels/" in texts[0]
    assert all(f"/api/studies/{{slug}}/{name}/" in texts[0] for name in LISTS)
